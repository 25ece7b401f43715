"""Inputs fitted to kinds of answers: what is offered, what is said, what is sent, what is kept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from quizlog_tui.replay.script.input_type import InputType
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.draw.answer import json_problem
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.widgets.editors import size_in
from quizlog_tui.tui.widgets.prompt_panel import Drafts, PromptQuestion, option_rows, options
from tests.support.build import Build
from tests.support.long_runs import few
from tests.support.screens import SIZE, check, playing, press, settled, shows


@pytest.mark.parametrize(
    ("question", "kind", "found"),
    [
        ("Go? (yes/no) ", InputType("yesno"), ("yes", "no")),
        ("Go? [Y/n] ", InputType("yesno"), ("Y", "n")),
        ("Is it symmetric? ", InputType("yesno"), ("yes", "no")),
        ("(a/b)", InputType("choice", ("a", "b")), ("a", "b")),
        ("name? ", InputType(), ()),
        ("n? ", InputType("number"), ()),
    ],
)
def test_options(question: str, kind: InputType, found: tuple[str, ...]) -> None:
    assert options(question, kind) == found


@pytest.mark.parametrize(
    ("options", "heard", "rows"),
    [
        (("a", "b"), "Choose:\na) red\n(b)  blue \n> ", ("a) red", "(b)  blue")),
        (("1", "2"), "Choose:\n1. red\n> ", ("1. red", "2")),
        (("red", "blue"), "(red/blue)", ("red", "blue")),
        (("yes", "no"), "Go on?\na) red", ("yes", "no")),
    ],
)
def test_an_option_stands_with_its_line_of_the_question(
    options: tuple[str, ...], heard: str, rows: tuple[str, ...]
) -> None:
    assert option_rows(options, heard) == rows


@pytest.mark.parametrize(
    ("text", "rows", "size"),
    [
        ("Give a 2x3 matrix", None, (2, 3)),
        ("a 3 by 3 matrix", None, (3, 3)),
        ("A = [[4, 6], [6, 13], [1, 2]]\nits LU?", None, (3, 2)),
        ("L: ", 4, (4, 4)),
        ("L: ", None, (2, 2)),
        ("give a 10x12 matrix of ones", None, (10, 12)),
        ("12x30 pixels", None, (2, 2)),
    ],
)
def test_the_size_of_a_matrix(text: str, rows: int | None, size: tuple[int, int]) -> None:
    assert size_in(text, rows) == size


def test_json_problems_have_a_place() -> None:
    assert json_problem('{"a": 1}') is None
    assert json_problem('{"a": }') == "line 1, column 7: Expecting value"
    assert json_problem("[" * 100_000) is not None


def answers(path: Path) -> list[str]:
    found: list[str] = yaml.safe_load(path.read_text())["inputs"]
    return found


async def ask(build: Build, source: str, *keys: str) -> list[str]:
    """Press keys on the one question of a script; the answers recorded."""
    path = build.record(source)
    async with playing(path) as pilot:
        await press(pilot, *keys)
    return answers(path)


async def test_a_choice_is_stepped_through_with_the_arrows(build: Build) -> None:
    assert await ask(build, "input('pick (red/green/blue) ')", "down", "down", "enter") == ["green"]
    build.folder.joinpath("record.yaml").unlink()
    assert await ask(build, "input('Go on? (yes/no) ')", "up", "enter") == ["no"]


async def test_free_text_is_always_possible(build: Build) -> None:
    assert await ask(build, "input('pick (red/green) ')", *"pink", "enter") == ["pink"]
    build.folder.joinpath("record.yaml").unlink()
    keys = ("ctrl+t", *"none", "enter")
    assert await ask(build, "input('A matrix: ')  #matrix", *keys) == ["none"]


async def test_a_matrix_is_filled_cell_by_cell(build: Build) -> None:
    keys = ("1", "tab", "2", "tab", "3", "ctrl+right", "9", "enter")
    assert await ask(build, "input('A: ')  #matrix", *keys) == ["[[19,2,0],[3,0,0]]"]


async def test_json_is_checked_while_one_types(build: Build) -> None:
    path = build.record("input('JSON: ')\n")
    async with playing(path) as pilot:
        await pilot.press("[", "1", ",")
        await shows(pilot, "✗ line 1, column 4")
        await pilot.press("2", "]")
        await shows(pilot, "✓ JSON")
        await press(pilot, "ctrl+s")
    assert answers(path) == ["[1,2]"]


async def test_a_text_area_takes_several_lines(build: Build) -> None:
    keys = (*"one", "enter", *"two", "f5")
    assert await ask(build, "input('Essay: ')  #textarea #rows=6", *keys) == ["one\ntwo"]


async def test_a_number_that_is_none_is_told_and_sent_all_the_same(build: Build) -> None:
    path = build.record("input('How many integers? ')\n")
    async with playing(path) as pilot:
        await pilot.press("x")
        await shows(pilot, "not a valid integer")
        await press(pilot, "enter")
    assert answers(path) == ["x"]


SCENES = {
    "matrix": "print('A = [[4, 6], [6, 13]]')\ninput('L: ')  #matrix",
    "choice": "input('pick one (red/green/blue) ')",
    "json": "input('JSON: ')",
}


@pytest.mark.parametrize("scene", SCENES)
async def test_golden_inputs(scene: str, build: Build) -> None:
    folder = build.folder / "audit"
    folder.mkdir()
    async with playing(
        Build(folder, build.dedent).record(SCENES[scene]), clock=FrozenClock(), size=SIZE
    ) as pilot:
        check(f"input-{scene}", SIZE, screen_text(pilot.app))


LONG = "Which of these rooms would you rather go to now, if you could choose any one of them? "
TIGHT = {
    "choice": (f"input({LONG + '(walk/museum/up/down/left/right) '!r})", ("z", "z")),
    "lines": ("input('Write\\nin a\\nfew\\nlines:\\n')", ("z", "z")),
    "textarea": ("input('Write\\nan\\nessay: ')  #textarea #rows=12", ("z", "z")),
    "matrix": ("input('A 5x2 matrix: ')  #matrix", ("tab",) * 8 + ("z", "z")),
}


@pytest.mark.parametrize(
    "size", few([(60, 20), (80, 24), (46, 13)], (46, 13)), ids=lambda size: f"{size[0]}"
)
@pytest.mark.parametrize("kind", TIGHT)
async def test_nobody_types_blind_beside_an_error(
    kind: str, size: tuple[int, int], build: Build
) -> None:
    question, keys = TIGHT[kind]
    source = f"print('one')\n{question}\nraise Exception('a long message ' * 6)\n"
    async with playing(build.record(source, "bad"), size=size) as pilot:
        await press(pilot, *keys)
        assert re.search(r"^│ .*\bzz\b", screen_text(pilot.app), re.M), screen_text(pilot.app)
        await pilot.resize_terminal(size[0], size[1] + 12)
        await pilot.resize_terminal(*size)
        await settled(pilot)
        assert re.search(r"^│ .*\bzz\b", screen_text(pilot.app), re.M), screen_text(pilot.app)


def test_a_draft_waits_for_its_question() -> None:
    drafts = Drafts()
    assert drafts.turn_to("first", "", "") == ""
    assert drafts.turn_to("first", "half", "half") is None
    assert drafts.turn_to("second", "half", "half") == ""
    assert drafts.turn_to("first", "", "") == "half"
    assert drafts.turn_to("second", "", "") == ""


def test_what_is_typed_after_sending_is_for_the_next_question() -> None:
    drafts = Drafts()
    drafts.turn_to("first", "", "")
    drafts.send()
    assert drafts.turn_to("second", "ahead", "ahead") == "ahead"
    assert drafts.turn_to("first", "", "") == ""


def test_an_answer_that_comes_back_is_a_draft_again() -> None:
    drafts = Drafts()
    drafts.turn_to("first", "", "")
    drafts.send()
    drafts.take_back()
    assert drafts.turn_to("second", "refused", "refused") == ""
    assert drafts.turn_to("first", "", "") == "refused"


def test_each_kind_has_the_input_that_fits_it() -> None:
    def editor(kind: InputType, text: str = "Say: ") -> object:
        return PromptQuestion(text, kind).editor

    assert editor(InputType("textarea")) == editor(InputType("json")) == "box"
    assert editor(InputType("number")) is None
    assert editor(InputType("number", rows=4)) == "box"
    assert editor(InputType("matrix"), "A 3x3 matrix: ") == "grid"
    assert editor(InputType("matrix"), "A 30x30 matrix: ") is None


def test_an_answer_that_is_no_matrix_does_not_fit_the_grid() -> None:
    grid = PromptQuestion("A 2x2 matrix: ", InputType("matrix"))
    assert grid.fits_editor("[[1,2],[3,4]]") and not grid.fits_editor("identity")
    assert PromptQuestion("Name? ", InputType()).fits_editor("anything")
