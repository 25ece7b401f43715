"""The pending question with an input fitted to its kind, or what stands in its place.

Free text is always possible: `toggle_plain` puts the line of text in place of any other input. What
is typed belongs to its question: it stays with that when one looks elsewhere.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from ...replay.script.input_type import InputType
from ...text import one_line, visible
from ..draw.options import option_rows, option_table, options
from .editors.answered import Answered
from .editors.text_line import TextLine
from .lines.row_list import RowList
from .lines.wrapping import height

if TYPE_CHECKING:
    from .editors.matrix import MatrixGrid
    from .editors.text_box import TextBox

_BOXES = ("textarea", "json")
_NUMBERS = {
    "integer": re.compile(r"\s*[-+]?\d[\d_]*\s*"),
    "number": re.compile(r"\s*[-+]?(\d[\d_]*)?\.?\d*([eE][-+]?\d+)?\s*(/\s*\d+\s*)?"),
}
_QUESTION = 2_000
"""Characters of a question that its few rows can show; the output shows all of it."""


class PromptPanel(Vertical):
    """Asks. Posts `Answered` through the input in use."""

    DEFAULT_CSS = """
    PromptPanel {
        height: auto; min-height: 5; max-height: 60%; border: round $primary; padding: 0 1;
        overflow-y: auto; scrollbar-size-vertical: 1;
        & > #question { height: auto; max-height: 6; color: $primary; text-style: bold; }
        &.-crowded > #question { max-height: 14vh; }
        & > #options { height: auto; max-height: 18vh; border: none; }
        & > #options:focus { border: none; }
        & > #remark { height: 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._kind = InputType()
        self.options: tuple[str, ...] = ()
        """What there is to choose from."""
        self._table = option_table(())
        self._plain = False
        self._asking = False
        self._wanted = False
        self._said: dict[str, str] = {}
        self._editors: dict[str, MatrixGrid | TextBox] = {}
        self._arranging = asyncio.Lock()
        self._heard = ""
        self._fitted: dict[str, tuple[InputType, str]] = {}
        self._asked = ""
        self._answered = False
        self._drafts: dict[str, str] = {}
        self._to_fill: str | None = None
        self._unfit = False

    def compose(self) -> ComposeResult:
        """The question, options, the line of text and a remark; other inputs when needed."""
        yield Static(markup=False, id="question")
        yield RowList(id="options")
        yield TextLine(id="answer")
        yield Static(markup=False, id="remark")

    # -- what is shown

    def ask(
        self,
        title: str,
        question: str,
        kind: InputType,
        *,
        before: str = "",
        suggestions: Sequence[str] = (),
    ) -> None:
        """Show a question that can be answered.

        Args:
            title: Where it stands.
            question: Its text.
            kind: What kind of answer it wants.
            before: What was printed before it, in which a matrix may be shown.
            suggestions: Answers to step through with up and down.
        """
        heard = f"{before}\n{question}"
        same = self._asking and (heard, kind) == (self._heard, self._kind)
        self._turn_to(f"{title}\n{question}")
        self._kind, self._heard = kind, heard
        self._asking = True
        self.options = options(question, kind)
        self._title(title, "/".join(kind.choices) or kind.name)
        self._say("#question", visible(_in_short(question)) or "(no prompt)")
        if not same:
            self._offer()
        self.text_line.suggestions = list(dict.fromkeys((*self.options, *suggestions)))
        self.text_line.placeholder = "type the answer, Enter sends it"
        self.text_line.disabled = False
        self._arrange()

    def _offer(self) -> None:
        """List the options."""
        shown = self.query_one("#options", RowList)
        if len(shown.document) != len(self.options):
            shown.styles.height = min(6, len(self.options))
        self._table = option_table(option_rows(self.options, self._heard))
        shown.show(self._table)
        self._mark_option()

    def _mark_option(self) -> None:
        """Mark the option that stands in the line, whichever way it came there; else none."""
        shown, text = self.query_one("#options", RowList), self.text_line.value
        if text in self.options:
            shown.mark(self.options.index(text))
        else:
            shown.unmark()

    def tell(self, title: str, text: str) -> None:
        """Show a state in which nothing can be answered."""
        self._turn_to("")
        self._asking, self.options, self._table = False, (), option_table(())
        self._title(title, "")
        self._say("#question", visible(text))
        self.remark("")
        self.text_line.disabled = True
        self._arrange()

    def _turn_to(self, name: str) -> None:
        """Keep what was typed for the question before, and take up what was typed for this one."""
        if name == self._asked:
            return
        ahead = self.text_line.value if self._answered else ""
        if self.draft and not self._answered:
            self._drafts[self._asked] = self.draft
        self._asked, self._unfit, self._answered = name, False, False
        self._put(ahead or self._drafts.pop(name, ""))

    @property
    def draft(self) -> str:
        """What is typed and not sent; empty if nothing is."""
        if self._to_fill is not None:
            return self._to_fill
        name = self._fitting
        return self._editors[name].draft if name in self._editors else self.text_line.value

    def _title(self, title: str, kind: str) -> None:
        self.border_title = one_line(title).replace("[", "\\[")
        self.border_subtitle = one_line(kind).replace("[", "\\[")

    def remark(self, text: str) -> None:
        """Say something in the line below the input, such as the recorded answer."""
        self._say("#remark", one_line(text))

    def _say(self, name: str, text: str) -> None:
        """Change a text; the screen is laid out anew only where its height may change."""
        widget = self.query_one(name, Static)
        before, width = self._said.get(name), max(1, widget.size.width)
        if text != before:
            alike = before is not None and height(before, width) == height(text, width)
            widget.update(text, layout=not alike)
            self._said[name] = text

    # -- which input

    @property
    def text_line(self) -> TextLine:
        """The plain line."""
        return self.query_one("#answer", TextLine)

    @property
    def _fitting(self) -> str:
        """Name of the input that fits better than the plain line; empty if the line does."""
        if self._plain or self._unfit or not self._asking:
            return ""
        if self._kind.name == "matrix":
            from .editors.matrix import is_small, size_in

            return "matrix" if is_small(*size_in(self._heard, self._kind.rows)) else ""
        return "box" if self._kind.name in _BOXES or self._kind.rows else ""

    @property
    def suggests(self) -> bool:
        """Whether up and down step through suggestions here."""
        return not self._fitting

    def _arrange(self) -> None:
        """Show the input that fits, making it when it is first needed."""
        fitting = self._fitting
        self.text_line.display = self._asking and not fitting
        listed = bool(self.options) and not self._plain
        self.query_one("#options").display = listed
        self.set_class(listed or bool(fitting), "-crowded")
        self.call_after_refresh(self._keep_in_sight)
        for name, editor in self._editors.items():
            editor.display = name == fitting
        if fitting:
            self.run_worker(self._fit())
        else:
            self._to_fill = None

    def _keep_in_sight(self) -> None:
        """Nobody types blind: where the panel has no room for all, it shows the input."""
        focused = self.screen.focused
        if self.max_scroll_y and focused is not None and self.has_focus_within:
            focused.scroll_visible(animate=False, immediate=True)

    async def arranged(self) -> None:
        """Wait until the input that fits is there."""
        async with self._arranging:
            pass

    async def _fit(self) -> None:
        """Make the input fit the question of now, and put in what is to stand there."""
        async with self._arranging:  # one after the other: an input is made but once
            name = self._fitting
            if not name:
                return
            focused = self._wanted or self.has_focus_within
            self._wanted = False
            if name not in self._editors:
                editor = _editor(name)
                await self.mount(editor, before="#remark")
                self._editors[name] = editor
            await self._fill_editor(self._editors[name], name, focused=focused)

    async def _fill_editor(self, editor: MatrixGrid | TextBox, name: str, *, focused: bool) -> None:
        asked = (self._kind, self._heard)
        fresh = self._fitted.get(name) != asked
        if fresh:
            self._fitted[name] = asked
            await editor.fit(self._kind, self._heard)
        text, self._to_fill = self._to_fill, None
        if text is not None:
            await editor.fill(text)
        if focused and (fresh or text is not None or not editor.has_focus_within):
            editor.begin()

    def toggle_plain(self) -> bool:
        """The plain line instead of the fitting input, or back; whether it is plain now."""
        self._plain = not self._plain
        self._arrange()
        return self._plain

    def focus_input(self) -> bool:
        """Let the user type; False if nothing can be answered."""
        if not self._asking:
            return False
        name = self._fitting
        if not name:
            self.screen.set_focus(self.text_line)  # now: what is typed ahead is for the input
            self.text_line.focus()  # or as soon as it is in sight
            return True
        if name in self._editors:
            self._editors[name].begin()
        self._wanted = True  # it may be about to be made, or to get another size
        self.run_worker(self._fit())
        return True

    def fill(self, answer: str) -> None:
        """Put an answer into the input, or into the line if only that can hold it."""
        self._answered = False
        self._unfit = self._kind.name == "matrix" and not _holds(answer)
        self._put(answer)
        self._arrange()
        if self.has_focus_within:
            self.focus_input()

    def _put(self, text: str) -> None:
        self.text_line.fill(text)
        self._to_fill = text

    # -- events

    def on_resize(self) -> None:
        """The input stays in sight also where the terminal becomes small."""
        self.call_after_refresh(self._keep_in_sight)

    def on_answered(self, event: Answered) -> None:
        """What is typed from now on is for the question to come."""
        self._answered = True

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """An option was chosen with Enter or the mouse."""
        event.stop()
        if event.document is self._table:
            self.text_line.fill(self.options[event.index])
            self.text_line.focus()

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """An option is marked: put it into the line."""
        event.stop()
        if event.document is self._table:
            self.text_line.fill(self.options[event.index])

    def on_input_changed(self, event: TextLine.Changed) -> None:
        """Mark the option typed; say when it is not of the kind wanted, which may be sent too."""
        self._mark_option()
        pattern = _NUMBERS.get(self._kind.name)
        if pattern and self._asking and not self._plain:
            fits = not event.value or pattern.fullmatch(event.value)
            self.border_subtitle = (
                self._kind.name if fits else f"✗ not of kind {self._kind.name}; sent all the same"
            )


def _in_short(question: str) -> str:
    text = question.rstrip()
    return text if len(text) <= _QUESTION else f"{text[:_QUESTION]}…"


def _holds(answer: str) -> bool:
    from .editors.matrix import holds

    return holds(answer)


def _editor(name: str) -> MatrixGrid | TextBox:
    """An input by its name; loaded only now, as few questions want one."""
    if name == "matrix":
        from .editors.matrix import MatrixGrid

        return MatrixGrid()
    from .editors.text_box import TextBox

    return TextBox()
