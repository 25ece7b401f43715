"""Converts an answer to the text that is typed into a quiz. Pure."""

from __future__ import annotations

import json
from typing import Any

from ...replay.script.input_kinds import INTEGER, YESNO
from .decision import ModelQuestion


def answer_text(answer: Any, question: ModelQuestion) -> str:
    """The text of a raw answer: texts unchanged, other values as the question expects them."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, bool):
        words = ("no", "yes") if question.input_type == YESNO else ("False", "True")
        return words[answer]
    if isinstance(answer, float) and question.input_type == INTEGER and answer.is_integer():
        return str(int(answer))
    if isinstance(answer, (int, float)):
        return repr(answer)
    return json.dumps(answer, ensure_ascii=False)
