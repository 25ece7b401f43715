"""The shipped examples can be played to the end, failed, rewound and forked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from quizlog_tui.files.paths import (
    decisions_path,
    example_names,
    own_examples,
    record_path,
    shipped,
)
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session.session import Session
from quizlog_tui.solver.decision_text import read_decisions
from tests.support.examples import FAILED, WON, fresh_example


def test_every_example_is_known_here() -> None:
    assert sorted(WON) == example_names()


@pytest.mark.parametrize("name", sorted(WON))
def test_an_example_agrees_with_its_record(name: str, tmp_path: Path) -> None:
    folder = shutil.copytree(shipped("records") / name, tmp_path / name)
    with Session(folder / "record.yaml") as session:
        assert session.warnings == []


@pytest.mark.parametrize("name", ["linear-algebra", "survey"])
def test_an_example_with_models_opens_on_a_history(name: str) -> None:
    path = shipped("records") / name / "record.yaml"
    record = RecordFile(path).read()
    assert record.pointer == len(record.inputs) > 0
    assert len(record.branches) == 3 and record.extras["feedback"]
    scores = [branch.score for branch in record.branches.values() if branch.status == "error"]
    scores += [record.last_error.score] if record.last_error else []
    assert len([score for score in scores if score]) == 2
    decisions = read_decisions(decisions_path(path)).decisions
    assert len(decisions) >= 3 and all(len(one.models) == 3 for one in decisions)


@pytest.mark.parametrize("name", sorted(WON))
def test_an_example_can_be_won_failed_and_forked(name: str, tmp_path: Path) -> None:
    wrong, score = FAILED[name]
    with Session(fresh_example(name, tmp_path)) as session:
        reply = session.answer(wrong)
        assert (reply.status, reply.score) == ("error", score)
        for answer in WON[name]:
            reply = session.answer(answer)
        assert (reply.status, reply.score) == ("success", 1.0)
        assert session.rewind(0).pointer == 0
        reply = session.fork(0, wrong, name="again")
        assert reply.status == "error"
        assert session.switch("main").status == "success"


def test_the_users_copy_is_made_once_and_left_alone() -> None:
    path = record_path("survey")
    assert path.is_file() and path.parent.parent == own_examples()
    path.write_text("changed")
    assert record_path("survey").read_text() == "changed"
