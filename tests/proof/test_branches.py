"""Verdicts on branches rest on replays alone, and no search for a culprit accuses by chance.

Some branches are replayed by chance, and all of them where it matters.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from quizlog_tui.errors import ConfigError, LimitError
from quizlog_tui.proof.trials import CauseSearch, Trials, Variation
from quizlog_tui.proof.verdict import Verdict, combine_verdicts
from quizlog_tui.proof.verify import SAMPLE, by_chance, verify, verify_branches
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.replay.script.source import Source, read_source
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.tree_walk import Node, Outcome, in_order
from quizlog_tui.replay.uncached_runs import UncachedRuns
from quizlog_tui.replay.worker import taint as taint
from quizlog_tui.replay.world import (
    FIXED_CONDITIONS,
    OPEN_CONDITIONS,
    REMARKABLE,
    SHARED,
    SHARING_TAINTS,
    TAMPERED,
    UNVERIFIABLE,
    World,
)
from tests.support.build import Build
from tests.support.long_runs import few, phases
from tests.support.processes import IS_UP, gives_up
from tests.support.recorded_runs import EXAM, FORGED, record_of, recorded, run

FILE = """
import ctypes, os

libc, path = ctypes.CDLL(None), b"/dev/shm/seen"
class Seen:
    def __getitem__(self, at):
        found = libc.open(path, os.O_RDONLY)
        return found >= 0 and not libc.close(found)
    def __setitem__(self, at, value):
        libc.close(libc.open(path, os.O_CREAT | os.O_RDWR, 0o600))
