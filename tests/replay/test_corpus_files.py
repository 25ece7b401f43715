"""Scripts after public patterns show what their files say, which is what a plain run shows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.world import World
from tests.support.build import Build
from tests.support.corpus_files import FOLDER, CorpusScript, read_script
from tests.support.long_runs import few
from tests.support.plain import run_plain

UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))
SEED = 1


SCRIPTS = sorted(FOLDER.glob("*.txt"))


@pytest.fixture(params=few(SCRIPTS, *SCRIPTS[::3]), ids=lambda path: path.stem)
def case(request: pytest.FixtureRequest) -> CorpusScript:
    found = read_script(request.param)
    text = "".join(found.files.values())
    for library in ("click", "rich"):
        if f"import {library}" in text or f"from {library}" in text:
            pytest.importorskip(library)
    return found


def test_a_script_after_a_public_pattern_runs_as_its_file_says(
    case: CorpusScript, build: Build, replayer: Replayer
) -> None:
    script = case.unpack(build.folder)
    world = World(SEED, args=case.args)
    run = replay(script, world, case.answers)
    if UPDATE:
        case.keep(shown(run))
    assert shown(run) == read_script(case.path).run
    for count in range(len(case.answers) + 1):
        assert replayer.replay(script, world, case.answers[:count]) == run.upto(count)
    plain(case, script, run)


def plain(case: CorpusScript, script: Path, run: Transcript) -> None:
    """Where chance plays no part, a plain interpreter writes the same."""
    if "import random" not in case.files["quiz.py"]:
        done = run_plain(script, case.answers, case.args)
        assert (done.stdout, done.exit_code) == (run.stdout_bytes, run.exit_code)


def shown(run: Transcript) -> str:
    """Each question with its place, kind and answer, the output, and the end."""
    rows = [
        f"{step.line} {step.place or '-'} {step.input_type} {step.question!r} {step.input!r}"
        for step in (*run.steps, run.last)
        if step.prompt is not None
    ]
    error = run.last_error
    end = f"{run.status} {run.score} {run.error_type}"
    said = f" {error.line} {error.place or '-'} {error.message!r}" if error else ""
    return "\n".join([*rows, f"{end}{said}", *map(repr, run.stdout.splitlines()), ""])
