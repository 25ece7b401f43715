"""The guides: read in a shell and on the screens, from one text."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from quizlog_tui import guides
from quizlog_tui.cli import main
from quizlog_tui.cli.commands import COMMANDS, parser_of, record_parser
from quizlog_tui.errors import UsageError
from quizlog_tui.guides import TOPICS, guide, search, topics
from quizlog_tui.replay.script.source import NAMES
from quizlog_tui.tui.app import QuizlogApp
from tests.support.build import Build
from tests.support.screens import press, settled, shows
from tests.support.terminal import Terminal


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


def test_each_promise_names_the_test_that_keeps_it() -> None:
    rows = re.findall(r"^\| (?!comes from|---)(.*) \|$", guide("security"), re.M)
    promised = guide("hostile").partition("## Promised\n")[2].partition("\n## ")[0]
    bullets = re.findall(r"^- (.*?)(?=^- |\Z)", promised, re.M | re.S)
    assert len(rows) > 10 and len(bullets) > 5
    folder = Path(__file__).parent
    for promise in (*rows, *bullets):
        kept_by = re.findall(r"`((?:[a-z_]+/)*test_\w+\.py)`", promise)
        assert kept_by, f"no test is named: {promise}"
        assert all((folder / name).is_file() for name in kept_by), promise


def test_the_guides_are_listed_in_the_order_of_reading(capsys: pytest.CaptureFixture[str]) -> None:
    files = {path.stem for path in Path(guides.__file__).parent.glob("*.md")}
    assert sorted(TOPICS) == sorted(files)
    assert TOPICS[0] == "first-quiz" and TOPICS[-2:] == ("contributing", "security")
    assert main(["help"]) == 0
    assert [row.split()[0] for row in capsys.readouterr().out.splitlines()] == list(TOPICS)
    assert main(["help", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["topics"]) == list(TOPICS)


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
    assert main(["help", "extending"]) == 2  # a guide that is gone
    assert "(see python; `quizlog help` lists the guides)" in capsys.readouterr().err


@pytest.mark.parametrize("topic", ["../README", "hostile.md", "", "/etc/passwd"])
def test_only_guides_are_read(topic: str) -> None:
    with pytest.raises(UsageError, match="there is no guide"):
        guide(topic)


def test_the_guides_are_searched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "--search", "frozen copy"]) == 0
    assert "performance: How going back is fast\n" in capsys.readouterr().out
    assert main(["help", "--search", "frozen COPY", "--json"]) == 0
    hits = json.loads(capsys.readouterr().out)["hits"]
    assert ("performance", "How going back is fast") in [(h["topic"], h["heading"]) for h in hits]
    assert main(["help", "--search", "no such words anywhere"]) == 0
    found = capsys.readouterr()
    assert found.out == "" and "no guide contains all of" in found.err
    assert main(["help", "proof", "--search", "x"]) == 2


def test_a_hit_in_a_heading_comes_first() -> None:
    assert search("bundles")[0].heading == "Bundles"


def test_the_grammar_is_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "--commands", "--json"]) == 0
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)["commands"]}
    assert found.keys() == {"", *COMMANDS}
    fork = found["fork"]
    assert [one["name"] for one in fork["arguments"]] == ["RECORD", "K", "ANSWER"]
    assert ["--name"] in [one["flags"] for one in fork["options"]]
    verbs = [verb["name"] for verb in found["episodes"]["verbs"]]
    assert verbs == ["build", "check", "browse", "stats", "export"]


def test_the_help_fits_a_page() -> None:
    text = record_parser().format_help()
    assert text.count("\n") <= 60
    for group in {parser_of(name).entry.group for name in COMMANDS}:
        assert len(re.findall(f"^{group}\\b", text, re.M)) == 1


def test_a_terminal_gets_a_guide_in_the_pager() -> None:
    command = [sys.executable, "-m", "quizlog_tui", "help", "security"]
    with Terminal(command, env={"PAGER": "cat"}) as terminal:
        terminal.wait_for("Report a vulnerability")
        assert b"## Report" not in terminal.seen and b"\x1b[1" in terminal.seen
        assert terminal.end() == 0


async def test_the_help_screen_opens_the_guides(build: Build) -> None:
    app = QuizlogApp(build.record("input('? ')\n"))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await press(pilot, "escape")
        await pilot.press("question_mark", "o")
        await shows(pilot, "Write your first quiz")
        await pilot.press("slash")
        await shows(pilot, "Search all guides for")
        await pilot.press(*"frozen copy", "enter")
        await shows(pilot, "for frozen copy")
        await shows(pilot, "How going back is fast")
        await pilot.press("slash", *"sweep", "enter")
        await shows(pilot, "screens: Keys › Sweep")
        await pilot.press("j")
        await shows(
            pilot, "quizlog sweep RECORD K --from FILE"
        )  # the second of two headings of that name
        await pilot.press("escape")
        await shows(pilot, "Guides · / searches all guides")
        await pilot.press("escape")
        await shows(pilot, "Keys of the player screen")
        await pilot.press("escape")
        await settled(pilot)
