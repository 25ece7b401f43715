"""What a trainer should know of an episode that follows the rules: the checker's warnings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .rules import Data, Finding, traces
from .times import is_stamp, stamp

LONG_LINE = 4 * 1024 * 1024
"""Bytes from which a line is called very long."""
_PORTABLE = 2**53
_KNOWN_EXTRA = {"intermediate_artifact_hashes": "left over from an older form"}


def time(episode: Data) -> Iterator[Finding]:
    """Times are in the one form; other forms that can be read are told, the rest is an error."""
    found = [("timestamp", episode["timestamp"])]
    created = episode["question"]["created_at"]
    if created is not None:
        found.append(("question.created_at", created))
    for path, text in found:
        if is_stamp(text):
            continue
        if stamp(text) is None:
            yield Finding(path, "timestamp", f"{text[:40]!r} is no time")
        else:
            message = "is not of the form YYYY-MM-DDTHH:MM:SS.ffffff"
            yield Finding(path, "timestamp-form", message, warning=True)


def hint(episode: Data) -> Iterator[Finding]:
    """The student is not told the hint."""
    secret = (episode["question"]["hint"] or "").strip()
    talk = episode["conversation_for_sft"]
    if not secret:
        return
    if secret in talk["system_prompt"]:
        path = "conversation_for_sft.system_prompt"
        yield Finding(path, "hint-told", "holds the hint", warning=True)
    for index, message in enumerate(talk["messages"]):
        if secret in message["content"]:
            path = f"conversation_for_sft.messages[{index}].content"
            yield Finding(path, "hint-told", "holds the hint", warning=True)


def cells(episode: Data) -> Iterator[Finding]:
    """The code a solver wrote is in the conversation."""
    gold = episode["teacher_gold_trace"]
    generated = gold["submission_metadata"].get("generated_cells")
    skipped = set(generated) if isinstance(generated, list) else set()
    written = [
        (index, cell.strip())
        for index, cell in enumerate(gold["code_cells"])
        if index not in skipped
    ]
    said = [m["content"] for m in episode["conversation_for_sft"]["messages"]] if written else []
    for index, cell in written:
        if not any(cell in text for text in said):
            path = f"teacher_gold_trace.code_cells[{index}]"
            yield Finding(path, "cell-not-said", "is not in the conversation", warning=True)


def numbers(episode: Data) -> Iterator[Finding]:
    """Integers that many readers turn into other numbers."""
    for path, trace in traces(episode):
        if _beyond(trace["final_answer"]):
            message = "holds an integer beyond 2**53, which many readers round"
            yield Finding(f"{path}.final_answer", "big-number", message, warning=True)


def _beyond(value: Any) -> bool:
    if isinstance(value, int):
        return abs(value) > _PORTABLE
    if isinstance(value, dict):
        return any(map(_beyond, value.values()))
    return isinstance(value, list) and any(map(_beyond, value))


def extra_keys(episode: Data, known: dict[str, frozenset[str]]) -> Iterator[Finding]:
    """Keys the schema does not know.

    Args:
        episode: The episode.
        known: The schema's keys, by the name of the part.
    """
    parts: list[tuple[str, str, Data]] = [("", "Episode", episode)]
    for path, kind in (
        ("question", "Question"),
        ("conversation_for_sft", "ConversationForSft"),
        ("rl_verification_data", "RlVerificationData"),
        ("triangulation_metadata", "TriangulationMetadata"),
    ):
        parts.append((f"{path}.", kind, episode[path]))
    parts += [(f"{path}.", "ExecutionTrace", trace) for path, trace in traces(episode)]
    for path, kind, data in parts:
        for key in data.keys() - known[kind]:
            message = _KNOWN_EXTRA.get(key, "is no key of the schema")
            yield Finding(f"{path}{key}", "extra-key", message, warning=True)


ADVICE = (time, hint, cells, numbers)
"""Every rule of this module that needs nothing but the episode."""
