"""Decisions on the screen: what is drawn of them, other rules, and what the keys do.

Outcome, reason, votes and replies are told in words, and nothing unsafe is drawn.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from quizlog_tui.files.paths import decisions_path
from quizlog_tui.solver.decision import (
    Decision,
    Execution,
    Fetched,
    ModelQuestion,
    ModelReply,
    Refusal,
)
from quizlog_tui.solver.decision_text import append_decision, read_decisions
from quizlog_tui.solver.voting.decide import RULES, decide
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screens.consensus import (
    BAR,
    ConsensusScreen,
    bar,
    bounded,
    reply_lines,
    value_text,
    verdict_lines,
    why_text,
)
from quizlog_tui.tui.screens.dialogs import ChooseScreen
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.widgets.documents import Line
from tests.support.build import Build
from tests.support.player_quizzes import EVIL, QUIZ
from tests.support.screens import SIZE, check, opened, press, settled, shows

DECISIONS = Path(__file__).parent.parent / "data" / "three-models.decisions.jsonl"


@pytest.fixture
def record(build: Build) -> Path:
    """Three answers, and decisions at steps 1, 3 and 1."""
    path = build.record(QUIZ, "Ada", "28", "16")
    shutil.copy(DECISIONS, path.with_suffix(".decisions.jsonl"))
    return path


async def deciding(pilot: Pilot[None]) -> ConsensusScreen:
    await settled(pilot)
    await press(pilot, "escape")
    await pilot.press("d")
    return await opened(pilot, ConsensusScreen)


async def test_golden_consensus(record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=SIZE) as pilot:
        await deciding(pilot)
        check("consensus", SIZE, screen_text(app))
        await pilot.press("left_square_bracket", "r")
        await opened(pilot, ChooseScreen)
        await pilot.press("G", "enter")
        await shows(pilot, "By rule unanimous, not written: nothing")
        check("consensus-again", SIZE, screen_text(app))


async def test_what_a_model_fetched_stands_with_its_reply(build: Build) -> None:
    path = build.record(QUIZ, "Ada", "28", "16")
    got = Fetched("GET", "https://quiz.site/rows", status=200, size=12, begins="[3, 4]")
    reply = ModelReply("ada", "ok", "Ada", fetched=(got,))
    question = ModelQuestion("Your name? ", branch="main", pointer=0)
    append_decision(decisions_path(path), decide(Decision("d", "now", question, (reply,))))
    app = QuizlogApp(path)
    async with app.run_test(size=(80, 30)) as pilot:
        await deciding(pilot)
        await pilot.press("G")
        await shows(pilot, "fetched GET https://quiz.site/rows: HTTP 200, 12 bytes")
        await shows(pilot, "[3, 4]")


async def test_other_rules_are_shown_beside_the_recorded_outcome_and_never_written(
    record: Path,
) -> None:
    kept = record.with_suffix(".decisions.jsonl")
    before = kept.read_bytes(), record.read_bytes()
    app = QuizlogApp(record)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await deciding(pilot)
        await shows(pilot, "decision 2 of 3 · step 3 of main")
        await pilot.press("right_square_bracket")
        await shows(pilot, "decision 3 of 3 · step 1 of main")
        await pilot.press("right_square_bracket")
        await shows(pilot, "no more decisions that way")
        await pilot.press("r")
        await opened(pilot, ChooseScreen)
        await pilot.press("G", "enter")
        await shows(pilot, "≠ a different outcome")
        await pilot.press("r")
        await opened(pilot, ChooseScreen)
        await pilot.press("g", "enter")
        await shows(pilot, "as recorded")
        assert screen._again is None
        await pilot.press("r")
        await opened(pilot, ChooseScreen)
        await pilot.press("escape")
        await opened(pilot, ConsensusScreen)
        await pilot.press("enter")
        player = await settled(pilot)
        assert len(player.state.shown.steps) == 1
    assert (kept.read_bytes(), record.read_bytes()) == before


async def test_what_cannot_be_read_is_told(record: Path) -> None:
    kept = record.with_suffix(".decisions.jsonl")
    app = QuizlogApp(record)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        kept.write_text('{"id": 3}\n' + DECISIONS.read_text())
        await deciding(pilot)
        await shows(pilot, "1 line cannot be read")
        await pilot.press("d")
        await settled(pilot)
        kept.write_text("")
        await pilot.press("d")
        await shows(pilot, "there are no decisions in record.decisions.jsonl")
        kept.unlink()
        kept.mkdir()
        await pilot.press("d")
        await shows(pilot, "cannot read")
        kept.rmdir()


async def test_a_decision_of_another_branch_is_shown_but_has_no_step_here(record: Path) -> None:
    kept = record.with_suffix(".decisions.jsonl")
    kept.write_text(DECISIONS.read_text().replace('"branch": "main"', '"branch": "gone"'))
    app = QuizlogApp(record)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await deciding(pilot)
        await shows(pilot, "decision 1 of 3 · step 1 of gone")
        await pilot.press("enter")
        await shows(pilot, "it was not asked on this branch, but on gone")


PATH = Path(__file__).parent.parent / "data" / "three-models.decisions.jsonl"
EXAMPLES = read_decisions(PATH).decisions


def text_of(lines: list[Line]) -> str:
    return "\n".join(line.text for line in lines)


def decision(*models: ModelReply, **more: object) -> Decision:
    made = Decision("d", "now", ModelQuestion("2 + 2? ", input_type="number"), models)
    return decide(replace(made, **more))  # type: ignore[arg-type]


def says(name: str, answer: object, **more: object) -> ModelReply:
    return ModelReply(name, "ok", answer, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (16.0, "16.0"), ("16", '"16"'), ("a word", "a word"), ("", "(empty)"), (None, "null"),
        ([[1, "é"]], '[[1, "é"]]'), ("true", '"true"'), ("[" * 100_000, None),
    ],
)  # fmt: skip
def test_values_are_shown_as_what_they_are(value: object, text: str | None) -> None:
    shown = value_text(value)
    assert shown == text if text is not None else shown.endswith("… 98,000 more characters")


@given(st.floats(0, 1))
def test_bars_are_of_one_length_and_grow(share: float) -> None:
    assert len(bar(share)) == BAR
    assert (bar(share) == "·" * BAR) == (share == 0)
    assert bar(share).count("█") <= bar(min(1.0, share + 0.1)).count("█")


def test_long_texts_are_cut_and_it_is_said() -> None:
    assert bounded("a\nb\n", 5) == "a\nb"
    assert bounded("a\nb\nc\nd\n", 2) == "a\nb\n… 2 more lines"
    assert len(bounded("x" * 10_000, 2)) == 401


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (decision(says("a", 4), says("b", 4)), "all 2 votes agree"),
        (decision(says("a", 4)), "it is the only answer"),
        (
            decision(says("a", 4), says("b", 4), says("c", 5)),
            "more than half of the weight is for it: 1 of 1.5",
        ),
        (decision(says("a", 4), says("b", 5, primary=True)), "the primary model, b, votes for it"),
        (
            decision(says("a", 4), says("b", 4), says("c", 5), refused=(Refusal(4),)),
            "an earlier answer was wrong, and this is the best of the others",
        ),
        (decision(says("a", 4), refused=(Refusal(4),)), "every answer has already proved wrong"),
        (decision(ModelReply("a", "timeout")), "no model cast a vote"),
        (decision(says("a", 4), says("b", 5)), "no answer stands out"),
    ],
)
def test_reasons_are_told_in_words(made: Decision, why: str) -> None:
    assert why_text(made) == why


def test_a_rule_that_chooses_none_says_why() -> None:
    split = decide(decision(says("a", 4), says("b", 4), says("c", 5)), "unanimous")
    assert why_text(split) == "the votes do not all agree"
    assert why_text(decide(decision(says("a", 4)), "unanimous")) == "only one model voted"
    cut_off = decision(says("a", 4), says("b", 4), ModelReply("c", "timeout"))
    assert why_text(decide(cut_off, "unanimous")) == "not every model voted"


def test_confidence_is_set_against_the_others() -> None:
    third = decide(EXAMPLES[2], "confidence")
    found = {
        decide(EXAMPLES[1], rule).verdict.why: why_text(decide(EXAMPLES[1], rule)) for rule in RULES
    }
    assert found["confidence"] == "its voters are most confident: 3.07 against 0.4"
    assert "confidence" in text_of(verdict_lines(third))


def test_the_verdict_names_groups_dissenters_and_silent_models() -> None:
    text = text_of(verdict_lines(EXAMPLES[1]))
    for words in (
        "Give a lower triangular L", "Chosen by rule majority: [[2, 0], [3, 2]]", "3.5, 78%",
        "Dissenters: beta", "delta: timeout", "! gamma claims an answer that differs", "delta: ✗ HTTP 503",
        "epsilon: ≠ [[2, 0], [3, 2]], confidence 0.8",
    ):  # fmt: skip
        assert words in text
    refused = decision(says("a", 4), says("b", 5), refused=(Refusal(4, "too small"),))
    text = text_of(verdict_lines(refused))
    assert "✗ 4: too small" in text and "already proved wrong" in text


def test_another_rule_stands_beside_the_recorded_outcome() -> None:
    made = decision(says("a", 4), says("b", 4), says("c", 5, primary=True))
    text = text_of(verdict_lines(made, decide(made, "primary")))
    assert "Chosen by rule majority: 4" in text
    assert "By rule primary, not written: 5" in text
    assert "≠ a different outcome" in text and "→ ██████" in text
    assert "= the same answer" in text_of(verdict_lines(made, decide(made, "plurality")))


def test_each_reply_tells_what_its_code_came_to() -> None:
    text = text_of(reply_lines(EXAMPLES[1], FrozenClock()))
    for words in (
        "alpha  voted for the outcome, primary", "│ from scipy.linalg import cholesky",
        "✗ its code: error in 0 ms", "ModuleNotFoundError", "beta  dissents", "delta  no vote",
        "✗ timed out", "✓ its code returned [[2.0, 3.0], [0.0, 2.0]]",
        "after seeing all answers: [[2, 0], [3, 2]], confidence 0.97",
    ):  # fmt: skip
        assert words in text
    assert text_of(reply_lines(decision(), FrozenClock())) == "No model was asked."


def test_each_request_of_a_model_is_drawn_with_what_came_of_it() -> None:
    found = (
        Fetched(
            "GET", "https://quiz.site/a?page=2", ("X-Key: 77",), status=200,
            type="application/json", size=1300, file="a.json", begins='{"n": 1,\n"m": 2}',
        ),
        Fetched("POST", "https://quiz.site/b", body="n=4", error="no reply within 20 s"),
        Fetched("GET", "https://quiz.site/c", status=404, type="text/html", size=9),
    )  # fmt: skip
    text = text_of(reply_lines(decision(says("ada", 4, fetched=found)), FrozenClock()))
    for words in (
        "✓ fetched GET https://quiz.site/a?page=2: HTTP 200, 1,300 bytes application/json, in a.json",
        "  X-Key: 77", '{"n": 1,\n"m": 2}',
        "✗ fetched POST https://quiz.site/b: no reply within 20 s", "  sent: n=4",
        "✗ fetched GET https://quiz.site/c: HTTP 404, 9 bytes text/html",
    ):  # fmt: skip
        assert words in text
    assert text.index("quiz.site/a") < text.index("quiz.site/c") < text.index("claims 4")


def test_no_text_of_a_model_steers_the_terminal() -> None:
    run = Execution("error", EVIL, EVIL, EVIL, EVIL, isolation=EVIL)
    got = Fetched(EVIL, EVIL, (EVIL,), EVIL, 200, EVIL, 1, EVIL, EVIL, EVIL)
    model = ModelReply(
        EVIL, "ok", EVIL, EVIL, EVIL, run, error=EVIL, family=EVIL, primary=True, fetched=(got,)
    )
    asked = ModelQuestion(EVIL, EVIL, choices=(EVIL,), branch=EVIL)
    made = decide(
        Decision(
            EVIL, EVIL, asked, (model, says("b", EVIL)), refused=(Refusal(EVIL, EVIL),), label=EVIL
        )
    )
    lines = [*verdict_lines(made, decide(made, "unanimous")), *reply_lines(made, FrozenClock())]
    assert not set(text_of(lines)) & set("\x1b\x07\x9b\u202e\u2028\x85\x00")
