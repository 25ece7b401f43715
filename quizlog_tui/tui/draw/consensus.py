"""Draws a decision of several models: the outcome, the reason, the votes and the abstentions.

`replies` draws each model's reply.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...solver.decisions.decision import AnswerClass, Decision, DecisionVerdict
from ...text import plural
from ..widgets.lines.documents import Line, line
from .answer import is_json

BAR = 20
"""Width in cells of a bar for the whole weight."""
_MOST = 2_000
"""Characters of a value that are shown."""
NOTHING = "nothing"
"""Shown in place of an answer if a rule chooses none."""


def value_text(value: Any) -> str:
    """Format a JSON value. A string that looks like another value keeps its quotes."""
    plain = isinstance(value, str) and not is_json(value)
    text = value if plain else json.dumps(value, ensure_ascii=False)
    text = text or "(empty)"
    return text if len(text) <= _MOST else f"{text[:_MOST]}… {len(text) - _MOST:,} more characters"


def outcome_text(verdict: DecisionVerdict) -> str:
    """The chosen answer, or that there is none."""
    return NOTHING if verdict.why is None else value_text(verdict.answer)


def bounded(text: str, most: int) -> str:
    """The first lines of a long text, and how many are left out."""
    lines = text.rstrip("\n").split("\n")
    shown = "\n".join(lines[:most])[: most * 200]
    more = len(lines) - shown.count("\n") - 1
    cut = len("\n".join(lines[:most])) > len(shown)
    return f"{shown}\n… {plural(more, 'more line')}" if more else f"{shown}…" if cut else shown


# -- the outcome


def verdict_lines(decision: Decision, again: Decision | None = None) -> list[Line]:
    """Draw a decision without the models' replies.

    Args:
        decision: The recorded decision.
        again: The same evidence decided by another rule, for comparison.
    """
    sections = [_question(decision), _outcome(decision, again), _votes(decision, again)]
    sections += [_silent(decision), _refused(decision), _reconciliation(decision)]
    lines: list[Line] = []
    for section in map(list, sections):
        lines += [*([line("")] if lines and section else []), *section]
    return lines


def _question(decision: Decision) -> Iterator[Line]:
    asked = decision.question
    if asked.context.strip():
        yield line((bounded(asked.context, 8), "dim"))
    yield line((bounded(asked.text, 20), "prompt"))
    if asked.choices:
        yield line((f"one of {', '.join(asked.choices)}", "dim"))


def _outcome(decision: Decision, again: Decision | None) -> Iterator[Line]:
    yield from _chosen(f"Chosen by rule {decision.verdict.rule}", decision)
    if decision.label:
        yield line((f"note: {decision.label}", "dim"))
    if again is not None:
        yield line("")
        yield from _chosen(f"By rule {again.verdict.rule}, not written", again)
        same = outcome_text(again.verdict) == outcome_text(decision.verdict)
        yield line(("= the same answer", "good") if same else ("≠ a different outcome", "warn"))


def _chosen(title: str, decision: Decision) -> Iterator[Line]:
    """The outcome of a rule, and the reason in words."""
    verdict = decision.verdict
    style = "warn" if verdict.why is None else "good"
    yield line((f"{title}: ", "head"), (outcome_text(verdict), style))
    yield line(f"because {why_text(decision)}")


def why_text(decision: Decision) -> str:
    """Why the verdict is what it is, in words."""
    verdict = decision.verdict
    open_ = [one for one in verdict.classes if not one.refused]
    chosen = next((c for c in open_ if set(c.members) == set(verdict.contributors)), None)
    if verdict.why is None or chosen is None:
        return _why_none(verdict, open_)
    total = sum(one.weight for one in open_)
    primary = next((model.name for model in decision.models if model.primary), "none")
    words = {
        "unanimous": f"all {plural(len(chosen.members), 'vote')} agree",
        "majority": f"more than half of the weight is for it: {chosen.weight:g} of {total:g}",
        "confidence": f"its voters are most confident: {_sure(chosen)}{_against(chosen, open_)}",
        "primary": f"the primary model, {primary}, votes for it",
        "plurality": f"it has the most weight, but no majority: {chosen.weight:g} of {total:g}",
        "only_candidate": "it is the only answer",
        "reason_feedback": "an earlier answer was wrong, and this is the best of the others",
    }
    return words[verdict.why]


def _sure(one: AnswerClass) -> str:
    return f"{one.confidence:g}" if one.confidence is not None else "unknown"


def _against(chosen: AnswerClass, open_: list[AnswerClass]) -> str:
    others = [_sure(one) for one in open_ if one is not chosen]
    return f" against {', '.join(others)}" if others else ""


def _why_none(verdict: DecisionVerdict, open_: list[AnswerClass]) -> str:
    if not verdict.classes:
        return "no model cast a vote"
    if not open_:
        return "every answer has already proved wrong"
    if verdict.rule == "unanimous":
        return _why_not_unanimous(open_)
    return "no answer stands out"


def _why_not_unanimous(open_: list[AnswerClass]) -> str:
    if len(open_) > 1:
        return "the votes do not all agree"
    return "not every model voted" if len(open_[0].members) > 1 else "only one model voted"


# -- votes


def _votes(decision: Decision, again: Decision | None) -> Iterator[Line]:
    verdict = decision.verdict
    total = sum(one.weight for one in verdict.classes)
    yield line(("Votes", "head"), (f"  weight {total:g}", "dim"))
    for one in verdict.classes:
        mark, style = _mark(one, decision, again)
        share = one.weight / total if total else 0.0
        yield line(
            (f"{mark} ", style),
            (f"{bar(share)} ", style),
            f"{one.weight:g}, {share:.0%}  ",
            (value_text(one.answer), "answer"),
        )
        yield line((f"  {_members(one, decision)}", "dim"))
    against = [name for one in verdict.classes for name in one.members]
    against = [name for name in against if name not in verdict.contributors]
    if against and verdict.why:
        yield line((f"Dissenters: {', '.join(against)}", "warn"))


def bar(share: float) -> str:
    """A bar for a share from 0 to 1; any share above 0 has at least half a cell."""
    halves = max(round(share * BAR * 2), 1 if share > 0 else 0)
    full = "█" * (halves // 2) + "▌" * (halves % 2)
    return full + "·" * (BAR - len(full))


def _mark(one: AnswerClass, decision: Decision, again: Decision | None) -> tuple[str, str]:
    """The sign of a class: chosen, chosen only by the other rule, found wrong, or none."""
    if one.refused:
        return "✗", "error"
    if set(one.members) == set(decision.verdict.contributors):
        return "✓", "good"
    if again is not None and set(one.members) == set(again.verdict.contributors):
        return "→", "warn"
    return " ", ""


def _members(one: AnswerClass, decision: Decision) -> str:
    ran = {m.name for m in decision.models if m.executed and m.executed.status == "ok"}
    ran |= {r.name for r in decision.reconciliation if r.executed and r.executed.status == "ok"}
    names = [f"{name} ({'its code' if name in ran else 'says so'})" for name in one.members]
    sure = f"; confidence {one.confidence:g}" if one.confidence is not None else ""
    equal = f"; equal by {', '.join(one.lenient_rules)}" if one.lenient_rules else ""
    wrong = "; already proved wrong" if one.refused else ""
    return f"{', '.join(names)}{sure}{equal}{wrong}"


# -- what is not a vote


def _silent(decision: Decision) -> Iterator[Line]:
    verdict = decision.verdict
    if verdict.abstained:
        yield line(("Without a vote", "head"))
        for one in verdict.abstained:
            yield line(f"  {one.name}: ", (one.reason, "dim"))
    for name in verdict.conflicts:
        yield line((f"! {name} claims an answer that differs from the result of its code", "warn"))


def _refused(decision: Decision) -> Iterator[Line]:
    if decision.refused:
        yield line(("Already proved wrong", "head"))
    for one in decision.refused:
        reason = f": {one.reason}" if one.reason else ""
        yield line(("✗ ", "error"), (value_text(one.answer), "answer"), reason)


def _reconciliation(decision: Decision) -> Iterator[Line]:
    again = decision.reconciliation
    said = "each model saw all answers and results" if again else "did not take place"
    yield line(("Reconciliation", "head"), (f"  {said}", "dim"))
    first = {one.name: one for one in decision.models}
    for one in again:
        if one.status != "ok":
            yield line(f"  {one.name}: ", (f"✗ {one.error or one.status}", "error"))
            continue
        sure = f", confidence {one.confidence:g}" if one.confidence is not None else ""
        before = first[one.name]
        kept = "=" if before.claimed == one.final_answer else "≠"
        answer = (value_text(one.final_answer), "answer")
        yield line(f"  {one.name}: {kept} ", answer, (sure, "dim"))
