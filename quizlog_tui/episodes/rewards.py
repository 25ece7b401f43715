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
from typing import NotRequired, TypedDict

from ..replay.script.input_kinds import TEXT
from ..replay.script.input_type import parsed_kind
from ..solver.voting.equality import answer_value
from .build.conversation import answer_in
from .format.hashing import value_hash

STEPS_SHARE = 0.3
"""Maximum reward of all intermediate answers together."""
_ORDER_SHARE = 0.5
"""Share of a step's reward that is paid only after the steps it depends on."""

_Chat = str | Sequence[Mapping[str, object]]
"""A prompt or completion: plain text, or messages."""


class _RewardedHook(TypedDict):
    """What the reward of a step depends on, a part of a hook."""

    variable_name: str | None
    value_hash: str
    depends_on: list[str]
    code_line: NotRequired[str]
    """The line of the script that reads the answer."""


def matches(reply: str, expected_hash: str, kind: str = TEXT) -> bool:
    """Whether the answer in a reply has this hash if the script reads it as `reading_kind` says."""
    return expected_hash in _hashes(reply, kind)


def reading_kind(hooks: Sequence[Mapping[str, object]]) -> str:
    """How a script reads its last answer: as the number that `int(input())` wants, or as text."""
    return parsed_kind(str(hooks[-1].get("code_line") or "")) or TEXT if hooks else TEXT


def _hashes(reply: str, kind: str = TEXT) -> set[str]:
    """The hashes of a reply's answer, read as a value and as text."""
    if not reply.strip():
        return set()
    text = answer_in(reply)
    return {value_hash(answer_value(text, kind)), value_hash(text)}


def steps_reward(
    replies: Sequence[str],
    hooks: Sequence[_RewardedHook],
    expected_hash: str,
    told: Sequence[str] = (),
) -> float:
    """The reward of the intermediate answers, from 0 to `STEPS_SHARE`.

    The final reply and hook are included; `told` are the answers that the prompt already contains.
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
    for reply in replies[: len(payable)]:
        hit = next((index for index in open_ones if _is_hit(reply, hooks[index])), None)
        if hit is None:
            continue
        open_ones.remove(hit)
        in_order = all(name in reached for name in hooks[hit]["depends_on"])
        reached.add(hooks[hit]["variable_name"])
        earned += 1.0 if in_order else 1.0 - _ORDER_SHARE
    return STEPS_SHARE * earned / len(payable)


def _is_hit(reply: str, hook: _RewardedHook) -> bool:
    return matches(reply, hook["value_hash"], reading_kind([hook]))


def final_answer(
    completions: Sequence[_Chat],
    answer: Sequence[str],
    hooks_json: Sequence[str] | None = None,
    **columns: object,
) -> list[float | None]:
    """For each completion 1 if its answer has the expected hash, else 0; None without a hash.

    Args:
        completions: The students' replies.
        answer: The expected hashes (column `answer` of the `rl` export).
        hooks_json: The gold runs' hooks (column of the `rl` export), which tell how the script
            reads an answer; without them a text is a number only in its plain form.
        columns: The other columns; ignored.
    """
    hooks = hooks_json or ["[]"] * len(completions)
    return [
        float(matches(_last(one), expected, reading_kind(json.loads(each)))) if expected else None
        for one, expected, each in zip(completions, answer, hooks, strict=True)
    ]


def steps(
    completions: Sequence[_Chat],
    answer: Sequence[str],
    hooks_json: Sequence[str],
    prompts: Sequence[_Chat] | None = None,
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


def _replies(chat: _Chat) -> list[str]:
    """The assistant's messages in a chat; plain text counts as one."""
    if isinstance(chat, str):
        return [chat]
    return [str(each.get("content") or "") for each in chat if each.get("role") == "assistant"]


def _last(chat: _Chat) -> str:
    replies = _replies(chat)
    return replies[-1] if replies else ""
