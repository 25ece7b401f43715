"""Draws each model's reply: its answer, its code and the result of the code."""

from __future__ import annotations

from collections.abc import Iterator

from ...solver.decisions.decision import Decision, Execution, ModelReply, Reconsidered
from ...text import one_line
from ..clock import Clock
from ..widgets.documents import Line, line
from .consensus import bounded, value_text

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
        yield line(
            ("✓ its code returned ", "good"), (value_text(run.answer), "answer"), took, where
        )
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
