"""The panes that look into the script at the step shown: its variables, and the lines that ran.

A pane looks only while it is shown, in a thread, and at the last step that was wanted: steps that
were passed meanwhile are left out. What it shows is of a process that is thrown away.
"""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical

from ...errors import QuizlogError
from ...replay.replayer import Replayer
from ...replay.script.source import Source
from ...session.session import Session
from ...session.timeline import Timeline, TimelineRow
from ...terminal_text import plain
from ...text import one_line, plural
from ..screens.base import QuizlogScreen
from ..toasts import tell
from ..widgets.documents import Line, Paragraphs, line
from ..widgets.expression_line import ExpressionLine
from ..widgets.row_list import RowList
from .player_state import PlayerState

if TYPE_CHECKING:  # what draws looks is loaded at the first one
    from ...debug.inspection import Inspection, Trace, ValuePath
    from ..draw.lines import LineRow
    from ..draw.variables import ValueRow

Found = TypeVar("Found")
_AGAIN = 0.1
"""Seconds between two attempts to end a look."""


class VariablesPane(Vertical):
    """The line for expressions above the variables."""

    ALLOW_MAXIMIZE = True
    DEFAULT_CSS = """
    VariablesPane { height: 1fr; & #values { height: 1fr; } }
    """

    def compose(self) -> ComposeResult:
        """Line and list."""
        yield ExpressionLine(id="expression")
        yield RowList(id="values")


class _Look(ABC, Generic[Found]):
    """Shows in a list what it finds in the script at the step shown."""

    LIST: str
    """The id of the list."""
    DOING: str
    """What it does, in words."""
    TITLE: str
    """What the pane is called while it shows nothing."""

    def __init__(self, screen: QuizlogScreen[None], session: Session, replayer: Replayer) -> None:
        self._screen = screen
        self._session = session
        self._replayer = replayer
        self._state: PlayerState | None = None
        """What the player shows; None while the pane is hidden."""
        self._shown: tuple[PlayerState, Hashable] | None = None
        """What the pane shows."""
        self._looking = False
        self._finding = False
        """Whether a look is under way in its thread."""

    @property
    def pane(self) -> RowList:
        """The list."""
        return self._screen.query_one(f"#{self.LIST}", RowList)

    @abstractmethod
    def _wish(self) -> Hashable:
        """What is looked for beside the step: a change is looked for at once."""

    @abstractmethod
    def _find(self, step: int) -> Found:
        """Look into the script. In a thread.

        Raises:
            QuizlogError: That is not possible.
        """

    @abstractmethod
    def _draw(self, step: int, found: Found) -> None:
        """Show what was found."""

    def follow(self, state: PlayerState, *, shown: bool) -> None:
        """Look at what the player shows, if the pane is shown; give up a look elsewhere."""
        self._state = state if shown else None
        self._give_up()
        if self._looking or self._is_shown():
            return
        if self._session.missing is not None:
            self._tell("the script cannot be read, so nothing can be looked at")
            return
        self._looking = True
        self._screen.run_worker(self._look())

    def _give_up(self) -> None:
        """End a look that is no longer wanted; again, as it may be between two processes."""
        if self._finding and not self._is_shown():
            self._replayer.cancel()
            self._screen.set_timer(_AGAIN, self._give_up)

    def _is_shown(self) -> bool:
        """Whether the pane shows what is wanted, or is looking for it."""
        state, shown = self._state, self._shown
        if state is None or shown is None:
            return state is None and not self._finding
        same = shown[0].whole is state.whole and shown[0].step == state.step
        return same and shown[1] == self._wish()

    async def _look(self) -> None:
        """Look until what is shown is what is wanted."""
        try:
            while not self._is_shown() and self._state is not None:
                step, self._shown = self._state.step, (self._state, self._wish())
                call = partial(self._outcome, step)
                found = await self._screen.slow_work.run(call, self.DOING)
                if not self._screen.is_mounted:
                    return
                if self._is_shown():
                    self._show(step, found)
        finally:
            self._looking = False
        if self._state is None:
            self._shown = None  # it was hidden, so what was found is not drawn

    def _outcome(self, step: int) -> Found | QuizlogError:
        self._finding = True
        try:
            return self._find(step)
        except QuizlogError as error:
            return error
        finally:
            self._finding = False

    def _show(self, step: int, found: Found | QuizlogError | None) -> None:
        if found is None or isinstance(found, QuizlogError):
            self._tell(f"✗ {found.message}" if found else "stopped")
        else:
            self._draw(step, found)

    def _tell(self, text: str) -> None:
        """Show a text where there is nothing to show."""
        self._forget()
        self.pane.border_title = self.TITLE
        self.pane.show(Paragraphs([line((text, "dim"))]))

    @abstractmethod
    def _forget(self) -> None:
        """Nothing is shown that a key could open."""


