"""Draws the output of a run with each answer in its place: one item per step, a rule below each.

The notes on a step stand between its answer and the rule, each on one line.
Lines of stderr are marked, below what was printed at the step. Of long output the first and last
lines are shown, and between them how many are left out; only what is shown is settled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from time import monotonic

from rich.cells import cell_len, set_cell_size

from ...record.append_only_list import AppendOnlyList
from ...replay.transcript import Step, StopPart, Transcript, stop_parts
from ...terminal_text import MOST, plain, steers
from ...text import one_line, plural
from ..widgets.columns import fitted
from ..widgets.documents import (
    TAB,
    Document,
    Line,
    Pieces,
    Unwrapped,
    height,
    logical_lines,
    pieces_between,
    rows,
    safe,
    terminal_pieces,
)

_FIRST, _LAST = 20, 40
"""Lines shown of a folded output."""
_LONG = 100
"""Lines of an output that are not folded."""
_MARK = "stderr: "


Notes = Mapping[int, Sequence[str]]
"""The notes on steps, a line each."""


@dataclass(frozen=True)
class OutputForm:
    """How an output is drawn."""

    raw: bool = False
    """Whether escape sequences are shown as text, instead of what a terminal makes of them."""
    wraps: bool = True
    """Whether long lines are wrapped; rows of tables never are."""
    opens: str = ""
    """The key that opens what is folded; empty if nothing is folded."""
    stderr: bool = True
    """Whether what the script wrote to stderr is shown."""


_USUAL = OutputForm()


class RunOutput:
    """The items of a run's answered steps and their heights.

    `about` gives what the rule below a step says of its answer; no rules if None. `notes` are the
    lines of the notes on steps.
    """

    def __init__(
        self,
        run: Transcript,
        form: OutputForm = _USUAL,
        about: Callable[[int], str] | None = None,
        notes: Notes | None = None,
    ) -> None:
        self.form = form
        self.notes = notes or {}
        self._about = about
        self._unwrapped: Unwrapped = "tables" if form.wraps else "all"
        self._steps = run.steps
        self._heights: list[int] = []
        self._width = 0

    def grown(self, run: Transcript) -> RunOutput:
        """The items of another run, without measuring again the steps that both begin with."""
        made = RunOutput(run, self.form, self._about, self.notes)
        if self._width:
            same = _alike(run.steps, self._steps, len(self._heights))
            made._heights, made._width = self._heights[:same], self._width
        return made

    def noted(self, notes: Notes) -> RunOutput:
        """The same items with other notes, measured as far as they are."""
        made = copy(self)
        made.notes = notes
        return made

    def at(self, shown: Transcript, hidden: int = 0, *, first: int = 0) -> Document:
        """The document on the screen up to the end of `shown`, without its last `hidden` events.

        It begins with the step `first`; if that is not 0, nothing before it is measured.
        """
        last = tail(last_stop(shown), hidden, self.form)._replace(unwrapped=self._unwrapped)
        return _Shown(self, first, len(shown.steps), last, noted=not hidden)

    def item(self, index: int) -> Line:
        """An answered step."""
        pieces = _pieces(self._steps[index], self.form) or [("", "answer")]
        for note in self.notes.get(index, ()):
            pieces += [("\n", ""), (fitted(note, self._width), "dim")]
        if self._about is not None:
            pieces += [("\n", ""), (self._rule(index, self._about(index)), "dim")]
        return Line(tuple(pieces), unwrapped=self._unwrapped)

    def text(self, index: int) -> str:
        """The same for a search, without the rule."""
        return _shown_text(self._steps[index], self.form)

    def _rule(self, index: int, about: str) -> str:
        """A row across the pane that ends a step."""
        long = not self.form.raw and not self.form.opens and is_too_long(self._steps[index])
        said = [f"step {index}", about, f"over {MOST >> 20} MB: not drawn" if long else ""]
        return rule(" · ".join(filter(None, said)), self._width)

    def heights(self, first: int, count: int, width: int) -> Sequence[int]:
        """The rows of the steps from `first` to `count`, measured once for a width."""
        if width != self._width:
            self._heights, self._width = [], width
        if first:
            found = [self._height(index) for index in range(first, count)]
        else:
            for index in range(len(self._heights), count):
                self._heights.append(self._height(index))
            found = self._heights[:count]
        for index in self.notes:
            if first <= index < count:
                found[index - first] += len(self.notes[index])
        return found

    def _height(self, index: int) -> int:
        """The rows of a step but for its notes."""
        own = _height(self.text(index), self._width, self._unwrapped)
        return own + (self._about is not None)

    def measure(self, seconds: float) -> bool:
        """Measure more steps for about so long, for the width drawn last; whether all are."""
        until = monotonic() + seconds
        while self._width and len(self._heights) < len(self._steps) and monotonic() < until:
            self.heights(0, len(self._heights) + 1, self._width)
        return len(self._heights) == len(self._steps)


def _alike(steps: AppendOnlyList[Step], others: AppendOnlyList[Step], most: int) -> int:
    """How many steps at the start of two runs show the same, of at most so many."""
    if steps.continues(others):
        return most
    pairs = zip(steps.upto(most), others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: _texts(pair[0]) == _texts(pair[1]), pairs))


def _texts(step: Step) -> tuple[object, ...]:
    return step.written, step.stderr, step.prompt, step.input


class _Shown(Document):
    """A run up to a stop."""

    def __init__(self, run: RunOutput, first: int, count: int, last: Line, *, noted: bool) -> None:
        self._run = run
        self._first = first
        self._count = count
        self._last = last
        notes = run.notes.get(count, ()) if noted else ()
        below = (piece for note in notes for piece in (("\n", ""), (safe(note), "dim")))
        self._noted = last._replace(pieces=(*last.pieces, *below))
        """The last stop with its notes, which no search of the output finds."""

    def shared_with(self, before: Document) -> int:
        """Number of leading items shared with another stop of the same run."""
        if not isinstance(before, _Shown) or before._run is not self._run:
            return 0
        return min(len(self), len(before)) - 1 if before._first == self._first else 0

    def __len__(self) -> int:
        return self._count - self._first + 1

    def __getitem__(self, index: int) -> Line:
        step = self._first + index
        return self._run.item(step) if step < self._count else self._noted

    def numbered(self, index: int) -> Line:
        return _name_lines(self[index], f"{self._first + index:3} │ ")

    def text(self, index: int) -> str:
        step = self._first + index
        return self._run.text(step) if step < self._count else self._last.text

    def starts(self, width: int) -> Sequence[int]:
        above = self._run.heights(self._first, self._count, width)
        return list(accumulate([*above, len(rows(self._noted, width))], initial=0))


def _name_lines(item: Line, name: str) -> Line:
    """Prefix each line of a text with a name."""
    pieces = [
        piece for one in logical_lines(item.pieces) for piece in (("\n", ""), (name, "dim"), *one)
    ]
    return Line(tuple(pieces[1:]), unwrapped=item.unwrapped)


def rule(text: str, width: int) -> str:
    """A thin line of a width, with a text near its left end."""
    told = f"── {one_line(text)} "
    room = width - cell_len(told)
    return set_cell_size(told, width) if room < 0 else told + "─" * room


def tail(step: Step, hidden: int = 0, form: OutputForm = _USUAL) -> Line:
    """The last step of a run: its output, and the pending question if there is one."""
    if hidden:
        written = step.written[: max(0, len(step.written) + 1 - hidden)]
        return _ended("".join(written), form)
    if step.prompt is not None:
        return Line((*_pieces(step, form), ("▏", "dim")))
    if step.stderr and form.stderr:
        return Line(tuple(_pieces(step, form)))
    return _ended("".join(step.written), form)


def last_stop(run: Transcript) -> Step:
    """The last stop of a run, without the traceback or exit text that the error shows."""
    if run.last_error is None or not run.last.stderr:
        return run.last
    exited = run.error_type == "SystemExit"
    return replace(run.last, stderr="" if exited else run.own_stderr)


def folded_pieces(text: str, opens: str, *, raw: bool) -> Pieces:
    """An output in styled pieces; a long one is folded if a key `opens` it."""
    if opens and len(text) > MOST and (cut := _cut(text)):
        first, last = (
            terminal_pieces(part, "", raw=raw) for part in (text[: cut[0]], text[cut[1] :])
        )
        return [*first, _note(text, cut, opens), *last]
    pieces = terminal_pieces(text, "", raw=raw)
    shown = "".join(part for part, _ in pieces) if opens else ""
    cut = _cut(shown)
    if cut is None:
        return pieces
    first, last = pieces_between(pieces, 0, cut[0]), pieces_between(pieces, cut[1], len(shown))
    return [*first, _note(shown, cut, opens), *last]


def _cut(text: str) -> tuple[int, int] | None:
    """The offsets between which lines are left out; None if the text is short."""
    if text.count("\n") <= _LONG:
        return None
    start, end = 0, len(text)
    for _ in range(_FIRST):
        start = text.index("\n", start) + 1
    for _ in range(_LAST + 1):
        end = text.rindex("\n", 0, end)
    return start, end + 1


def _note(text: str, cut: tuple[int, int], opens: str) -> tuple[str, str]:
    left_out = plural(text.count("\n", *cut), "more line")
    return f"… {left_out}; {opens} shows all\n", "dim"


def _asked_text(step: Step, form: OutputForm) -> str:
    """What a step wrote and asked, as it is drawn or as it is."""
    parts = stop_parts(step, draw=str if form.raw else plain)
    return f"{parts['output']}{_marked(parts['stderr'], step, form)}{parts['question']}"


def _shown_text(step: Step, form: OutputForm) -> str:
    """The same as far as it is not folded away, with the answer."""
    text = f"{_asked_text(step, form)}{step.input or ''}"
    if not form.opens or text.count("\n") <= _LONG:  # nothing is folded: this is much faster
        return text
    return "".join(shown for shown, _ in _pieces(step, form))


def _marked(stderr: str, step: Step, form: OutputForm) -> str:
    """The lines that a step wrote to stderr, marked; empty if they are not shown."""
    if not (stderr and form.stderr):
        return ""
    printed = "".join(step.written)
    before = "" if (printed if form.raw else plain(printed))[-1:] in ("", "\n") else "\n"
    marked = "\n".join(f"{_MARK}{line}" for line in stderr.removesuffix("\n").split("\n"))
    return f"{before}{marked}" + ("" if step.prompt is None else "\n")


def is_too_long(step: Step) -> bool:
    """Whether a step wrote more than is drawn as on a terminal, and that would differ."""
    written = "".join(step.written)
    return len(written) > MOST and steers(written)


def _pieces(step: Step, form: OutputForm) -> Pieces:
    """What a step wrote, asked and was answered, in pieces."""
    parts = stop_parts(step).items()
    return [piece for kind, text in parts if text for piece in _drawn(kind, text, step, form)]


def _drawn(part: StopPart, text: str, step: Step, form: OutputForm) -> Pieces:
    if part == "answer":
        return [(safe(text), "answer")]
    if part == "question":
        return terminal_pieces(text, "prompt", raw=form.raw)
    if part == "stderr":
        marked = _marked(text if form.raw else plain(text), step, form)
        pieces = folded_pieces(marked, form.opens, raw=True)  # drawn already, or shown as text
        return [(shown, "dim") for shown, _ in pieces]
    return folded_pieces(text, form.opens, raw=form.raw)


def next_step_with(
    run: Transcript, step: int, hidden: int, count: Callable[[str], int], form: OutputForm = _USUAL
) -> int | None:
    """The next step in which `count` finds more, also in what is folded; None if there is none.

    Of the step that is shown, the last `hidden` events are not shown yet.
    """
    for at in range(step, len(run.steps) + 1):
        stop = run.steps[at] if at < len(run.steps) else last_stop(run)
        seen = count(tail(stop, hidden, form).text) if at == step else 0
        asked = _asked_text(stop, form)
        if count(asked) > seen:
            return at
        if stop.input is not None and count(asked + stop.input) > seen:
            return at + 1
    return None


def events(step: Step) -> int:
    """Number of events in a step: each printed text, then the question."""
    return len(step.written) + 1


def _ended(written: str, form: OutputForm) -> Line:
    return Line(tuple(folded_pieces(written.removesuffix("\n"), form.opens, raw=form.raw)))


def _height(text: str, width: int, unwrapped: Unwrapped) -> int:
    """Number of rows of a text; in plain ASCII each character takes one cell, escaped or not."""
    shown = text.replace("\t", TAB) if text.isascii() else safe(text)
    return height(shown, width, unwrapped=unwrapped)
