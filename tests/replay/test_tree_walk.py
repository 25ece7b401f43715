"""One walk of the tree of answers shows what separate replays show, and costs what it should."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from quizlog_tui.errors import LimitError
from quizlog_tui.proof.verify import verify_branches
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Branch
from quizlog_tui.replay.process.process import Limits, QuizProcess
from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.script.source import Source, read_source
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.tree_walk import Node, Outcome, TreeWalk, in_order, tree_of
from quizlog_tui.replay.uncached_runs import UncachedRuns
from quizlog_tui.replay.world import World
from tests.support.build import Build
from tests.support.long_runs import example_of_long_runs, examples, phases
from tests.support.processes import IS_UP, gives_up
from tests.support.recorded_runs import recorded, replayed
from tests.support.trees import ANSWERS, LINES, NASTY, answers_in, facts

pytestmark = pytest.mark.early
linux = pytest.mark.skipif(sys.platform != "linux", reason="copies need Linux")


@given(LINES)
def test_a_tree_holds_every_line_and_what_they_share_once(lines: list[list[str]]) -> None:
    tree = tree_of(lines)
    assert dict(in_order(tree)) == {i: tuple(line) for i, line in enumerate(lines)}
    assert tree.count == len(lines)
    prefixes = {tuple(line[:end]) for line in lines for end in range(1, len(line) + 1)}
    assert answers_in(tree) == len(prefixes)


@given(LINES)
def test_copies_of_copies_stay_few(lines: list[list[str]]) -> None:
    """On any way down, the lines left at least halve at each side way."""

    def aside(node: Node) -> int:
        ways = node.by_weight
        return max((aside(way) + (way is not ways[-1]) for way in ways), default=0)

    assert 2 ** aside(tree_of(lines)) <= len(lines)


TREES = st.lists(st.lists(ANSWERS, max_size=5), min_size=2, max_size=7)
WORLDS = (World(5), World(5).but(("hashes", "clock", "leftovers", "metadata")))
WRITING = [["write", "read"], ["write", "write", "read"], ["read"], ["write", "bad"]]
WRITING_BESIDE_READING = [
    ["a", "write"], ["a", "read"], ["a", "c"], ["a", "read", "a"], ["a", "read", "b"],
]  # fmt: skip
WRITING_AT_THE_END = [["c late", "stop"], ["read"], ["c late", "read", "bad"], ["read", "a"]]
DYING = [["a", "kill"], ["a", "kill", "a"], ["a", "a", "hard"], ["a", "a", "hard", "a"]]
SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
"""An example takes up to forty processes, so that there are few; each run of the tests has others."""


def walked(source: Source, lines: Sequence[Sequence[str]], world: World) -> dict[int, Outcome]:
    with closing(TreeWalk(source, world, tree_of(lines), Limits())) as walk:
        return dict(walk)


@given(TREES, st.sampled_from(WORLDS))
@example(WRITING, WORLDS[0])
@example(WRITING_BESIDE_READING, WORLDS[1])
@example(WRITING_AT_THE_END, WORLDS[0])
@example(DYING, WORLDS[1])
@example_of_long_runs(WRITING, WORLDS[1])
@example_of_long_runs(WRITING_BESIDE_READING, WORLDS[0])
@example_of_long_runs(WRITING_AT_THE_END, WORLDS[1])
@example_of_long_runs(DYING, WORLDS[0])
@settings(max_examples=examples(3), suppress_health_check=SLOW)
def test_a_walk_shows_what_separate_replays_show(
    build: Build, lines: list[list[str]], world: World
) -> None:
    source = read_source(build.script(NASTY))
    shown = walked(source, lines, world)
    for index, line in enumerate(lines):
        assert facts(shown[index]) == facts(replay(source, world, line)), line


@dataclass
class Counts:
    starts: int = 0
    copies: int = 0
    answers: int = 0


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    """How many processes were started and copied, and how many answers they were given."""
    found = Counts()
    start, copy, answer = QuizProcess.start, QuizProcess.copy, QuizProcess.answer

    def counted_start(*args: Any) -> QuizProcess:
        found.starts += 1
        return start(*args)

    def counted_copy(process: QuizProcess) -> QuizProcess:
        found.copies += 1
        return copy(process)

    def counted_answer(process: QuizProcess, answers: Sequence[str], pause: float = 0.0) -> None:
        found.answers += len(answers)
        answer(process, answers, pause)

    monkeypatch.setattr(QuizProcess, "start", counted_start)
    monkeypatch.setattr(QuizProcess, "copy", counted_copy)
    monkeypatch.setattr(QuizProcess, "answer", counted_answer)
    return found


ASKS = "while True: print('so,', input('more? '))\n"
MANY = [[*map(str, range(at)), "other", str(at)] for at in range(30)] + [["other"] * 9]


@linux
def test_a_walk_starts_one_process_and_gives_no_answer_twice(build: Build, counts: Counts) -> None:
    source = read_source(build.script(ASKS))
    shown = walked(source, MANY, World(1))
    assert [list(shown[i].inputs) for i in range(len(MANY))] == MANY
    assert counts == Counts(1, len(MANY) - 1, answers_in(tree_of(MANY)))


@linux
def test_verifying_branches_takes_two_walks_and_few_runs_alone(
    build: Build, counts: Counts
) -> None:
    source = read_source(build.script(ASKS))
    record = recorded(source, MANY)
    counts.starts = counts.copies = counts.answers = 0
    drawn = [1, 2, 3, 4, 5]
    found = verify_branches(record, source, UncachedRuns(), draw=lambda *_: drawn)
    assert (found.verdict, found.alone, found.branches) == ("reproducible", 6, len(MANY))
    in_walks, alone = answers_in(tree_of(MANY)), sum(len(MANY[index]) for index in (0, *drawn))
    elsewhere = len(MANY[0])  # the active one, where only what differs between machines is changed
    answers = 2 * in_walks + elsewhere + alone
    assert counts == Counts(2 + 1 + 6, 2 * (len(MANY) - 1), answers)


def test_a_script_that_writes_is_run_from_the_start_for_each_line(
    build: Build, counts: Counts
) -> None:
    source = read_source(build.script("open('log', 'w').close()\n" + ASKS))
    lines = [["a", "b"], ["a", "c"], ["d"]]
    shown = walked(source, lines, World(1))
    assert [list(shown[i].inputs) for i in range(3)] == lines
    assert counts.starts == 3


@linux
def test_what_goes_over_a_limit_stops_all_lines_beyond_it_and_no_other(build: Build) -> None:
    source = read_source(build.script("while input('? ') != 'loop': pass\nwhile True: pass\n"))
    tree = tree_of([["a"], ["loop", "a"], ["loop", "b"], ["b", "c"]])
    with closing(TreeWalk(source, World(1), tree, Limits(seconds=1))) as walk:
        shown = dict(walk)
    stopped = [isinstance(shown[i], LimitError) for i in range(4)]
    assert stopped == [False, True, True, False]


@linux
def test_a_line_that_starts_too_much_is_the_only_one_to_be_stopped(build: Build) -> None:
    script = """
    import subprocess
    while (x := input("? ")) != "stop":
        held = [subprocess.Popen(["sleep", "60"]) for _ in range(30 if x == "many" else 0)]
        for program in held: program.wait()
    """
    lines = [["a", "many", "b"], ["a", "b"], ["a", "c", "stop"], ["many"], ["d"]]
    tree, limits = tree_of(lines), Limits(processes=8)
    with closing(TreeWalk(read_source(build.script(script)), World(1), tree, limits)) as walk:
        shown = dict(walk)
    stopped = [isinstance(shown[i], LimitError) for i in range(len(lines))]
    assert stopped == [True, False, False, True, False]


def test_what_was_tampered_with_where_lines_part_is_so_on_all_of_them(build: Build) -> None:
    script = "import sys\nwhile True: print(eval(input('? ')))\n"
    source, answer = read_source(build.script(script)), 'sys.stdout.log.printed("made up\\n")'
    shown = walked(source, [[answer, "1"], [answer, "2"], ["3"]], World(1))
    observed = [
        run.observed for run in map(shown.__getitem__, range(3)) if isinstance(run, Transcript)
    ]
    assert ["tampered" in names for names in observed] == [True, True, False]


def test_a_walk_can_be_given_up(build: Build) -> None:
    source = read_source(build.script(f"input('? ')\n{IS_UP}\nwhile True: pass\n"))
    walk = TreeWalk(source, World(1), tree_of([["a"], ["b"]]), Limits())
    assert gives_up(lambda: dict(walk), walk.cancel)


EDITS: dict[str, Callable[[Branch], Branch]] = {
    "nothing": lambda branch: branch,
    "nothing kept": lambda branch: replace(branch, trail=AppendOnlyList()),
    "a mark": lambda branch: replace(
        branch, trail=AppendOnlyList(f"0{one}" for one in branch.trail)
    ),
    "the outcome": lambda branch: replace(branch, status="success", score=0.25),
    "the answers": lambda branch: replace(
        branch, inputs=AppendOnlyList([*branch.inputs, "one more"])
    ),
    "the script": lambda branch: replace(branch, code_hash="sha256:0"),
}


def separately(
    runs: UncachedRuns, source: Source, worlds: Sequence[World], tree: Node
) -> Iterator[tuple[int, list[Outcome]]]:
    """What `UncachedRuns.walked` tells, each line replayed by itself."""
    for index, line in in_order(tree):
        yield index, [replayed(source, world, line) for world in worlds]


@given(TREES, st.lists(st.sampled_from(list(EDITS)), min_size=8, max_size=8))
@example([["a", "set"], ["a", "clock"], ["a", "set", "folder"], ["b"]], ["nothing"] * 8)
@example_of_long_runs(
    [["clock", "a"], ["clock", "write", "read"], ["clock", "b", "bad"]], ["nothing"] * 8
)
@example_of_long_runs(
    [["a", "b"], ["a", "a"], ["b"], ["b", "c"]], ["nothing", "a mark", "nothing kept"] * 3
)
@settings(max_examples=10, phases=phases(), suppress_health_check=SLOW)
@pytest.mark.timeout(600)  # verdicts of nine trees by separate replays take 50 s on an idle machine
def test_verdicts_by_walks_are_those_by_separate_replays(
    build: Build, lines: list[list[str]], edits: list[str]
) -> None:
    source = read_source(build.script(NASTY))
    record = recorded(source, lines)
    changed = {
        name: EDITS[edit](branch)
        for (name, branch), edit in zip(record.branches.items(), edits, strict=False)
    }
    record = replace(record, branches=changed)
    found = verify_branches(record, source, UncachedRuns()).to_dict()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(UncachedRuns, "walk", separately)
        assert found == verify_branches(record, source, UncachedRuns()).to_dict()
