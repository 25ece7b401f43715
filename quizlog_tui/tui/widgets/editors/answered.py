"""What every input posts when the user gives an answer."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message
from textual.widget import Widget

from ...keys.typed_keys import KeyGate


@dataclass
class Answered(Message):
    """The user gave an answer."""

    answer: str


def send(editor: Widget, answer: str) -> None:
    """Give an answer; keys typed from now on are meant for what it leads to."""
    gate = getattr(editor.screen, "gate", None)
    if isinstance(gate, KeyGate):
        gate.shut()
    editor.post_message(Answered(answer))
