"""`quizlog decisions`, and how a decision is shown: classes of answers, voters, why one won."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from ..files.paths import decisions_path, record_path
from ..record.store import RecordFile
from ..solver.decision import AnswerClass, Decision, Execution
from ..solver.decision_text import answer_text, read_decisions, to_data
from ..solver.voting.decide import RULES, decide
from ..text import clipped, one_line, plural
from .grammar import Parser, command
from .streams import emit_json, say, tell

_WIDTH = 72

_WHY = {
    "unanimous": "all agree",
    "majority": "more than half of the weight",
    "confidence": "the most weighted confidence",
    "primary": "the primary model's answer, since no other rule decides",
    "plurality": "the most weight, but no majority",
    "only_candidate": "the only answer",
    "reason_feedback": "the best answer that has not proved wrong",
    None: "no decision",
}


def _decisions(arguments: Namespace) -> int:
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


def _decisions_parser() -> Parser:
    rules = "\n".join(f"  {name:<11} {rule.about}" for name, rule in RULES.items())
    parser = command(
        "decisions",
        _decisions,
        group="ask models",
        arguments="RECORD",
        about="show what was decided, and why",
        details="List the decisions about a record's questions.",
        example="linear-algebra",
        epilog=f"rules:\n{rules}",
    )
    parser.add_argument("record")
    parser.add_argument(
        "--rule", choices=list(RULES), help="decide again by this rule, without asking anybody"
    )
    return parser


def _changed(before: list[Decision], after: list[Decision]) -> str:
    pairs = zip(before, after, strict=True)
    changed = sum(old.verdict.answer != new.verdict.answer for old, new in pairs)
    return f"decided again: {changed} of {plural(len(after), 'answer')} would differ"


def decision_lines(decision: Decision) -> Iterator[str]:
    """A decision: question, classes of equal answers, abstentions, outcome."""
    question, verdict = decision.question, decision.verdict
    where = "" if question.pointer is None else f"step {question.pointer}: "
    yield f"{where}{short(question.text.strip())}"
    for one in verdict.classes:
        yield f"  {_mark(one, verdict.contributors)} {_weight(one)}  {_class(one, decision)}"
        if one.lenient_rules:
            yield f"           counted as equal by {', '.join(one.lenient_rules)}"
    for silent in verdict.abstained:
        yield f"    -   {one_line(silent.name)}: {short(silent.reason)}"
    if verdict.conflicts:
        names = ", ".join(map(one_line, verdict.conflicts))
        yield f"    code and claim differ: {names}"
    for model in decision.models:
        for fetched in model.fetched:
            came = fetched.error or f"HTTP {fetched.status}, {fetched.size} bytes"
            said = short(f"{fetched.method} {fetched.url}: {came}")
            yield f"    fetched for {one_line(model.name)}: {said}"
    if decision.reconciliation:
        count = plural(len(decision.reconciliation), "model")
        yield f"    reconciled: {count} asked again after seeing all results"
    yield f"  {_outcome(decision)}"
    if decision.label:
        yield f"  ({short(decision.label)})"


def _outcome(decision: Decision) -> str:
    verdict = decision.verdict
    if verdict.why is None:
        return f"no decision (rule {verdict.rule})"
    text = short(answer_text(verdict.answer, decision.question))
    return f"{text}  {verdict.why}: {_WHY[verdict.why]}"


def _mark(one: AnswerClass, contributors: tuple[str, ...]) -> str:
    if one.refused:
        return "x"
    return "*" if one.members == contributors else " "


def _weight(one: AnswerClass) -> str:
    return f"{one.weight:5.3g}"


def _class(one: AnswerClass, decision: Decision) -> str:
    ran = {m.name for m in decision.models if m.executed and m.executed.status == "ok"}
    names = ", ".join(f"{one_line(n)}{' (ran)' if n in ran else ''}" for n in one.members)
    sure = "" if one.confidence is None else f", confidence {one.confidence:.3g}"
    refused = ", already proved wrong" if one.refused else ""
    return f"{short(answer_text(one.answer, decision.question))}  {names}{sure}{refused}"


def voter_line(name: str, decision: Decision) -> str:
    """A model's replies so far, in one line."""
    again = next((r for r in decision.reconciliation if r.name == name), None)
    if again is not None:
        sure = "" if again.confidence is None else f", {again.confidence:.0%} sure"
        said = _value(again.final_answer) if again.status == "ok" else _failed(again)
        return f"{one_line(name)}: {said}{sure}{_run(again.executed)}  {again.seconds:.1f} s"
    reply = next((m for m in decision.models if m.name == name), None)
    if reply is None:
        return f"{one_line(name)}: has replied; its code is running"
    if reply.status != "ok":
        return f"{one_line(name)}: {_failed(reply)}  {reply.seconds:.1f} s"
    said = "" if reply.claimed is None else _value(reply.claimed)
    return f"{one_line(name)}: {said}{_run(reply.executed)}  {reply.seconds:.1f} s"


def _failed(reply: Any) -> str:
    return short(f"{reply.status}: {reply.error or ''}".rstrip(": "))


def _run(run: Execution | None) -> str:
    if run is None:
        return ""
    came = _value(run.answer) if run.status == "ok" else short(f"{run.status} {run.error or ''}")
    return f" [code: {came}, {one_line(run.isolation)}]"


def _value(answer: Any) -> str:
    return short(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))


def short(text: str) -> str:
    """A text on one line of limited length."""
    return clipped(one_line(text), _WIDTH)


PARSERS = {"decisions": _decisions_parser}
"""The parser function of each command."""
