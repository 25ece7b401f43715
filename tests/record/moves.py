"""Records made in memory, and random walks over the rules by which they change."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import strategies as st

from quizlog_tui.errors import UsageError
from quizlog_tui.record import branches, feedback
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.branches import (
    BranchEnd,
    answered,
    forked,
    restored_state,
    rewound,
    switched,
)
from quizlog_tui.record.feedback import Feedback
from quizlog_tui.record.model import Record

NOTHING = BranchEnd()
THEN = BranchEnd(time="then")
EMPTY = Record("q.py", 1)
KINDS = ("answer", "rewind", "fork", "switch", "rename", "note", "delete", "restore", "comment", "undo", "redo")  # fmt: skip

Move = tuple[str, int, str]
MOVES = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 6), st.sampled_from("xyz")), max_size=18
)


def walk(moves: list[Move], start: Record = EMPTY) -> Iterator[tuple[str, Record]]:
    """The record after each move that was possible."""
    state = start
    done: list[Record] = []
    undone: list[Record] = []
    for kind, number, letter in moves:
        if kind in ("undo", "redo"):
            source, target = (done, undone) if kind == "undo" else (undone, done)
            if source:
                before, state = state, restored_state(source.pop(), state, THEN)
                target.append(before)
        else:
            try:
                changed = moved(state, kind, number, letter)
            except UsageError:
                continue
            done.append(state)
            undone.clear()
            state = changed
        yield kind, state


def moved(state: Record, kind: str, number: int, letter: str) -> Record:
    """The record after one move of a walk."""
    at = min(number, len(state.inputs))
    name = state.all_names[number % len(state.all_names)]
    match kind:
        case "answer":
            return answered(state, at, letter, NOTHING)
        case "rewind":
            return rewound(state, at)
        case "fork":
            return forked(state, at, letter, None, NOTHING)
        case "switch":
            return switched(state, name, NOTHING)
        case "rename":
            return branches.renamed(state, name, f"{letter}{number}")
        case "note":
            return branches.noted(state, name, letter)
        case "delete":
            return branches.deleted(state, name, "now")
        case "restore":
            return branches.restored(state, name)
    return feedback.added(state, Feedback(at, None, "ann", "now", None, letter))


def _last(moves: list[Move]) -> Record:
    return [EMPTY, *(state for _, state in walk(moves))][-1]


RECORDS = MOVES.map(_last)


def record(*inputs: str, pointer: int | None = None) -> Record:
    return Record("q.py", 1, AppendOnlyList(inputs), len(inputs) if pointer is None else pointer)


def paths(record: Record) -> dict[str, tuple[str, ...]]:
    return {name: tuple(record.path_of(name)) for name in record.names}
