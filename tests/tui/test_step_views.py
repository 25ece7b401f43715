"""A step's output laid out on demand, and beside that of another step."""

from __future__ import annotations

from pathlib import Path

import pytest

from quizlog_tui.session.session import Session
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.draw.formats import Section, formatted_lines, sections
from quizlog_tui.tui.screens.reading import ReadingScreen
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.screens import SIZE, check, idle, playing, press, shows

JSON = '{"size": 1.50, "names": ["Ada", "Bob"]}'
CSV = 'name,age\nAda,36\n"B, ob",44'
QUIZ = f"""
print("score: 1")
input("Ready? ")
print("# The plan\\n\\n- **one** step\\n")
print({JSON!r})
print({CSV!r})
input("More? ")
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (JSON, [("JSON", JSON)]),
        (f"first\n{JSON}\nlast", [("", "first"), ("JSON", JSON), ("", "last")]),
        ('[\n  1,\n  2\n]\n{"a": 1}', [("JSON", "[\n  1,\n  2\n]"), ("JSON", '{"a": 1}')]),
        ("[1, 2] and more", [("", "[1, 2] and more")]),
        ("[" * 20_000, [("", "[" * 20_000)]),
        (CSV, [("CSV", CSV)]),
        ("a\tb\n1\t2\n3\t4\nend", [("CSV", "a\tb\n1\t2\n3\t4"), ("", "end")]),
        ("Well, yes\nNo, no\nBut, then", [("", "Well, yes\nNo, no\nBut, then")]),
        ('a,"b\nc,d\ne,f', [("", 'a,"b\nc,d\ne,f')]),
        ("# Head\ntext", [("Markdown", "# Head\ntext")]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", [("Markdown", "| a | b |\n|---|---|\n| 1 | 2 |")]),
        ("2 * 3 * 4 # no", [("", "2 * 3 * 4 # no")]),
        ("\n\n", []),
    ],
)
def test_what_is_recognized(text: str, found: list[tuple[str, str]]) -> None:
    assert sections(text) == [Section(*each) for each in found]  # type: ignore[arg-type]


def test_numbers_of_json_stay_as_written_and_nothing_is_markup() -> None:
    text = "\n".join(line.text for line in formatted_lines(sections(JSON), 60))
    assert '"size": 1.50' in text
    table = "a,b\n[red]x[/red],[/nope]\n1,2"
    text = "\n".join(line.text for line in formatted_lines(sections(table), 60))
    assert "[red]x[/red]" in text and "[/nope]" in text


def test_links_are_text() -> None:
    lines = formatted_lines(sections("# A\n[here](https://example.org)"), 60)
    text = "\n".join(line.text for line in lines)
    assert "https://example.org" in text and "\x1b" not in text and "␛" not in text


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    return Build(folder, build.dedent).record(QUIZ, "yes")


async def test_golden_laid_out(record: Path) -> None:
    async with playing(record, clock=FrozenClock()) as pilot:
        await pilot.press("escape", "p")
        await idle(pilot)
        assert isinstance(pilot.app.screen, ReadingScreen)
        check("laid-out", SIZE, screen_text(pilot.app))


async def test_nothing_to_lay_out_is_said(record: Path) -> None:
    async with playing(record, size=(100, 30), notifications=True) as pilot:
        await press(pilot, "escape", "left", "p")
        await shows(pilot, "no Markdown, JSON or CSV in the output of step 0")


async def test_a_step_beside_the_step_before(record: Path) -> None:
    async with playing(record, size=(100, 30)) as pilot:
        await pilot.press("escape", "equals_sign")
        await idle(pilot)
        assert isinstance(pilot.app.screen, ReadingScreen)
        text = screen_text(pilot.app)
        assert "step 0 (left, <) and step 1 (right, >)" in text
        assert "score" in text and "plan" in text and "one" in text


async def test_a_step_beside_that_of_another_branch(build: Build) -> None:
    path = build.record('who = input("Who? ")\nprint("hello", who)\ninput("More? ")\n', "Ada")
    with Session(path) as session:
        session.fork(0, "Bob")
    async with playing(path, size=(100, 30)) as pilot:
        await pilot.press("escape", "equals_sign")
        await idle(pilot)
        await pilot.press("down", "enter")
        await idle(pilot)
        assert "on branch main (left, <)" in screen_text(pilot.app)
        assert "hello «Ada»" in screen_text(pilot.app) and "hello «Bob»" in screen_text(pilot.app)
