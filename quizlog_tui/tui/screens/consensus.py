"""The screen that shows recorded decisions of several models, one at a time.

It asks no model and writes nothing: another rule is only applied to the recorded evidence. The
functions that draw outcome, reason, votes and replies also serve the screen that asks models.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal

from ...solver.decision import (
    AnswerClass,
    Decision,
    DecisionVerdict,
    Execution,
    ModelReply,
    Reconsidered,
)
from ...solver.voting.decide import RULES, decide
from ...text import clipped, one_line, plural
from ..clock import Clock
from ..draw.answer import is_json
from ..toasts import tell
from ..widgets.documents import Line, Paragraphs, line
from ..widgets.line_view import LineView
from .base import DIALOG, QuizlogScreen

BAR = 20
"""Width in cells of a bar for the whole weight."""
_MOST = 2_000
"""Characters of a value that are shown."""
_NOTHING = "nothing"
"""Shown in place of an answer if a rule chooses none."""
_CODE = 60
"""Lines of code shown."""
_OUTPUT = 12
"""Lines of a run's output shown."""
_BEGINS = 3
"""Lines of a fetched reply shown."""
_STATUS = {
    "ok": "✓ answered",
    "invalid": "✗ unreadable",
    "timeout": "✗ timed out",
    "rate_limited": "✗ refused: too many requests",
    "error": "✗ failed",
}


# -- the outcome


def verdict_lines(decision: Decision, again: Decision | None = None) -> list[Line]:
    """A recorded decision without the models' replies, beside the same by another rule if any."""
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


def outcome_text(verdict: DecisionVerdict) -> str:
    """The chosen answer, or that there is none."""
    return _NOTHING if verdict.why is None else value_text(verdict.answer)


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


def reply_lines(decision: Decision, clock: Clock) -> list[Line]:
    """All models' replies, in the order they are recorded."""
    again = {one.name: one for one in decision.reconciliation}
    lines: list[Line] = []
    for model in decision.models:
        if lines:
            lines.append(line(""))
        lines += [*_model(model, decision, clock), *_again(again.get(model.name), clock)]
    return lines or [line(("No model was asked.", "head"))]


def _model(model: ModelReply, decision: Decision, clock: Clock) -> Iterator[Line]:
    yield line((model.name, "head"), (_about(model, decision), "dim"))
    style = "" if model.status == "ok" else "error"
    yield line((_STATUS[model.status], style), f" in {clock.duration(model.seconds)}")
    if model.repaired:
        yield line(("asked twice: its first reply was unreadable", "dim"))
    if model.error:
        yield line((model.error, "error"))
    yield from _fetched(model)
    if model.claimed is not None:
        yield line("claims ", (value_text(model.claimed), "answer"))
    if model.explanation:
        yield line((f"“{bounded(model.explanation, _OUTPUT)}”", "dim"))
    yield from _code(model.code, model.executed, clock)


def _about(model: ModelReply, decision: Decision) -> str:
    """The model's role in the decision."""
    verdict = decision.verdict
    role = "dissents" if any(model.name in one.members for one in verdict.classes) else "no vote"
    if model.name in verdict.contributors:
        role = "voted for the outcome"
    said = [role, "primary" if model.primary else "", f"weight {model.weight:g}"]
    said += [f"family {model.family}" if model.family else "", model.source]
    return "  " + ", ".join(word for word in said if word)


def _fetched(model: ModelReply) -> Iterator[Line]:
    """The model's fetch requests before its reply, and their results."""
    for one in model.fetched:
        good = one.error is None and one.status is not None and one.status < 400
        came = one.error or f"HTTP {one.status}, {one.size:,} bytes {one.type}".rstrip()
        kept = f", in {one.file}" if one.file else ""
        yield line(
            ("✓ " if good else "✗ ", "good" if good else "error"),
            f"fetched {one_line(f'{one.method} {one.url}')}: ",
            (one_line(f"{came}{kept}"), "dim" if good else "error"),
        )
        for head in one.headers:
            yield line((f"  {one_line(head)}", "dim"))
        if one.body:
            yield line((f"  sent: {bounded(one.body, _BEGINS)}", "dim"))
        if one.begins.strip():
            yield line((f"  {bounded(one.begins, _BEGINS)}", "dim"))


def _code(code: str | None, run: Execution | None, clock: Clock) -> Iterator[Line]:
    if code is not None:
        text = bounded(code, _CODE)
        yield line(("\n".join(f"│ {row}" for row in text.split("\n")), "code"))
    if run is None:
        return
    took = f" in {clock.duration(run.seconds)}"
    where = f", {run.isolation}" if run.isolation else ""
    if run.status == "ok":
        answer = (value_text(run.answer), "answer")
        yield line(("✓ its code returned ", "good"), answer, took, where)
    else:
        yield line((f"✗ its code: {run.status.replace('_', ' ')}", "error"), took, where)
    if run.error:
        yield line((run.error, "error"))
    for name, text in (("stdout", run.stdout), ("stderr", run.stderr)):
        if text.strip():
            yield line((f"{name}:\n{bounded(text, _OUTPUT)}", "dim"))


