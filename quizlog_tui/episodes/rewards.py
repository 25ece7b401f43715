"""Rewards for students' replies, as plain functions, made so that they cannot be farmed.

The final answer pays 1. Answers on the way pay less than that in all, each once: only what the
gold run has, only as many as it has, nothing that the prompt gives away, nothing for the final
answer a second time; order pays only along `depends_on`. An empty reply earns nothing.

`final_answer` and `steps` have the shape that TRL and verifiers call, columns as keyword lists:
`trl grpo --reward_funcs quizlog_tui.episodes.rewards.final_answer`. Standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .build.conversation import answer_in
from .format.hashing import canonical_answer, value_hash

STEPS_SHARE = 0.3
"""What all answers on the way earn together."""
ORDER_SHARE = 0.5
"""The part of it that is paid only after what a step depends on."""

Chat = str | Sequence[Mapping[str, Any]]
"""A prompt or completion: plain text, or messages."""


def matches(reply: str, expected_hash: str) -> bool:
    """Whether a reply gives the answer with this hash."""
    return expected_hash in _hashes(reply)


def _hashes(reply: str) -> set[str]:
    """A reply's answer by hash, read as JSON and as text."""
    if not reply.strip():
        return set()
    text = answer_in(reply)
    return {value_hash(canonical_answer(text)), value_hash(text)}


def steps_reward(
    replies: Sequence[str],
    hooks: Sequence[Mapping[str, Any]],
    expected_hash: str,
    told: Sequence[str] = (),
) -> float:
    """What the answers on the way earn, 0 to `STEPS_SHARE`.

    Args:
        replies: The student's replies in order, the final one included.
        hooks: The gold run's hooks in order.
        expected_hash: The final answer's hash.
        told: The answers that the prompt already holds.
    """
    known = [_hashes(text) for text in told]
    payable = [
        index
        for index, hook in enumerate(hooks)
        if hook["value_hash"] != expected_hash and not (index < len(known) and known[index])
    ]
    if not payable:
        return 0.0
    open_ones = list(payable)
    reached = {hooks[index]["variable_name"] for index in range(len(hooks)) if index not in payable}
    earned = 0.0
    for said in map(_hashes, replies[: len(payable)]):
        hit = next((index for index in open_ones if hooks[index]["value_hash"] in said), None)
        if hit is None:
            continue
        open_ones.remove(hit)
        in_order = all(name in reached for name in hooks[hit]["depends_on"])
        reached.add(hooks[hit]["variable_name"])
        earned += 1.0 if in_order else 1.0 - ORDER_SHARE
    return STEPS_SHARE * earned / len(payable)


def final_answer(
    completions: Sequence[Chat], answer: Sequence[str], **columns: Any
) -> list[float | None]:
    """1 for each completion whose answer has the expected hash, else 0; None where none is known.

    Args:
        completions: The students' replies.
        answer: The expected hashes (column `answer` of the `rl` export).
        columns: The other columns; not looked at.
    """
    return [
        float(matches(_last(one), expected)) if expected else None
        for one, expected in zip(completions, answer, strict=True)
    ]


def steps(
    completions: Sequence[Chat],
    answer: Sequence[str],
    hooks_json: Sequence[str],
    prompts: Sequence[Chat] | None = None,
    **columns: Any,
) -> list[float | None]:
    """What each completion's answers on the way earn; to be added to `final_answer`.

    A prompt of the `rl` export holds all answers on the way, so there they earn nothing. They earn
    where a student answers the questionnaire turn by turn, in an environment that replays the
    script, from a prompt that ends with an earlier question. None where no expected answer is
    known, or where the prompt is no list of messages: what it tells cannot be told then.

    Args:
        completions: The students' replies; only completions of several turns have steps.
        answer: The expected hashes of the final answers.
        hooks_json: The gold runs' hooks (column of the `rl` export).
        prompts: What the students were shown.
        columns: The other columns; not looked at.
    """
    shown = prompts or [""] * len(completions)
    return [
        None
        if isinstance(prompt, str) or not expected
        else steps_reward(_said(one), json.loads(hooks), expected, _said(prompt))
        for one, expected, hooks, prompt in zip(completions, answer, hooks_json, shown, strict=True)
    ]


def _said(chat: Chat) -> list[str]:
    """What the assistant says in a chat; plain text is a reply."""
    if isinstance(chat, str):
        return [chat]
    return [str(one.get("content") or "") for one in chat if one.get("role") == "assistant"]


def _last(chat: Chat) -> str:
    said = _said(chat)
    return said[-1] if said else ""
