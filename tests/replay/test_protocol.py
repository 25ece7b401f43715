"""Messages of a quiz process: what has their form is read, and whatever else arrives is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quizlog_tui.replay.process.protocol import (
    CopyRefused,
    IsolationFailed,
    IsolationReport,
    ProcessStarted,
    RawStep,
    SharedWrite,
    Violation,
    WorkerOutcome,
    WorkerReport,
    parse,
)
from tests.support.messages import FINISHED, told

STEP = ["? ", 3, ["a\n", [2, 5]], 7, 0, 0.25, ["? "], "a.py:2"]
REPORT = ["asking", [STEP], FINISHED, None, ["thread"], None]


def test_every_kind_of_message_is_read() -> None:
    assert parse(told(["born", 12])) == ProcessStarted(12)
    assert parse(told(["place", "overlay", "landlock"])) == IsolationReport("overlay", "landlock")
    assert parse(told(["straying"])) == SharedWrite()
    assert parse(told(["unshut", "no"])) == IsolationFailed("no")
    assert parse(told(["refused", "it forked"])) == CopyRefused("it forked")
    end = ["raised", "ValueError", "x", [[1, 2, ""], [3, 3, "a.py"]]]
    report = parse(told(["ended", [[None, *STEP[1:]]], end, "it forked", [], ["latin-1", ""]]))
    assert isinstance(report, WorkerReport)
    assert report.outcome == WorkerOutcome(
        "raised", "ValueError", "x", [(1, 2, ""), (3, 3, "a.py")]
    )
    assert report.steps == [RawStep(None, 3, ["a\n", [2, 5]], 7, 0, 0.25, ["? "], "a.py:2")]
    assert (report.taint, report.observed, report.writing) == ("it forked", [], ("latin-1", ""))


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
    2**31,
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


def fits(form: Any, value: Any) -> bool:
    """Whether a value has a form: a type, a test, a list of forms, or of any number of one."""
    if isinstance(form, list):
        every = type(value) is list and len(value) == len(form)
        return every and all(map(fits, form, value))
    if isinstance(form, tuple):
        least, one, most = form
        listed = type(value) is list and least <= len(value) <= most
        return listed and all(fits(one, each) for each in value)
    return type(value) is form if isinstance(form, type) else bool(form(value))


def count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**31


def position(value: Any) -> bool:
    return type(value) is int and 0 <= value <= 2**53


def name(value: Any) -> bool:
    return type(value) is str and len(value) <= 8192


def seconds(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < 2**31


def newline(value: Any) -> bool:
    return value in ("", "\n", "\r", "\r\n")


def either(*forms: Any) -> Any:
    return lambda value: any(fits(form, value) for form in forms)


NONE = type(None)
ENTRIES = (0, either(str, [position, position]), 2**53)
STEP_FORM = [
    either(NONE, str),
    either(NONE, lambda value: count(value) and value > 0),
    *(ENTRIES, position, position, seconds, ENTRIES, name),
]
FORM = [
    lambda value: value in ("asking", "paused", "working", "ended"),
    (0, STEP_FORM, 2**53),
    [
        lambda value: value in ("finished", "left", "raised"),
        *(either(NONE, name), either(NONE, str), (0, [count, count, name], 2**20)),
    ],
    either(NONE, name),
    (0, name, 256),
    either(NONE, [name, newline]),
]
"""What a report is, in a form that is slow and plain."""


@given(st.sampled_from(places(REPORT)), st.sampled_from([*ODD, ["x"] * 300, *STEP]) | ANY)
@example((), [*REPORT[:2], ["finished", None, None, {}], *REPORT[3:]])
@example((), [*REPORT[:2], ["finished", False, None, []], *REPORT[3:]])
@example((4,), {})
def test_a_report_is_read_just_if_it_has_its_form(at: tuple[Any, ...], new: Any) -> None:
    message = json.loads(told(put(REPORT, at, new)))
    try:
        read = isinstance(parse(told(message)), WorkerReport)
    except Violation:
        read = False
    assert read == fits(FORM, message)


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
