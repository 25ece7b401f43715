"""The timeline: each stop with its remarks and branches, made when looked at; sums of its effort."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.who import Attribution
from quizlog_tui.replay.transcript import Step, Transcript
from quizlog_tui.session import timeline as module
from quizlog_tui.session.session import Session
from quizlog_tui.session.timeline import (
    Try,
    seconds_between,
    step_efforts,
    timeline,
    total_effort,
)
from tests.support.build import Build
from tests.support.sessions import QUIZ


def test_each_stop_has_what_happened_there(build: Build) -> None:
    with Session(build.record(QUIZ, "1", "2", "3"), clock=lambda: "now") as session:
        session.fork(1, "bad", "other")
        session.comment(0, "shared", "right", "ann")
        session.comment(1, "own", "wrong")
        session.switch("main")
        session.rewind(2)
        moments = timeline(session.transcript_of(), session.record)
        assert [(m.at, m.question, m.answer, m.used) for m in moments] == [
            (0, "number 0? ", "1", True),
            (1, "number 1? ", "2", True),
            (2, "number 2? ", "3", False),
            (3, None, None, False),
        ]
        assert [(m.line, m.kind) for m in moments][1:] == [
            (5, "number"),
            (5, "number"),
            (None, None),
        ]
        assert all(m.seconds > 0 for m in moments[:1])
        assert [[said.text for said in m.notes] for m in moments] == [["shared"], [], [], []]
        assert [m.tries for m in moments] == [(), (Try("other", "bad", "error", 0.3),), (), ()]
        assert moments.marked == [0, 1]
        other = timeline(session.transcript_of("other"), session.record, "other")
        assert [m.answer for m in other] == ["1", "bad", None]
        assert [[said.text for said in m.notes] for m in other] == [["shared"], ["own"], []]
        assert other[1].tries == (Try("main", "2", "in_progress", None),)


def test_it_is_a_sequence(build: Build) -> None:
    with Session(build.record(QUIZ, "1", "2")) as session:
        moments = timeline(session.transcript_of(), session.record)
        assert (len(moments), moments[-1].at, [m.at for m in moments[1:]]) == (3, 2, [1, 2])
        with pytest.raises(IndexError):
            moments[3]


def test_deleted_branches_are_left_out(build: Build) -> None:
    with Session(build.record(QUIZ, "1", "2")) as session:
        session.fork(1, "bad", "other")
        session.switch("main")
        session.delete("other")
        assert timeline(session.transcript_of(), session.record)[1].tries == ()


def test_no_moment_is_made_before_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def counted(at: int, *rest: Any) -> tuple[int, Any]:
        made.append(at)
        return at, rest

    count = 100_000
    step = Step("? ", (), "", 1, input="x")
    whole = Transcript(AppendOnlyList([step] * count), Step(None, (), "", None), "success")
    monkeypatch.setattr(module, "TimelineRow", counted)
    moments = timeline(whole, Record("q.py", 1, AppendOnlyList(["x"] * count), count))
    assert len(moments) == count + 1 and made == []
    assert moments[70_000] and moments[-1] and made == [70_000, count]


def at(second: int) -> str:
    return f"2026-01-01T10:00:{second:02}+00:00"


def test_each_step_and_the_sums() -> None:
    givers = {
        0: Attribution("person", "ann", "screen", at(5)),
        1: Attribution("decision", "ada, bea", "screen", at(35)),
        3: Attribution("person", "ann", "shell", at(50)),
    }
    steps = step_efforts(givers, [0.5, 0.25, nan, 0.25], at(0), {1: 3})
    assert [step.giver for step in steps] == ["ann", "ada, bea", "unknown", "ann"]
    assert [step.waited for step in steps] == [5.0, 30.0, None, None]
    assert [step.script for step in steps] == [0.5, 0.25, None, 0.25]
    effort = total_effort(steps)
    assert (effort.waited, effort.script, effort.requests) == (35.0, 1.0, 3)
    assert list(effort.givers.items()) == [("ann", 2), ("ada, bea", 1), ("unknown", 1)]


def test_nothing_is_invented_where_nothing_is_recorded() -> None:
    (step,) = step_efforts({}, [nan], None, {})
    assert (step.giver, step.waited, step.script) == ("unknown", None, None)
    assert total_effort([step]).waited is None and total_effort([]).requests == 0


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
