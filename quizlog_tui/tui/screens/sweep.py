"""Trying many answers at one step: type, paste or read them, see what each leads to, keep some.

The recorded later answers follow each one while their questions stay, as when it is amended.

A kept answer becomes a branch beside the active one, which stays active and where it is: so
several can be kept as branches of the same one, and leaving the screen moves nothing.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import TextArea

from ...errors import CancelledError, QuizlogError, UsageError
from ...record.branches import free_name
from ...replay.replayer import Replayer
from ...replay.script.source import Source
from ...replay.transcript import Transcript
from ...session.audit import readable_path
from ...session.session import Session
from ...session.trials import attempt_row, differs_at, lines_of, portions, typed_answers
from ...terminal_text import plain
from ...text import plural, visible
from ..draw.output import RunOutput
from ..draw.status import STYLES, error_lines, state_text
from ..toasts import tell, warn
from ..widgets.columns import Cell, Grid, Heads, Layout, cells_line, layout, widest
from ..widgets.documents import Document, Line, Paragraphs, StackedDocuments, line
from ..widgets.line_view import LineView
from ..widgets.row_list import RowList
from ..widgets.text_fields import AreaField
from .base import DIALOG, QuizlogScreen
from .export import Export, text_export

_RANKS = {"success": 0, "in_progress": 1, "error": 2}
_STOPPED = "! stopped"


@dataclass(frozen=True)
class SweepAttempt:
    """One answer and its outcome."""

    answer: str
    """The answer tried."""
    result: Transcript | QuizlogError
    """The run, or what stopped it."""
    kept: str = ""
    """The branch it was kept as; empty if none."""
    differs: int | None = None
    """The first step that shows something else than the recorded run; None if none does."""


def best_first(attempts: Iterable[SweepAttempt]) -> list[SweepAttempt]:
    """Sort: finished runs, waiting runs, errors by score, stopped runs."""
    return sorted(attempts, key=_worth)


def _worth(attempt: SweepAttempt) -> tuple[int, float, int]:
    run = attempt.result
    if isinstance(run, QuizlogError):
        return 3, 0.0, 0
    return _RANKS[run.status], -(run.score or 0.0), -len(run.steps)


def summary(attempts: Sequence[SweepAttempt]) -> str:
    """The number of attempts, by outcome."""
    counts = Counter(_state(attempt)[0] for attempt in attempts)
    states = [state_text(status, None) for status in _RANKS] + [_STOPPED]
    told = [f"{counts[state]} {state}" for state in states if counts[state]]
    return ", ".join([f"{len(attempts)} tried", *told]) if attempts else "nothing tried yet"


def count_text(lines: Sequence[str]) -> str:
    """The number of answers and answer files in a typed text."""
    files = sum(1 for text in lines if text.startswith("@") and not text.startswith("@@"))
    answers = plural(len(lines) - files, "answer")
    return f"{answers} and {plural(files, 'file')}" if files else answers


def sweep_grid(attempts: Sequence[SweepAttempt]) -> Grid:
    """A row for each attempt, the columns as the width allows."""
    columns = {
        "answer": max(7, min(20, widest(attempt.answer for attempt in attempts))),
        "outcome": 10,
        "score": 5,
        "steps": 5,
        "differs at": 10,
        "asks next, or error": max(20, widest(_outcome_text(attempt) for attempt in attempts)),
        "kept as": max(7, min(16, widest(attempt.kept for attempt in attempts))),
    }
    least = {"answer": 7, "asks next, or error": 12, "score": 5, "kept as": 7, "differs at": 10}
    least["steps"] = 5
    if not any(attempt.kept for attempt in attempts):
        del columns["kept as"], least["kept as"]
    if all(attempt.differs is None for attempt in attempts):
        del columns["differs at"], least["differs at"]

    def make(index: int, shown: Layout) -> Line:
        return cells_line(shown, _cells(attempts[index]))

    def text(index: int) -> str:
        attempt = attempts[index]
        return f"{attempt.answer} {_state(attempt)[0]} {_outcome_text(attempt)} {attempt.kept}"

    return Grid(len(attempts), lambda width: layout(width, columns, least), make, text)


def _cells(attempt: SweepAttempt) -> dict[str, Cell]:
    run = attempt.result if isinstance(attempt.result, Transcript) else None
    return {
        "answer": (attempt.answer or "(empty)", "answer"),
        "outcome": _state(attempt),
        "score": f"{run.score:g}" if run and run.score is not None else "",
        "steps": f"{len(run.steps):5}" if run else "",
        "differs at": "" if attempt.differs is None else f"step {attempt.differs}",
        "asks next, or error": _outcome_text(attempt),
        "kept as": (attempt.kept, "good"),
    }


def _state(attempt: SweepAttempt) -> tuple[str, str]:
    """Mark and word of the outcome, and their style."""
    run = attempt.result
    if isinstance(run, QuizlogError):
        return _STOPPED, "warn"
    return state_text(run.status, None), STYLES[run.status]


def _outcome_text(attempt: SweepAttempt) -> str:
    """The next question or the error."""
    run = attempt.result
    if isinstance(run, QuizlogError):
        return run.message
    return run.error_text() or plain(run.next_prompt or "")


def attempt_document(attempt: SweepAttempt, source: Source) -> Document:
    """The output of an attempt from the start, with its error."""
    run = attempt.result
    if isinstance(run, QuizlogError):
        return Paragraphs([line((f"! {run}", "warn"))])
    return StackedDocuments(RunOutput(run).at(run), Paragraphs(error_lines(run, source)))


_DRAW_SECONDS = 0.1
"""Seconds between two redraws while answers are tried."""


@dataclass
class Trial:
    """The answers typed and tried at a step; outlives the screen."""

    text: str
    """The answers to try, one per line."""
    tried: dict[tuple[str, ...], dict[str, SweepAttempt]] = field(default_factory=dict)
    """What each answer led to, in the order they were tried, by the later answers it ran with."""


class SweepScreen(QuizlogScreen[bool]):
    """Tries answers; dismisses with whether any was kept.

    Args:
        session: The record.
        replayer: Cancels its script.
        whole: The run through all recorded answers.
        step: The step to try answers at; later answers are kept while their questions stay.
        trial: Answers typed and tried there before.
    """

    SCOPE = "sweep"
    DEFAULT_CSS = """
    SweepScreen {
        & #tries { width: 1fr; }
        & #answers {
            height: 6; border: round $panel; padding: 0 1; background: $surface;
            border-title-color: $text-muted; border-subtitle-color: $text-muted;
        }
        & #answers:focus { border: round $primary; }
        & #attempts { height: 1fr; }
        & #attempt { width: 1fr; display: none; }
        &.-looking #attempt { display: block; }
        &.-narrow.-looking #tries { display: none; }
    }
    """

    def __init__(
        self, session: Session, replayer: Replayer, whole: Transcript, step: int, trial: Trial
    ) -> None:
        super().__init__()
        self._session = session
        self.audit = session.audit
        self._replayer = replayer
        self._whole = whole
        self._step = step
        self._trial = trial
        self._tried = trial.tried.setdefault(whole.inputs[step + 1 :], {})
        self._shown: list[SweepAttempt] = []
        self._sorted = False
        self._stopped = False
        self._kept = False

    def content(self) -> ComposeResult:
        """The answers above their outcomes, and one attempt in full beside them."""
        with Horizontal():
            with Vertical(id="tries"):
                area = AreaField(self._trial.text, id="answers", tab_behavior="focus")
                area.cursor_blink = False
                yield area
                yield Heads(id="heads")
                yield RowList(id="attempts")
            yield LineView(id="attempt")

    def on_mount(self) -> None:
        """Focus the answers, or the earlier attempts."""
        area = self.query_one(TextArea)
        area.border_title = "Answers to try, one per line; @FILE reads a file"
        self._count()
        self._draw()
        looks = self._tried or self.audit is not None
        (self.rows if looks else self._begin_line()).focus()

    # -- drawing

    def _count(self) -> None:
        area = self.query_one(TextArea)
        area.border_subtitle = f"{count_text(lines_of(area.text))}; F5 tries"

    def on_text_area_changed(self) -> None:
        """Count the answers while the user types, and save the text."""
        self._trial.text = self.query_one(TextArea).text
        self._count()

    def _draw(self) -> None:
        if not self.is_attached:
            return  # left meanwhile
        marked = self._marked
        tried = list(self._tried.values())
        self._shown = best_first(tried) if self._sorted else tried
        names = [attempt.answer for attempt in self._shown]
        cursor = names.index(marked.answer) if marked else 0
        self.show_rows(sweep_grid(self._shown), cursor)
        order = " · best first" if self._sorted else ""
        asked = (self._whole.upto(self._step).next_prompt or "").strip()
        later = len(self._whole.steps) - self._step - 1
        kept = f" · keeps {plural(later, 'later answer')}" if later > 0 else ""
        self.status(f"Sweep at step {self._step} · {summary(tried)}{order}{kept} · {asked}")

    @property
    def _marked(self) -> SweepAttempt | None:
        index = self.rows.index
        return None if index is None or index >= len(self._shown) else self._shown[index]

    # -- trying

    @work(group="sweep")
    async def action_run(self) -> None:
        """Try all answers in the box."""
        text = self.query_one(TextArea).text
        self._stopped = False
        count = await self.slow_work.run(lambda: self._try(text), "trying")
        if count is None or not self.is_current:  # left meanwhile
            return
        if self._stopped:
            warn(self, f"stopped: {count[0]} of {count[1]} tried")
        self._draw()
        self.rows.focus()

    def _try(self, text: str) -> tuple[int, int]:
        """Try the answers in portions, in a thread; the number tried, and of how many."""
        answers = typed_answers(text, partial(readable_path, self.audit))
        if not answers:
            raise UsageError("there is nothing to try", hint="type answers, one per line")
        done, drawn = 0, time.monotonic()
        for portion in portions(answers):
            try:
                found = self._session.fan_out(self._step, portion, deep=True)
            except CancelledError:
                self._stopped = True
            if self._stopped:
                break
            done += len(portion)
            self._take(portion, found)
            if time.monotonic() - drawn > _DRAW_SECONDS:
                self.app.call_from_thread(self._draw)
                self.slow_work.tell_progress(f"{done} of {len(answers)} tried")
                drawn = time.monotonic()
        return done, len(answers)

    def _take(self, answers: Sequence[str], found: Sequence[Transcript | QuizlogError]) -> None:
        for answer, result in zip(answers, found, strict=True):
            kept = self._tried[answer].kept if answer in self._tried else ""
            differs = differs_at(result, self._whole)
            self._tried[answer] = SweepAttempt(answer, result, kept, differs)

    def cancel(self) -> None:
        """Stop trying; the results so far stay."""
        self._stopped = True
        self._replayer.cancel()

    # -- keys

    def action_edit(self) -> None:
        """Type more answers."""
        self.remove_class("-looking")
        self._begin_line().focus()

    def _begin_line(self) -> TextArea:
        """Go to an empty line below the answers, so that none is added to; the box."""
        area = self.query_one(TextArea)
        if area.text and not area.text.endswith("\n"):
            area.text += "\n"
        area.move_cursor(area.document.end)
        return area

    @work(group=DIALOG)
    async def action_file(self) -> None:
        """Ask for a file of answers and add a line for it."""
        wanted = await self.ask("Answers from which file?")
        if wanted and wanted.strip():
            area = self._begin_line()
            area.insert(f"@{wanted.strip()}\n")
            area.focus()

    def action_sort(self) -> None:
        """Sort by score, or in the order tried."""
        self._sorted = not self._sorted
        self._draw()

    def on_row_list_moved(self) -> None:
        """Show the newly selected attempt."""
        if self.has_class("-looking"):
            self._show_attempt()

    def on_row_list_chosen(self) -> None:
        """Show the whole output of the selected attempt."""
        self.add_class("-looking")
        self._show_attempt()
        self.query_one("#attempt").focus()

    def _show_attempt(self) -> None:
        marked = self._marked
        if marked is not None:
            pane = self.query_one("#attempt", LineView)
            pane.border_title = "Output"
            pane.show(attempt_document(marked, self._session.source), end=True)

    @work(group=DIALOG)
    async def action_keep(self) -> None:
        """Keep the selected attempt as a branch."""
        marked = self._marked
        if marked is None:
            tell(self, "no answer is selected; F5 tries the answers in the box")
            return
        if self._is_locked("the marked answer, as a branch"):
            return
        session, at = self._session, self._step
        question = f"Keep {marked.answer or '(empty)'} at step {at} as a branch named"
        free = free_name(session.record, "fork")
        name = (await self.ask(question, free) or "").strip()
        if not name:
            return
        later = () if isinstance(marked.result, QuizlogError) else marked.result.inputs[at + 1 :]
        done = await self.slow_work.run(
            lambda: session.keep(at, marked.answer, name, later=later), "keeping"
        )
        if done is not None:
            self._kept = True
            self._tried[marked.answer] = replace(marked, kept=name)
            self._draw()
            tell(self, f"kept as branch {name}; {session.record.branch} stays the active one")

    def exports(self) -> list[Export]:
        """The screen, and what was tried."""
        rows = [attempt_row(one.answer, one.result, self._whole) for one in self._shown]
        found = {"schema_version": 1, "record": str(self._session.path), "step": self._step}
        text = json.dumps(found | {"results": rows}, indent=2) + "\n"
        return [*super().exports(), text_export("what was tried, as JSON", "sweep.json", text)]

    def action_back(self) -> None:
        """Leave the output, else the box, else the screen."""
        pane = self.query_one("#attempt", LineView)
        if self.slow_work.running or (self.focused is pane and pane.search.active):
            super().action_back()
        elif self.has_class("-looking"):
            self.remove_class("-looking")
            self.rows.focus()
        elif self.query_one(TextArea).has_focus and self._tried:
            self.rows.focus()
        else:
            super().action_back()

    def leave(self) -> None:
        """Stop running attempts and go back to the player."""
        if self.slow_work.running:
            self.cancel()
        self.dismiss(self._kept)


def first_trial(stop: Transcript) -> Trial:
    """A new trial; its text is the options named in the question that fit on a line each."""
    plain = [c for c in stop.choices if visible(c) == c and "\n" not in c and c[:1] != "@"]
    return Trial("".join(f"{choice}\n" for choice in plain))
