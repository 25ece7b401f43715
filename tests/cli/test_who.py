"""What the shell records of who answered, and what it tells of it."""

from __future__ import annotations

import json

from quizlog_tui.record.who import Giver
from quizlog_tui.session.session import Session
from tests.cli.conftest import Run
from tests.support.build import Build


def test_steps_tell_who_gave_each_answer(run: Run, build: Build) -> None:
    path = build.record("for n in range(4): input(f'{n}? ')\n", "old")
    assert run("record.yaml", "typed")[0] == 0
    with Session(path) as session:
        session.answer("three", giver=Giver("screen", "person", "ann"))
    code, out, _ = run("steps", "record.yaml", "--json")
    givers = [step["who"] for step in json.loads(out)["steps"]]
    assert code == 0 and givers[0] is givers[3] is None
    assert givers[1].keys() == {"door", "time"} and givers[1]["door"] == "shell"
    assert (givers[2]["by"], givers[2]["name"], givers[2]["door"]) == ("person", "ann", "screen")
    _, out, _ = run("steps", "record.yaml")
    assert [line.endswith("  ann") for line in out.splitlines()] == [False, False, True, False]
