"""A record that comes out otherwise is found by one straight replay of each of its branches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from quizlog_tui.proof.check import RecordCheck, StatusAndScore, check, check_branches
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.script.source import Source, read_source
from quizlog_tui.replay.uncached_runs import UncachedRuns
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.recorded_runs import EXAM, FORGED, recorded

QUIZ = """
print("hello")
if int(input("2 + 2 = ")) != 4:
    raise Exception("count again")  #score = 0.5
print("good")
"""


def checked(build: Build, edited: str, *lines: list[str]) -> RecordCheck:
    """The check of a record with these branches against an edited script."""
    record = recorded(read_source(build.script(QUIZ)), lines or [["4"]])
    return check_branches(record, read_source(build.script(edited)), UncachedRuns())


def test_a_record_comes_out_as_recorded(build: Build) -> None:
    found = checked(build, QUIZ, ["5"], ["4"])
    assert (found.result, found.verdict.branches, found.verdict.what) == ("same", 2, None)
    assert found.recorded == found.replayed == StatusAndScore("error", 0.5)


def test_an_invisible_edit_changes_nothing(build: Build) -> None:
    assert checked(build, f"# sums\n{QUIZ}").result == "same"


@pytest.mark.parametrize(
    ("old", "new", "answer", "step", "what", "replayed"),
    [
        ("hello", "hallo", "4", 0, "print", StatusAndScore("success", 1.0)),
        ("2 + 2", "2+2", "4", 0, "prompt", StatusAndScore("success", 1.0)),
        ("!= 4", "!= 5", "4", 1, "outcome", StatusAndScore("error", 0.5)),
        ("0.5", "0.25", "5", 1, "outcome", StatusAndScore("error", 0.25)),
        ("count again", "no", "5", 1, "error", StatusAndScore("error", 0.5)),
    ],
)
def test_what_comes_out_otherwise_is_named(
    old: str, new: str, answer: str, step: int, what: str, replayed: StatusAndScore, build: Build
) -> None:
    found = checked(build, QUIZ.replace(old, new), [answer])
    assert found.result == "diverges"
    assert (found.verdict.step, found.verdict.what) == (step, what)
    assert (found.recorded.status != found.replayed.status) == (new == "!= 5")
    assert found.replayed == replayed


def test_the_branch_that_differs_is_shown(build: Build) -> None:
    found = checked(build, QUIZ.replace("0.5", "0.25"), ["4"], ["5"])
    assert (found.result, found.verdict.branch) == ("diverges", "b0")
    assert (found.recorded, found.replayed) == (
        StatusAndScore("error", 0.5),
        StatusAndScore("error", 0.25),
    )
    assert found.to_dict() == {
        "verdict": "diverges",
        "branch": "b0",
        "step": 1,
        "what": "outcome",
        "recorded": 0.5,
        "replayed": 0.25,
        "reason": None,
        "branches": 2,
        "outcome": {"recorded": "error", "replayed": "error"},
        "score": {"recorded": 0.5, "replayed": 0.25},
        "not_judged": [],
    }


def test_a_branch_of_another_text_of_the_script_is_not_judged(build: Build) -> None:
    path = build.record(QUIZ)
    with Session(path) as session:
        session.answer("4")
    build.script(QUIZ.replace("2 + 2", "two and two"))
    with Session(path) as session:
        session.save()
    found = check(path, UncachedRuns())
    assert found.result == "same"
    assert found.to_dict()["not_judged"] == [
        "branch main-1: recorded with another text of the script"
    ]


def test_a_rewound_record_is_compared_at_its_pointer(build: Build) -> None:
    path = build.record(QUIZ)
    with Session(path) as session:
        session.answer("4")
        session.rewind(0)
    found = check(path, UncachedRuns())
    assert found.recorded == found.replayed == StatusAndScore("in_progress", None)
    build.script(QUIZ.replace("!= 4", "!= 5"))
    assert check(path, UncachedRuns()).result == "diverges"


def test_what_cannot_be_judged_says_why(build: Build) -> None:
    slow = UncachedRuns(Limits(seconds=0.2))
    path = build.record(QUIZ)
    with Session(path) as session:
        session.answer("4")
    build.script("while True: pass")
    found = check(path, slow)
    assert (found.result, found.replayed) == ("unverifiable", StatusAndScore())
    assert found.recorded == StatusAndScore("success", 1.0)
    build.script("import time  #quizlog: real-clock\ninput(time.time())\n")
    assert check(path, UncachedRuns()).verdict.reason == "it asks for the real clock"
    build.script(QUIZ)
    bare = replace(
        RecordFile(path).read(), print=AppendOnlyList(), trail=AppendOnlyList(), extras={}
    )
    found = check_branches(bare, read_source(path.with_name("quiz.py")), UncachedRuns())
    assert found.verdict.reason == "printed text and questions are not recorded"


def test_branches_that_know_of_each_other_are_replayed_alone(build: Build) -> None:
    build.script(EXAM, "exam.py")
    (build.folder / "forged.yaml").write_text(FORGED.read_text())
    found = check(build.folder / "forged.yaml", UncachedRuns())
    assert (found.result, found.verdict.step, found.verdict.what) == ("diverges", 2, "outcome")


class OddWalk(UncachedRuns):
    """Its walks show something else than a replay alone does."""

    def __init__(self, other: Source) -> None:
        super().__init__()
        self._other = other

    def walk(self, source, worlds, tree):  # type: ignore[no-untyped-def]
        """As of another script, but for a single list."""
        return super().walk(self._other if tree.count > 1 else source, worlds, tree)


def test_no_difference_rests_on_shared_processes(build: Build) -> None:
    other = read_source(build.script(QUIZ.replace("hello", "hallo"), "other.py"))
    source = read_source(build.script(QUIZ))
    found = check_branches(recorded(source, [["4"], ["5"]]), source, OddWalk(other))
    assert found.result == "same"


def test_what_could_have_passed_anything_on_is_replayed_alone(build: Build) -> None:
    sharing = f"import socket, contextlib\nwith contextlib.suppress(OSError):\n    socket.create_connection(('127.0.0.1', 9))\n{QUIZ}"
    other = read_source(build.script(sharing, "other.py"))
    source = read_source(build.script(sharing.replace("hello", "hallo")))
    record = replace(recorded(other, [["4"], ["5"]]), script="quiz.py")
    found = check_branches(record, source, OddWalk(other))
    assert (found.result, found.verdict.replayed) == ("diverges", "hallo")


def test_a_record_is_left_as_it_is(build: Build) -> None:
    path = build.record(QUIZ)
    before = path.read_bytes(), sorted(Path(build.folder).iterdir())
    build.script(QUIZ.replace("hello", "hallo"))
    check(path, UncachedRuns())
    assert (path.read_bytes(), sorted(Path(build.folder).iterdir())) == before
