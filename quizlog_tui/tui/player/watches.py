"""The expressions that the player watches: asks for them, and evaluates them beside the screen.

They are kept in the record, or where audit mode refuses that, shown as long as the screen is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...config import NEUTRAL, known_author, load_config
from ...errors import CancelledError, QuizlogError
from ...record.feedback import KEY
from ...replay.transcript import Transcript
from ...session.session import Session
from ...text import clipped, one_line
from ..screens.base import QuizlogScreen
from ..toasts import complain, tell
from ..widgets.documents import line
from ..widgets.scrubber import Series

if TYPE_CHECKING:  # what evaluates them is loaded when there is one
    from ...debug.watching import StopWalk, Watched

_MOST = 9
"""Maximum number of expressions that are watched at once."""
_EVERY = 100
"""Steps between two reports of progress."""


class Watches:
    """The expressions that are watched, and their values as far as they are known.

    Args:
        screen: Asks and tells.
        session: The open record.
        changed: Called when other values are known.
    """

    def __init__(
        self, screen: QuizlogScreen[None], session: Session, changed: Callable[[], None]
    ) -> None:
        self.found: Watched | None = None
        """The values; None while they are not known."""
        self._screen = screen
        self._session = session
        self._changed = changed
        self._own: list[str] = []
        """The expressions that are not kept."""
        self._until = ""
        """The expression that was last asked for to turn true."""
        self._state: tuple[Transcript, object, list[str]] | None = None
        """What the values follow from: the run, what the record keeps, and what it does not."""
        self._searching: StopWalk | None = None

    @property
    def expressions(self) -> list[str]:
        """The expressions that are watched: those that are kept first."""
        return list(dict.fromkeys([*self._session.watches, *self._own]))[:_MOST]

    # -- their values

    def follow(self, whole: Transcript) -> None:
        """Evaluate them again, beside the screen, if the run or one of them is another."""
        kept, before = self._session.record.extras.get(KEY), self._state
        if before and before[0] is whole and before[1] is kept and before[2] == self._own:
            return
        self._state = (whole, kept, [*self._own])
        expressions = self.expressions if self._session.missing is None else []
        same = self.found is not None and list(self.found.expressions) == expressions
        if not (same and before and whole.steps.continues(before[0].steps)):
            self.found = None
        if expressions:
            evaluating = self._evaluate(self._session.stop_walk(), expressions)
            self._screen.run_worker(evaluating, group="watch", exclusive=True)

    async def _evaluate(self, walk: StopWalk, expressions: Sequence[str]) -> None:
        from ...debug.watching import watched

        try:
            found = await asyncio.to_thread(watched, walk, expressions)
        except CancelledError:
            return
        except QuizlogError as error:
            complain(self._screen, error)
            return
        finally:
            walk.cancel()  # for its thread, where this worker was cancelled
        if expressions == self.expressions:  # else they were taken away meanwhile
            self.found = found
            self._changed()

    # -- choosing them

    async def edit(self) -> bool:
        """Ask for an expression to add, or for another text of one; whether anything changed."""
        known = self.expressions
        at: int | None = len(known)
        if known:
            lines = [line(text, cut=True) for text in (*known, "another expression")]
            at = await self._screen.choose("Change which watched expression?", lines, len(known))
        if at is None:
            return False
        before = known[at] if at < len(known) else ""
        goes = ", empty to take it away" if before else ""
        text = await self._ask(f"Watch which expression at every step{goes}?", before)
        if text is None or text == before:
            return False
        said = await self._screen.slow_work.run(lambda: self._put(before, text), "writing")
        if said:
            tell(self._screen, said)
        return said is not None

    async def _ask(self, question: str, before: str) -> str | None:
        """Ask for an expression, again after a text that is none; None if the user goes back."""
        from ...debug.watching import check_expression

        asked: str | None = before
        while (asked := await self._screen.ask(question, asked or "")) is not None:
            asked = asked.strip()
            try:
                if asked:
                    check_expression(asked)
            except QuizlogError as error:
                complain(self._screen, error)
            else:
                break
        return asked

    def _put(self, before: str, after: str) -> str:
        """Watch an expression in place of another; what to tell. In a thread."""
        session = self._session
        refused = session.audit is not None and session.audit.refuses("notes")
        if before in self._own:
            self._own.remove(before)
        elif before:
            session.forget_watch(before)
        if after and refused:
            self._own.append(after)
            return "locked: it is shown as long as this screen is open, and not kept"
        if after:
            session.keep_watch(after, known_author(load_config()[0]) or NEUTRAL)
        return ""

    # -- the step at which one turns true

    async def until(self, step: int) -> int | None:
        """Ask for an expression; the first step after `step`, or of all, at which it turns true.

        None if there is none, or if the user goes back.
        """
        from ...debug.watching import watched

        question = "Go to the step at which which expression turns true?"
        text = await self._ask(question, self._until or next(iter(self.expressions), ""))
        if not text:
            return None
        self._until = text
        walk = self._searching = self._session.stop_walk()

        def progress(done: int, of: int) -> None:
            if done % _EVERY == 0:
                self._screen.slow_work.tell_progress(f"evaluating, {done} of {of} steps")

        found = await self._screen.slow_work.run(
            lambda: watched(walk, [f"not not ({text}\n)"], progress), "evaluating"
        )
        self._searching = None
        return None if found is None else self._next(turns_true(found), step, text)

    def _next(self, turns: Sequence[int], step: int, text: str) -> int | None:
        after = next((turn for turn in turns if turn > step), None)
        shown = one_line(text)
        if not turns:
            tell(self._screen, f"{shown} turns true at no step")
        elif after is None:
            tell(self._screen, f"{shown} turns true at no later step; from the start: {turns[0]}")
        return turns[0] if turns and after is None else after

    def cancel(self) -> None:
        """Stop looking for a step."""
        if self._searching is not None:
            self._searching.cancel()


_MOST_SERIES, _LEGEND = 2, 24
"""Maximum number of rows of bars, and of characters of the expression beside them."""


def series_of(found: Watched | None) -> list[Series]:
    """The values that are numbers, as bars from their least to their greatest."""
    columns = list(zip(*(step.values for step in found.steps), strict=True)) if found else []
    series = []
    for text, values in zip(found.expressions if found else (), columns, strict=True):
        numbers = [value.number for value in values]
        known = [number for number in numbers if number is not None]
        if len(known) > 1:
            low, high = min(known), max(known)
            legend = f"{clipped(one_line(text), _LEGEND)} {low:g}..{high:g}"
            series.append(Series(legend, [_height(number, low, high) for number in numbers]))
    return series[:_MOST_SERIES]


def _height(number: float | None, low: float, high: float) -> float | None:
    if number is None:
        return None
    return (number - low) / (high - low) if high > low else 0.5


def turns_true(found: Watched) -> list[int]:
    """The steps at which the first expression is true, and was not at the step before."""
    true = [bool(step.values[0].number) for step in found.steps]
    return [step for step, now in enumerate(true) if now and not (step and true[step - 1])]
