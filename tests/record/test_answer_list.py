"""Answers one a line: nothing lost, nothing invented, files named when they are wrong."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.errors import UsageError
from quizlog_tui.session.trials import lines_of, portions, read_answers, typed_answers

ANSWERS = st.lists(st.text(st.characters(exclude_characters="\r\n")), min_size=1)


@given(ANSWERS)
def test_each_line_is_an_answer(answers: list[str]) -> None:
    assert lines_of("\n".join(answers) + "\n") == answers
    assert lines_of("\r\n".join(answers) + "\r\n") == answers


def test_only_newlines_end_a_line() -> None:
    assert lines_of("a\u2028b\x0cc\nd") == ["a\u2028b\x0cc", "d"]
    assert lines_of("") == []
    assert lines_of("\n") == [""]
    assert lines_of("a\n\nb") == ["a", "", "b"]


@given(st.lists(st.text(), max_size=50))
def test_portions_are_all_in_order(answers: list[str]) -> None:
    assert [one for portion in portions(answers) for one in portion] == answers


def test_a_typed_line_may_name_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more.txt").write_bytes("\ufeffx\r\ny\n".encode())
    assert typed_answers("a\n@more.txt\n@@b\n-5") == ["a", "x", "y", "@b", "-5"]
    assert typed_answers(f"@{tmp_path / 'more.txt'}") == ["x", "y"]


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot read"), (b"", "holds no answers"), (b"ok\n\xff", "is not text: byte 3")],
)
def test_a_wrong_file_is_named(content: bytes | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=said) as caught:
        read_answers(path)
    assert str(path) in str(caught.value)
    with pytest.raises(UsageError, match="cannot read"):
        typed_answers("@")


def test_a_dash_is_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\n2\n")))
    assert read_answers(Path("-")) == ["1", "2"]
