"""`quizlog doctor --attacks`: runs attacks on the sandbox and by quizzes, and shows the results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...errors import UsageError
from ...files.paths import CODE_ATTACKS, QUIZ_ATTACKS, attack_list
from ...sandbox.attacks.entries import load
from ...sandbox.attacks.perform import Judgement, known_gaps, perform
from ...sandbox.executor import Sandbox
from ...sandbox.levels import ISOLATED
from ...text import one_line
from ..streams import emit_json
from .attack_checks import PIPELINE
from .quiz_attacks import entries as quizzes
from .quiz_attacks import perform as by_quizzes

Found = list[tuple[Judgement, bool]]
"""The judgement of each attack, and whether it is known to fail here."""


def attacks(*, as_json: bool) -> int:
    """Run all attacks and show the tables; 3 when a guarantee did not hold.

    Raises:
        UsageError: The machine has no isolation that could be attacked safely.
    """
    on_code, by_quiz = _on_code(), _by_quizzes()
    rows = {"attacks": on_code, "quizzes": by_quiz}
    if as_json:
        said = {name: [_row(*row) for row in found] for name, found in rows.items()}
        emit_json({"isolation": on_code[0][0].isolation, **said})
    else:
        for found in rows.values():
            print("\n".join(_table(found)))
            held = sum(not judgement.wrong for judgement, _ in found)
            print(f"\n{held} of {len(found)} hold under {found[0][0].isolation}\n")
    unexpected = [j for found in rows.values() for j, known in found if j.wrong and not known]
    return 3 if unexpected else 0


def _on_code() -> Found:
    with Sandbox(order=ISOLATED) as sandbox:
        level = sandbox.level()
        if level is None:
            hint = "see `quizlog doctor`"
            raise UsageError(f"there is no isolation to attack: {sandbox.why()}", hint=hint)
        known = known_gaps(level)
        every = load(*map(attack_list, CODE_ATTACKS))
        return _watched(perform(every, sandbox, PIPELINE), lambda j: j.attack.id in known)


def _by_quizzes() -> Found:
    every = quizzes.load(attack_list(QUIZ_ATTACKS))
    return _watched(by_quizzes.perform(every), lambda j: bool(by_quizzes.known(j)))


def _watched(judged: Iterable[Judgement], known: Callable[[Judgement], bool]) -> Found:
    found = []
    for judgement in judged:
        _progress(judgement)
        found.append((judgement, known(judgement)))
    return found


def _progress(judgement: Judgement) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{judgement.attack.id}", end="", file=sys.stderr, flush=True)


def _row(judgement: Judgement, known: bool) -> dict[str, Any]:
    attack = judgement.attack
    return {
        "id": attack.id,
        "category": attack.category,
        "holds": not judgement.wrong,
        "known_lack": known,
        "status": judgement.status,
        "wrong": list(judgement.wrong),
        "guarantee": attack.guarantee,
    }


def _table(found: Found) -> Iterator[str]:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    for judgement, known in found:
        attack = judgement.attack
        word = "holds" if not judgement.wrong else "LACKS" if known else "FAILS"
        why = "; ".join(judgement.wrong) or attack.guarantee
        yield f"{word}  {attack.category:<10} {attack.id:<24} {one_line(why)}"