seen = Seen()
"""
MEMORY = """
import ctypes

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
seen = (ctypes.c_ubyte * 1).from_address(libc.mmap(None, 4096, 3, 0x21, -1, 0))
"""
_MADE = EXAM[: EXAM.index("name =")]
WAYS = {"Python": EXAM, "a file": EXAM.replace(_MADE, FILE), "C": EXAM.replace(_MADE, MEMORY)}


@pytest.mark.parametrize("thorough", few([False, True], False))
@pytest.mark.parametrize("way", WAYS)
def test_what_only_another_branch_could_have_told_is_no_verdict(
    way: str, thorough: bool, build: Build
) -> None:
    text = FORGED.read_text()
    lines = [line for line in text.splitlines() if way == "Python" or "code_hash" not in line]
    build.script(WAYS[way], "exam.py")
    path = build.folder / "forged.yaml"
    path.write_text("\n".join(lines))
    found = verify(path, thorough=thorough)
    assert (found.verdict, found.branch, found.step, found.what) == ("diverges", None, 2, "outcome")


BRANCHES = 12
LINES = [(f"a{index}",) for index in range(BRANCHES)]
SCRIPT = read_source(Path(__file__))
"""Any script: it is not run."""


class Told(UncachedRuns):
    """In place of processes: some branches show another text in company than alone.

    Args:
        misled: Indices of such branches.
        observed: What is observed of each run.
        tainted: Why no run can be copied.
    """

    def __init__(
        self, misled: Collection[int], observed: tuple[str, ...] = (), tainted: str | None = None
    ) -> None:
        super().__init__()
        self.alone: list[tuple[str, ...]] = []
        self.walked = 0
        self._misled = {LINES[index] for index in misled}
        self.met: dict[str, Any] = {"observed": observed, "tainted": tainted}

    def shown(self, line: Sequence[str], *, alone: bool) -> Transcript:
        told = tuple(line) in self._misled and not alone
        made = run([([], "right? "), (["yes" if told else "no"], "more? ")])
        steps = AppendOnlyList(step.answered(line[0]) for step in made.steps)
        return replace(made, steps=steps, **self.met)

    def replay(self, source: Source, world: World, inputs: Sequence[str]) -> Transcript:
        self.alone.append(tuple(inputs))
        return self.shown(inputs, alone=True)

    def walk(
        self, source: Source, worlds: Sequence[World], tree: Node
    ) -> Iterator[tuple[int, list[Outcome]]]:
        self.walked += len(worlds) * (tree.count > 1)
        for index, line in in_order(tree):
            yield index, [self.shown(line, alone=tree.count == 1) for _ in worlds]

    def record(self, forged: Collection[int], count: int = BRANCHES) -> Record:
        """A record that shows for some branches what they only show in company."""
        lines = enumerate(LINES[:count])
        return record_of(SCRIPT, [self.shown(line, alone=at not in forged) for at, line in lines])


def first(some: Sequence[int], count: int) -> Iterable[int]:
    return some[:count]


def judged(runs: Told, record: Record, **options: Any) -> Verdict:
    return verify_branches(record, SCRIPT, runs, **{"draw": first} | options)


def name_of(index: int) -> str | None:
    """The name of a branch in a verdict."""
    return f"b{index - 1}" if index else None


@pytest.mark.parametrize("forged", range(BRANCHES))
def test_a_branch_that_was_told_is_found_if_it_is_drawn_and_always_by_thorough(forged: int) -> None:
    runs = Told([forged])
    record = runs.record([forged])
    there = [forged, *(index for index in range(1, BRANCHES) if index != forged)]
    for options in ({"thorough": True}, {"draw": lambda _, count: there[:count]}):
        found = judged(runs, record, **options)
        assert (found.verdict, found.branch, found.step) == ("diverges", name_of(forged), 1)


def test_the_active_branch_is_replayed_alone_beside_those_that_are_drawn() -> None:
    asked: list[tuple[list[int], int]] = []

    def draw(some: Sequence[int], count: int) -> Iterable[int]:
        asked.append((list(some), count))
        return some[-count:]

    runs = Told([])
    found = judged(runs, runs.record([]), draw=draw)
    assert asked == [([*range(1, BRANCHES)], SAMPLE)]
    assert sorted(runs.alone) == sorted([LINES[0], *LINES[-SAMPLE:]])
    assert (found.verdict, found.alone, found.branches) == ("reproducible", 1 + SAMPLE, BRANCHES)


def test_a_sample_is_a_sample_and_the_verdict_says_of_how_many() -> None:
    runs = Told([BRANCHES - 1])
    found = judged(runs, runs.record([BRANCHES - 1]))
    assert found.headline == "reproducible"
    assert "replayed alone: 6 of 12 branches (--thorough: all)" in found.remarks
    data = found.to_dict()
    assert (data["alone"], data["branches"]) == (6, 12)
    every = judged(runs, runs.record([]), thorough=True)
    assert "replayed alone: all 12 branches" in every.remarks


def test_what_is_drawn_nobody_can_foretell() -> None:
    drawn = []
    for _ in range(10):
        random.seed(1)
        drawn.append(tuple(by_chance(range(1, 100), SAMPLE)))
    assert all({*some} < {*range(1, 100)} and len({*some}) == SAMPLE for some in drawn)
    assert len({*drawn}) > 1


@pytest.mark.parametrize(
    "name", ["files", "ports", "real-network", "processes", "threads", "network", "tampered", "raw"]
)
def test_all_are_replayed_alone_where_the_script_could_have_shared_anything(name: str) -> None:
    assert name in UNVERIFIABLE or name in REMARKABLE
    runs = Told([], (name,))
    assert judged(runs, runs.record([])).alone == BRANCHES
    assert {*runs.alone} == {*LINES} or name == TAMPERED, "then no walk is believed"


@pytest.mark.parametrize("reason", SHARING_TAINTS)
def test_they_are_too_where_its_process_must_not_be_copied_for_such_a_reason(reason: str) -> None:
    assert reason in (*taint._LASTING.values(), *SHARED.values())
    runs = Told([BRANCHES - 1], tainted=reason)
    assert judged(runs, runs.record([BRANCHES - 1])).verdict == "diverges"
    assert judged(Told([], tainted="it wrote files"), runs.record([])).alone == 1 + SAMPLE


@pytest.mark.parametrize("lacking", ["isolation", "witness"])
def test_they_are_too_where_nobody_sees_what_is_shared(lacking: str) -> None:
    runs = Told([])
    runs.met["unavailable"] = (lacking,)
    assert judged(runs, runs.record([])).alone == BRANCHES


@pytest.mark.parametrize("count", [2, 1 + SAMPLE])
def test_few_branches_are_replayed_alone_instead_of_together(count: int) -> None:
    runs = Told([])
    found = judged(runs, runs.record([], count))
    assert (found.verdict, found.alone, found.branches) == ("reproducible", count, count)
    assert sorted(runs.alone) == sorted(LINES[:count])
    assert runs.walked == 1, "only the replay where all conditions are changed is shared"


def test_a_record_without_branches_says_nothing_of_them() -> None:
    runs = Told([])
    found = judged(runs, runs.record([], 1))
    assert (found.alone, found.branches, list(found.remarks)) == (1, 1, [])


@pytest.mark.parametrize("honest", [0, 1, BRANCHES - 1])
def test_once_a_walk_has_misled_no_branch_is_judged_by_it(honest: int) -> None:
    """Whether a branch shows in company what it does not show alone, or is drawn and found out."""
    forged = BRANCHES - 2
    runs = Told([honest, forged])
    found = judged(runs, runs.record([forged]))
    assert (found.verdict, found.branch) == ("diverges", name_of(forged))


def test_what_a_limit_stops_alone_is_not_what_the_walk_showed() -> None:
    class Limited(Told):
        def replay(self, source: Source, world: World, inputs: Sequence[str]) -> Transcript:
            raise LimitError("too long")

    runs = Limited([])
    found = judged(runs, runs.record([]))
    assert (found.verdict, found.alone) == ("reproducible", BRANCHES)


def test_what_stops_one_record_gives_up_no_other() -> None:
    class Broken(Told):
        given_up = False

        def replay(self, source: Source, world: World, inputs: Sequence[str]) -> Transcript:
            raise ConfigError("no such interpreter")

        def give_up(self) -> None:
            self.given_up = True

    runs = Broken([])
    with pytest.raises(ConfigError):
        judged(runs, runs.record([], 3))
    assert not runs.given_up


HONEST = """
import random, threading, time
told = []
while (x := input(f"{len(told)} {random.random()}? ")) != "stop":
    told.append(x)
    if x == "write": open("notes", "a").write(x)
    elif x == "read": print(open("notes").read())
    elif x == "clock": print(time.time())
    elif x == "set": print({"a", "b", "c", "d"})
    elif x == "thread": t = threading.Thread(target=told.append, args=("t",)); t.start(); t.join()
    elif x == "database": import sqlite3; print(sqlite3.connect("db").execute("select 7").fetchall())
