"""Draws the output of a run with each answer in its place, one item per step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from ...replay.transcript import Step, Transcript
from ...terminal_text import plain, settle
from ..widgets.lines.documents import TAB, Document, Line, name_lines, rows, safe
from ..widgets.lines.row_painter import SGR
from ..widgets.lines.wrapping import Unwrapped, height


class RunOutput:
    """The items of a run's answered steps and their heights.

    Args:
        run: The run through all recorded answers; looked at step by step with `at`.
        raw: Whether escape sequences are shown as text, instead of what a terminal makes of them.
        wraps: Whether long lines are wrapped; rows of tables never are.
    """

    def __init__(self, run: Transcript, *, raw: bool = False, wraps: bool = True) -> None:
        self.raw = raw
        """Whether escape sequences are shown as text."""
        self._unwrapped: Unwrapped = "tables" if wraps else "all"
        self._steps = run.steps
        self._heights: list[int] = []
        self._width = 0

    def at(self, shown: Transcript, hidden: int = 0) -> Document:
        """The document on the screen up to the end of `shown`.

        Args:
            shown: The run, or an earlier stop of it.
            hidden: How many events of its last step are not shown yet, the question first.
        """
        last = tail(shown.last, hidden, raw=self.raw)._replace(unwrapped=self._unwrapped)
        return _Shown(self, len(shown.steps), last)

    def item(self, index: int) -> Line:
        """An answered step."""
        step = self._steps[index]
        pieces = _pieces(step, raw=self.raw)
        return Line((*pieces, (safe(step.input or ""), "answer")), unwrapped=self._unwrapped)

    def text(self, index: int) -> str:
        """The same for a search."""
        step = self._steps[index]
        return f"{asked_text(step, raw=self.raw)}{step.input or ''}"

    def heights(self, count: int, width: int) -> Sequence[int]:
        """The rows of the first `count` steps, measured once for a width."""
        if width != self._width:
            self._heights, self._width = [], width
        for index in range(len(self._heights), count):
            self._heights.append(_height(self.text(index), width, self._unwrapped))
        return self._heights[:count]


class _Shown:
    """A run up to a stop."""

    def __init__(self, run: RunOutput, count: int, last: Line) -> None:
        self._run = run
        self._count = count
        self._last = last

    def shares(self, before: Document) -> int:
        """Number of leading items shared with another stop of the same run."""
        if isinstance(before, _Shown) and before._run is self._run:
            return min(self._count, before._count)
        return 0

    def __len__(self) -> int:
        return self._count + 1

    def __getitem__(self, index: int) -> Line:
        return self._run.item(index) if index < self._count else self._last

    def numbered(self, index: int) -> Line:
        return name_lines(self[index], f"{index:3} │ ")

    def text(self, index: int) -> str:
        return self._run.text(index) if index < self._count else self._last.text

    def starts(self, width: int) -> Sequence[int]:
        heights = [*self._run.heights(self._count, width), len(rows(self._last, width))]
        return list(accumulate(heights, initial=0))


def tail(step: Step, hidden: int = 0, *, raw: bool = False) -> Line:
    """The last step of a run: its output, and the pending question if there is one."""
    if hidden:
        written = step.written[: max(0, len(step.written) + 1 - hidden)]
        return _ended("".join(written), raw=raw)
    if step.prompt is None:
        return _ended("".join(step.written), raw=raw)
    return Line((*_pieces(step, raw=raw), ("▏", "dim")))


def asked_text(step: Step, *, raw: bool = False) -> str:
    """What a step wrote and asked, as it is drawn or as it is."""
    texts = ("".join(step.written), step.prompt or "")
    return "".join(texts if raw else map(plain, texts))


def _pieces(step: Step, *, raw: bool) -> list[tuple[str, str]]:
    """What a step wrote and asked, in pieces."""
    written = terminal_pieces("".join(step.written), "", raw=raw)
    return [*written, *terminal_pieces(step.prompt or "", "prompt", raw=raw)]


def terminal_pieces(text: str, style: str, *, raw: bool) -> list[tuple[str, str]]:
    """A text in pieces, with a style where it has none of its own."""
    if raw:
        return [(safe(text), style)]
    return [
        (shown.replace("\t", TAB), f"{SGR}{own}" if own else style) for shown, own in settle(text)
    ]


def next_step_with(
    run: Transcript, step: int, hidden: int, count: Callable[[str], int], *, raw: bool = False
) -> int | None:
    """The next step whose output contains more hits; None if there is none.

    Args:
        run: The run through all recorded answers.
        step: The step that is shown.
        hidden: How many events of it are not shown yet.
        count: How often a text has what is looked for.
        raw: Whether escape sequences are shown as text.
    """
    for at in range(step, len(run.steps) + 1):
        stop = run.steps[at] if at < len(run.steps) else run.last
        seen = count(tail(stop, hidden, raw=raw).text) if at == step else 0
        asked = asked_text(stop, raw=raw)
        if count(asked) > seen:
            return at
        if stop.input is not None and count(asked + stop.input) > seen:
            return at + 1
    return None


def events(step: Step) -> int:
    """Number of events in a step: each printed text, then the question."""
    return len(step.written) + 1


def _ended(written: str, *, raw: bool) -> Line:
    return Line(tuple(terminal_pieces(written.removesuffix("\n"), "", raw=raw)))


def _height(text: str, width: int, unwrapped: Unwrapped) -> int:
    """Number of rows of a text; in plain ASCII each character takes one cell, escaped or not."""
    shown = text.replace("\t", TAB) if text.isascii() else safe(text)
    return height(shown, width, unwrapped=unwrapped)
