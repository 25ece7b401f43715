"""The settings: every mistake names file, key and the mend. Who stands on a note is asked once."""

from __future__ import annotations

import getpass
import io
import sys
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.config import (
    EXAMPLES,
    NEUTRAL,
    QUESTION,
    Config,
    config_path,
    keep_author,
    known_author,
    load_config,
    template,
)
from quizlog_tui.record.feedback import read
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.process.process import Limits, user_limits
from quizlog_tui.tui.keys.actions import ACTIONS, all_actions
from quizlog_tui.tui.keys.keymap import conflicts, key_problems, named, shown_key
from tests.support.build import Build


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_no_file_is_all_defaults(tmp_path: Path) -> None:
    assert load_config(tmp_path / "none.toml") == (Config(), [])


def test_the_template_sets_nothing_and_is_right(tmp_path: Path) -> None:
    assert load_config(write(tmp_path, template())) == (Config(), [])


def test_the_template_with_every_setting_uncommented_is_the_defaults(tmp_path: Path) -> None:
    lines = [line.removeprefix("# ") if " = " in line else line for line in template().splitlines()]
    lines = [line for line in lines if not any(one in line for one in EXAMPLES.values())]
    lines = [line for line in lines if "other keys" not in line]
    assert load_config(write(tmp_path, "\n".join(lines))) == (Config(), [])


def test_settings_are_read(tmp_path: Path) -> None:
    text = 'theme = "x"\n[limits]\nseconds = 2\nmemory_mb = 64\n[keys]\n"player.fork" = "F5"\n'
    config, problems = load_config(write(tmp_path, text))
    assert not problems
    assert (config.theme, config.limits_seconds, dict(config.keys)) == (
        "x",
        2,
        {"player.fork": "F5"},
    )
    assert user_limits(config) == Limits(2, 10 * 2**20, 64 * 2**20)


WRONG = {
    "themes = 'x'": ("themes: there is no such setting", "did you mean theme?"),
    "[limits]\nsecond = 2": ("limits.second: there is no such", "did you mean limits.seconds?"),
    "limits_seconds = 2": ("there is no such setting", "did you mean limits.seconds?"),
    "mouse = 1": ("mouse: must be true or false", "the default is true"),
    "[limits]\nseconds = true": ("must be a number", "30"),
    "[limits]\nseconds = 0": ("must be from 0.1 to", "30"),
    "[cache]\ncheckpoints = 1.5": ("must be a whole number", "64"),
    "author = 3": ("must be a text", ""),
    "keys = 3": ("must be a table", "[keys]"),
    "[keys]\na = 3": ("must be a table", ""),
    "commands = 3": ("must be a table of tables", "[commands]"),
    "[commands]\nlog = 'ls'": ("'log' must be a table of texts", "run ="),
    "theme = ": ("is not TOML", "config init"),
}


@pytest.mark.parametrize("text", WRONG)
def test_each_mistake_is_named_with_its_mend(text: str, tmp_path: Path) -> None:
    config, problems = load_config(write(tmp_path, text))
    assert config == Config() and len(problems) == 1
    said, hint = WRONG[text]
    assert said in str(problems[0]) and hint in str(problems[0])
    assert str(tmp_path) in str(problems[0])


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xff\xfe")
    assert "UTF-8" in str(load_config(path)[1][0])
    assert "cannot read" in str(load_config(tmp_path)[1][0])


def test_the_houses_own_keys_do_not_clash() -> None:
    assert list(conflicts({})) == []
    ids = [action.id for action in all_actions()]
    assert len(ids) == len(set(ids))
    assert all(action.scope == scope for scope, actions in ACTIONS.items() for action in actions)


def test_key_problems_name_action_and_clash() -> None:
    said = [str(one) for one in key_problems({"player.frok": "f", "player.back": "f"}, "c.toml")]
    assert "did you mean player.fork?" in said[0]
    assert any("'f' would do both player.back and player.fork" in one for one in said)
    assert "names no key" in str(key_problems({"player.fork": "f,,"}, "c.toml")[0])
    assert key_problems({"player.fork": "F5"}, "c.toml") == []
    assert key_problems({"player.fork": "Ctrl+X,!,é"}, "c.toml") == []


@pytest.mark.parametrize("keys", ["nosuchkey", "n o", "ctrl+", "hold+x", "ctrl+nosuch"])
def test_a_key_that_there_is_not_is_told(keys: str) -> None:
    [said] = key_problems({"player.note": keys}, "c.toml")
    assert f"{keys!r} is not a key" in str(said)


def test_a_key_that_a_pane_takes_first_is_told() -> None:
    said = [str(one) for one in key_problems({"player.fork": "j"}, "c.toml")]
    assert any("'j' would do both pane.down and player.fork" in one for one in said)
    assert (
        key_problems({"player.fork": "j", "pane.down": "J,down", "list.down": "J,down"}, "") == []
    )


def test_signs_have_the_names_that_textual_gives_them() -> None:
    from string import punctuation

    from textual.keys import _character_to_key

    assert {sign: named(sign) for sign in punctuation} == {
        sign: _character_to_key(sign) for sign in punctuation
    }
    assert all(shown_key(named(sign)) == sign for sign in punctuation)


def test_the_shell_shows_checks_and_begins(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "show"]) == 0
    shown = capsys.readouterr().out
    assert "limits.seconds" in shown and "player.fork" in shown and "quizlog-light" in shown
    assert main(["config", "init"]) == 0 and config_path().exists()
    assert main(["config", "init"]) == 2
    assert main(["config", "check"]) == 0
    config_path().write_text('theme = "none"\n[keys]\n"x" = "y"\n', encoding="utf-8")
    (config_path().parent / "themes").mkdir()
    (config_path().parent / "themes" / "mine.yaml").write_text('name: "m"\nprimry: "#fff"\n')
    capsys.readouterr()
    assert main(["config", "check"]) == 2
    err = capsys.readouterr().err
    assert "there is no theme 'none'" in err and "no such action" in err and "primary" in err


def test_the_command_alone_names_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config"]) == 2
    assert "required: show|check|init" in capsys.readouterr().err


LOGIN = "some-login-name"


@pytest.fixture
def record(build: Build, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, LOGIN)
    assert getpass.getuser() == LOGIN
    return build.record("input('? ')", "a")


def note(record: Path, *words: str) -> str | None:
    assert main(["feedback", str(record), "0", "said", *words]) == 0
    assert LOGIN not in record.read_text()
    return read(RecordFile(record).read())[-1].author


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> Terminal:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    return shown


def test_nobody_is_asked_where_there_is_no_terminal(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("eve\n"))
    assert note(record) == NEUTRAL
    assert known_author(Config()) is None
    assert note(record, "--author", "") is None


@pytest.mark.parametrize(("typed", "name"), [("eve\n", "eve"), ("\n", NEUTRAL), ("", NEUTRAL)])
def test_at_a_terminal_one_is_asked_once(
    record: Path, monkeypatch: pytest.MonkeyPatch, typed: str, name: str
) -> None:
    shown = at_a_terminal(monkeypatch, typed)
    assert (note(record), QUESTION in shown.getvalue()) == (name, True)
    shown = at_a_terminal(monkeypatch, "bob\n")
    assert (note(record), QUESTION in shown.getvalue()) == (name, False)


def test_the_settings_go_before_what_was_answered(record: Path) -> None:
    keep_author("eve")
    assert note(record) == "eve"
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text('author = "ann"\n')
    assert note(record) == "ann"
