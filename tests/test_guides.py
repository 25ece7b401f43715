"""The guides: read in a shell and on the screens, from one text."""

from __future__ import annotations

import json
import re

import pytest

from quizlog_tui.cli import main
from quizlog_tui.cli.parser import COMMANDS
from quizlog_tui.errors import UsageError
from quizlog_tui.guides import guide, topics
from quizlog_tui.replay.script.grants import NAMES
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.screens.help import guide_lines
from tests.support.build import Build
from tests.support.screens import press, settled, shows


@pytest.mark.parametrize("topic", topics())
def test_every_guide_has_a_title_and_names_only_what_there_is(topic: str) -> None:
    text = guide(topic)
    assert text.startswith(f"# {topics()[topic]}\n")
    prose = re.sub(r"^(```.*?^```|\|.*?)$", "", text, flags=re.M | re.S)
    assert max(map(len, prose.splitlines())) <= 110
    for name in re.findall(r"`quizlog ([a-z][\w-]+)", text):
        assert name in COMMANDS
    for name in re.findall(r"#quizlog: ([\w-]+)", text):
        assert name in NAMES


def test_a_guide_is_read_in_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    assert re.search("^hostile +Hostile scripts and answers", capsys.readouterr().out, re.M)
    assert main(["help", "hostile"]) == 0
    assert capsys.readouterr().out == guide("hostile")
    assert main(["help", "hostile", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["text"] == guide("hostile")
    assert main(["help", "hostil"]) == 2
    said = (
        "there is no guide about 'hostil' (did you mean hostile? `quizlog help` lists the guides)"
    )
    assert capsys.readouterr().err == f"quizlog: {said}\n"


@pytest.mark.parametrize("topic", ["../README", "hostile.md", "", "/etc/passwd"])
def test_only_guides_are_read(topic: str) -> None:
    with pytest.raises(UsageError, match="there is no guide"):
        guide(topic)


def test_the_screen_breaks_a_guide_where_its_width_wants() -> None:
    rows = [row.text for row in guide_lines("hostile")]
    assert rows[0] == topics()["hostile"] and "Promised" in rows and "Not promised" in rows
    items = [row for row in rows if row.startswith("- ")]
    assert len(items) == guide("hostile").count("\n- ")
    assert items[-1].endswith("your programs: run only what you trust.")


async def test_the_guide_stands_below_the_keys_of_the_player(build: Build) -> None:
    app = QuizlogApp(build.record("input('? ')\n"))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await press(pilot, "escape")
        await pilot.press("question_mark")
        await shows(pilot, "Escape goes back · a guide below")
        await pilot.press("G")
        await shows(pilot, "Not promised")
        await shows(pilot, "run only what you trust")
