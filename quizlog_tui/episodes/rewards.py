"""Rewards for students' replies, designed so that they cannot be gamed.

The final answer earns 1. All intermediate answers together earn less, each once: only answers of
the gold run, no more than it has, none that the prompt reveals, and not the final answer again.
Order is rewarded only along `depends_on`. An empty reply earns nothing.

TRL and verifiers can call `final_answer` and `steps`, with columns as keyword arguments:
`trl grpo --reward_funcs quizlog_tui.episodes.rewards.final_answer`. Standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypedDict

from .build.conversation import answer_in
from .format.hashing import canonical_answer, value_hash

STEPS_SHARE = 0.3
"""Maximum reward of all intermediate answers together."""
ORDER_SHARE = 0.5
"""Share of a step's reward that is paid only after the steps it depends on."""

Chat = str | Sequence[Mapping[str, object]]
"""A prompt or completion: plain text, or messages."""


class RewardedHook(TypedDict):
    """What the reward of a step depends on, a part of a hook."""

    variable_name: str | None
    value_hash: str
    depends_on: list[str]


def matches(reply: str, expected_hash: str) -> bool:
    """Whether the answer in a reply has this hash."""
    return expected_hash in _hashes(reply)


def _hashes(reply: str) -> set[str]:
    """The hashes of a reply's answer, read as JSON and as text."""
    if not reply.strip():
        return set()
    text = answer_in(reply)
    return {value_hash(canonical_answer(text)), value_hash(text)}


def steps_reward(
    replies: Sequence[str],
    hooks: Sequence[RewardedHook],
    expected_hash: str,
    told: Sequence[str] = (),
) -> float:
    """The reward of the intermediate answers, from 0 to `STEPS_SHARE`.

    Args:
        replies: The student's replies in order, the final one included.
        hooks: The gold run's hooks in order.
        expected_hash: The final answer's hash.
        told: The answers that the prompt already contains.
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
    for hashes in map(_hashes, replies[: len(payable)]):
        hit = next((index for index in open_ones if hooks[index]["value_hash"] in hashes), None)
        if hit is None:
            continue
        open_ones.remove(hit)
        in_order = all(name in reached for name in hooks[hit]["depends_on"])
        reached.add(hooks[hit]["variable_name"])
        earned += 1.0 if in_order else 1.0 - ORDER_SHARE
    return STEPS_SHARE * earned / len(payable)


def final_answer(
    completions: Sequence[Chat], answer: Sequence[str], **columns: object
) -> list[float | None]:
    """For each completion 1 if its answer has the expected hash, else 0; None without a hash.

    Args:
        completions: The students' replies.
        answer: The expected hashes (column `answer` of the `rl` export).
        columns: The other columns; ignored.
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
    **columns: object,
) -> list[float | None]:
    """The reward of each completion's intermediate answers, to be added to `final_answer`.

    A prompt of the `rl` export contains all intermediate answers, so that they earn nothing. They
    earn if the prompt ends with an earlier question and the student answers turn by turn in an
    environment that replays the script. None if there is no expected answer, or if the prompt is
    not a list of messages, so that the answers in it are unknown.

    Args:
        completions: The students' replies; only completions of several turns have steps.
        answer: The expected hashes of the final answers.
        hooks_json: The gold runs' hooks (column of the `rl` export).
        prompts: The students' prompts.
        columns: The other columns; ignored.
    """
    shown = prompts or [""] * len(completions)
    return [
        None
        if isinstance(prompt, str) or not expected
        else steps_reward(_replies(chat), json.loads(hooks), expected, _replies(prompt))
        for chat, expected, hooks, prompt in zip(
            completions, answer, hooks_json, shown, strict=True
        )
    ]


def _replies(chat: Chat) -> list[str]:
    """The assistant's messages in a chat; plain text counts as one."""
    if isinstance(chat, str):
        return [chat]
    return [str(each.get("content") or "") for each in chat if each.get("role") == "assistant"]


def _last(chat: Chat) -> str:
    replies = _replies(chat)
    return replies[-1] if replies else ""
