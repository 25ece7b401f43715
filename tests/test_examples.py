"""The shipped examples can be played to the end, failed, rewound and forked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from quizlog_tui.files.paths import example_names, own_examples, record_path, shipped
from quizlog_tui.session.session import Session
from tests.support.examples import FAILED, WON


@pytest.fixture(params=sorted(WON))
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    shutil.copytree(shipped("records") / request.param, tmp_path / request.param)
    return tmp_path / request.param / "record.yaml"


def test_every_example_is_known_here() -> None:
    assert sorted(WON) == example_names()


def test_an_example_agrees_with_its_record(example: Path) -> None:
    with Session(example) as session:
        assert session.warnings == []


def test_an_example_can_be_won_failed_and_forked(example: Path) -> None:
    name = example.parent.name
    wrong, score = FAILED[name]
    with Session(example) as session:
        start = session.pointer
        reply = session.answer(wrong)
        assert (reply.status, reply.score) == ("error", score)
        for answer in WON[name]:
            reply = session.answer(answer)
        assert (reply.status, reply.score) == ("success", 1.0)
        assert session.rewind(0).pointer == 0
        reply = session.fork(start, wrong, name="again")
        assert reply.status == "error"
        assert session.switch("main").status == "success"


def test_the_users_copy_is_made_once_and_left_alone() -> None:
    path = record_path("survey")
    assert path.is_file() and path.parent.parent == own_examples()
    path.write_text("changed")
    assert record_path("survey").read_text() == "changed"
