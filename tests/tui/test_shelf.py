"""The shelf: what is found, what changed, what comes next."""

from __future__ import annotations

import os
from pathlib import Path

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.summary import find_records
from quizlog_tui.tui.shelf import Shelf, changes, neighbour, read_some


def make(path: Path, *inputs: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    RecordFile(path).create(Record("quiz.py", 7, AppendOnlyList(inputs), len(inputs)))
    return path


def filled(folder: Path) -> Shelf:
    shelf, paths, more = Shelf(), find_records(folder), True
    while more:
        found = read_some(paths, set(shelf.stamps))
        shelf.take(found)
        more = found.more
    return shelf


def names(shelf: Shelf) -> list[str]:
    return [one.path.stem for one in shelf.shown]


def test_known_records_are_not_read_again(tmp_path: Path) -> None:
    for name in "abc":
        make(tmp_path / f"{name}.yaml")
    shelf = filled(tmp_path)
    make(tmp_path / "d.yaml")
    found = read_some(find_records(tmp_path), set(shelf.stamps))
    assert [one.path.stem for one in found.summaries] == ["d"]
    assert shelf.take(found) and names(shelf) == ["a", "b", "c", "d"]


def test_only_changed_rows_are_read_and_vanished_ones_go(tmp_path: Path) -> None:
    a, b, c = (make(tmp_path / f"{name}.yaml") for name in "abc")
    shelf = filled(tmp_path)
    assert not any(changes(shelf.stamps).read.summaries)
    os.unlink(a)
    make(b.with_name("new.yaml"), "1", "2").replace(b)
    c.write_text("script: x\nseed: no\n")
    found = changes(shelf.stamps)
    assert [one.path for one in found.read.summaries] == [b, c]
    assert shelf.take(found.read, found.gone)
    assert [(one.path, one.used, bool(one.problem)) for one in shelf.shown] == [
        (b, 2, False),
        (c, 0, True),
    ]
    assert not shelf.take(changes(shelf.stamps).read)


def test_the_order_is_cycled_turned_and_remembered(tmp_path: Path) -> None:
    make(tmp_path / "a.yaml", "1")
    make(tmp_path / "b.yaml", "1", "2")
    shelf = filled(tmp_path)
    for _ in range(3):
        shelf.sort()
    assert (shelf.order, names(shelf)) == ("steps", ["b", "a"])
    shelf.sort("steps")
    assert names(shelf) == ["a", "b"]
    again = Shelf(shelf.sorting)
    assert (again.order, again.backwards) == ("steps", True)
    shelf.sort()
    assert (shelf.order, shelf.backwards) == ("name", False)
    assert Shelf("nonsense").order == "name"


def test_the_filter_goes_through_all_statuses_and_back(tmp_path: Path) -> None:
    make(tmp_path / "a.yaml")
    shelf = filled(tmp_path)
    seen = []
    for _ in range(5):
        shelf.narrow()
        seen.append((shelf.status, len(shelf.shown)))
    assert seen == [("in_progress", 1), ("success", 0), ("error", 0), ("unreadable", 0), ("", 1)]


def test_neighbours_are_the_readable_ones_in_the_order_shown(tmp_path: Path) -> None:
    a, b, c = (make(tmp_path / f"{name}.yaml") for name in "abc")
    b.write_text("script: x\nseed: no\n")
    shelf = filled(tmp_path)
    assert shelf.neighbour(a, 1) == c and shelf.neighbour(c, -1) == a
    assert shelf.neighbour(c, 1) is None and shelf.neighbour(a, -1) is None
    assert shelf.neighbour(tmp_path / "gone.yaml", 1) == a
    shelf.sort("name")
    assert shelf.neighbour(c, 1) == a


def test_without_a_library_the_neighbours_are_beside_the_record(tmp_path: Path) -> None:
    one, two = make(tmp_path / "one/record.yaml"), make(tmp_path / "two/record.yaml")
    third = make(tmp_path / "two/third.yaml")
    (tmp_path / "two/other.json").write_text("{}")
    assert neighbour(one, 1) == two and neighbour(two, 1) == third
    assert neighbour(two, -1) == one and neighbour(one, -1) is None
