"""The interface of an input for one kind of answer."""

from __future__ import annotations

from dataclasses import dataclass

from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget

from ....replay.script.input_type import InputType
from ...keys.typed_keys import KeyGate


@dataclass
class Answered(Message):
    """The user gave an answer."""

    answer: str


def send(editor: Widget, answer: str) -> None:
    """Send an answer; keys typed from now on are meant for the next question.

    Raises:
        TypeError: The answer is no text.
    """
    if not isinstance(answer, str):  # the editor may be that of a plug-in
        raise TypeError(f"an answer is a text, not {answer!r}")
    gate = getattr(editor.screen, "gate", None)
    if isinstance(gate, KeyGate):
        gate.shut()
    editor.post_message(Answered(answer))


class Editor(Vertical):
    """An input for a kind of answer; sends answers with `send`."""

    DEFAULT_CSS = "Editor { height: auto; }"

    async def fit(self, kind: InputType, text: str) -> None:
        """Adapt to a question.

        Args:
            kind: What kind of answer it wants.
            text: What was printed before it, and its own text.
        """

    async def fill(self, answer: str) -> None:
        """Insert an answer to edit or send; an empty one clears the input."""
        raise NotImplementedError

    @property
    def draft(self) -> str:
        """The typed but unsent text; empty if there is none."""
        raise NotImplementedError

    def begin(self) -> None:
        """Let the user type."""
        for child in self.query("*"):
            if child.focusable:
                child.focus()
                return
