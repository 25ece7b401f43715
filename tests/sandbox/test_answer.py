"""What may be left in `answer`, and what it becomes."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import pathlib
from typing import Any

import numpy as np
import pytest

from quizlog_tui.sandbox.inside.code import UnfitAnswer, as_json

pd = pytest.importorskip("pandas")


class Colour(enum.IntEnum):
    RED = 1


class Loud(str):
    def __str__(self) -> str:
        return "loud"


deep: list[Any] = []
for _ in range(62):
    deep = [deep]
circle: list[Any] = []
circle.append(circle)


@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (2.5, 2.5),
        ("text ✓", "text ✓"),
        (Loud("quiet"), "quiet"),
        (Colour.RED, 1),
        ((1, [2, {"a": (3,)}]), [1, [2, {"a": [3]}]]),
        ({3, 1, 2}, [1, 2, 3]),
        ({2: "a", None: "b", True: "c"}, {"2": "a", "null": "b", "true": "c"}),
        (decimal.Decimal("2.50"), 2.5),
        (decimal.Decimal("4.0"), 4),
        (fractions.Fraction(1, 4), 0.25),
        (datetime.date(2024, 1, 2), "2024-01-02"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (np.float64(1.5), 1.5),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (pd.Timestamp("2024-01-02"), "2024-01-02T00:00:00"),
        (pd.Series([1, 2]), [1, 2]),
        (pd.Index(["a"]), ["a"]),
        (pd.DataFrame({"a": [1], "b": ["x"]}), [{"a": 1, "b": "x"}]),
        ({np.int64(1): np.float64(2)}, {"1": 2.0}),
    ],
    ids=repr,
)
def test_what_it_becomes(value: object, becomes: object) -> None:
    found = as_json(value)
    assert found == becomes
    assert type(found) is type(becomes)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        [float("inf")],
        decimal.Decimal("NaN"),
        np.float64("nan"),
        pd.NaT,
        "\ud800",
        10**10000,
        circle,
        [[deep, deep], [[deep]]],
        object(),
        b"bytes",
        1j,
        {(1, 2): 3},
        pd.NA,
        len,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_unfit(value: object) -> None:
    with pytest.raises(UnfitAnswer):
        as_json(value)
