"""The drawing of decisions: outcome, reason, votes and replies in words, nothing unsafe."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.solver.decisions.decision import (
    Decision,
    Execution,
    Fetched,
    ModelQuestion,
    ModelReply,
    Refusal,
)
from quizlog_tui.solver.decisions.decision_file import read_decisions
from quizlog_tui.solver.voting.decide import RULES, decide
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.draw.consensus import (
    BAR,
    bar,
    bounded,
    reply_lines,
    value_text,
    verdict_lines,
    why_text,
)
from quizlog_tui.tui.widgets.documents import Line
from tests.support.player_quizzes import EVIL

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
