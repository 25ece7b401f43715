"""Records whose arguments and answers were given here are told from those that came from elsewhere."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quizlog_tui.config import config_folder
from quizlog_tui.errors import ConfigError, UsageError
from quizlog_tui.record import given_here as rules
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.given_here import (
    given_lines,
    is_given_here,
    is_shown,
    note_given,
    note_shown,
)
from quizlog_tui.record.model import Branch, Record

SCRIPT = "/home/me/quiz.py"
EMPTY = Record("quiz.py", 7)
RECORD = EMPTY.but(
    inputs=AppendOnlyList(["a", "b"]),
    args=("--fast",),
    branches={"main": Branch(None, 0), "other": Branch("main", 1, AppendOnlyList(["c"]))},
)


def test_a_record_without_arguments_and_answers_holds_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    path = tmp_path / "r.yaml"
    assert is_given_here(path, EMPTY, SCRIPT)
    note_given(path, EMPTY, SCRIPT)
    assert not (config_folder() / "given-here.toml").exists()


def test_a_record_is_known_once_it_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    assert not is_given_here(path, RECORD, SCRIPT)
    note_given(path, RECORD, SCRIPT)
    assert is_given_here(path, RECORD, SCRIPT)
    (tmp_path / "link").symlink_to(tmp_path)
    assert is_given_here(tmp_path / "link" / "r.yaml", RECORD, SCRIPT)


OTHERS = {
    "argument": RECORD.but(args=("--slow",)),
    "answer": RECORD.but(inputs=AppendOnlyList(["a", "x"])),
    "answer ahead": RECORD.but(inputs=AppendOnlyList(["a", "b", "x"]), pointer=2),
    "branch": RECORD.but(branches={"main": Branch(None, 0)}),
    "answer of a branch": RECORD.but(
        branches={"main": Branch(None, 0), "o": Branch("main", 1, AppendOnlyList(["d"]))}
    ),
    "watched expression": RECORD.but(extras={"feedback": [{"watch": "open('secret').read()"}]}),
    "seed": RECORD.but(seed=8),
    "start": RECORD.but(extras={"start_time": "2020-01-01T00:00:00+00:00"}),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_another_program_changed_is_not_known(kind: str, tmp_path: Path) -> None:
    note_given(tmp_path / "r.yaml", RECORD, SCRIPT)
    assert not is_given_here(tmp_path / "r.yaml", OTHERS[kind], SCRIPT)


def test_a_copy_or_another_script_is_not_known(tmp_path: Path) -> None:
    note_given(tmp_path / "r.yaml", RECORD, SCRIPT)
    assert not is_given_here(tmp_path / "copy.yaml", RECORD, SCRIPT)
    assert not is_given_here(tmp_path / "r.yaml", RECORD, "/home/me/other.py")


def test_where_the_pointer_is_and_what_is_noted_does_not_matter(tmp_path: Path) -> None:
    note_given(tmp_path / "r.yaml", RECORD, SCRIPT)
    moved = RECORD.but(pointer=1, status="error", extras={"feedback": ["x"]}, code_hash="x")
    assert is_given_here(tmp_path / "r.yaml", moved, SCRIPT)


def test_what_was_only_shown_is_not_allowed(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    note_shown(path, RECORD, SCRIPT)
    assert is_shown(path, RECORD, SCRIPT)
    assert not is_shown(path, RECORD.but(args=()), SCRIPT)
    assert not is_given_here(path, RECORD, SCRIPT)
    note_given(path, RECORD, SCRIPT)
    assert is_given_here(path, RECORD, SCRIPT)


def test_the_records_written_last_are_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "_MOST", 2)
    a, b, c = (tmp_path / f"{name}.yaml" for name in "abc")
    for path in (a, b, a, c):
        note_given(path, RECORD, SCRIPT)
    note_given(c, RECORD, SCRIPT)
    assert [is_given_here(path, RECORD, SCRIPT) for path in (a, b, c)] == [False, True, True]


@pytest.mark.parametrize("text", ["", "nonsense", "\0", '"a" = "given"\n'])
def test_a_file_that_holds_no_records_knows_none(text: str, tmp_path: Path) -> None:
    config_folder().mkdir(parents=True, exist_ok=True)
    (config_folder() / "given-here.toml").write_text(text)
    assert not is_given_here(tmp_path / "r.yaml", RECORD, SCRIPT)


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (config_folder() / "given-here.toml").mkdir(parents=True)
    with pytest.raises(ConfigError, match="cannot note what was given"):
        note_given(tmp_path / "r.yaml", RECORD, SCRIPT)


def test_arguments_and_answers_are_shown_a_line_each() -> None:
    hostile = RECORD.but(inputs=AppendOnlyList(["a\nb\x1b[2J", "x" * 1000]))
    lines = given_lines(hostile, 10)
    assert lines[:2] == ["argument 1: --fast", "answer 0: a⏎b␛[2J"]
    assert lines[2].endswith("x…") and len(lines[2]) < 300
    assert lines[3:] == ["answer 1 of other: c"]
    assert given_lines(RECORD, 1) == ["argument 1: --fast", "and 3 more"]


def test_records_that_are_written_at_the_same_time_are_all_remembered(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.yaml" for number in range(20)]
    with ThreadPoolExecutor(5) as threads:
        list(threads.map(lambda path: note_given(path, RECORD, SCRIPT), paths))
    assert all(is_given_here(path, RECORD, SCRIPT) for path in paths)


def test_an_expression_from_elsewhere_is_shown_and_not_known(tmp_path: Path) -> None:
    record = EMPTY.but(extras={"feedback": [{"watch": "open('secret').read()"}]})
    assert not is_given_here(tmp_path / "r.yaml", record, SCRIPT)
    assert given_lines(record, 5) == ["watched expression: open('secret').read()"]
    note_given(tmp_path / "r.yaml", record, SCRIPT)
    assert is_given_here(tmp_path / "r.yaml", record, SCRIPT)


def test_watched_expressions_are_shown_first_and_whole() -> None:
    watched = [{"watch": f"{'x' * 400} + {n}"} for n in range(3)]
    record = RECORD.but(inputs=AppendOnlyList("abcdefg"), extras={"feedback": watched})
    lines = given_lines(record, 2, 80)
    assert lines[:3] == [f"watched expression: {'x' * 400} + {n}" for n in range(3)]
    assert len(lines) == 6 and lines[-1].startswith("and ")


@pytest.mark.parametrize("watched", [["x" * 501], [str(n) for n in range(21)]])
def test_what_cannot_be_shown_is_not_granted(watched: list[str]) -> None:
    record = RECORD.but(extras={"feedback": [{"watch": text} for text in watched]})
    with pytest.raises(UsageError, match="too many or too long"):
        given_lines(record, 5)
