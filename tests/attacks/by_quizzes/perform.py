"""Runs attacks by quizzes and judges them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.attacks.by_quizzes.attempt import COPY, attempt
from tests.attacks.by_quizzes.entries import EVERY, QuizAttack
from tests.attacks.by_quizzes.judge import CHECKS
from tests.attacks.perform import Judgement, JudgingRules, judged

_WITHOUT_OVERLAY = {
    "canary-modes": "Landlock sees no change of a file's mode, owner, times and attributes",
}
"""Attacks that fail only with an overlay over the script's folder, and why."""


def perform(attacks: Sequence[QuizAttack]) -> Iterator[Judgement]:
    """Run attacks one after the other and judge each."""
    yield from judged(attacks, attempt, JudgingRules(CHECKS, EVERY))


def known(judgement: Judgement) -> str:
    """Why an attack is known to succeed, here or anywhere; empty if it is not."""
    attack = judgement.attack
    without = _WITHOUT_OVERLAY.get(attack.id, "") if judgement.isolation.endswith(COPY) else ""
    return without or (attack.open if isinstance(attack, QuizAttack) else "")
