"""The recorded answer in full, and forks and amendments that start from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Input

from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.draw.answer import pretty_answer
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.widgets.prompt_panel import PromptPanel
from tests.support.build import Build
from tests.support.screens import SIZE, check, playing, press, settled, shows

QUIZ = """
name = input("Who are you? ")
plan = input("Your plan as JSON? ")
table = input("Orthogonal 3x3? ")
if name != "Ada":
    raise Exception("a stranger")  #score = 0.5
input("Anything else? ")
"""
PLAN = '{"steps": [{"do": "look", "with": ["lamp", "map"], "for": 1.50}], "why": "it is dark"}'
MATRIX = "[[1,0,-10],[0,1,0],[100,0,1]]"


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    return Build(folder, build.dedent).record(QUIZ, "Ada", PLAN, MATRIX)


@pytest.mark.parametrize("scene", ["whole-answer", "whole-matrix"])
async def test_golden_screens(scene: str, record: Path) -> None:
    async with playing(record, clock=FrozenClock()) as pilot:
        await press(pilot, "escape", "h", *(["h"] if scene == "whole-answer" else []), "4")
        check(scene, SIZE, screen_text(pilot.app))


async def test_the_pane_follows_the_step_and_goes_again(record: Path) -> None:
    async with playing(record, clock=FrozenClock(), size=(100, 30)) as pilot:
        await press(pilot, "escape", "4")
        await shows(pilot, "Step 3 has no answer.")
        await press(pilot, "h")
        await shows(pilot, "[100, 0, 1]]")
        await press(pilot, "4")
        assert "Answer at step" not in screen_text(pilot.app)


async def test_the_error_that_an_answer_led_to_stands_with_it(build: Build) -> None:
    async with playing(
        build.record(QUIZ, "Eve", "{}", "[[1]]"), clock=FrozenClock(), size=(100, 40)
    ) as pilot:
        await press(pilot, "escape", "h", "4")
        await shows(pilot, "✗ a stranger")
        await press(pilot, "h")
        assert "a stranger" not in screen_text(pilot.app)


@pytest.mark.parametrize(
    ("key", "branches"), [("f", ["main", "fork-1"]), ("A", ["main", "main-1"])]
)
async def test_forks_and_amendments_start_from_the_recorded_answer(
    record: Path, key: str, branches: list[str]
) -> None:
    async with playing(record, clock=FrozenClock(), size=(100, 30)) as pilot:
        await press(pilot, "escape", "0", key)
        assert isinstance(pilot.app.focused, Input) and pilot.app.focused.cursor_position == len(
            "Ada"
        )
        screen = await press(pilot, *" B", "enter")
        assert screen.session.record.inputs[0] == "Ada B"
        assert [one.name for one in screen.session.branches] == branches


@pytest.mark.parametrize("key", ["f", "A"])
async def test_a_json_answer_is_changed_in_its_own_editor(record: Path, key: str) -> None:
    async with playing(record, clock=FrozenClock(), size=(100, 30)) as pilot:
        screen = await settled(pilot)
        await press(pilot, "escape", "h", "h", key)
        assert screen.query_one(PromptPanel).draft == PLAN
        await press(pilot, "backspace", *', "x": 1}', "f5")
        assert screen.session.record.inputs[1] == PLAN[:-1] + ', "x": 1}'


async def test_what_was_typed_for_a_fork_is_not_replaced(record: Path) -> None:
    async with playing(record, clock=FrozenClock(), size=(100, 30)) as pilot:
        screen = await settled(pilot)
        await press(pilot, "escape", "0", "f", *" Love", "escape", "l", "h", "f")
        assert screen.query_one(PromptPanel).draft == "Ada Love"


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (MATRIX, "[[  1, 0, -10],\n [  0, 1,   0],\n [100, 0,   1]]"),
        ("[1, 2.50]", "[1, 2.50]"),
        ('{"b": 1.10, "a": [ ]}', '{\n  "b": 1.10,\n  "a": [ ]\n}'),
        ('{"a": {"b": 1e2}}', '{\n  "a": {"b": 1e2}\n}'),
        ('["]", "{"]', '["]", "{"]'),
        ("[[1],[2,3]]", "[\n  [1],\n  [2,3]\n]"),
        ("{not json}", "{not json}"),
        ("[" * 5000, "[" * 5000),
        ("plain\ntext", "plain\ntext"),
    ],
)
def test_json_and_matrices_are_laid_out_exactly_as_written(answer: str, shown: str) -> None:
    assert pretty_answer(answer) == shown


@given(st.recursive(st.integers() | st.text() | st.booleans(), lambda inner: st.lists(inner)))
def test_laying_out_json_changes_no_value(value: object) -> None:
    for indent in (None, 1):
        text = json.dumps(value, indent=indent)
        assert json.loads(pretty_answer(text)) == value
