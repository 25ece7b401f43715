"""Records with branches, made of runs without a session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import takewhile

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Branch, Record
from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.script.source import Source
from quizlog_tui.replay.transcript import Transcript, stop_fingerprint
from quizlog_tui.replay.world import World, world_entries


@lru_cache(maxsize=64)
def replayed(source: Source, world: World, line: tuple[str, ...]) -> Transcript:
    """A replay of its own; what is recorded and what is compared with it share some."""
    return replay(source, world, line)


def recorded(source: Source, lines: Sequence[Sequence[str]], seed: int = 1) -> Record:
    """A record of these lines, the first the active one."""
    return record_of(source, [replayed(source, World(seed), tuple(line)) for line in lines], seed)


def record_of(source: Source, runs: Sequence[Transcript], seed: int = 1) -> Record:
    """A record that shows these runs, the first the active one; the others are `b0`, `b1`, ..."""
    main = runs[0]
    record = Record(
        source.path.name,
        seed,
        AppendOnlyList(main.inputs),
        len(main.steps),
        main.status,
        main.print,
        main.last_error,
        trail=AppendOnlyList(stop_fingerprint(main, stop) for stop in range(len(main.steps) + 1)),
        code_hash=source.code_hash,
        extras={"world": world_entries(main.unavailable, main.observed)},
    )
    branches = {f"b{index}": beside(main, run) for index, run in enumerate(runs[1:])}
    return replace(record, branches=branches)


def beside(main: Transcript, run: Transcript) -> Branch:
    pairs = zip(main.inputs, run.inputs, strict=False)
    at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    trail = AppendOnlyList(
        stop_fingerprint(run, stop) for stop in range(at + 1, len(run.steps) + 1)
    )
    return Branch("main", at, AppendOnlyList(run.inputs[at:]), trail, run.status, run.score)
