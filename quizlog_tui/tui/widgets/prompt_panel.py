"""The panel with the pending question and its input, or the text shown instead.

`PromptQuestion` knows the choices of a question and the input that fits its answer. Free text is
always possible: `toggle_plain` replaces any other input by the plain line. A text of several lines
that no other input holds stands in the multi-line one. Typed but unsent text is kept with its
question while other steps are shown.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from ...replay.script.input_kinds import INTEGER, JSON, MATRIX, NUMBER, TEXTAREA, YESNO
from ...replay.script.input_type import InputType, listed_options
from ...terminal_text import plain
from ...text import one_line, plural
from ..toasts import tell
from .documents import Document, Table, height, line
from .row_list import RowList
from .text_fields import Answered, TextLine

if TYPE_CHECKING:
    from .editors import Editor


_EditorName = Literal["box", "grid"]
"""The inputs that may replace the plain line: several lines, or cells of a matrix."""
_YES_NO = re.compile(r"\b(yes|y)\b\W{0,3}(?:/|\||,|or)\W{0,3}\b(no|n)\b", re.I)


@dataclass(frozen=True)
class PromptQuestion:
    """A question."""

    text: str
    kind: InputType
    """The kind of answer that it expects."""
    before: str = ""
    """The text printed before it, which may contain options or a matrix."""

    @property
    def heard(self) -> str:
        """The whole text that the user has read before answering."""
        return f"{self.before}\n{self.text}"

    @cached_property
    def options(self) -> tuple[str, ...]:
        """What there is to choose from."""
        return options(self.text, self.kind)

    @cached_property
    def table(self) -> Table:
        """The rows that list the options."""
        rows = option_rows(self.options, self.heard)
        return Table(len(rows), lambda index: line(("  ", ""), rows[index], cut=True))

    @cached_property
    def editor(self) -> _EditorName | None:
        """The input for this kind of answer; None if the plain line fits best."""
        if self.kind.name == MATRIX:
            from .editors import fits_grid

            return "grid" if fits_grid(self.kind, self.heard) else None
        return "box" if self.kind.rows or self.kind.name in (TEXTAREA, JSON) else None

    @property
    def for_lines(self) -> PromptQuestion:
        """The same question with the input for several lines."""
        return replace(self, kind=self.kind._replace(name=TEXTAREA))

    def fits_editor(self, answer: str) -> bool:
        """Whether that input can show a whole answer."""
        if self.editor != "grid":
            return True
        from .editors import holds_matrix

        return holds_matrix(answer)


def options(question: str, kind: InputType) -> tuple[str, ...]:
    """The choices named in the question, or yes and no as the question spells them."""
    if kind.choices:
        return kind.choices
    if kind.name != YESNO:
        return ()
    written = _YES_NO.search(question)
    return (written[1], written[2]) if written else ("yes", "no")


def option_rows(options: Sequence[str], heard: str) -> tuple[str, ...]:
    """The row of each option: its line in the printed text, such as `a) red`."""
    lines = dict(listed_options(heard))
    return tuple(one_line(lines.get(option, option)) for option in options)


_NUMBERS = {
    INTEGER: re.compile(r"\s*[-+]?\d[\d_]*\s*"),
    NUMBER: re.compile(r"\s*[-+]?(\d[\d_]*)?\.?\d*([eE][-+]?\d+)?\s*(/\s*\d+\s*)?"),
}
_QUESTION = 2_000
"""Maximum characters of a question in the panel; the output shows all of it."""


class PromptPanel(Vertical):
    """Shows a question. Posts `Answered` through the input in use."""

    ALLOW_MAXIMIZE = True
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "line_back", "Back")]
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
        self._question: PromptQuestion | None = None
        self._plain = False
        self._unfit = False
        self._needs_lines = False
        self._before_paste: tuple[str, str] | None = None
        """What stood in the line before several lines were pasted, and what stands there since."""
        self._drafts = Drafts()
        self._fitted = _FittedInput(self, before="#remark")
        self._said: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        """The question, options, the plain line and a hint; other inputs on demand."""
        yield Static(markup=False, id="question")
        yield RowList(id="options")
        yield TextLine(id="answer")
        yield Static(markup=False, id="remark")

    # -- what is shown

    def ask(self, title: str, question: PromptQuestion, suggestions: Sequence[str] = ()) -> None:
        """Show a question that can be answered; up and down step through the suggestions."""
        same, self._question = question == self._question, question
        self._turn_to(f"{title}\n{question.text}")
        if not same:
            self._offer(question)
        self._title(title, "/".join(question.kind.choices) or question.kind.name)
        self._say("#question", plain(_in_short(question.text)) or "(no prompt)")
        self._text_line.suggestions = list(dict.fromkeys((*self.options, *suggestions)))
        self._text_line.placeholder = "type the answer, Enter sends it"
        self._text_line.disabled = False
        self._arrange()

    def _offer(self, question: PromptQuestion) -> None:
        shown = self.query_one("#options", RowList)
        if len(shown.document) != len(question.options):
            shown.styles.height = min(6, len(question.options))
        shown.show(question.table)
        self._mark_option()

    def _mark_option(self) -> None:
        """Select the option that equals the text in the line; none if there is no such option."""
        shown, text = self.query_one("#options", RowList), self._text_line.value
        if text in self.options:
            shown.mark(self.options.index(text))
        else:
            shown.mark(None)

    def tell(self, title: str, text: str) -> None:
        """Show a text instead of a question."""
        self._turn_to("")
        self._question = None
        self._title(title, "")
        self._say("#question", plain(text))
        self.remark("")
        self._text_line.disabled = True
        self._arrange()

    def _turn_to(self, name: str) -> None:
        """Save the draft of the previous question, and restore the draft of this one."""
        text = self._drafts.turn_to(name, self.draft, self._text_line.value)
        if text is not None:
            self._put(text, fits=True)

    @property
    def options(self) -> tuple[str, ...]:
        """What there is to choose from."""
        return () if self._question is None else self._question.options

    @property
    def has_drafts(self) -> bool:
        """Whether there is typed text that was not sent, for this question or another."""
        return bool(self.draft) or self._drafts.any_elsewhere

    @property
    def draft(self) -> str:
        """The typed but unsent text; empty if there is none."""
        fitted = self._fitted.draft
        return self._text_line.value if fitted is None else fitted

    def _title(self, title: str, kind: str) -> None:
        self.border_title = one_line(title).replace("[", "\\[")
        self.border_subtitle = one_line(kind).replace("[", "\\[")

    def remark(self, text: str) -> None:
        """Show a hint below the input, such as the recorded answer."""
        self._say("#remark", one_line(text))

    def _say(self, name: str, text: str) -> None:
        """Change a text, with a new layout only if its height may change."""
        widget = self.query_one(name, Static)
        before, width = self._said.get(name), max(1, widget.size.width)
        if text != before:
            alike = before is not None and height(before, width) == height(text, width)
            widget.update(text, layout=not alike)
            self._said[name] = text

    # -- which input

    @property
    def _text_line(self) -> TextLine:
        return self.query_one("#answer", TextLine)

    @property
    def suggests(self) -> bool:
        """Whether up and down step through suggestions."""
        return not self._fitted.shown

    def _arrange(self) -> None:
        """Show the input that fits."""
        question = self._question
        if question is not None and self._needs_lines:
            question = question.for_lines
        elif self._plain or self._unfit:
            question = None
        fitting = question is not None and question.editor is not None
        self._text_line.display = self._question is not None and not fitting
        listed = bool(self.options) and not self._plain
        self.query_one("#options").display = listed
        self.set_class(listed or fitting, "-crowded")
        self.call_after_refresh(self._keep_in_sight)
        self._fitted.show(question if fitting else None)

    def _keep_in_sight(self) -> None:
        """Keep the input visible if the panel has no room for everything."""
        focused = self.screen.focused
        if self.max_scroll_y and focused is not None and self.has_focus_within:
            focused.scroll_visible(animate=False, immediate=True)

    async def arranged(self) -> None:
        """Wait until the input exists."""
        await self._fitted.arranged()

    def toggle_plain(self) -> bool:
        """Switch between the plain line and the fitting input; whether the line is shown now."""
        self._plain = not self._plain
        self._arrange()
        return self._plain

    async def take_lines(self, lines: str) -> None:
        """Offer pasted lines in the multi-line input, with what the line holds around them."""
        line = self._text_line
        start, end = sorted(line.selection)
        whole = f"{line.value[:start]}{lines}{line.value[end:]}" if line.has_focus else lines
        before = self.draft
        self._put(whole, fits=False)
        self._before_paste = before, whole
        self._arrange()
        self._fitted.begin()
        await self._fitted.fit()
        count = plural(lines.removesuffix("\n").count("\n") + 1, "pasted line")
        tell(self, f"{count}: ctrl+s sends all of it, Escape gives the line back")

    def action_line_back(self) -> None:
        """Put back what stood there before lines were pasted."""
        if self._before_paste is not None:
            self.fill(self._before_paste[0])
            tell(self, "the line as it was; the pasted lines are left out")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action makes sense now: none takes back lines that were edited since."""
        pasted = None if self._before_paste is None else self._before_paste[1]
        return action != "line_back" or self.draft == pasted

    def focus_input(self) -> bool:
        """Focus the input; False if there is no question."""
        if self._question is None:
            return False
        if self._fitted.shown:
            self._fitted.begin()
        else:
            self.screen.set_focus(self._text_line)  # now: what is typed ahead is for the input
            self._text_line.focus()  # or as soon as it is in sight
        return True

    def fill(self, answer: str) -> None:
        """Insert an answer into the input, or into the plain line if only that can show it."""
        self._drafts.take_back()
        self._put(answer, fits=self._question is None or self._question.fits_editor(answer))
        self._arrange()
        if self.has_focus_within:
            self.focus_input()

    def _put(self, text: str, *, fits: bool) -> None:
        """Put a text into the inputs; it `fits` if the input for the question holds it."""
        self._unfit, self._before_paste = not fits, None
        fitted = fits and not self._plain and self._question and self._question.editor
        self._needs_lines = "\n" in text and not fitted
        self._text_line.fill("" if self._needs_lines else text)
        self._fitted.put(text)

    # -- events

    def on_resize(self) -> None:
        """Keep the input visible when the terminal shrinks."""
        self.call_after_refresh(self._keep_in_sight)

    def on_answered(self, event: Answered) -> None:
        """Note that text typed from now on is for the next question."""
        self._drafts.send()
        if self._fitted.shown:
            self._text_line.clear()  # what was put into both inputs

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Insert an option chosen with Enter or the mouse."""
        event.stop()
        if self._lists(event.document):
            self._text_line.fill(self.options[event.index])
            self._text_line.focus()

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Insert the selected option into the line."""
        event.stop()
        if self._lists(event.document):
            self._text_line.fill(self.options[event.index])

    def _lists(self, table: Document) -> bool:
        return self._question is not None and table is self._question.table

    def on_input_changed(self, event: TextLine.Changed) -> None:
        """Select the typed option; warn if the answer is not of the expected kind."""
        self._mark_option()
        kind = "" if self._question is None or self._plain else self._question.kind.name
        pattern = _NUMBERS.get(kind)
        if pattern:
            fits = not event.value or pattern.fullmatch(event.value)
            self.border_subtitle = kind if fits else f"✗ not a valid {kind}; sent anyway"


