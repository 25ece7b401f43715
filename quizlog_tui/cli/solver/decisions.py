"""The command that lists recorded decisions, or decides again by another rule."""

from __future__ import annotations

from argparse import Namespace

from ...files.paths import record_path
from ...record.store import RecordFile
from ...solver.decisions.decision import Decision
from ...solver.decisions.decision_file import decisions_path, read_decisions
from ...solver.decisions.decision_text import to_data
from ...solver.voting.decide import RULES, decide
from ...text import plural
from ..grammar import Parser, command
from ..json_output import emit_json
from ..record.show import say
from ..streams import tell
from .decision_show import decision_lines


def decisions(arguments: Namespace) -> int:
    """`quizlog decisions RECORD`."""
    path = record_path(arguments.record)
    RecordFile(path).read()  # says what is wrong where it is no record
    kept = read_decisions(decisions_path(path))
    found = [decide(one, arguments.rule) if arguments.rule else one for one in kept.decisions]
    tell("note: left out", (fault.finding for fault in kept.faults), "line")
    if arguments.json:
        data = {"decisions": [to_data(one) for one in found]}
        skipped = [fault.to_dict() for fault in kept.faults]
        emit_json({"record": str(path)} | data | {"left_out": skipped})
        return 0
    for one in found:
        print("\n".join(decision_lines(one)))
    if not found:
        say("no decisions yet: make one with `quizlog solve RECORD`")
    elif arguments.rule:
        say(_changed(kept.decisions, found))
    return 0


def _changed(before: list[Decision], after: list[Decision]) -> str:
    pairs = zip(before, after, strict=True)
    changed = sum(old.verdict.answer != new.verdict.answer for old, new in pairs)
    return f"decided again: {changed} of {plural(len(after), 'answer')} would differ"


def _decisions_parser() -> Parser:
    rules = "\n".join(f"  {name:<11} {rule.about}" for name, rule in RULES.items())
    about = "List the decisions about a record's questions."
    parser = command("quizlog decisions", decisions, about, epilog=f"rules:\n{rules}")
    parser.add_argument("record")
    parser.add_argument(
        "--rule", choices=list(RULES), help="decide again by this rule, without asking anybody"
    )
    return parser


PARSERS = {"decisions": _decisions_parser}
"""The parser function of each command."""
