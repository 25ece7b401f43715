"""Writes the gold run as a conversation for a student, and finds the answer in a reply.

The student sees only what the solver saw: no hint, no reference answer, no other model's words.
`answer_in` reads what `assistant` writes. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..runs.runs import Replayed, Turn, clean, shown

if TYPE_CHECKING:
    from ..format.schema import ConversationForSft, Message
    from ..read.files import UsableEpisode

_SYSTEM_PROMPT = (
    "You answer a questionnaire, one question at a time. Reply with the answer to the last "
    "question and nothing else. Or explain first, with Python code if it helps, and then give the "
    "answer on a last line that starts with 'Answer: '."
)
"""The student's instructions."""
REFUSED = "refused_messages"
"""The key in the gold run's metadata for the messages that are answers refused by the script."""
_ANSWER = re.compile(r"^Answer: ?", re.M)


def conversation(replayed: Replayed, hint: str | None, *, retries: bool) -> ConversationForSft:
    """The schema's `conversation_for_sft`: user and assistant strictly alternate.

    The hint is not in it; with `retries`, refused answers and the script's messages about them are.
    """
    return {
        "system_prompt": _SYSTEM_PROMPT,
        "messages": list(_messages(replayed, hint, retries=retries)),
    }


def refused_messages(replayed: Replayed) -> list[int]:
    """The indexes of refused answers in a conversation that includes retries."""
    found: list[int] = []
    for index in range(len(replayed.turns)):
        for at, _, _ in replayed.run.rejected:
            if at == index:
                found.append(2 * (index + len(found)) + 1)
    return found


def _messages(replayed: Replayed, hint: str | None, *, retries: bool) -> Iterator[Message]:
    for index, (turn, step) in enumerate(zip(replayed.turns, replayed.accepted, strict=True)):
        asked = shown(step)
        for at, wrong, message in replayed.run.rejected if retries else ():
            if at == index:
                yield {"role": "user", "content": asked}
                yield {"role": "assistant", "content": assistant(wrong, hint)}
                asked = f"{clean(message)}\n\n{shown(step)}"
        yield {"role": "user", "content": asked}
        yield {"role": "assistant", "content": assistant(turn, hint)}


def talk_of(episode: UsableEpisode) -> tuple[dict[str, str], list[dict[str, str]]]:
    """An episode's system prompt as a message, and its conversation."""
    talk = episode["conversation_for_sft"]
    messages = [{"role": m["role"], "content": m["content"]} for m in talk["messages"]]
    return {"role": "system", "content": talk["system_prompt"]}, messages


def refused_in(episode: UsableEpisode) -> set[int]:
    """The indexes of refused answers in an episode's conversation, which must not be taught."""
    found = episode["teacher_gold_trace"]["submission_metadata"].get(REFUSED)
    return {one for one in found if type(one) is int} if isinstance(found, list) else set()


def assistant(turn: Turn, hint: str | None) -> str:
    """A turn as the student should write it: only the answer, or explanation, code and answer."""
    answer = clean(turn.answer)
    parts = [clean(turn.explanation or "").strip(), _fenced(turn.code)]
    shown_parts = [
        part for part in parts if part and not (hint and hint.casefold() in part.casefold())
    ]
    if not shown_parts and answer.strip() and answer_in(answer) == answer.strip():
        return answer
    reply = "\n\n".join([*shown_parts, f"Answer: {answer}"])
    return reply if answer_in(reply) == answer.strip() else answer


def _fenced(code: str | None) -> str:
    """Code in a fence longer than any inside it."""
    if not code:
        return ""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", code)), 3)
    return f"{fence}python\n{clean(code).strip()}\n{fence}"


def answer_in(reply: str) -> str:
    """The answer in a reply: the text after the last `Answer:` at the start of a line, else all."""
    starts = list(_ANSWER.finditer(reply))
    return reply[starts[-1].end() :].strip() if starts else reply.strip()
