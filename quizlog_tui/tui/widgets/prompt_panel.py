"""The pending question with an input, or what stands in its place."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static

from ...text import one_line, visible


class PromptPanel(Vertical):
    """Asks for one line of text."""

    DEFAULT_CSS = """
    PromptPanel {
        height: auto; max-height: 50%; border: round $primary; padding: 0 1;
        & > Static { height: auto; max-height: 6; color: $primary; text-style: bold; }
        & > Input { border: none; height: 1; padding: 0; background: $surface; }
        & > Input:focus { border: none; background: $panel; }
    }
    """

    @dataclass
    class Answered(Message):
        """The user gave an answer."""

        answer: str

    def compose(self) -> ComposeResult:
        """The question above the input."""
        yield Static(markup=False, id="question")
        field = Input(placeholder="type the answer", id="answer", select_on_focus=False)
        field.cursor_blink = False
        yield field

    @property
    def field(self) -> Input:
        """The input."""
        return self.query_one("#answer", Input)

    def ask(self, title: str, question: str, kind: str, hint: str = "") -> None:
        """Show a question that can be answered."""
        self.border_title = one_line(title).replace("[", "\\[")
        self.border_subtitle = one_line(kind).replace("[", "\\[")
        self.query_one("#question", Static).update(visible(question.rstrip()) or "(no prompt)")
        self.field.placeholder = one_line(hint) or "type the answer, Enter sends it"
        self.field.disabled = False
        self.field.display = True

    def tell(self, title: str, text: str) -> None:
        """Show a state in which nothing can be answered."""
        self.border_title = one_line(title).replace("[", "\\[")
        self.border_subtitle = ""
        self.query_one("#question", Static).update(visible(text))
        self.field.display = False
        self.field.disabled = True

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Pass the answer on, and empty the field."""
        event.stop()
        answer = event.value
        self.field.clear()
        self.post_message(self.Answered(answer))
