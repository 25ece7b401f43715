"""The exact text and hash of each value, and the refusal of what JSON cannot hold."""

from __future__ import annotations

import json
import math
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.episodes.format.hashing import (
    canonical_json,
    checked,
    parsed_hash,
    question_id,
    value_hash,
)
from quizlog_tui.errors import EpisodeError

VECTORS = json.loads(
    (Path(__file__).parents[1] / "data" / "episode_hash_vectors.json").read_text(encoding="utf-8")
)

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def shuffled(value: Any) -> Any:
    """The same value with the keys of each object in the opposite order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("vector", VECTORS["hash_vectors"], ids=lambda v: v["id"])
def test_every_vector(vector: dict[str, Any]) -> None:
    value = eval(vector["value"], {"float": float})
    assert canonical_json(value) == vector["canonical_json"]
    assert value_hash(value) == vector["hash"]


@pytest.mark.parametrize("vector", VECTORS["question_ids"], ids=lambda v: v["id"])
def test_every_question_id(vector: dict[str, Any]) -> None:
    assert question_id(vector["question_text"], vector["hint"]) == vector["id"]


def test_a_hint_of_nothing_is_no_hint() -> None:
    assert question_id("x", None) == question_id("x", "")


@given(values)
def test_a_hash_knows_no_order_of_keys(value: Any) -> None:
    assert value_hash(shuffled(value)) == value_hash(value)


@given(values)
def test_a_hash_survives_json(value: Any) -> None:
    again = json.loads(json.dumps(value))
    assert value_hash(again) == parsed_hash(again) == value_hash(value)


def itself() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({1, 2}, "$"),
        ([b"x"], "$[0]"),
        ({"a": [0, {"b": datetime(2026, 1, 1)}]}, "$.a[1].b"),
        ({"a": {1: "x"}}, "$.a"),
        ([1, Decimal(1)], "$[1]"),
        ({"a": 1j}, "$.a"),
        ([range(3)], "$[0]"),
        ({"x": np.int64(3)}, "$.x"),
        ({"x": np.array([1])}, "$.x"),
        ([np.bool_(True)], "$[0]"),
        ([Path("x")], "$[0]"),
        ([object()], "$[0]"),
        (itself(), "$[1]"),
        ({"n": [10**5000]}, "$.n[0]"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_path(value: Any, path: str) -> None:
    for refuses in (value_hash, checked):
        with pytest.raises(EpisodeError) as caught:
            refuses(value)
        assert caught.value.where == path


def test_a_value_nested_without_end_is_refused() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(EpisodeError, match="nested"):
        value_hash(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_may_be_hashed_but_not_written(value: float) -> None:
    assert len(value_hash([value])) == 16
    with pytest.raises(EpisodeError) as caught:
        checked({"a": [value]})
    assert caught.value.where == "$.a[0]"
