"""Runs attacks by quizzes, and judges whether guarantees held: one function per check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from quizlog_tui.text import one_line
from tests.attacks.by_quizzes.attempt import COPY, QuizAttempt, attempt
from tests.attacks.by_quizzes.entries import EVERY, QuizAttack
from tests.attacks.judge import OF_MACHINE, Check, must
from tests.attacks.perform import Judgement, JudgingRules, judged
from tests.attacks.scene import Scene

_TRACEBACK = "Traceback (most recent call last)"


def _printed(attempt: QuizAttempt) -> list[str]:
    return list(attempt.transcript.print) if attempt.transcript else []


def _shown(text: object) -> str:
    return one_line(str(text))[:200]


def all_texts(attempt: QuizAttempt) -> Iterator[str]:
    """All texts that a person sees or a record contains."""
    yield from _printed(attempt)
    yield attempt.said
    yield from (file.text for file in attempt.made)
    yield attempt.transcript.stderr if attempt.transcript else ""
    yield str(attempt.verdict)
    for shell in attempt.shells:
        yield from (shell.stdout, shell.stderr)


def status_in(attempt: QuizAttempt, scene: Scene, value: list[str]) -> str | None:
    """The live run ended in one of these ways."""
    return must(attempt.status in value, f"{attempt.status}: {_shown(attempt.said)}")


def said_has(attempt: QuizAttempt, scene: Scene, value: str) -> str | None:
    """The error says this."""
    return must(value in attempt.said, f"it says {_shown(attempt.said)}")


def prints_eq(attempt: QuizAttempt, scene: Scene, value: list[str]) -> str | None:
    """Just this was printed."""
    return must(_printed(attempt) == value, f"printed {_shown(_printed(attempt))}")


def prints_have(attempt: QuizAttempt, scene: Scene, value: str) -> str | None:
    """This was printed, among others."""
    return must(value in _printed(attempt), f"printed {_shown(_printed(attempt))}")


def prints_lack(attempt: QuizAttempt, scene: Scene, value: str) -> str | None:
    """This is in nothing that was printed."""
    return must(not any(value in text for text in _printed(attempt)), f"printed {_shown(value)}")


def met_has(attempt: QuizAttempt, scene: Scene, value: str) -> str | None:
    """The run is marked with this."""
    observed = attempt.transcript.observed if attempt.transcript else ()
    return must(value in observed, f"it is marked with {_shown(observed)}")


def code_eq(attempt: QuizAttempt, scene: Scene, value: list[int]) -> str | None:
    """Just these answers are marked as code."""
    found = sorted(attempt.transcript.code_answers) if attempt.transcript else []
    return must(found == value, f"marked are {found}")


def score_eq(attempt: QuizAttempt, scene: Scene, value: float) -> str | None:
    """The run has this score."""
    error = attempt.transcript.last_error if attempt.transcript else None
    score = error.score if error else 1.0 if attempt.status == "success" else None
    return must(score == value, f"its score is {score}")


def verdict_in(attempt: QuizAttempt, scene: Scene, value: list[str]) -> str | None:
    """The record verifies as one of these."""
    verdict = attempt.verdict
    return must(verdict is not None and verdict.verdict in value, _shown(verdict))


def remarks_have(attempt: QuizAttempt, scene: Scene, value: str) -> str | None:
    """The verdict names this."""
    said = [attempt.verdict.headline, *attempt.verdict.remarks] if attempt.verdict else []
    return must(any(value in line for line in said), f"the verdict says {_shown(said)}")


def exit_codes_eq(attempt: QuizAttempt, scene: Scene, value: list[int]) -> str | None:
    """The commands ended with these exit codes."""
    said = [(shell.code, shell.stderr[-200:]) for shell in attempt.shells]
    return must([shell.code for shell in attempt.shells] == value, f"they ended {_shown(said)}")


def shell_has(attempt: QuizAttempt, scene: Scene, value: str) -> str | None:
    """One of the commands shows this."""
    shown = [shell.stdout + shell.stderr for shell in attempt.shells]
    return must(any(value in text for text in shown), f"they show {_shown(shown)}")


def shell_lacks(attempt: QuizAttempt, scene: Scene, value: str) -> str | None:
    """None of the commands shows this."""
    shown = [shell.stdout + shell.stderr for shell in attempt.shells]
    return must(not any(value in text for text in shown), f"one shows {_shown(value)}")


def no_traceback(attempt: QuizAttempt, scene: Scene, value: object) -> str | None:
    """No command or run ended with a traceback of quizlog."""
    shown = [attempt.said, *(shell.stderr for shell in attempt.shells)]
    return must(not any(_TRACEBACK in text for text in shown), f"one shows {_shown(shown)}")


def canary_absent(attempt: QuizAttempt, scene: Scene, value: object) -> str | None:
    """The secret is not shown or stored anywhere."""
    return must(not any(map(scene.reveals, all_texts(attempt))), "the secret came out")


def made_lacks(attempt: QuizAttempt, scene: Scene, value: str) -> str | None:
    """No new file contains this, and there is one besides the record."""
    holding = [file.name for file in attempt.made if value in file.text]
    return must(not holding and len(attempt.made) > 1, f"it is in {holding or 'nothing at all'}")


def plain_modes(attempt: QuizAttempt, scene: Scene, value: object) -> str | None:
    """No new file is setuid or setgid, and there is one besides the record."""
    special = [file.name for file in attempt.made if file.mode & 0o6000]
    return must(not special and len(attempt.made) > 1, f"special are {special or 'none at all'}")


def parent_files_max(attempt: QuizAttempt, scene: Scene, value: int) -> str | None:
    """This process has at most this many more files open than before."""
    more = attempt.after.files - attempt.before.files
    return must(more <= value, f"{more} more are open")


def unchanged(name: str, said: str) -> Check:
    """Make a check that a fact is unchanged."""

    def check(attempt: Any, scene: Scene, value: object) -> str | None:
        return must(getattr(attempt.before, name) == getattr(attempt.after, name), said)

    return check


CHECKS: dict[str, Check] = OF_MACHINE | {
    "status_in": status_in,
    "said_has": said_has,
    "prints_eq": prints_eq,
    "prints_have": prints_have,
    "prints_lack": prints_lack,
    "met_has": met_has,
    "code_eq": code_eq,
    "score_eq": score_eq,
    "verdict_in": verdict_in,
    "remarks_have": remarks_have,
    "exit_codes_eq": exit_codes_eq,
    "shell_has": shell_has,
    "shell_lacks": shell_lacks,
    "made_lacks": made_lacks,
    "plain_modes": plain_modes,
    "parent_files_max": parent_files_max,
    "no_traceback": no_traceback,
    "canary_absent": canary_absent,
    "devices_unchanged": unchanged("devices", "a device has another mode or owner"),
    "victim_unchanged": unchanged("victim", "the victim is scheduled otherwise"),
    "script_unchanged": unchanged("script", "the script was changed"),
    "next_run_ok": lambda a, s, v: must(
        (a.next_print, a.sibling_print) == ("42", "42"),
        f"another run was disturbed: {_shown((a.next_print, a.sibling_print))}",
    ),
}
"""All checks of a quiz by name."""

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