def _in_short(question: str) -> str:
    text = question.rstrip()
    return text if len(text) <= _QUESTION else f"{text[:_QUESTION]}…"


class Drafts:
    """The drafts of all questions except the one shown, whose draft is in its input."""

    def __init__(self) -> None:
        self._question = ""
        self._sent = False
        self._drafts: dict[str, str] = {}

    @property
    def any_elsewhere(self) -> bool:
        """Whether text was typed for a question that is not shown."""
        return any(self._drafts.values())

    def send(self) -> None:
        """Note that the answer was sent: text typed from now on is for the next question."""
        self._sent = True

    def take_back(self) -> None:
        """Note that the answer is back in the input: typed text is for the question shown."""
        self._sent = False

    def turn_to(self, question: str, typed: str, line: str) -> str | None:
        """The draft to put into the input of a question; None if the question is already shown.

        `typed` stands in the input shown, `line` in the plain one, where one types ahead.
        """
        if question == self._question:
            return None
        if typed and not self._sent:
            self._drafts[self._question] = typed
        ahead = line if self._sent else ""
        self._question, self._sent = question, False
        return ahead or self._drafts.pop(question, "")


class _FittedInput:
    """Shows at most one input, above `before`; creates each on first use."""

    def __init__(self, panel: Widget, before: str) -> None:
        self._panel = panel
        self._before = before
        self._question: PromptQuestion | None = None
        self._editors: dict[_EditorName, Editor] = {}
        self._fitted: dict[_EditorName, PromptQuestion] = {}
        self._text: str | None = None
        self._begins = False
        self._turn = asyncio.Lock()

    @property
    def shown(self) -> bool:
        """Whether an input replaces the plain line."""
        return self._question is not None

    @property
    def _kind(self) -> _EditorName | None:
        return None if self._question is None else self._question.editor

    @property
    def _editor(self) -> Editor | None:
        """The input shown; None if there is none or it is still being created."""
        return None if self._kind is None else self._editors.get(self._kind)

    @property
    def draft(self) -> str | None:
        """Its text, or the text about to be inserted; None if the plain line is used."""
        if self._text is not None or self._editor is None:
            return self._text
        return self._editor.draft

    def put(self, text: str) -> None:
        """Put a text into the input, or into the next one shown."""
        self._text = text

    def show(self, question: PromptQuestion | None) -> None:
        """Show the input for a question; None removes the one shown."""
        self._question = question
        for kind, editor in self._editors.items():
            editor.display = kind == self._kind
        if question is None:
            self._text = None
        else:
            self._panel.run_worker(self.fit())

    def begin(self) -> None:
        """Focus the input as soon as it exists."""
        if self._editor is not None:
            self._editor.begin()
        self._begins = True  # it may be about to be made, or to get another size
        self._panel.run_worker(self.fit())

    async def arranged(self) -> None:
        """Wait until the input exists."""
        async with self._turn:
            pass

    async def fit(self) -> None:
        """Adapt the input to the current question, and insert its text."""
        async with self._turn:  # one after the other: an input is made but once
            question, kind = self._question, self._kind
            if question is None or kind is None:
                return
            focused = self._begins or self._panel.has_focus_within
            self._begins = False
            await self._make(kind)
            await self._fill(kind, question, focused=focused)

    async def _make(self, kind: _EditorName) -> None:
        if kind not in self._editors:
            editor = _make_editor(kind)
            await self._panel.mount(editor, before=self._before)
            self._editors[kind] = editor

    async def _fill(self, kind: _EditorName, question: PromptQuestion, *, focused: bool) -> None:
        editor, fresh = self._editors[kind], self._fitted.get(kind) != question
        if fresh:
            self._fitted[kind] = question
            await editor.fit(question.kind, question.heard)
        text, self._text = self._text, None
        if text is not None:
            await editor.fill(text)
        if focused and (fresh or text is not None or not editor.has_focus_within):
            editor.begin()


def _make_editor(name: _EditorName) -> Editor:
    """An input, whose module is loaded only now because few questions need it."""
    from .editors import MatrixGrid, TextBox

    kinds: dict[_EditorName, type[Editor]] = {"box": TextBox, "grid": MatrixGrid}
    return kinds[name]()