class VariablesLook(_Look["Inspection"]):
    """The variables at the step shown, those that are open, and the last expression."""

    LIST = "values"
    DOING = "looking at the variables"
    TITLE = "Variables"

    def __init__(self, screen: QuizlogScreen[None], session: Session, replayer: Replayer) -> None:
        super().__init__(screen, session, replayer)
        self._open: tuple[ValuePath, ...] = ()
        self._asked: tuple[str, ...] = ()
        """The last expression, or nothing."""
        self._call = ""
        """The function in which it is evaluated; empty for the innermost call."""
        self._frame = 0
        """The number of its call at the step shown."""
        self._calls: list[str] = []
        """The functions of the calls at the step shown, innermost first."""
        self._rows: list[ValueRow] = []

    def ask(self, text: str) -> None:
        """Show the value of an expression in the call at the cursor; an empty one takes it away."""
        row = self._row(self.pane.index)
        self._call = self._calls[row.frame] if row is not None and row.frame else ""
        self._asked = (text,) if text else ()
        self.pane.move(0)
        self._again()

    def turn(self, index: int) -> None:
        """Open the value in a row, or close it with all that is in it."""
        row = self._row(index)
        if row is None or row.path is None or not row.opens:
            return
        path = row.path
        if path in self._open:
            self._open = tuple(one for one in self._open if not _lies_in(one, path))
        else:
            self._open = (*self._open, path)
        self._again()

    def _row(self, index: int | None) -> ValueRow | None:
        """A row that shows what a script knows."""
        return None if index is None or index >= len(self._rows) else self._rows[index]

    def _forget(self) -> None:
        self._rows = []

    def _again(self) -> None:
        if self._state is not None:
            self.follow(self._state, shown=True)

    def _wish(self) -> Hashable:
        return self._open, self._asked, self._call

    def _find(self, step: int) -> Inspection:
        """What is known at the step, with the expression in the call that was chosen for it."""
        self._frame = 0
        if self._call and self._asked:
            functions = [frame.function for frame in self._session.inspect(step).frames]
            self._frame = functions.index(self._call) if self._call in functions else 0
        return self._session.inspect(
            step, frame=self._frame, expressions=self._asked, opened=self._open
        )

    def _draw(self, step: int, found: Inspection) -> None:
        from ..draw.variables import variable_rows

        at = self.pane.index
        before = self._row(at)
        self._rows = variable_rows(found, self._frame)
        self._calls = [frame.function for frame in found.frames]
        document = Paragraphs([row.line for row in self._rows])
        self.pane.show(document, cursor=_same_row(self._rows, before, at or 0))
        changed = len(found.changed.changed) + len(found.changed.added)
        since = f" · {changed} changed" if changed else ""
        self.pane.border_title = f"Variables at step {step}{since}"
        names = {*found.names, *dir(builtins)}
        self._screen.query_one(ExpressionLine).know(sorted(names))


def _lies_in(one: ValuePath, other: ValuePath) -> bool:
    """Whether a value is another one, or is inside it."""
    same = (one.frame, one.expression) == (other.frame, other.expression)
    return same and one.indexes[: len(other.indexes)] == other.indexes


def _same_row(rows: list[ValueRow], before: ValueRow | None, at: int) -> int:
    """The row with the value that had the cursor, or else the one at its place."""
    if before is None or before.path is None:
        return at
    return next((index for index, row in enumerate(rows) if row.path == before.path), at)


class LinesLook(_Look["Trace"]):
    """The lines that ran between the answer before the step shown and its question."""

    LIST = "lines"
    DOING = "watching its lines"
    TITLE = "Lines"

    def __init__(self, screen: QuizlogScreen[None], session: Session, replayer: Replayer) -> None:
        super().__init__(screen, session, replayer)
        self._open: frozenset[int] = frozenset()
        self._trace: Trace | None = None
        self._rows: list[LineRow] = []

    def place(self, index: int) -> tuple[Source, int] | None:
        """The file and the line in a row; None if there is none, or its file cannot be read."""
        from ...debug.inspection import file_of

        if self._trace is None or index >= len(self._rows):
            return None
        event = self._trace.events[self._rows[index].at]
        file = file_of(event.file, self._session.source)
        return None if file is None else (file, event.line)

    def turn(self, index: int) -> bool:
        """Open or close the loop that begins in a row; whether one does."""
        if self._trace is None or index >= len(self._rows) or not self._rows[index].times:
            return False
        self._open ^= {self._rows[index].at}
        self._draw_rows(self._trace, index)
        return True

    def _wish(self) -> Hashable:
        return None

    def _forget(self) -> None:
        self._trace, self._rows = None, []

    def _find(self, step: int) -> Trace:
        return self._session.trace(step)

    def _draw(self, step: int, found: Trace) -> None:
        self._trace, self._open = found, frozenset()
        self._draw_rows(found, None)
        count = plural(len(found.events), "line")
        first = "the first " if found.truncated else ""
        self.pane.border_title = f"Lines before step {step} · {first}{count}"

    def _draw_rows(self, trace: Trace, cursor: int | None) -> None:
        """Draw the rows; the cursor is on the last one unless it is given: it waits or raised."""
        from ..draw.lines import line_rows, line_table

        self._rows = line_rows(trace, self._open)
        if not self._rows:
            self._tell("no line of the script ran here")
            return
        document = line_table(trace, self._rows, self._open, self._session.source)
        self.pane.show(document, cursor=len(self._rows) - 1 if cursor is None else cursor)


async def choose_step_of_line(
    screen: QuizlogScreen[None], session: Session, rows: Timeline, file: Source, at: int, near: int
) -> int | None:
    """Ask for one of the steps before whose question a line ran; None if the user goes back.

    Args:
        screen: Asks.
        session: The record.
        rows: Its steps.
        file: The file of the line.
        at: The number of the line.
        near: The step that is selected at first, or the one nearest to it.
    """
    path, name = str(file.path), f"line {at} of {file.path.name}"
    steps = await screen.slow_work.run(
        lambda: session.steps_of_line(path, at), f"looking where {name} ran"
    )
    if not steps:
        if steps is not None:
            tell(screen, f"{name} ran at no step of this branch")
        return None
    lines = [_step_line(rows[step]) for step in steps]
    nearest = min(range(len(steps)), key=lambda index: abs(steps[index] - near))
    ran = f"{name} ran before the question of {plural(len(steps), 'step')}"
    chosen = await screen.choose(f"{ran}; go to which?", lines, nearest)
    return None if chosen is None else steps[chosen]


def _step_line(row: TimelineRow) -> Line:
    return line(f"step {row.at}  {one_line(plain(row.question or ''))}".rstrip(), cut=True)
