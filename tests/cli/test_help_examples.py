"""The example that the help of each command shows works."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.cli.commands import COMMANDS, parse, parser_of
from quizlog_tui.files.paths import shipped

NOT_CHEAP = {"tui", "demo", "serve", "task", "demo-server", "models"}
"""They need a terminal, a browser or models of one's own, or go on until one stops them."""


def words(command: str) -> list[str]:
    return [command, *shlex.split(parser_of(command).entry.example)]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_example_is_shown_and_understood(command: str) -> None:
    parser = parser_of(command)
    assert f"example:\n  {parser.entry.call}\n" in parser.format_help()
    assert parse(words(command)).run


def test_the_examples_work_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("httpx")
    monkeypatch.chdir(tmp_path)
    shutil.copy(shipped("records") / "adventure" / "quiz.py", tmp_path)
    (tmp_path / "code.py").write_text("answer = 6 * 7\n", encoding="utf-8")
    for command in COMMANDS:
        if command not in NOT_CHEAP:
            code = main(words(command))
            said = capsys.readouterr()
            expected = {0, 1} if command in ("fork", "amend", "doctor", "switch") else {0}
            expected |= {3} if command in ("diff", "lint") else set()
            assert code in expected, f"{command}: {code}\n{said.out}{said.err}"
