"""The checker's warnings for trainers about episodes that follow the rules."""

from __future__ import annotations

from collections.abc import Iterator

from ..format.rules import GOLD, TALK, Rule, RuleFinding, View, run_path
from ..format.times import is_stamp, stamp

LONG_LINE = 4 * 1024 * 1024
"""Size in bytes from which a line gets a warning."""
_PORTABLE = 2**53


def time(view: View) -> Iterator[RuleFinding]:
    """Times have the right notation; other ISO 8601 notations give a warning, the rest an error."""
    for path, text in (
        ("timestamp", view.episode["timestamp"]),
        ("question.created_at", view.question["created_at"]),
    ):
        if text is None or is_stamp(text):
            continue
        if stamp(text) is None:
            yield RuleFinding(path, "timestamp", f"{text[:40]!r} is not a time")
        else:
            message = "is not of the form YYYY-MM-DDTHH:MM:SS.ffffff"
            yield RuleFinding(path, "timestamp-form", message, warning=True)


def hint(view: View) -> Iterator[RuleFinding]:
    """The student is not told the hint."""
    secret = (view.question["hint"] or "").strip()
    if not secret:
        return
    prompt = view.episode["conversation_for_sft"]["system_prompt"]
    texts = [("conversation_for_sft.system_prompt", prompt)]
    texts += [(f"{TALK}[{n}].content", one["content"]) for n, one in enumerate(view.messages)]
    for path, text in texts:
        if secret in text:
            yield RuleFinding(path, "hint-told", "holds the hint", warning=True)


def cells(view: View) -> Iterator[RuleFinding]:
    """The code a solver wrote is in the conversation."""
    written, generated = view.gold["code_cells"], view.metadata.get("generated_cells")
    skipped = generated if isinstance(generated, list) else []
    if len(skipped) == len(written):
        return
    for index, cell in enumerate(written):
        if index not in skipped and not _is_said(cell.strip(), 2 * index + 1, view):
            path = f"{GOLD}.code_cells[{index}]"
            yield RuleFinding(path, "cell-not-said", "is not in the conversation", warning=True)


def _is_said(cell: str, usually_at: int, view: View) -> bool:
    messages = view.messages
    if usually_at < len(messages) and cell in messages[usually_at]["content"]:
        return True
    return any(cell in message["content"] for message in messages)


def numbers(view: View) -> Iterator[RuleFinding]:
    """Answers contain no integers that many readers round."""
    for index, run in enumerate(view.runs):
        answer = run["final_answer"]
        if type(answer) is not str and _beyond(answer):
            message = "holds an integer beyond 2**53, which many readers round"
            yield RuleFinding(
                f"{run_path(index)}.final_answer", "big-number", message, warning=True
            )


def _beyond(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) > _PORTABLE
    if isinstance(value, dict):
        return any(map(_beyond, value.values()))
    return isinstance(value, list) and any(map(_beyond, value))


ADVICE: tuple[Rule, ...] = (time, hint, cells, numbers)
"""Every rule of this module."""
