"""`python -m tests.attacks`: attacks the sandbox, and replays by quizzes; shows what held.

Takes minutes. With `--json` it writes one object; with `--walls` it makes one attack of each class
that only the isolation of this system can stop. The exit code is 3 if a guarantee did not hold.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from quizlog_tui.sandbox.box import ISOLATED
from quizlog_tui.sandbox.executor import Sandbox
from quizlog_tui.text import one_line
from tests.attacks.by_quizzes import entries as quiz_entries
from tests.attacks.by_quizzes.judge import known
from tests.attacks.by_quizzes.judge import perform as perform_quizzes
from tests.attacks.entries import CODE_ATTACKS, QUIZ_ATTACKS, E, load, one_of_each_class
from tests.attacks.perform import Judgement, known_gaps, perform
from tests.attacks.pipeline import PIPELINE

WALLS = {"read", "kernel", "network", "outside", "files"}
"""Classes of attacks that fail by what the system does for this user, and not by our own code."""

Found = list[tuple[Judgement, bool]]
"""The judgement of each attack, and whether it is known to fail here."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the attacks and show the tables; 3 when a guarantee did not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--walls", action="store_true")
    arguments = parser.parse_args(argv)
    rows = {"attacks": _on_code(arguments.walls), "quizzes": _by_quizzes(arguments.walls)}
    if arguments.json:
        said = {name: [_row(*row) for row in found] for name, found in rows.items()}
        print(json.dumps({"isolation": rows["attacks"][0][0].isolation, **said}))
    else:
        for found in rows.values():
            print("\n".join(_table(found)))
            held = sum(not judgement.wrong for judgement, _ in found)
            print(f"\n{held} of {len(found)} hold under {found[0][0].isolation}\n")
    unexpected = [j for found in rows.values() for j, gap in found if j.wrong and not gap]
    return 3 if unexpected else 0


def _on_code(walls: bool) -> Found:
    with Sandbox(order=ISOLATED) as sandbox:
        level = sandbox.level()
        if level is None:
            sys.exit(f"there is no isolation to attack: {sandbox.why()}")
        gaps = known_gaps(level)
        tried = _chosen(load(*CODE_ATTACKS), walls)
        return _watched(perform(tried, sandbox, PIPELINE), lambda j: j.attack.id in gaps)


def _by_quizzes(walls: bool) -> Found:
    tried = _chosen(quiz_entries.load(QUIZ_ATTACKS), walls)
    return _watched(perform_quizzes(tried), lambda j: bool(known(j)))


def _chosen(attacks: list[E], walls: bool) -> list[E]:
    if not walls:
        return attacks
    return [attack for attack in one_of_each_class(attacks) if attack.category in WALLS]


def _watched(judged: Iterable[Judgement], is_known: Callable[[Judgement], bool]) -> Found:
    found = []
    for judgement in judged:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{judgement.attack.id}", end="", file=sys.stderr, flush=True)
        found.append((judgement, is_known(judgement)))
    return found


def _row(judgement: Judgement, is_known: bool) -> dict[str, Any]:
    attack = judgement.attack
    return {
        "id": attack.id,
        "category": attack.category,
        "holds": not judgement.wrong,
        "known_lack": is_known,
        "status": judgement.status,
        "wrong": list(judgement.wrong),
        "guarantee": attack.guarantee,
    }


def _table(found: Found) -> Iterator[str]:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    for judgement, is_known in found:
        attack = judgement.attack
        word = "holds" if not judgement.wrong else "LACKS" if is_known else "FAILS"
        why = "; ".join(judgement.wrong) or attack.guarantee
        yield f"{word}  {attack.category:<10} {attack.id:<24} {one_line(why)}"


if __name__ == "__main__":
    sys.exit(main())
