"""Who gave each answer: kept with the answer, whatever becomes of its branch."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from quizlog_tui.errors import RecordError, UsageError
from quizlog_tui.record import who
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.document import from_text, to_mapping, to_text
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.who import Attribution, Giver
from quizlog_tui.record.yaml_text import parse_own
from quizlog_tui.session.session import Session
from tests.support.build import Build

QUIZ = "for n in range(5):\n    input(f'{n}? ')\n"
ANN, BOB = Giver("screen", "person", "ann"), Giver("http", "agent", "bob")


def ticking() -> Callable[[], str]:
    ticks = count()
    return lambda: f"t{next(ticks)}"


def opened(path: Path, giver: Giver = ANN) -> Session:
    return Session(path, clock=ticking(), giver=giver)


def names(record: Record, branch: str | None = None) -> dict[int, str | None]:
    given = who.on_branch(record, branch or record.branch)
    return {at: one.name for at, one in sorted(given.items())}


def test_each_answer_keeps_who_gave_it(build: Build) -> None:
    path = build.record(QUIZ)
    with opened(path) as session:
        session.answer("a")
    with opened(path, BOB) as session:
        session.answer("b")
    record = RecordFile(path).read()
    given = who.on_branch(record, "main")
    assert given[0] == Attribution("person", "ann", "screen", given[0].time) and given[0].time
    assert given[1].to_dict().keys() == {"by", "name", "door", "time"}
    on_disk: Any = yaml.safe_load(path.read_text())
    assert [(one["at"], one["branch"], one["name"]) for one in on_disk["who"]] == [
        (0, "main", "ann"),
        (1, "main", "bob"),
    ]


def test_a_giver_moves_with_the_answers_that_become_a_branch(build: Build) -> None:
    with opened(build.record(QUIZ)) as session:
        for answer in "abc":
            session.answer(answer)
        session.answer("x", at=1, giver=BOB)
        assert names(session.record) == {0: "ann", 1: "bob"}
        assert names(session.record, "main-1") == {0: "ann", 1: "ann", 2: "ann"}
        session.rename("main-1", "old")
        session.switch("old")
        assert names(session.record) == {0: "ann", 1: "ann", 2: "ann"}
        session.fork(2, "y", "forked", giver=BOB)
        assert names(session.record) == {0: "ann", 1: "ann", 2: "bob"}
        session.keep(1, "z", "kept")
        assert names(session.record, "kept") == {0: "ann", 1: "ann"}


def test_stepping_over_an_answer_changes_no_giver(build: Build) -> None:
    with opened(build.record(QUIZ)) as session:
        session.answer("a")
        session.answer("b")
        session.rewind(0)
        session.answer("a", giver=BOB)
        assert names(session.record) == {0: "ann", 1: "ann"}


def test_answers_that_an_amendment_keeps_stay_their_givers(build: Build) -> None:
    with opened(build.record(QUIZ)) as session:
        session.answer("a")
        session.answer("b", giver=BOB)
        session.answer("c", giver=BOB)
        session.amend(0, "x")
        assert names(session.record) == {0: "ann", 1: "bob", 2: "bob"}
        before = who.on_branch(session.record, "main-1")
        after = who.on_branch(session.record, "main")
        assert before[0].time != after[0].time and before[1] == after[1]


def test_undo_and_redo_lose_no_giver(build: Build) -> None:
    with opened(build.record(QUIZ)) as session:
        session.answer("a")
        session.answer("b", giver=BOB)
        session.undo()
        assert names(session.record) == {0: "ann", 1: "bob"}
        session.redo()
        session.answer("x", at=0)
        session.undo()
        assert names(session.record) == {0: "ann", 1: "bob"}
        hidden = [one.name for one in session.all_branches if one.deleted]
        assert [names(session.record, name) for name in hidden] == [{0: "ann"}]


def test_answers_of_which_nothing_is_known_are_left_out(build: Build) -> None:
    path = build.record(QUIZ, "a", "b")
    with opened(path) as session:
        session.answer("c")
        assert names(session.record) == {2: "ann"}


def test_entries_of_other_tools_are_kept(build: Build) -> None:
    foreign = [1, {"at": "x"}, {"at": True, "branch": "main"}]
    path = build.record(QUIZ)
    record = RecordFile(path).read()
    path.unlink()
    RecordFile(path).create(record.but(extras={**record.extras, "who": foreign}))
    with opened(path) as session:
        session.answer("a")
        session.answer("b", at=0)
        assert names(session.record) == {0: "ann"}
    on_disk: Any = yaml.safe_load(path.read_text())["who"]
    assert on_disk[: len(foreign)] == foreign


def test_one_more_giver_costs_the_same_after_many() -> None:
    items = AppendOnlyList({"at": at, "branch": "main", "by": "person"} for at in range(1000))
    record = Record("quiz.py", 1, extras={"who": items})
    more = who.added(record, "main", 1000, Attribution("person"))
    assert more.extras["who"].continues(items) and len(more.extras["who"]) == 1001


def test_givers_take_a_line_each_and_are_read_without_the_full_reader(build: Build) -> None:
    odd = {
        "at": 0,
        "branch": 'no: "x"',
        "by": "yes",
        "name": "a\nb\u2028",
        "time": "1:30",
        "seconds": 1.5,
    }
    record = Record("quiz.py", 1, extras={"who": [odd, {"at": 1}, [], "text", None]})
    text = to_text(to_mapping(record), Path("r.yaml"))
    assert len(text.splitlines()) == text.count("\n")
    assert parse_own(text) is not None
    assert (
        from_text(text, "r.yaml").extras["who"]
        == yaml.safe_load(text)["who"]
        == record.extras["who"]
    )


def test_a_key_that_appears_twice_in_a_line_is_refused() -> None:
    text = 'script: "quiz.py"\nseed: 1\nwho:\n- {"at": 0, "at": 1}\n'
    with pytest.raises(RecordError, match="the key 'at' appears twice"):
        from_text(text, "r.yaml")


@pytest.mark.parametrize(
    ("given", "text"),
    [(Attribution("person", "ann", "shell"), "ann"), (Attribution("agent", door="http"), "agent"),
     (Attribution(door="shell"), "shell"), (Attribution(), "unknown")],
)  # fmt: skip
def test_a_giver_in_a_word(given: Attribution, text: str) -> None:
    assert who.giver_text(given) == text


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (" claude 4 ", "claude 4"),
        ("a\nb\x1b[31m", "a⏎b␛[31m"),
        ("\u202eevil", "\\u202eevil"),
        ("x" * 81, "x" * 79 + "…"),
        (" \t", None),
        ("", None),
    ],
)
def test_a_claimed_name_steers_nothing_and_is_short(said: str, name: str | None) -> None:
    assert who.claimed_name(said) == name


def test_an_unknown_giver_is_told_who_answered() -> None:
    many = [Attribution(name=f"n{number:02}\n") for number in range(20)]
    who.check_giver("N07⏎", many)
    with pytest.raises(UsageError, match="no answer is by 'x'") as caught:
        who.check_giver("x", many)
    names = ", ".join(f'"n{number:02}⏎"' for number in range(12))
    assert caught.value.hint == f"answers are by: {names}, …"
    with pytest.raises(UsageError) as caught:
        who.check_giver("x", [])
    assert caught.value.hint == "there are no answers yet"
