"""Every text on every screen can be read in every theme, measured by the colours that are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.color import BLACK, WHITE, Color

from quizlog_tui.session.session import Session
from quizlog_tui.solver.decisions.decision_file import decisions_path
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.draw.terminal_frame import Run
from quizlog_tui.tui.screenshot import take_frame
from quizlog_tui.tui.themes.readable_text import contrast, readable
from tests.support.build import Build
from tests.support.long_runs import few
from tests.support.screens import idle, settled, shows

QUIZ = """
import sys
print("\\033[38;2;120;120;120mgrey\\033[0m \\033[33myellow\\033[0m \\033[30;44mon blue\\033[0m")
print("warned", file=sys.stderr)
print("| a table | of |\\n" * 3)
for i in range(3):
    if input(f"number {i}? ") == "bad":
        raise Exception("bad number")  #score = 0.3
"""
PLAYER = {
    "player": (),
    "typing": ("i", "4", "2"),
    "placeholder": ("i",),
    "error": ("b", "j", "enter", "y"),
    "help": ("question_mark",),
    "guides": ("question_mark", "o"),
    "guide": ("question_mark", "o", "enter"),
    "tree": ("b",),
    "confirm": ("b", "j", "d"),
    "notes": ("F",),
    "note": ("a",),
    "compare": ("c", "enter"),
    "sweep": ("s",),
    "swept": ("s", "4", "enter", *"bad", "f5"),
    "swept, in its box": ("s", "4", "enter", *"bad", "f5", "i"),
    "consensus": ("d",),
    "themes": ("f2",),
    "export": ("x",),
    "palette": ("colon",),
    "palette, typed": ("colon", "b", "r"),
    "find": ("ctrl+f", *"bad"),
    "find, marked": ("ctrl+f", *"bad", "enter"),
    "hits": ("slash", *"number", "enter"),
    "search": ("slash", "n"),
    "filter": ("slash", *"number", "enter", "ampersand"),
    "messages": ("n", "M"),
    "message": ("n",),
    "jump": ("number_sign",),
    "answers": ("2",),
    "source": ("S", "3"),
    "answer": ("4",),
    "laid out": ("p",),
    "difference": ("equals_sign", "enter"),
    "models": ("m",),
}
"""The keys that show each screen from the player."""


@pytest.fixture
def record(build: Build) -> Path:
    path = build.record(QUIZ, "1")
    with Session(path) as session:
        session.fork(0, "bad", "other")
        session.switch("main")
        session.comment(0, "right enough", "right", "ann")
        session.comment(1, "unsure", "wrong", "ann")
    decisions = Path(__file__).parent.parent / "data" / "three-models.decisions.jsonl"
    decisions_path(path).write_text(decisions.read_text(encoding="utf-8"), encoding="utf-8")
    return path


def too_weak(run: Run, least: float) -> bool:
    """Whether a text has too little contrast; what has lines and blocks only is no text."""
    if all(char.isspace() or "\u2500" <= char <= "\u259f" for char in run.text):
        return False
    ink, ground = run.style.color, run.style.bgcolor
    assert ink is not None and ground is not None and not run.style.dim
    shown, under = (Color(*each.get_truecolor()) for each in (ink, ground))
    best = max(contrast(under, BLACK), contrast(under, WHITE))  # less than 7 on what is half dark
    return contrast(shown, under) < min(least, best)


def weak(app: QuizlogApp) -> Iterator[str]:
    least = 7 if "contrast" in app.theme else 4.5
    for row in take_frame(app).rows:
        yield from (run.text.strip() for run in row if too_weak(run, least))


async def measure(app: QuizlogApp, pilot: object) -> None:
    """Look at the screen in each theme whose colours are ours."""
    themes = [name for name, theme in app.available_themes.items() if not theme.ansi]
    assert len(themes) > 20
    found = {}
    for app.theme in themes:
        await idle(pilot)  # type: ignore[arg-type]
        found[app.theme] = list(weak(app))
    assert not {name: texts for name, texts in found.items() if texts}


@pytest.mark.parametrize("screen", few(PLAYER, "sweep", "error", "palette"))
async def test_every_text_can_be_read(screen: str, record: Path) -> None:
    app = QuizlogApp(record, guided=True)
    async with app.run_test(size=(110, 36)) as pilot:
        await settled(pilot)
        app._watch_themes()
        await pilot.press("escape")
        for key in PLAYER[screen]:
            await pilot.press(key)
            await idle(pilot)
        await measure(app, pilot)


async def test_every_text_of_the_library_can_be_read(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(record.parent)
    app = QuizlogApp()
    async with app.run_test(size=(110, 30)) as pilot:
        await shows(pilot, "record.yaml")
        app._watch_themes()
        await measure(app, pilot)


COLOURS = st.builds(Color, *[st.integers(0, 255)] * 3)


@given(COLOURS, COLOURS)
def test_any_colour_is_made_readable_and_no_more(ink: Color, ground: Color) -> None:
    found = readable(ink, ground, 4.5)
    assert contrast(found, ground) >= 4.5
    assert found == ink or contrast(ink, ground) < 4.5
