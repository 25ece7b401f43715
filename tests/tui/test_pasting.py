"""Pasted text stands once where it was pasted, whole, or it is told what is left out."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from textual import events
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.widgets.prompt_panel import PromptPanel
from quizlog_tui.tui.widgets.text_fields import AreaField, LineField, stand_ins
from tests.support.build import Build
from tests.support.screens import idle, playing, press, settled, shows
from tests.support.terminal import Terminal, quizlog
from tests.support.tmux import Tmux

QUIZ = """
name = input("name? ")
grid = input("A: ")  #matrix
text = input("tell: ")  #textarea
print("GOT", len(name), repr(name[:40]), repr(text))
last = input("last? ")
"""
GIVEN = ("Ada", "[[1,2],[3,4]]", "a\nb")
EVERY_LINE = "one\ntwo\r\n\rthree\n"
WHOLE = "one\ntwo\n\nthree\n"


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(QUIZ, *GIVEN)


def inputs(path: Path) -> list[str]:
    found: list[str] = yaml.safe_load(path.read_text())["inputs"]
    return found


def typed(app: QuizlogApp) -> str:
    """What stands in the field with the focus."""
    field = app.focused
    assert isinstance(field, Input | TextArea), field
    return field.value if isinstance(field, Input) else field.text


async def paste(pilot: Pilot[None], text: str) -> None:
    pilot.app.post_message(events.Paste(text))
    await idle(pilot)


AREAS = {
    "answer": ("escape", "2", "k", "escape", "f", "ctrl+u", "backspace", "backspace", "ctrl+u"),
    "note": ("escape", "a"),
    "sweep": ("escape", "s"),
}
LINES = {
    "search": ("escape", "slash"),
    "find": ("escape", "ctrl+f"),
    "palette": ("ctrl+p",),
    "step": ("escape", "number_sign", "ctrl+u"),
    "file": ("escape", "x", "enter", "end", "ctrl+u"),
    "branch": ("escape", "b", "r", "end", "ctrl+u"),
}


@pytest.mark.parametrize("place", AREAS)
async def test_an_area_takes_pasted_lines_once(place: str, record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press(*AREAS[place])
        await idle(pilot)
        assert typed(app) == ""
        await paste(pilot, EVERY_LINE)
        assert typed(app) == WHOLE
        await paste(pilot, "x")
        assert typed(app) == WHOLE + "x"


@pytest.mark.parametrize("place", LINES)
async def test_a_line_that_takes_one_says_what_is_left_out(place: str, record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press(*LINES[place])
        await idle(pilot)
        assert typed(app) == ""
        await paste(pilot, "1\n")  # the end of a line holds nothing
        assert typed(app) == "1" and "pasted" not in screen_text(app)
        await paste(pilot, "2\nthree\nfour")
        assert typed(app) == "12"
        assert any("the first of 3 pasted lines" in note.message for note in app._notifications)


async def test_lines_pasted_into_an_answer_open_a_text_area(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await settled(pilot)
        await press(pilot, *"old ", "left")
        await paste(pilot, EVERY_LINE)
        await shows(pilot, "4 pasted lines")
        assert typed(app) == f"old{WHOLE} "
        await press(pilot, "escape")
        await shows(pilot, "the line as it was")
        assert isinstance(app.focused, Input) and typed(app) == "old "
        await press(pilot, "ctrl+u")
        app.post_message(events.Paste("a\nb"))
        await press(pilot, "enter", "c", "f5")
    assert inputs(record) == [*GIVEN, "a\nb\nc"]


async def test_edited_lines_are_kept_when_one_leaves_the_area(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        screen = await settled(pilot)
        await paste(pilot, "a\nb")
        await press(pilot, "c", "escape")
        assert screen.query_one(PromptPanel).draft == "a\nbc"
        await press(pilot, "h", "l", "i")
        assert typed(app) == "a\nbc"


async def test_a_matrix_takes_no_lines_but_gives_way_to_an_area(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await settled(pilot)
        await press(pilot, "escape", "1", "0", "l", "f")
        await paste(pilot, "[[5,6],\n[7,8]]")
        assert typed(app) == "[[5,6],\n[7,8]]"
        await press(pilot, "escape")
        assert screen_text(app).count("[[1,2],[3,4]]") > 1
        await press(pilot, "enter")
    assert yaml.safe_load(record.read_text())["inputs"][1] == GIVEN[1]


async def test_a_recorded_answer_of_several_lines_is_forked_whole(build: Build) -> None:
    path = build.record(QUIZ, "A\nda")
    app = QuizlogApp(path)
    async with app.run_test() as pilot:
        await settled(pilot)
        await press(pilot, "escape", "0", "f", "!", "f5")
        assert typed(app) == ""
    assert inputs(path) == ["A\nda!"]


async def test_an_answer_asked_for_in_the_tree_takes_lines(record: Path) -> None:
    async with playing(record) as pilot:
        await pilot.press("escape", "b", "f", "ctrl+u", "0", "enter")
        await idle(pilot)
        await paste(pilot, "a\nb\n")
        assert "a⏎b" in screen_text(pilot.app)
        await pilot.press("enter")
        await idle(pilot)
    assert inputs(record) == ["a\nb"]


async def test_a_paste_that_no_field_takes_is_told(record: Path) -> None:
    async with playing(record) as pilot:
        await press(pilot, "escape")
        await paste(pilot, "lost")
        await shows(pilot, "nothing here takes the pasted text")


async def test_what_was_cut_is_put_in_again_whole(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await settled(pilot)
        app.copy_to_clipboard("a\nb")
        await press(pilot, "ctrl+v")
        assert isinstance(app.focused, TextArea) and typed(app) == "a\nb"


async def test_the_next_question_gets_nothing_of_a_sent_text(build: Build) -> None:
    app = QuizlogApp(build.record(QUIZ, *GIVEN, "end"))
    async with app.run_test() as pilot:
        await settled(pilot)
        await press(pilot, "escape", "h", "h", "f", "!", "f5")
        await shows(pilot, "last?")
        assert typed(app) == ""


ODD = "a\x00b\x07c\x0b\x0cd\x1b[31me\x85\u2028f\x7f\udcff\u202eg\th\ri"


@pytest.mark.parametrize("area", [True, False])
async def test_every_character_is_kept_and_none_steers_the_terminal(
    area: bool, build: Build
) -> None:
    app = QuizlogApp(build.record('input("say ")' + ("  #textarea" if area else "")))
    async with app.run_test() as pilot:
        await settled(pilot)
        field = app.focused
        assert isinstance(field, AreaField | LineField)
        await paste(pilot, ODD.replace("\ri", ""))
        assert typed(app) == ODD.replace("\ri", "")
        await press(pilot, "f5" if area else "enter")
        shown = screen_text(app)
    assert not {*ODD} & {*shown} - {*"abcdefghi [31m"}


@given(st.text(st.characters() | st.sampled_from("\n\r\x0b\x0c\x1c\x85\u2028\x00\x1b")))
@example("a\r\nb")
def test_an_area_gives_back_what_it_was_given(text: str) -> None:
    area = AreaField(text)
    assert area.text == text
    area.document.replace_range((0, 0), (0, 0), text)
    assert area.text == text + text
    assert len(stand_ins(text)) == len(text)


if sys.platform != "win32":
    from quizlog_tui.tui.terminal_input import PasteParser

    BEGIN, END = "\x1b[200~", "\x1b[201~"

    @given(
        st.text(st.characters() | st.sampled_from("\x1b[201~\x00")).filter(
            lambda text: END not in text + END[:-1]
        ),
        st.lists(st.integers(1, 7)),
    )
    @example("a\x1b[31mred and more than thirty-two characters q", [1] * 99)
    def test_pasted_text_arrives_as_it_is_in_whatever_pieces(text: str, sizes: list[int]) -> None:
        sent = f"x{BEGIN}{text}{END}y\x1b[A"
        parser = PasteParser()
        found: list[Message] = []
        for size in sizes:
            found += parser.feed(sent[:size]) if sent[:size] else ()
            sent = sent[size:]
        found += parser.feed(sent) if sent else ()
        assert [one.key for one in found if isinstance(one, events.Key)] == ["x", "y", "up"]
        assert [one.text for one in found if isinstance(one, events.Paste)] == [text]


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")
@pytest.mark.parametrize(
    ("tag", "sign"), [("", "2 pasted lines"), ("  #textarea", "ctrl+s or F5 sends")]
)
def test_tmux_pastes_lines_once(tag: str, sign: str, build: Build) -> None:
    path = build.record(f'a = input("say ")  {tag}\n')
    with Tmux(build.outside, quizlog("tui", str(path))) as tmux:
        tmux.wait_for("sends")
        tmux.paste(b"line one\nline two")
        shown = tmux.wait_for(sign, "line two")
        assert shown.count("line one") == shown.count("line two") == 1
        tmux.press_until("C-s", "finished")
    assert inputs(path) == ["line one\nline two"]


BYTES = [
    b"a\x1b[31mred and more than thirty-two characters q",
    b"a\x00\x07\x0c\tb",
    b"a\xed\xa0\x80\xffb",
    "a\u2028\x85b é 漢 👩‍🔬".encode(),
    b"x" * 1_000_000,
]
"""What is pasted into one question after another."""


@pytest.mark.parametrize("tag", ["", "  #textarea"])
def test_a_real_terminal_pastes_any_bytes(tag: str, build: Build) -> None:
    path = build.record(f"for n in range(9):\n    input(f'say {{n}}: ')  {tag}\n")
    with Terminal(quizlog("tui", str(path))) as terminal:
        for number, sent in enumerate(BYTES):
            terminal.wait_for(f"say {number}")
            terminal.rest()
            terminal.paste(sent)
            terminal.rest()
            terminal.send("\x13" if tag else "\r")
        terminal.wait_for(f"say {len(BYTES)}")
        assert b"\x1b[31mred" not in terminal.seen and b"Traceback" not in terminal.seen
    with Session(path) as session:
        assert list(session.record.inputs) == [text(sent) for sent in BYTES]


def text(sent: bytes) -> str:
    return sent.decode("utf-8", "surrogateescape")
