"""The search for what makes runs differ, where what they show is partly chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.proof.trials import CauseSearch, Trials, Variation
from quizlog_tui.replay.script.source import Source, read_source
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.uncached_runs import UncachedRuns
from quizlog_tui.replay.world import FIXED_CONDITIONS, OPEN_CONDITIONS, World
from tests.support.made_runs import run

SCRIPT = Path(__file__)
"""Any script: it is not run."""
CHANGED = (*FIXED_CONDITIONS, *OPEN_CONDITIONS)


class Shown(UncachedRuns):
    """In place of processes, a function from the changed conditions to the text that is shown."""

    def __init__(self, text: Callable[[frozenset[str]], str]) -> None:
        super().__init__()
        self._text = text

    def replay(self, source: Source, world: World, inputs: Sequence[str]) -> Transcript:
        return run([([self._text(world.changed)], "?")])


def culprits(text: Callable[[frozenset[str]], str]) -> tuple[str, ...]:
    trials = Trials(read_source(SCRIPT), World(seed=0), Shown(text), "elsewhere")
    [(_, found)] = trials.find_out(CauseSearch((), Variation(CHANGED)), [()])
    return tuple(found)


@given(chance=st.randoms())
def test_no_place_or_machine_is_accused_of_what_a_start_unobserved_shows_by_chance(
    chance: Random,
) -> None:
    """A thread shows its text before or after that of the script, and fails where it cannot start.

    What is the same in every replay may be found first; a verdict searches on without it.
    """

    def text(changed: frozenset[str]) -> str:
        return "refused" if "starts" in changed else chance.choice(["ab", "ba"])

    found = culprits(text)
    assert found and (found == ("starts",) or FIXED_CONDITIONS.keys() >= {*found})


@given(st.sampled_from(sorted({*CHANGED} - {"starts"})))
def test_what_starts_nothing_is_not_accused_of_it(condition: str) -> None:
    assert culprits(lambda changed: str(condition in changed)) == (condition,)


def test_what_shows_another_text_each_time_is_not_accused_either() -> None:
    texts = iter(range(1_000))
    assert culprits(lambda changed: str(next(texts))) == ()
