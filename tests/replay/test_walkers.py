"""Several walkers through a tree show what one shows, begin only where they pay, and end together."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from quizlog_tui.errors import CancelledError, LimitError
from quizlog_tui.replay import at_once, walkers
from quizlog_tui.replay.at_once import memory_sizes
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script.granted import grant, granted_source
from quizlog_tui.replay.script.source import Source, read_source
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.tree_walk import Outcome, TreeWalk, in_order, tree_of
from quizlog_tui.replay.uncached_runs import UncachedRuns
from quizlog_tui.replay.walkers import Walks, halfway, works
from quizlog_tui.replay.world import World
from tests.support.build import Build
from tests.support.long_runs import examples
from tests.support.processes import IS_UP, below, gives_up, wait_for
from tests.support.trees import ANSWERS, LINES, NASTY, answers_in, facts

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")
WORLDS = (World(5), World(5).but(("hashes", "clock", "leftovers", "metadata")))
ASKS = "while True: print('so,', input('more? '))\n"
MANY = [[str(at % 3), str(at)] for at in range(24)]
SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Further walkers begin wherever they save anything; how many lists each of them took."""
    taken: list[int] = []
    give = walkers._Walker.give

    def counted_give(walker: walkers._Walker, count: int) -> Any:
        taken.append(count)
        return give(walker, count)

    monkeypatch.setattr(walkers, "_WORTH", 1e-12)
    monkeypatch.setattr(walkers, "_LOOK", 0.0)
    monkeypatch.setattr(walkers._Walker, "give", counted_give)
    monkeypatch.setattr(walkers, "at_once", lambda limits: 4)
    return taken


def through(
    source: Source, lines: Sequence[Sequence[str]], worlds: Sequence[World], limits: Limits
) -> dict[int, list[Outcome]]:
    found = list(Walks(limits).through(source, worlds, tree_of(lines)))
    assert len(found) == len(lines)
    return dict(found)


@given(LINES)
def test_the_works_of_lists_are_the_answers_of_their_tree_and_a_copy_each(
    lines: list[list[str]],
) -> None:
    tree = tree_of(lines)
    found = works(tree)
    assert sum(work.after for work in found) == answers_in(tree) + len(lines)
    assert [work.alone for work in found] == [1 + len(line) for _, line in in_order(tree)]


@given(st.lists(st.integers(1, 50), min_size=2))
def test_halfway_leaves_some_on_either_side_and_neither_too_much(amounts: list[int]) -> None:
    count = halfway(amounts)
    assert 0 < count < len(amounts)
    before, after = sum(amounts[:count]), sum(amounts[count:])
    assert abs(before - after) <= 2 * max(amounts)


@given(st.lists(st.lists(ANSWERS, max_size=5), min_size=2, max_size=9))
@example([["a", "write", "read"], ["a", "read"], ["b", "write", "read"], ["b", "read"], ["read"]])
@example([["program", "fork", "a"], ["thread", "b"], ["a", "bad"], ["b", "kill"], ["b", "b"]])
@settings(max_examples=examples(3), suppress_health_check=SLOW)
def test_several_walkers_show_what_separate_replays_show(
    build: Build, eager: list[int], lines: list[list[str]]
) -> None:
    source = read_source(build.script(NASTY))
    shown = through(source, lines, WORLDS, Limits())
    for index, line in enumerate(lines):
        for world, run in zip(WORLDS, shown[index], strict=True):
            assert facts(run) == facts(replay(source, world, line)), line


def test_each_list_comes_once_and_further_walkers_take_some(build: Build, eager: list[int]) -> None:
    source = read_source(build.script(ASKS))
    with Replayer(checkpoints=0) as replayer:
        shown = dict(replayer.walk(source, 1, MANY))
    assert [
        list(run.inputs) for _, run in sorted(shown.items()) if isinstance(run, Transcript)
    ] == (MANY)
    assert eager


@pytest.mark.parametrize(("worlds", "bears", "most"), [(1, 1, 1), (1, 3, 3), (2, 3, 2), (2, 4, 4)])
def test_no_more_walk_at_once_than_the_machine_bears(
    build: Build,
    eager: list[int],
    monkeypatch: pytest.MonkeyPatch,
    worlds: int,
    bears: int,
    most: int,
) -> None:
    monkeypatch.setattr(walkers, "at_once", lambda limits: bears)
    walks = Walks(Limits())
    source, peak = read_source(build.script(ASKS)), 0
    for _ in walks.through(source, WORLDS[:worlds], tree_of(MANY)):
        peak = max(peak, len(walks._under_way))
    assert peak == most
    assert bool(eager) == (most > worlds)
    assert not walks._under_way


