"""The pending question with an input fitted to its kind, or what stands in its place.

Free text is always possible: `toggle_plain` puts the line of text in place of any other input.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from ...replay.input_type import InputType
from ...text import one_line, visible
from .documents import Table, height, line
from .editors.text_line import TextLine
from .row_list import RowList

if TYPE_CHECKING:
    from .editors.matrix import MatrixGrid
    from .editors.text_box import TextBox

_BOXES = ("textarea", "json")
_NUMBERS = {
    "integer": re.compile(r"\s*[-+]?\d[\d_]*\s*"),
    "number": re.compile(r"\s*[-+]?(\d[\d_]*)?\.?\d*([eE][-+]?\d+)?\s*(/\s*\d+\s*)?"),
}
_YES_NO = re.compile(r"\b(yes|y)\b\W{0,3}(?:/|\||,|or)\W{0,3}\b(no|n)\b", re.I)


class PromptPanel(Vertical):
    """Asks. Posts `Answered` through the input in use."""

    DEFAULT_CSS = """
    PromptPanel {
        height: auto; min-height: 5; max-height: 60%; border: round $primary; padding: 0 1;
        & > #question { height: auto; max-height: 6; color: $primary; text-style: bold; }
        & > #options { height: auto; max-height: 6; border: none; }
        & > #options:focus { border: none; }
        & > #remark { height: 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._kind = InputType()
        self._question = ""
        self._options: tuple[str, ...] = ()
        self._plain = False
        self._asking = False
        self._before = ""
        self._wanted = False
        self._said: dict[str, str] = {}
        self._editors: dict[str, MatrixGrid | TextBox] = {}

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
        remark: str = "",
        suggestions: Sequence[str] = (),
    ) -> None:
        """Show a question that can be answered.

        Args:
            title: Where it stands.
            question: Its text.
            kind: What kind of answer it wants.
            before: What was printed before it, in which a matrix may be shown.
            remark: A line below, such as the recorded answer.
            suggestions: Answers to step through with up and down.
        """
        same = self._asking and (question, kind) == (self._question, self._kind)
        self._kind, self._question, self._before = kind, question, before
        self._asking = True
        self._options = options(question, kind)
        self._title(title, "/".join(kind.choices) or kind.name)
        self._say("#question", visible(question.rstrip()) or "(no prompt)")
        self._remark(remark)
        shown = self.query_one("#options", RowList)
        if len(shown.document) != len(self._options):
            shown.styles.height = min(6, len(self._options))
        shown.show(Table(len(self._options), self._option), cursor=None if same else 0)
        self.text_line.suggest([*self._options, *suggestions])
        self.text_line.placeholder = "type the answer, Enter sends it"
        self.text_line.disabled = False
        self._arrange()

    def tell(self, title: str, text: str) -> None:
        """Show a state in which nothing can be answered."""
        self._asking, self._options = False, ()
        self._title(title, "")
        self._say("#question", visible(text))
        self._remark("")
        self.text_line.disabled = True
        self._arrange()

    def _title(self, title: str, kind: str) -> None:
        self.border_title = one_line(title).replace("[", "\\[")
        self.border_subtitle = one_line(kind).replace("[", "\\[")

    def _remark(self, text: str) -> None:
        self._say("#remark", one_line(text))

    def _say(self, name: str, text: str) -> None:
        """Change a text; the screen is laid out anew only where its height may change."""
        widget = self.query_one(name, Static)
        before, width = self._said.get(name), max(1, widget.size.width)
        if text != before:
            alike = before is not None and height(before, width) == height(text, width)
            widget.update(text, layout=not alike)
            self._said[name] = text

    def _option(self, index: int):  # type: ignore[no-untyped-def]
        return line(("  ", ""), self._options[index], cut=True)

    # -- which input

    @property
    def text_line(self) -> TextLine:
        """The plain line."""
        return self.query_one("#answer", TextLine)

    @property
    def _fitting(self) -> str:
        """Name of the input that fits better than the plain line; empty if the line does."""
        if self._plain or not self._asking:
            return ""
        if self._kind.name == "matrix":
            return "matrix"
        return "box" if self._kind.name in _BOXES or self._kind.rows else ""

    def _arrange(self) -> None:
        """Show the input that fits, making it when it is first needed."""
        fitting = self._fitting
        self.text_line.display = self._asking and not fitting
        self.query_one("#options").display = bool(self._options) and not self._plain
        for name, editor in self._editors.items():
            editor.display = name == fitting
        if fitting:
            self.run_worker(self._fit(fitting), exclusive=True, group="fit")

    async def _fit(self, name: str) -> None:
        focused = self._wanted or self.has_focus_within
        self._wanted = False
        if name not in self._editors:
            self._editors[name] = editor = _editor(name)
            await self.mount(editor, before="#remark")
        await self._editors[name].fit(self._kind, f"{self._before}\n{self._question}")
        if focused:
            self._editors[name].begin()

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
            self.text_line.focus()
        elif name in self._editors:
            self._editors[name].begin()
        else:
            self._wanted = True  # it is being made
        return True

    def fill(self, answer: str) -> None:
        """Put an answer into the input, ready to be sent."""
        self.text_line.fill(answer)
        for editor in self._editors.values():
            self.run_worker(editor.fill(answer))

    # -- events

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """An option was chosen with Enter or the mouse."""
        event.stop()
        self.text_line.fill(self._options[event.index])
        self.text_line.focus()

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """An option is marked: put it into the line."""
        event.stop()
        self.text_line.fill(self._options[event.index])

    def on_input_changed(self, event: TextLine.Changed) -> None:
        """Say when what is typed is not of the kind wanted; it may be sent all the same."""
        pattern = _NUMBERS.get(self._kind.name)
        if pattern and self._asking and not self._plain:
            fits = not event.value or pattern.fullmatch(event.value)
            self.border_subtitle = (
                self._kind.name if fits else f"✗ not of kind {self._kind.name}; sent all the same"
            )


def options(question: str, kind: InputType) -> tuple[str, ...]:
    """What there is to choose from: named in the question, or yes and no as it writes them."""
    if kind.choices:
        return kind.choices
    if kind.name != "yesno":
        return ()
    written = _YES_NO.search(question)
    return (written[1], written[2]) if written else ("yes", "no")


def _editor(name: str) -> MatrixGrid | TextBox:
    """An input by its name; loaded only now, as few questions want one."""
    if name == "matrix":
        from .editors.matrix import MatrixGrid

        return MatrixGrid()
    from .editors.text_box import TextBox

    return TextBox()
