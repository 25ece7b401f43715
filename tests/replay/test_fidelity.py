"""A script behaves under replay as `python script.py` with its answers on a pipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from quizlog_tui.replay.replayer import Replayer, replay
from tests.support.build import Build
from tests.support.corpus import CORPUS
from tests.support.long_runs import few
from tests.support.plain import equals_a_plain_run


@pytest.fixture(params=CORPUS, ids=lambda name: name.replace(" ", "-"))
def case(request: pytest.FixtureRequest, build: Build) -> tuple[Path, list[str]]:
    source, answers = CORPUS[request.param]
    return build.script(source), answers


def test_output_and_exit_code_equal_a_plain_run(case: tuple[Path, list[str]]) -> None:
    equals_a_plain_run(*case)


def test_what_takes_long_to_load_is_loaded_only_by_scripts_that_want_it(build: Build) -> None:
    loaded = "import sys\nprint([n for n in ('enum', 're', 'typing') if n in sys.modules])\n"
    equals_a_plain_run(build.script(loaded), [])


@pytest.mark.parametrize("case", few(CORPUS, "print options", "subprocess"), indirect=True)
def test_so_they_do_where_output_is_unbuffered(
    case: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    equals_a_plain_run(*case)


@pytest.mark.parametrize("case", few(CORPUS, *list(CORPUS)[2::4]), indirect=True)
def test_one_at_a_time_equals_all_at_once(case: tuple[Path, list[str]], replayer: Replayer) -> None:
    script, answers = case
    at_once = replay(script, 1, answers)
    for count in range(len(answers) + 1):
        stepwise = replayer.replay(script, 1, answers[:count])
        assert stepwise == at_once.upto(count)
    assert len(at_once.steps) == len(answers)