def test_real_files_are_used_by_one_walker_alone(build: Build, eager: list[int]) -> None:
    script = build.script(f"#quizlog: real-files\n{ASKS}")
    grant(granted_source(script), ["real-files"])
    source = granted_source(script)
    assert source.allowed
    assert len(through(source, MANY, [World(1)], Limits())) == len(MANY)
    assert not eager


@linux
def test_what_goes_over_a_limit_stops_no_other_list(build: Build, eager: list[int]) -> None:
    source = read_source(build.script("while input('? ') != 'loop': pass\nwhile True: pass\n"))
    lines = [["a"], ["loop", "a"], ["loop", "b"], ["b", "c"], ["c"], ["d", "loop"]]
    shown = through(source, lines, [World(1)], Limits(seconds=1))
    stopped = [isinstance(shown[i][0], LimitError) for i in range(len(lines))]
    assert stopped == [False, True, True, False, False, True]


LOOPS = f"if input('? ') != '0':\n    {IS_UP}\n    while True: pass\n"


@pytest.mark.parametrize("cached", [True, False])
@linux
def test_all_walkers_are_given_up_at_once(build: Build, eager: list[int], cached: bool) -> None:
    source, known = read_source(build.script(LOOPS)), below(os.getpid())
    lines = [["0"], *([str(at)] for at in range(1, 9))]
    if cached:
        with Replayer(checkpoints=0) as replayer:
            assert gives_up(lambda: dict(replayer.walk(source, 1, lines)), replayer.cancel)
    else:
        runs = UncachedRuns()
        assert gives_up(lambda: dict(runs.walk(source, WORLDS, tree_of(lines))), runs.give_up)
    wait_for(lambda: set(below(os.getpid())) <= set(known))


@linux
def test_what_begins_as_all_is_given_up_is_given_up_too(
    build: Build, eager: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    walks, begun = Walks(Limits()), Walks._begun

    def too_late(self: Walks, new: Sequence[TreeWalk]) -> walkers.Walk:
        if self._under_way:  # a further walker begins, of which the call does not know
            self.cancel()
        return begun(self, new)

    monkeypatch.setattr(Walks, "_begun", too_late)
    lines = [["0"], *([str(at)] for at in range(1, 9))]
    source = read_source(build.script(LOOPS))
    with pytest.raises(CancelledError):
        list(walks.through(source, [World(1)], tree_of(lines)))
    assert not walks._under_way


@linux
def test_an_abandoned_walk_leaves_no_process(build: Build, eager: list[int]) -> None:
    source, known = read_source(build.script(ASKS)), below(os.getpid())
    walk = Walks(Limits()).through(source, WORLDS, tree_of(MANY))
    assert isinstance(walk, Iterator)
    assert len(list(islice(walk, 5))) == 5
    del walk
    wait_for(lambda: set(below(os.getpid())) <= set(known))


def test_the_error_of_a_walk_comes_after_the_results_of_the_others(
    build: Build, eager: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, init, plain = [], TreeWalk.__init__, TreeWalk.__next__

    def noted(walk: TreeWalk, *args: Any) -> None:
        begun.append(walk)
        init(walk, *args)

    def fails(walk: TreeWalk) -> tuple[int, Outcome]:
        if begun.index(walk) == 1:
            raise OSError("no more processes")
        return plain(walk)

    monkeypatch.setattr(TreeWalk, "__init__", noted)
    monkeypatch.setattr(TreeWalk, "__next__", fails)
    found, source = [], read_source(build.script(ASKS))
    with pytest.raises(OSError, match="no more processes"):
        found.extend(Walks(Limits()).through(source, [World(1)], tree_of(MANY)))
    assert len(found) == len(MANY) - eager[0]


@pytest.mark.parametrize(
    ("cores", "available", "each", "count"),
    [(4, 9, 2, 4), (4, 5, 2, 2), (4, 1, 2, 1), (4, None, 2, 4), (4, 1, 0, 4)],
)
def test_cores_and_memory_bound_how_many_run_at_once(
    monkeypatch: pytest.MonkeyPatch, cores: int, available: int | None, each: int, count: int
) -> None:
    sizes = {} if available is None else {"MemAvailable": available << 30}
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(cores)), raising=False)
    monkeypatch.setattr(at_once, "memory_sizes", lambda: sizes)
    assert at_once.at_once(Limits(memory=each << 30)) == count
    assert at_once.at_once(Limits(memory=each << 29), processes=2) == count


@linux
def test_the_sizes_of_memory_are_bytes() -> None:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert memory_sizes()["MemTotal"] == pytest.approx(pages, rel=0.1)
