r"""The fields that take text: they keep every character, and draw none that steers a terminal.

Textual's own draw control characters as they are, and take more than `\n` for the end of a line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual import events
from textual.document._document import Document, EditResult, Location
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.widgets import Input, TextArea

from ...text import visible

if TYPE_CHECKING:
    from textual.app import App


def stand_ins(text: str) -> str:
    """A text in which each character that could steer a terminal is one that is seen."""
    return text if visible(text) == text else "".join(map(_stand_in, text))


def _stand_in(character: str) -> str:
    shown = visible(character)
    return shown if len(shown) == 1 else "\ufffd"


class LineField(Input):
    """A line of text."""

    @property
    def _value(self) -> Text:
        shown = stand_ins(self.value).replace("\n", "⏎").replace("\t", " ")
        return Text(shown, no_wrap=True, overflow="ignore", end="")

    def action_paste(self) -> None:
        """Insert what was cut or copied here, as if it were pasted by the terminal."""
        _paste_again(self.app)


class AreaField(TextArea):
    """Lines of text."""

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn."""
        return Text(stand_ins(self.document.get_line(line_index)), end="", no_wrap=True)

    def action_paste(self) -> None:
        """Insert what was cut or copied here, as if it were pasted by the terminal."""
        _paste_again(self.app)

    def _set_document(self, text: str, language: str | None) -> None:
        """Take a text; no language is ever set."""
        self.document = _ExactDocument(text)
        self.wrapped_document = WrappedDocument(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self.move_cursor((0, 0))
        self._rewrap_and_refresh_virtual_size()

    def _on_resize(self) -> None:
        """Wrap anew, and keep the cursor in sight."""
        super()._on_resize()
        self.scroll_cursor_visible()


def _paste_again(app: App[object]) -> None:
    app.post_message(events.Paste(app.clipboard))


class _ExactDocument(Document):
    r"""Lines that end at `\n` only, so that the text is what was put in."""

    def __init__(self, text: str) -> None:
        super().__init__("")
        self._newline = "\n"
        self._lines = text.split("\n")

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Replace a range; the new end of it, and what was there."""
        (top, left), (bottom, right) = sorted((start, end))
        replaced = self.get_text_range((top, left), (bottom, right))
        before = "".join(self._lines[top : top + 1])[:left]
        after = "".join(self._lines[bottom : bottom + 1])[right:]
        fresh = text.split("\n")
        fresh[0] = before + fresh[0]
        column = len(fresh[-1])
        fresh[-1] += after
        self._lines[top : bottom + 1] = fresh
        return EditResult((top + len(fresh) - 1, column), replaced)
