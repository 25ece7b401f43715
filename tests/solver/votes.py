"""Decisions made in a word, for tables of cases."""

from __future__ import annotations

from typing import Any

from quizlog_tui.solver.decision import (
    Decision,
    DecisionVerdict,
    Execution,
    ModelQuestion,
    ModelReply,
    Reconsidered,
    Refusal,
)
from quizlog_tui.solver.voting.decide import decide


def ran(answer: Any, name: str = "", claimed: Any = None, **more: Any) -> ModelReply:
    """A model whose code came to an answer."""
    code = Execution("ok", answer)
    return ModelReply(name, "ok", claimed, "answer = ...", executed=code, **more)


def said(answer: Any, name: str = "", **more: Any) -> ModelReply:
    """A model that asserts an answer."""
    return ModelReply(name, "ok", answer, **more)


def failed(status: Any, claimed: Any = None, name: str = "", **more: Any) -> ModelReply:
    """A model whose code came to nothing."""
    run = Execution(status, error="why")
    return ModelReply(name, "ok", claimed, "answer = ...", executed=run, **more)


def silent(status: Any, name: str = "", **more: Any) -> ModelReply:
    """A model without a usable reply."""
    return ModelReply(name, status, error="why", **more)


def again(name: str, answer: Any, confidence: float | None = None, **more: Any) -> Reconsidered:
    """A reconsidered answer."""
    return Reconsidered(name, "ok", answer, confidence, **more)


def asked(
    *models: ModelReply,
    question: ModelQuestion | None = None,
    second: tuple[Reconsidered, ...] = (),
    refused: tuple[Any, ...] = (),
    family_cap: float | None = None,
) -> Decision:
    """A decision without a verdict; models without a name are called a, b, c, ..."""
    from dataclasses import replace

    named = tuple(
        replace(model, name=model.name or "abcdefghij"[index]) for index, model in enumerate(models)
    )
    return Decision(
        "d-1",
        "2026-11-21T14:00:00+00:00",
        question or ModelQuestion("?"),
        named,
        second,
        tuple(Refusal(answer, "wrong") for answer in refused),
        family_cap,
    )


def verdict(*models: ModelReply, rule: str = "majority", **more: Any) -> DecisionVerdict:
    """What a rule makes of it."""
    return decide(asked(*models, **more), rule).verdict
