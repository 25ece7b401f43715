"""Records with branches, made in memory."""

from __future__ import annotations

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record


def record(*inputs: str, pointer: int | None = None) -> Record:
    return Record("q.py", 1, AppendOnlyList(inputs), len(inputs) if pointer is None else pointer)


def paths(record: Record) -> dict[str, tuple[str, ...]]:
    return {name: tuple(record.path_of(name)) for name in record.names}