"""
ANSWERS = st.sampled_from(["a", "write", "read", "clock", "set", "thread", "database", "stop"])
MANY = [["a", "write", "read"], ["a", "set"], ["a", "clock"], ["a", "read"], ["thread"], ["stop"]]


@given(st.lists(st.lists(ANSWERS, max_size=4), min_size=2, max_size=9))
@example([*MANY, ["database", "a"]])
@settings(max_examples=10, phases=phases(), suppress_health_check=[*HealthCheck])
def test_a_sample_all_and_each_branch_alone_lead_to_one_verdict(
    build: Build, lines: list[list[str]]
) -> None:
    source = read_source(build.script(HONEST))
    record = recorded(source, lines)
    sampled, thorough = (
        verify_branches(record, source, UncachedRuns(), thorough=each) for each in (False, True)
    )
    one_by_one = [
        verify_branches(recorded(source, [line]), source, UncachedRuns()) for line in lines
    ]
    assert combine_verdicts(one_by_one) == thorough == replace(sampled, alone=len(lines))


def test_replays_alone_can_be_given_up(build: Build) -> None:
    text = f"x = input('? ')\n{IS_UP}\nwhile True: pass\n"
    record = recorded(read_source(build.script("input('? ')\n")), [["a"], ["b"]])
    source, runs = read_source(build.script(text)), UncachedRuns()
    assert gives_up(lambda: verify_branches(record, source, runs), runs.give_up)


ANY_SCRIPT = Path(__file__)
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
    trials = Trials(read_source(ANY_SCRIPT), World(seed=0), Shown(text), "elsewhere")
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


@pytest.mark.parametrize(("count", "misled"), [(1, []), (4, []), (BRANCHES, []), (BRANCHES, [3])])
def test_each_branch_is_told_once_it_is_judged(count: int, misled: list[int]) -> None:
    told: list[tuple[str, int, int]] = []
    runs = Told(misled)
    record = runs.record(misled, count)
    judged(runs, record, progress=lambda *each: told.append(each), thorough=True)
    assert {name for name, _, _ in told} == {*record.all_names}
    assert [done for _, done, _ in told[:count]] == [*range(1, count + 1)]
    assert {(done, total) for _, done, total in told[count - 1 :]} == {(count, count)}
