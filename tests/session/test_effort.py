"""Who answered how often, and how long it took: sums of what the record and decisions tell."""

from __future__ import annotations

from math import nan

import pytest

from quizlog_tui.record.who import Attribution
from quizlog_tui.session.timeline import (
    Asked,
    giver_text,
    seconds_between,
    step_efforts,
    total_effort,
)


def at(second: int) -> str:
    return f"2026-01-01T10:00:{second:02}+00:00"


def test_each_step_and_the_sums() -> None:
    givers = {
        0: Attribution("person", "ann", "screen", at(5)),
        1: Attribution("decision", "ada, bea", "screen", at(35)),
        3: Attribution("person", "ann", "shell", at(50)),
    }
    steps = step_efforts(givers, [0.5, 0.25, nan, 0.25], at(0), {1: Asked(3, 12.5)})
    assert [step.giver for step in steps] == ["ann", "ada, bea", "unknown", "ann"]
    assert [step.waited for step in steps] == [5.0, 30.0, None, None]
    assert [step.script for step in steps] == [0.5, 0.25, None, 0.25]
    effort = total_effort(steps)
    assert (effort.answers, effort.waited, effort.script, effort.requests) == (4, 35.0, 1.0, 3)
    assert list(effort.givers.items()) == [("ann", 2), ("ada, bea", 1), ("unknown", 1)]


def test_nothing_is_invented_where_nothing_is_recorded() -> None:
    (step,) = step_efforts({}, [nan], None, {})
    assert (step.giver, step.waited, step.script) == ("unknown", None, None)
    assert total_effort([step]).waited is None and total_effort([]).answers == 0


@pytest.mark.parametrize(
    ("given", "text"),
    [(Attribution("person", "ann", "shell"), "ann"), (Attribution("agent", door="http"), "agent"),
     (Attribution(door="shell"), "shell"), (Attribution(), "unknown")],
)  # fmt: skip
def test_a_giver_in_a_word(given: Attribution, text: str) -> None:
    assert giver_text(given) == text


@pytest.mark.parametrize(
    ("before", "after", "seconds"),
    [
        (at(1), at(3), 2.0),
        (at(3), at(1), 0.0),
        (at(1), "2026-01-01T11:00:01", None),
        ("soon", at(1), None),
        (None, at(1), None),
        ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", 315537991199.0),
    ],
)
def test_times_that_are_none_have_no_distance(
    before: str | None, after: str, seconds: float | None
) -> None:
    assert seconds_between(before, after) == seconds
