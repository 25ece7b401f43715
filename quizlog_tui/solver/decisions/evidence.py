"""Makes the evidence of a decision: replies and runs, limited in size and without keys. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...sandbox.result import ExecResult
from ..redaction import Redaction
from .decision import Execution, ModelQuestion, ModelReply, Reconsidered, Refusal
from .json_value import answer_fault

if TYPE_CHECKING:
    from ..contract import Final, Solution
    from ..models.client import ModelResult
    from ..models.transport import Voter

SHOWN = 4_000
"""Maximum number of characters of a run's output in a decision."""


def clean_question(question: ModelQuestion, redaction: Redaction) -> ModelQuestion:
    """The question without keys, which a quiz might print."""
    clean = redaction.clean
    return replace(question, text=clean(question.text), context=clean(question.context))


def clean_refusal(refusal: Refusal, redaction: Redaction) -> Refusal:
    """An answer found wrong, without keys."""
    clean = redaction.clean_value
    return Refusal(clean(refusal.answer), clean(refusal.reason))


def reply_evidence(voter: Voter, result: ModelResult[Solution]) -> ModelReply:
    """The evidence of a model's reply, before its code has run."""
    solution = result.parsed
    code = solution.code if solution else None
    return ModelReply(
        name=voter.name,
        status=result.status,
        claimed=solution.answer if solution else None,
        code=code if code and code.strip() else None,
        explanation=solution.explanation if solution else None,
        seconds=result.seconds,
        repaired=result.repaired,
        error=result.error,
        family=voter.family,
        weight=voter.weight,
        primary=voter.primary,
        source=result.source,
    )


def may_be_asked_again(reply: ModelReply) -> bool:
    """Whether a voter takes part in the second round: no person, and no unusable reply."""
    return reply.source != "human" and reply.status in ("ok", "rate_limited")


def reconsidered_evidence(voter: Voter, result: ModelResult[Final]) -> Reconsidered:
    """The evidence of a reconsidered answer, before its code has run."""
    final = result.parsed
    code = final.corrected_code if final else None
    return Reconsidered(
        name=voter.name,
        status=result.status,
        final_answer=final.final_answer if final else None,
        confidence=final.confidence if final else None,
        explanation=final.explanation if final else None,
        corrected_code=code if code and code.strip() else None,
        seconds=result.seconds,
        repaired=result.repaired,
        error=result.error,
    )


def run_evidence(result: ExecResult, redaction: Redaction) -> Execution:
    """The evidence of a run. An answer that is not a JSON value is left out."""
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
