"""The timeline: each stop with its remarks and the branches that leave there, made when looked at."""

from __future__ import annotations

from typing import Any

import pytest

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.replay.transcript import Step, Transcript
from quizlog_tui.session import timeline as module
from quizlog_tui.session.session import Session
from quizlog_tui.session.timeline import Try, timeline
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
    monkeypatch.setattr(module, "Moment", counted)
    moments = timeline(whole, Record("q.py", 1, AppendOnlyList(["x"] * count), count))
    assert len(moments) == count + 1 and made == []
    assert moments[70_000] and moments[-1] and made == [70_000, count]
