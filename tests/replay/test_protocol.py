"""Messages of a quiz process: what has their form is read, and whatever else arrives is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quizlog_tui.replay.protocol import (
    Born,
    Outcome,
    Place,
    RawStep,
    Refused,
    Report,
    Straying,
    Unshut,
    Violation,
    parse,
)

STEP = ["? ", 3, ["a\n", [2, 5]], 7, 0, 0.25, ["? "]]
REPORT = ["asking", [STEP], ["finished", None, None, []], None, ["thread"], None]


def told(message: Any) -> bytes:
    return json.dumps(message).encode()


def test_every_kind_of_message_is_read() -> None:
    assert parse(told(["born", 12])) == Born(12)
    assert parse(told(["place", "overlay", "landlock"])) == Place("overlay", "landlock")
    assert parse(told(["straying"])) == Straying()
    assert parse(told(["unshut", "no"])) == Unshut("no")
    assert parse(told(["refused", "it forked"])) == Refused("it forked")
    end = ["raised", "ValueError", "x", [[1, 2], [3, 3]]]
    report = parse(told(["ended", [[None, *STEP[1:]]], end, "it forked", [], ["latin-1", ""]]))
    assert isinstance(report, Report)
    assert report.outcome == Outcome("raised", "ValueError", "x", [[1, 2], [3, 3]])
    assert report.steps == [RawStep(None, 3, ["a\n", [2, 5]], 7, 0, 0.25, ["? "])]
    assert (report.taint, report.met, report.writing) == ("it forked", [], ("latin-1", ""))


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at]
    for index, item in enumerate(value if isinstance(value, list) else ()):
        found += places(item, (*at, index))
    return found


def put(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    return [put(item, at[1:], new) if n == at[0] else item for n, item in enumerate(value)]


ODD = [
    None,
    True,
    -1,
    2**60,
    1.5,
    -0.5,
    1e300,
    "x",
    "x" * 10_000,
    [],
    [[]],
    {},
    {"a": 1},
    [1, 2, 3],
]
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
)


@given(st.sampled_from(places(REPORT)), st.sampled_from(ODD) | ANY)
def test_a_report_with_one_thing_changed_is_read_or_refused(at: tuple[Any, ...], new: Any) -> None:
    try:
        message = parse(told(put(REPORT, at, new)))
    except Violation:
        return
    if isinstance(message, Report):
        for step in message.steps:
            assert step.seconds >= 0 and step.out_end >= 0 and step.err_end >= 0
            assert all(type(one) in (str, list) for one in (*step.entries, *step.asked))


@given(ANY.map(told) | st.binary(max_size=60))
@example(b"[" * 100_000)
@example(b"9" * 10_000)
@example(b'["born", NaN]')
@example(b'["born", true]')
@example(b'["place", [], "landlock"]')
@example(b'["straying", 1]')
def test_what_is_no_message_is_refused(data: bytes) -> None:
    try:
        assert parse(data) is not None
    except Violation as violation:
        assert str(violation).startswith("it ")


@pytest.mark.parametrize("place", [(1, 0, 3), (1, 0, 5), (1, 0, 2, 1, 0), (4, 0), (2, 0), (5,)])
def test_what_a_report_counts_or_names_has_its_type(place: tuple[int, ...]) -> None:
    with pytest.raises(Violation):
        parse(told(put(REPORT, place, {})))
