"""What is kept of asking and running: the pieces of a decision, bounded and without keys. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...sandbox.result import ExecResult
from ..redaction import Redaction
from .decision import Execution, ModelReply, Question, Reconsidered, Refusal
from .json_value import answer_fault

if TYPE_CHECKING:
    from ..contract import Final, Solution
    from ..models.client import Heard
    from ..models.transport import Voter

SHOWN = 4_000
"""Characters of a run's output that are kept."""


def kept_question(question: Question, redaction: Redaction) -> Question:
    """The question as models see it and as it is kept, should a quiz print a key."""
    clean = redaction.clean
    return replace(question, text=clean(question.text), context=clean(question.context))


def kept_refusal(refusal: Refusal, redaction: Redaction) -> Refusal:
    """An answer found wrong, as models see it."""
    clean = redaction.clean_value
    return Refusal(clean(refusal.answer), clean(refusal.reason))


def kept_reply(voter: Voter, heard: Heard[Solution]) -> ModelReply:
    """A model's reply, before its code has run."""
    said = heard.parsed
    code = said.code if said else None
    return ModelReply(
        name=voter.name,
        status=heard.status,
        claimed=said.answer if said else None,
        code=code if code and code.strip() else None,
        explanation=said.explanation if said else None,
        seconds=heard.seconds,
        repaired=heard.repaired,
        error=heard.error,
        family=voter.family,
        weight=voter.weight,
        primary=voter.primary,
        source=heard.source,
    )


def may_be_asked_again(reply: ModelReply) -> bool:
    """A person is asked once, and so is who gave no usable answer, asked to mend it or not."""
    return reply.source != "human" and reply.status in ("ok", "rate_limited")


def kept_again(voter: Voter, heard: Heard[Final]) -> Reconsidered:
    """A reconsidered answer, before its code has run."""
    said = heard.parsed
    code = said.corrected_code if said else None
    return Reconsidered(
        name=voter.name,
        status=heard.status,
        final_answer=said.final_answer if said else None,
        confidence=said.confidence if said else None,
        explanation=said.explanation if said else None,
        corrected_code=code if code and code.strip() else None,
        seconds=heard.seconds,
        repaired=heard.repaired,
        error=heard.error,
    )


def kept_run(result: ExecResult, redaction: Redaction) -> Execution:
    """What came of a run. An answer that is no JSON value is none."""
    fault = answer_fault(result.answer)
    error = f"the answer {fault}" if fault else result.error
    return Execution(
        status="bad_result" if fault else result.status,
        answer=None if fault else redaction.clean_value(result.answer),
        stdout=redaction.clean(result.stdout)[:SHOWN],
        stderr=redaction.clean(result.stderr)[:SHOWN],
        error=redaction.clean(error) if error else None,
        seconds=round(result.seconds, 3),
        isolation=result.isolation,
    )
