"""`quizlog doctor --attacks`: the attacks on the sandbox, each run here, and whether it held."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from ..errors import UsageError
from ..paths import attack_list
from ..sandbox.attacks.entries import load
from ..sandbox.attacks.perform import Judgement, lacks, perform
from ..sandbox.executor import Sandbox
from ..sandbox.levels import ISOLATED
from ..text import one_line
from . import emit_json
from .pipeline import PIPELINE


def attacks(*, as_json: bool) -> int:
    """Run all attacks and show the table; 3 when a guarantee did not hold.

    Raises:
        UsageError: The machine has no isolation that could be attacked safely.
    """
    with Sandbox(order=ISOLATED) as sandbox:
        level = sandbox.level()
        if level is None:
            hint = "see `quizlog doctor`"
            raise UsageError(f"there is no isolation to attack: {sandbox.why()}", hint=hint)
        found = []
        for judgement in perform(load(attack_list()), sandbox, PIPELINE):
            _progress(judgement)
            found.append(judgement)
        known = lacks(level)
    held = [judgement for judgement in found if not judgement.wrong]
    unexpected = [j for j in found if j.wrong and j.attack.id not in known]
    if as_json:
        emit_json({"isolation": found[0].isolation, "attacks": [_row(j, known) for j in found]})
    else:
        print("\n".join(_table(found, known)))
        print(f"\n{len(held)} of {len(found)} hold under {found[0].isolation}")
    return 3 if unexpected else 0


def _progress(judgement: Judgement) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{judgement.attack.id}", end="", file=sys.stderr, flush=True)


def _row(judgement: Judgement, known: frozenset[str]) -> dict[str, Any]:
    attack = judgement.attack
    return {
        "id": attack.id,
        "category": attack.category,
        "holds": not judgement.wrong,
        "known_lack": attack.id in known,
        "status": judgement.status,
        "wrong": list(judgement.wrong),
        "guarantee": attack.guarantee,
    }


def _table(found: list[Judgement], known: frozenset[str]) -> Iterator[str]:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    for judgement in found:
        attack = judgement.attack
        word = "holds" if not judgement.wrong else "LACKS" if attack.id in known else "FAILS"
        why = "; ".join(judgement.wrong) or attack.guarantee
        yield f"{word}  {attack.category:<10} {attack.id:<24} {one_line(why)}"