def _again(again: Reconsidered | None, clock: Clock) -> Iterator[Line]:
    """The model's reply in the reconciliation round."""
    if again is None:
        return
    sure = f", confidence {again.confidence:g}" if again.confidence is not None else ""
    if again.status == "ok":
        answer = (value_text(again.final_answer), "answer")
        yield line("after seeing all answers: ", answer, sure)
    else:
        yield line((f"after seeing all answers: {_STATUS[again.status]}", "error"))
    if again.error:
        yield line((again.error, "error"))
    if again.explanation:
        yield line((f"“{bounded(again.explanation, _OUTPUT)}”", "dim"))
    yield from _code(again.corrected_code, again.executed, clock)


def value_text(value: Any) -> str:
    """Format a JSON value. A string that looks like another value keeps its quotes."""
    plain = isinstance(value, str) and not is_json(value)
    text = value if plain else json.dumps(value, ensure_ascii=False)
    text = text or "(empty)"
    return text if len(text) <= _MOST else f"{text[:_MOST]}… {len(text) - _MOST:,} more characters"


def bounded(text: str, most: int) -> str:
    """The first lines of a long text, and how many are left out."""
    lines = text.rstrip("\n").split("\n")
    shown = "\n".join(lines[:most])[: most * 200]
    more = len(lines) - shown.count("\n") - 1
    cut = len("\n".join(lines[:most])) > len(shown)
    return f"{shown}\n… {plural(more, 'more line')}" if more else f"{shown}…" if cut else shown


class ConsensusScreen(QuizlogScreen[int | None]):
    """Shows decisions, at least one; dismisses with the index of the one to go to, or None."""

    SCOPE = "consensus"
    DEFAULT_CSS = """
    ConsensusScreen {
        & LineView { width: 1fr; height: 1fr; }
        & #replies { display: none; }
        &.-wide #replies { display: block; }
    }
    """

    def __init__(self, decisions: Sequence[Decision], start: int, clock: Clock) -> None:
        super().__init__()
        self._decisions = decisions
        self._at = start
        self._clock = clock
        self._again: Decision | None = None

    def content(self) -> ComposeResult:
        """The verdict, and the replies beside it or below it in the same pane."""
        with Horizontal():
            yield LineView(id="verdict")
            yield LineView(id="replies")

    def on_mount(self) -> None:
        """Draw once the width is known."""
        self.query_one("#verdict").border_title = "Decision"
        self.query_one("#replies").border_title = "Models"
        self.call_after_refresh(self._draw)
        self.query_one("#verdict").focus()

    def on_resize(self) -> None:
        """Choose one pane or two."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        decision = self._decisions[self._at]
        verdict, replies = verdict_lines(decision, self._again), reply_lines(decision, self._clock)
        if not self.has_class("-wide"):
            verdict = [*verdict, line(""), *replies]
        self.query_one("#verdict", LineView).show(Paragraphs(verdict))
        self.query_one("#replies", LineView).show(Paragraphs(replies))
        self.status(self._status_text(decision))

    def _status_text(self, decision: Decision) -> str:
        asked, count = decision.question, len(self._decisions)
        step = "" if asked.pointer is None else f" · step {asked.pointer}"
        branch = f" of {asked.branch}" if asked.branch else ""
        chosen = clipped(outcome_text(decision.verdict), 40)
        when = self._clock.describe(decision.time)
        return f"◆ decision {self._at + 1} of {count}{step}{branch} · {chosen} · {when}"

    def action_decision(self, by: int) -> None:
        """Go to the next (1) or previous (-1) decision."""
        to = self._at + by
        if not 0 <= to < len(self._decisions):
            tell(self, "no more decisions that way")
            return
        self._at, self._again = to, None
        self._draw()
        for pane in self.query(LineView):
            pane.scroll_home(animate=False)

    @work(group=DIALOG)
    async def action_rule(self) -> None:
        """Decide again by another rule, and show it beside the recorded outcome."""
        decision = self._decisions[self._at]
        used = self._again.verdict.rule if self._again else decision.verdict.rule
        names = list(RULES)
        lines = [line(f"{name:<11} ", (RULES[name].about, "dim"), cut=True) for name in names]
        question = "Decide again by which rule? Nothing is written."
        start = names.index(used) if used in names else 0
        chosen = await self.choose(question, lines, start)
        if chosen is None:
            return
        again = decide(decision, names[chosen])
        self._again = None if again.verdict == decision.verdict else again
        if self._again is None:
            tell(self, "as recorded")
        self._draw()

    def action_look(self) -> None:
        """Go back to the player, at the step of this decision."""
        self.dismiss(self._at)
