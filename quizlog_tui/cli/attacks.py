"""`quizlog doctor --attacks`: the attacks on the sandbox, each run here, and whether it held."""

from __future__ import annotations

import json
import sys
import time
import unicodedata
from collections.abc import Iterator
from typing import Any

from ..errors import UsageError
from ..paths import attack_list
from ..record.yaml_text import dump_yaml, parse
from ..sandbox.attacks.entries import load
from ..sandbox.attacks.judge import Attempt, Check
from ..sandbox.attacks.perform import Judgement, lacks, perform
from ..sandbox.attacks.scene import Scene
from ..sandbox.executor import Sandbox
from ..sandbox.levels import ISOLATED
from ..text import one_line, visible
from . import emit_json

_JOINERS = "\u200c\u200d"


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


def pipeline_ok(attempt: Attempt, scene: Scene, value: Any) -> str | None:
    """A result passes through record, lines of JSON and rendering, quickly and whole."""
    started = time.monotonic()
    result = attempt.result
    texts = [json.dumps(result.answer, sort_keys=True), result.stdout, result.error or ""]
    texts += [item for item in (result.answer,) if isinstance(item, str)]
    for text in texts:
        if not _kept(text):
            return "a record does not keep it"
        if "\n" in one_line(text) or not _safe(visible(text)):
            return "it cannot be shown"
    line = json.dumps({"result": texts}, ensure_ascii=False).encode()
    if b"\n" in line:
        return "it breaks a line of JSON"
    return None if time.monotonic() - started < 1 else "it takes too long"


def record_roundtrip(attempt: Attempt, scene: Scene, value: Any) -> str | None:
    """An answer comes back from a record as it was."""
    return None if _kept(str(attempt.result.answer)) else "a record does not keep it"


def rendered_safe(attempt: Attempt, scene: Scene, value: Any) -> str | None:
    """Nothing shown can steer a terminal or hide."""
    result = attempt.result
    shown = [visible(str(part)) for part in (result.answer, result.stdout, result.error)]
    return None if all(map(_safe, shown)) else "it can steer a terminal"


def _kept(text: str) -> bool:
    data, _ = parse(dump_yaml({"inputs": [text]}), "attack")
    return bool(data == {"inputs": [text]})


def _safe(shown: str) -> bool:
    return not any(
        unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        for letter in shown
        if letter not in "\n\t" + _JOINERS
    )


PIPELINE: dict[str, Check] = {
    "pipeline_ok": pipeline_ok,
    "record_roundtrip": record_roundtrip,
    "rendered_safe": rendered_safe,
}
"""Checks of what other parts of quizlog do with a result."""
