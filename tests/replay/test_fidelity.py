"""A script behaves under replay as `python script.py` with its answers on a pipe.

Scripts after public patterns lie in `tests/corpus`, one a file, with sections that begin with
`=== NAME`: the script `quiz.py` and its other files, `args` and `answers` (one a line), and `run`:
what the script shows with them.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.world import World
from tests.support.build import Build
from tests.support.corpus import CORPUS
from tests.support.long_runs import few
from tests.support.plain import equals_a_plain_run, run_plain


@pytest.fixture(params=CORPUS, ids=lambda name: name.replace(" ", "-"))
def case(request: pytest.FixtureRequest, build: Build) -> tuple[Path, list[str]]:
    source, answers = CORPUS[request.param]
    return build.script(source), answers


def test_output_and_exit_code_equal_a_plain_run(case: tuple[Path, list[str]]) -> None:
    equals_a_plain_run(*case)


def test_what_takes_long_to_load_is_loaded_only_by_scripts_that_want_it(build: Build) -> None:
    names = ("enum", "importlib", "re", "typing", "warnings")
    loaded = f"import sys\nprint([n for n in {names} if n in sys.modules])\n"
    equals_a_plain_run(build.script(loaded), [])


def test_no_types_of_syntax_trees_are_made_unasked(build: Build) -> None:
    made = "print([one for one in object.__subclasses__() if one.__module__ in ('_ast', 'ast')])\n"
    script = build.script(made)
    replay(script, 1, [])  # the first start of all compiles the worker itself
    equals_a_plain_run(script, [])


def test_collections_of_garbage_begin_as_in_a_plain_run(build: Build) -> None:
    state = (
        "gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), gc.get_debug(), gc.callbacks"
    )
    older = "[one['collections'] for one in gc.get_stats()[1:]]"
    script = build.script(f"import gc\nprint({state}, {older}, gc.garbage)\n")
    replay(script, 1, [])  # the first start of all compiles the worker itself
    equals_a_plain_run(script, [])


@pytest.mark.parametrize("case", few(CORPUS, "print options", "subprocess"), indirect=True)
def test_so_they_do_where_output_is_unbuffered(
    case: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    equals_a_plain_run(*case)


@pytest.mark.parametrize("case", few(CORPUS, *list(CORPUS)[3::6]), indirect=True)
def test_one_at_a_time_equals_all_at_once(case: tuple[Path, list[str]], replayer: Replayer) -> None:
    script, answers = case
    at_once = replay(script, 1, answers)
    for count in range(len(answers) + 1):
        stepwise = replayer.replay(script, 1, answers[:count])
        assert stepwise == at_once.upto(count)
    assert len(at_once.steps) == len(answers)


FOLDER = Path(__file__).parent.parent / "corpus"
_HEAD = re.compile(r"^=== (.+)\n", re.M)
_DATA = ("args", "answers", "run")


@dataclass(frozen=True)
class CorpusScript:
    path: Path
    files: dict[str, str]
    args: tuple[str, ...]
    answers: tuple[str, ...]
    run: str

    def unpack(self, folder: Path) -> Path:
        """Write its files; the path of the script."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return folder / "quiz.py"

    def keep(self, run: str) -> None:
        """Write another run to its file."""
        text = self.path.read_text(encoding="utf-8").partition("=== run\n")[0]
        self.path.write_text(f"{text}=== run\n{run}", encoding="utf-8")


def read_script(path: Path) -> CorpusScript:
    _, *parts = _HEAD.split(path.read_text(encoding="utf-8"))
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    files = {name: text for name, text in sections.items() if name not in _DATA}
    args, answers = (tuple(sections.get(name, "").splitlines()) for name in ("args", "answers"))
    return CorpusScript(path, files, args, answers, sections.get("run", ""))


UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))
SEED = 1


SCRIPTS = sorted(FOLDER.glob("*.txt"))


@pytest.fixture(params=few(SCRIPTS, *SCRIPTS[::3]), ids=lambda path: path.stem)
def file_case(request: pytest.FixtureRequest) -> CorpusScript:
    found = read_script(request.param)
    text = "".join(found.files.values())
    for library in ("click", "rich"):
        if f"import {library}" in text or f"from {library}" in text:
            pytest.importorskip(library)
    return found


def test_a_script_after_a_public_pattern_runs_as_its_file_says(
    file_case: CorpusScript, build: Build, replayer: Replayer
) -> None:
    script = file_case.unpack(build.folder)
    world = World(SEED, args=file_case.args)
    run = replay(script, world, file_case.answers)
    if UPDATE:
        file_case.keep(shown(run))
    assert shown(run) == read_script(file_case.path).run
    for count in range(len(file_case.answers) + 1):
        assert replayer.replay(script, world, file_case.answers[:count]) == run.upto(count)
    as_plain(file_case, script, run)


def as_plain(file_case: CorpusScript, script: Path, run: Transcript) -> None:
    """Where chance plays no part, a plain interpreter writes the same."""
    if "import random" not in file_case.files["quiz.py"]:
        done = run_plain(script, file_case.answers, file_case.args)
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
