"""What is typed belongs to its question: the rules, without a screen."""

from __future__ import annotations

from quizlog_tui.replay.script.input_type import InputType
from quizlog_tui.tui.widgets.prompt_panel import Drafts
from quizlog_tui.tui.widgets.prompt_question import PromptQuestion


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
