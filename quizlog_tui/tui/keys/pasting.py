"""Puts pasted text into the field with the focus, once, and never drops a part without a word."""

from __future__ import annotations

import re
from typing import Any, Protocol, runtime_checkable

from textual import events
from textual.app import App
from textual.widgets import Input, TextArea

from ...text import visible
from ..toasts import warn
from ..widgets.text_fields import LineField


@runtime_checkable
class TakesLines(Protocol):
    """What takes several lines that were pasted into one of its fields."""

    async def take_lines(self, lines: str) -> None:
        """Take the lines."""


async def take_paste(app: App[Any], event: events.Paste) -> None:
    """Insert pasted text into the field with the focus before the next key is processed."""
    text = re.sub("\r\n?", "\n", event.text)  # terminals send \r for the end of a line
    focused = app.focused
    if isinstance(focused, TextArea):
        event = events.Paste(text)
        event.stop()  # it would come here again
        await focused.on_event(event)
    elif isinstance(focused, Input):
        await _paste_into_line(app, focused, text)
    elif text:
        warn(app, "nothing here takes the pasted text; go to a field first")


async def _paste_into_line(app: App[Any], field: Input, text: str) -> None:
    """Insert text into a line; several lines go where they can, or it is told what is left out."""
    first, *more = text.removesuffix("\n").split("\n")
    taker = next((node for node in field.ancestors if isinstance(node, TakesLines)), None)
    if more and taker is not None:
        await taker.take_lines(text)
        return
    if more:
        warn(app, f"only the first of {len(more) + 1} pasted lines is put in: this is one line")
    start, end = sorted(field.selection)
    field.replace(first if isinstance(field, LineField) else visible(first), start, end)
