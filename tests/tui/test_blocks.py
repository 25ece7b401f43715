"""The output in blocks: a rule below each answer, long outputs folded, keys from block to block."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError
from quizlog_tui.replay.transcript import Step, Transcript
from quizlog_tui.session.session import Session
from quizlog_tui.terminal_text import MOST
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.draw import output
from quizlog_tui.tui.draw.output import OutputForm, RunOutput, folded_pieces, next_step_with, rule
from quizlog_tui.tui.player import panes
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.screens import SIZE, check, playing, press, settled, shows

QUIZ = """
print("the plan")
name = input("Name? ")
for number in range(300):
    print(f"\\033[32mrow {number}\\033[0m")
age = input("Age? ")
print("new here")
input("More? ")
"""


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    return Build(folder, build.dedent).record(QUIZ, "Ada", "36")


def shown(text: str, opens: str = "o", *, raw: bool = False) -> str:
    return "".join(piece for piece, _ in folded_pieces(text, opens, raw=raw))


@pytest.mark.parametrize("raw", [False, True])
def test_a_long_output_keeps_its_first_and_last_lines(raw: bool) -> None:
    lines = [f"row {number}\n" for number in range(300)]
    assert shown("".join(lines), raw=raw).splitlines(keepends=True) == [
        *lines[:20],
        "… 240 more lines; o shows all\n",
        *lines[-40:],
    ]
    assert shown("".join(lines), "") == "".join(lines)
    assert shown("".join(lines[:100])) == "".join(lines[:100])


def test_the_ends_of_an_output_that_is_too_long_to_draw_are_drawn() -> None:
    line = "\x1b[31mred\x1b[0m" + "x" * 1000 + "\n"
    pieces = folded_pieces(line * (MOST // len(line) + 200), "o", raw=False)
    assert pieces[0] == ("red", "sgr 31") and pieces[-2] == ("red", "sgr 31")
    assert not any("␛" in text for text, _ in pieces)


def test_an_open_output_that_is_not_drawn_says_so() -> None:
    text = f"\x1b[31m{'red' * 331}\n" * (MOST // 999 + 1)
    run = Transcript([Step("a? ", (text,), "", 1, "1")], Step("b? ", (), "", 2), "in_progress")
    document = RunOutput(run, about=str).at(run)
    document.starts(60)
    assert "over 4 MB: not drawn" in document[0].text.rpartition("\n")[2]


def test_a_rule_fills_the_row_whatever_it_says() -> None:
    assert rule("step 3 · 日本", 24) == "── step 3 · 日本 " + "─" * 7
    assert rule("a very long name\nof two lines", 12) == "── a very lo"


def test_a_search_finds_what_is_folded() -> None:
    text = "".join(f"row {number}\n" for number in range(300))
    run = Transcript([Step("a? ", (text,), "", 1, "1")], Step("b? ", (), "", 2), "in_progress")
    assert next_step_with(run, 0, 0, lambda text: text.count("row 150"), OutputForm(opens="o")) == 0


def ended(stderr: str, error: str | None) -> str:
    last = Step(None, ("bye\n",), stderr, None)
    problem = LastError(error, 1, 0.0) if error else None
    kind = "SystemExit" if error and error.startswith("exit") else None
    run = Transcript([], last, "error" if error else "success", problem, error_type=kind)
    return RunOutput(run).at(run).text(0)


def test_stderr_stands_marked_below_the_output_of_its_step() -> None:
    step = Step("a? ", ("hi\n",), "one\n\x1b[31mtwo\n", 1, "1")
    run = Transcript([step], Step("b? ", ("no end",), "three", 2), "in_progress")
    document = RunOutput(run).at(run)
    assert document.text(0) == "hi\nstderr: one\nstderr: two\na? 1"
    assert document.text(1) == "no end\nstderr: three\nb? ▏"
    assert ("stderr: one\nstderr: two\n", "dim") in document[0].pieces
    assert list(document.starts(40)) == [0, 4, 7]
    hidden = RunOutput(run, OutputForm(stderr=False)).at(run)
    assert (hidden.text(0), hidden.text(1)) == ("hi\na? 1", "no endb? ▏")


def test_a_question_on_stderr_is_shown_once() -> None:
    run = Transcript([], Step("Secret: ", (), "careful\nSecret: ", 1), "in_progress")
    assert RunOutput(run).at(run).text(0) == "stderr: careful\nSecret: ▏"


def test_stderr_at_the_end_is_shown_without_what_the_error_shows() -> None:
    trace = "Traceback (most recent call last):\n  File ...\nException: no\n"
    assert ended("careful\n", None) == "bye\nstderr: careful"
    assert ended(f"careful\n{trace}", "no") == "bye\nstderr: careful"
    assert ended("usage: quiz.py N\n", "exit status 2") == "bye"


def test_a_search_finds_stderr() -> None:
    run = Transcript([Step("a? ", (), "careful\n", 1, "1")], Step("b? ", (), "", 2), "in_progress")
    assert next_step_with(run, 0, 0, lambda text: text.count("hi")) is None
    assert next_step_with(run, 0, 1, lambda text: text.count("careful")) == 0


async def test_a_key_hides_stderr_and_shows_it(build: Build) -> None:
    path = build.record("import sys\nprint('careful', file=sys.stderr)\ninput('a? ')\n")
    async with playing(path, clock=FrozenClock()) as pilot:
        assert "stderr: careful" in screen_text(pilot.app)
        await press(pilot, "escape", "w")
        await shows(pilot, "the script's stderr is hidden")
        assert "stderr: careful" not in screen_text(pilot.app)


async def test_blocks_end_with_a_rule_and_the_newest_is_marked(record: Path) -> None:
    async with playing(record) as pilot:
        text = screen_text(pilot.app)
        assert "── step 1 " in text and "▎new here" in text and "▎row 299" not in text
        await press(pilot, "escape", "left")
        assert "▎row 299" in screen_text(pilot.app) and "── step 1 " not in screen_text(pilot.app)


async def test_keys_go_from_block_to_block(record: Path) -> None:
    async with playing(record) as pilot:
        screen = await settled(pilot)
        await press(pilot, "escape")
        output = screen.panes.output
        last = output.scroll_offset.y
        tops = []
        for key in ("left_curly_bracket", "left_curly_bracket", "left_curly_bracket"):
            await press(pilot, key)
            tops.append(screen_text(pilot.app).splitlines()[2][2:].split("  ")[0])
        assert tops == ["row 0", "the plan", "the plan"]
        await press(pilot, "right_curly_bracket")
        assert screen_text(pilot.app).splitlines()[2][2:].startswith("row 0 ")
        await press(pilot, "right_curly_bracket")
        assert output.scroll_offset.y == last


async def test_long_outputs_open_by_key_and_for_a_search(record: Path) -> None:
    async with playing(record) as pilot:
        screen = await settled(pilot)
        await press(pilot, "escape")
        output = screen.panes.output
        assert "240 more lines; o shows all" in output.document[1].text
        await press(pilot, "o")
        await shows(pilot, "shown in full")
        assert "row 150\n" in output.document[1].text
        await press(pilot, "o")
        assert "row 150\n" not in output.document[1].text
        await press(pilot, "slash", *"row 150", "enter")
        await shows(pilot, "1 of 1")
        assert "row 150" in screen_text(pilot.app)


async def test_golden_blocks(record: Path) -> None:
    async with playing(record, clock=FrozenClock()) as pilot:
        check("blocks", SIZE, screen_text(pilot.app))


@pytest.mark.parametrize("key", ["o", "u", "W"])
async def test_another_drawing_keeps_the_place(key: str, record: Path) -> None:
    async with playing(record, size=(100, 30)) as pilot:
        screen = await settled(pilot)
        pane = screen.panes.output
        await press(pilot, "escape", "left_curly_bracket", "j")
        assert pane._index.text(pane.scroll_offset.y) == "row 1"
        for _ in range(2):
            await press(pilot, key)
            assert "row 1" in pane._index.text(pane.scroll_offset.y)
        await press(pilot, "G", key)
        assert pane.scroll_offset.y == pane.max_scroll_y


def run_of(*texts: str) -> Transcript:
    steps = [Step("a? ", (text,), "", 1, "1") for text in texts]
    return Transcript(AppendOnlyList(steps), Step("b? ", (), "", 2), "in_progress")


def test_steps_that_show_the_same_in_another_run_are_not_measured_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, other = run_of("one\n", "a b c " * 9, "end\n"), run_of("one\n", "a b c " * 9, "e\nnd\n")
    first, measured = RunOutput(run, about=str), list[str]()
    first.at(run).starts(20)
    measure = output.height

    def counted(text: str, *given: Any, **named: Any) -> int:
        measured.append(text)
        return measure(text, *given, **named)

    monkeypatch.setattr(output, "height", counted)
    grown = first.grown(other).at(other)
    assert list(grown.starts(20)) == list(RunOutput(other, about=str).at(other).starts(20))
    assert measured[0].startswith("e\nnd") and len(measured) == 1 + 3
    longer = replace(run, steps=run.steps.then(run.steps[0]))
    measured.clear()
    first.grown(longer).at(longer).starts(20)
    assert len(measured) == 1


NOTES = {1: ["✎ wrong · ann: no", "✎ bob: " + "well " * 9], 3: ["✎ end"]}


def test_the_notes_of_a_step_stand_above_its_rule_on_a_line_each() -> None:
    run = run_of("one\n", "two\n", "three\n")
    document = RunOutput(run, about=str, notes=NOTES).at(run)
    assert list(document.starts(20)) == [0, 3, 8, 11, 13]
    assert document[1].text.split("\n")[-3:-1] == ["✎ wrong · ann: no   ", "✎ bob: well well we…"]
    assert ("✎ wrong · ann: no   ", "dim") in document[1].pieces
    assert document[3].text == "b? ▏\n✎ end"  # of the pending step
    assert "✎" not in document.text(1) + document.text(3)  # no search of the output finds them
    assert list(RunOutput(run, about=str, notes=NOTES).at(run, first=1).starts(20))[:3] == [0, 5, 8]
    hidden = RunOutput(run, about=str, notes=NOTES).at(run, 1)
    hidden.starts(20)
    assert "✎" not in hidden[3].text  # its question is not shown yet


def test_other_notes_need_no_other_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of("one\n", "two\n", "three\n")
    first = RunOutput(run, about=str)
    assert list(first.at(run).starts(20)) == [0, 3, 6, 9, 10]
    monkeypatch.setattr(RunOutput, "_height", None)
    assert list(first.noted(NOTES).at(run).starts(20)) == [0, 3, 8, 11, 13]
    assert list(first.noted(NOTES).grown(run).at(run).starts(20)) == [0, 3, 8, 11, 13]


async def test_a_note_appears_at_its_step_when_it_is_made(build: Build) -> None:
    path = build.record("for i in range(3): input(f'{i}? ')", "a", "b")
    async with playing(path, clock=FrozenClock()) as pilot:
        await press(pilot, "escape")
        for at, text in ((0, "odd\nindeed"), (2, "stuck")):
            with Session(path) as session:
                session.comment(at, text, "wrong" if at else None, "ann")
        await shows(pilot, "0? a │")
        await shows(pilot, "✎ ann: odd⏎indeed")
        await shows(pilot, "✎ wrong · ann: stuck")
        await press(pilot, "0")
        text = screen_text(pilot.app)
        assert "✎ ann: odd⏎indeed" in text and "stuck" not in text


def test_the_end_of_a_run_is_drawn_before_the_rest_is_measured() -> None:
    run = run_of(*map("{}\n".format, range(9)))
    drawn = RunOutput(run, about=str)
    near = drawn.at(run, first=6)
    assert [near.text(index) for index in range(3)] == ["6\na? 1", "7\na? 1", "8\na? 1"]
    assert list(near.starts(20)) == [0, 3, 6, 9, 10]
    assert "step 6" in near[0].text and near.numbered(0).text.startswith("  6 │ ")
    while not drawn.measure(0.001):
        pass
    assert list(drawn.at(run).starts(20)) == [*range(0, 28, 3), 28]


async def test_a_long_output_is_whole_once_it_is_measured(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panes, "_NEAR", 5)
    path = build.record("for i in range(31): input(f'{i}? ')", *map(str, range(30)))
    async with playing(path, clock=FrozenClock()) as pilot:
        screen = await settled(pilot)
        assert len(screen.panes.output.document) == 31
        assert screen.panes.output.document.text(0) == "0? 0"
        await press(pilot, "escape", "g")
        assert "1? " in screen_text(pilot.app)
