"""The panes of the player: they draw its state, take the focus and play the steps.

`Panes` holds the state; `show` changes it and draws it. It changes no record. In place of the
question stands why there is none: in audit mode, if the script cannot be read, after the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.timer import Timer

from ...record.who import UNKNOWN
from ...replay.live_run import ENDED_BY_ANSWER
from ...replay.replayer import Replayer
from ...replay.script.source import Source
from ...replay.transcript import Transcript
from ...replay.world import TAMPERED
from ...session.session import Session
from ...session.timeline import Timeline, TimelineRow, total_effort
from ...terminal_text import plain
from ...text import one_line, plural
from ..clock import Clock
from ..draw.output import Notes, OutputForm, RunOutput, is_too_long, next_step_with
from ..draw.status import bars, error_lines, outcome
from ..draw.timeline import effort_text, timeline_grid
from ..screens.base import QuizlogScreen
from ..toasts import tell
from ..widgets.columns import Grid
from ..widgets.documents import Paragraphs, line
from ..widgets.line_view import BlockView, LineView
from ..widgets.prompt_panel import PromptPanel, PromptQuestion
from ..widgets.row_list import RowList
from ..widgets.scrubber import Scrubber
from .known_steps import KnownSteps
from .looks import LinesLook, VariablesLook
from .player_state import PlayerState, state_of
from .watches import Watches, series_of

if TYPE_CHECKING:
    from ...debug.watching import Watched

_SPEEDS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Steps a second."""
_VERBS = {"answer": "Question", "fork": "Fork", "amend": "Amend", "retry": "Try again"}
_NEAR = 100
"""Steps whose output is drawn before that of a longer run is measured."""
_SLICE = 0.01
"""Seconds of measuring between two keys that may act."""
_LONG = 40
"""Characters of a recorded answer that may not fit below the input."""
_TAMPERED = (
    "the script reports output that differs from what it wrote. "
    "You see what it wrote, and no replay can confirm it."
)
"""What a tampered run says after its step."""
_NO_QUESTION = "(the question is not recorded)"
"""Shown if the record does not contain the question."""


class Panes:
    """Draws the state of the player, and focuses and shows its panes."""

    def __init__(
        self,
        screen: QuizlogScreen[None],
        session: Session,
        replayer: Replayer,
        clock: Clock,
        *,
        browsing: bool,
    ) -> None:
        self.screen = screen
        self.session = session
        self.clock = clock
        self.known = KnownSteps(session)
        self.variables = VariablesLook(screen, session, replayer)
        self.lines = LinesLook(screen, session, replayer)
        self.watches = Watches(screen, session, self._draw_watches)
        self.state = state_of(session.transcript, session.pointer)
        """What is shown; `show` changes it."""
        self.browsing = browsing
        """Whether the user goes from record to record; the focus then stays on the screen."""
        self.held = ""
        """In words, that the record is held and who waits; empty if it is not."""
        self.verdict = self.proving = ""
        """In words, the verdict on the record, and what a proof under way does; empty if none."""
        self._form = OutputForm()
        self._folds = True
        self._is_near = len(session.transcript.steps) > _NEAR
        """Whether only the output near the step shown is drawn, as a long one is not measured."""
        self._run: RunOutput | None = None
        """The output of the run as it was measured last; None if it must be measured again."""
        self._timeline: Timeline | None = None
        """The rows drawn last."""
        self._grid: Grid | None = None
        """What the timeline shows of them; None if it must be drawn again."""
        self._giver: str | None = None
        """Whose answers the timeline shows; None for all."""
        self._source: Source | None = None
        """The file drawn last."""
        self._draws_source = False
        self._playing: Timer | None = None
        self._speed = 1

    @property
    def prompt(self) -> PromptPanel:
        """The question and the input below it."""
        return self.screen.query_one(PromptPanel)

    @property
    def output(self) -> BlockView:
        """The output."""
        return self.screen.query_one("#output", BlockView)

    def _list(self, id: str) -> RowList:
        return self.screen.query_one(f"#{id}", RowList)

    # -- what is shown

    def show(self, state: PlayerState) -> None:
        """Change the state and draw it."""
        if state.whole is not self.state.whole:
            self._run = self._run and self._run.grown(state.whole)
        self.state = state
        self.draw()

    def look_at(self, step: int) -> None:
        """Show a step; out-of-range steps are clamped. Cancels a started fork or amendment."""
        self.show(self.state.look(self.state.head.to(step)))

    def draw(self) -> None:
        """Draw the state."""
        state, shown = self.state, self.state.shown
        self._take_notes(self.known.notes(state.whole))
        document = self._measured().at(shown, state.head.hidden, first=self._first)
        self.output.show(document, end=True)
        rows = self.known.timeline(state.whole)
        self._draw_timeline(rows)
        self._draw_recorded(rows)
        self.variables.follow(state, shown=self.screen.has_class("-variables"))
        self.lines.follow(state, shown=self.screen.has_class("-lines"))
        self._draw_error(shown)
        self._draw_source(shown)
        self._draw_prompt(shown, rows[state.step])
        self._draw_scrubber()
        self.show_status()

    def _draw_scrubber(self) -> None:
        head, marks = self.state.head, self.known.marks(self.state.whole)
        series = series_of(self.watches.found)
        self.screen.query_one(Scrubber).show(head.step, head.length, marks, self._scores(), series)

    def _draw_watches(self) -> None:
        """Draw other values of what is watched."""
        self._grid = None
        self._draw_timeline(self.known.timeline(self.state.whole))
        self._draw_scrubber()

    def show_status(self) -> None:
        """Draw the line at the top."""
        playing = f" · ▶ {_SPEEDS[self._speed]:g} steps/s" if self._playing else ""
        said = (self.proving, self.held, self.verdict)
        self.screen.status(_status_text(self.session, self.state, said, playing))

    def _scores(self) -> str:
        scores = [b.score for b in self.session.branches if b.score is not None]
        return f"scores {bars(scores)}" if len(scores) > 1 else ""

    def _draw_timeline(self, rows: Timeline) -> None:
        """Draw the rows again only if the record changed; else move the cursor."""
        pane, whole = self._list("timeline"), self.state.whole
        self.watches.follow(whole)
        if self._grid is None or rows is not self._timeline:
            self._timeline = rows
            decided, pointer = self.known.decided, self.session.pointer
            steps = self._steps_by_giver()
            found = self.watches.found
            self._grid = timeline_grid(rows, whole, pointer, decided, self.clock, steps, found)
            pane.show(self._grid, cursor=self._grid.row_of(self.state.step))
            pane.border_title = self._sums_title()
            pane.border_subtitle = _watched_title(found)
        pane.mark(self._grid.row_of(self.state.step))

    def _steps_by_giver(self) -> Sequence[int] | None:
        """The steps whose answers the timeline shows; None for all."""
        if self._giver is None:
            return None
        efforts = enumerate(self.known.efforts(self.state.whole))
        return [step for step, effort in efforts if effort.giver == self._giver]

    def show_next_giver(self) -> None:
        """Show only answers of the next giver in the timeline; after the last one, all."""
        efforts = self.known.efforts(self.state.whole)
        cycle = [None, *total_effort(efforts).givers]
        at = cycle.index(self._giver) if self._giver in cycle else -1
        self._giver, self._grid = cycle[(at + 1) % len(cycle)], None
        self.draw()
        whose = "all" if self._giver is None else f"those by {one_line(self._giver)}"
        tell(self.screen, f"of {plural(len(efforts), 'answer')} the timeline shows {whose}")

    def _sums_title(self) -> str:
        """The title of the timeline: with sums, where more than the script's time is recorded."""
        effort = total_effort(self.known.efforts(self.state.whole))
        known = effort.requests or set(effort.givers) - {UNKNOWN}
        sums = effort_text(effort, self.clock) if known else ""
        by = f" by {one_line(self._giver)}" if self._giver else ""
        return " · ".join(filter(None, (f"Answers{by}", sums))).replace("[", "\\[")

    def _draw_recorded(self, rows: Timeline) -> None:
        """Draw the whole recorded answer of the step, while its pane is shown."""
        if not self.screen.has_class("-recorded"):
            return
        from ..draw.answer import answer_lines

        step, whole = self.state.step, self.state.whole
        ended = step + 1 == len(whole.steps)
        error = error_lines(whole, _readable_source(self.session)) if ended else []
        pane = self.screen.query_one("#recorded", LineView)
        pane.border_title = f"Answer at step {step}"
        pane.show(Paragraphs(answer_lines(rows[step], self.known.given(step), error)))

    def _draw_error(self, shown: Transcript) -> None:
        at, error = shown.tampered_at, error_lines(shown, _readable_source(self.session))
        if at is not None:
            error.insert(0, line((f"! tampered at step {at}: {_TAMPERED}", "error")))
        pane = self.screen.query_one("#error", LineView)
        pane.border_title = "Error" if shown.last_error else "Warning"
        pane.set_class(bool(error), "-shown")
        pane.show(Paragraphs(error))

    def draw_source(self) -> None:
        """Draw the source from now on: its colours would delay the first frame."""
        self._draws_source = True
        self._draw_source(self.state.shown)

    def _draw_source(self, shown: Transcript) -> None:
        """Draw the file that asks or raises at the step, and mark its line."""
        if self._draws_source:
            self.show_line(*place_shown(_readable_source(self.session), shown))

    def show_line(self, file: Source, at: int | None) -> None:
        """Draw a file of the script, and mark a line."""
        source, pane = _readable_source(self.session), self._list("source")
        if file != self._source:
            from ..draw.formats import source_table

            self._source = file
            pane.show(source_table(file))
            other = file.path != source.path
            pane.border_title = f"Source: {file.path.name}" if other else "Source"
        pane.mark(at - 1 if at else None)

    @property
    def file_shown(self) -> Source:
        """The file in the source pane."""
        return self._source or _readable_source(self.session)

    # -- the question

    def _draw_prompt(self, shown: Transcript, row: TimelineRow) -> None:
        """Draw the question at the step shown, or the state if there is none."""
        state, panel = self.state, self.prompt
        raised = shown.status == "error" and state.step > 0
        if self.session.missing is not None:
            reload = self.screen.key("player.reload")
            text = _recorded_text(self.session, shown, state.head.hidden, reload)
            panel.tell(f"As recorded at step {state.step}", text)
        elif state.head.hidden or not (shown.status == "in_progress" or raised):
            panel.tell(*self._end_text(shown))
        elif self.session.audit is not None:
            panel.tell(*_locked_text(state, shown))
        elif raised:  # the question before the error is asked again
            last = shown.steps[-1]
            asked = PromptQuestion(last.question or "", last.kind, last.printed_before)
            panel.ask(_heading(state.step - 1, "retry"), asked)
            self._remark(panel, _old_answers(row))
        else:
            last = shown.last
            asked = PromptQuestion(shown.next_prompt or "", last.kind, last.printed_before)
            old = _old_answers(row)
            panel.ask(_heading(state.step, state.mode), asked, old)
            self._remark(panel, old)

    def _remark(self, panel: PromptPanel, old: Sequence[str]) -> None:
        """Show recorded and earlier answers below the input, and how to reuse them."""
        state, key, said = self.state, self.screen.key, []
        if state.recorded is not None:
            long = len(state.recorded) > _LONG or "\n" in state.recorded
            shows = f" ({key('player.recorded')} shows all of it)" if long else ""
            said.append(f"recorded{shows}: {state.recorded or '(empty)'}")
        behind = len(state.whole.steps) - self.session.pointer
        if behind > 0:
            takes, tail = key("player.redo_tail"), plural(behind, "recorded answer")
            said.append(f"{takes} replays the {tail}")
        takes = "↑↓ " if panel.suggests else f"{key('player.plain')} ↑↓ "
        if panel.options:
            said.append(f"{takes}options")
            takes = ""
        others = [answer for answer in old if answer != state.recorded]
        if others:
            said.append(f"{takes}other branches: {', '.join(others[:4])}")
        panel.remark(" · ".join(said))

    def _end_text(self, shown: Transcript) -> tuple[str, str]:
        """Title and text where nothing is asked."""
        key = self.screen.key
        if self.state.head.hidden:
            on, last = key("player.event_forward"), key("player.last")
            return "Playing", f"The question comes later: {on} goes on, {last} goes to the end."
        if shown.status == "error":
            return "End", "The script cannot start."
        count = plural(self.state.step, "answer")
        back, fork = key("player.back"), key("player.fork")
        forks = f", fork with {fork}" if fork else ""
        return "End", f"Finished after {count}. Step back with {back}{forks}."

    # -- the form of the output

    def _measured(self) -> RunOutput:
        """The output of the run, measured once."""
        if self._run is None:
            opens = self.screen.key("player.fold") if self._folds else ""
            form = replace(self._form, opens=opens)
            notes = self.known.notes(self.state.whole)
            self._run = RunOutput(self.state.whole, form, self._about_answer, notes)
        return self._run

    def _take_notes(self, notes: Notes) -> None:
        """Show other notes in what was measured."""
        if self._run is not None and self._run.notes != notes:
            self._run = self._run.noted(notes)

    async def measure(self) -> None:
        """Draw the whole of a long output as soon as it is measured; keys act meanwhile."""
        while self._is_near:
            await asyncio.sleep(_SLICE / 10)
            if self._measured().measure(_SLICE):
                first, self._is_near = self._first, False
                self.output.keep_place(self.draw, first)

    @property
    def _first(self) -> int:
        """The first step whose output is drawn."""
        return max(0, self.state.step - _NEAR) if self._is_near else 0

    def _about_answer(self, step: int) -> str:
        """Who gave the answer at a step and when, as far as that is known."""
        effort = self.known.efforts(self.state.whole)[step]
        giver = "" if effort.giver == UNKNOWN else effort.giver
        return " · ".join(filter(None, (giver, self.clock.describe(effort.time))))

    def _draw_output_anew(self) -> None:
        self._run = None
        self.output.keep_place(self.draw)

    def toggle_raw(self) -> None:
        """Show escape sequences as text, or what a terminal makes of them."""
        self._form = replace(self._form, raw=not self._form.raw)
        self._draw_output_anew()
        how = "as it was written" if self._form.raw else "as on a terminal"
        tell(self.screen, f"output {how}")

    def toggle_wrapping(self) -> None:
        """Cut long lines at the right edge, or wrap them; rows of tables are always cut."""
        wraps = not self._form.wraps
        self._form = replace(self._form, wraps=wraps)
        self._draw_output_anew()
        sideways = "" if wraps else f"; {self.screen.key('player.right')} scrolls sideways"
        tell(self.screen, f"long lines are {'wrapped' if wraps else 'cut'}{sideways}")

    def toggle_stderr(self) -> None:
        """Show what the script wrote to stderr, or hide it."""
        self._form = replace(self._form, stderr=not self._form.stderr)
        self._draw_output_anew()
        tell(self.screen, f"the script's stderr is {'shown' if self._form.stderr else 'hidden'}")

    def toggle_folds(self) -> None:
        """Show the first and last lines of long outputs, or all; folding them ends a search."""
        self._folds = not self._folds
        if self._folds:
            self.output.find("")
        self._draw_output_anew()
        raw = not self._folds and is_too_long(self.state.shown.last)
        about = ": more than 4 MB is shown with its escape sequences as text" if raw else ""
        shown = "folded" if self._folds else "shown in full"
        tell(self.screen, f"long outputs are {shown}{about}")

    def open_folds(self) -> None:
        """Show all of long outputs, so that a search finds everything."""
        if self._folds:
            self._folds = False
            self._draw_output_anew()

    # -- searching the output, which goes on behind the step shown

    def next_with_hit(self, pane: LineView) -> int | None:
        """The next step whose output contains more hits."""
        finding = pane.search.finding
        if pane.id != "output" or finding is None:
            return None
        whole, head = self.state.whole, self.state.head
        return next_step_with(whole, head.step, head.hidden, finding.count, self._measured().form)

    def find_later(self, pane: LineView) -> bool:
        """Go to a hit at a later step, if the pane is at the last hit before it."""
        start = pane.after_last_hit()
        step = self.next_with_hit(pane) if start is not None else None
        if start is None or step is None:
            return False
        self.look_at(step)
        pane.find_from(start)
        return True

    # -- focus

    def focus_pending(self) -> None:
        """Focus and show a pending question, else the output.

        While browsing records, the focus stays on the screen.
        """
        if self.browsing:
            self.output.focus()
            return
        self.screen.remove_class("-aside")
        if self.screen.maximized is not self.prompt:
            self.screen.maximized = None
        if not self.prompt.focus_input():
            self.output.focus()

    def take_keys_when_painted(self) -> None:
        """Let keys act again when their target is painted."""
        self.screen.run_worker(self._take_keys(), group="paint", exclusive=True)

    async def _take_keys(self) -> None:
        await self.painted()
        self.screen.gate.open()

    async def painted(self) -> None:
        """Wait until what was drawn last is on the screen."""
        await self.prompt.arranged()
        await self.screen.wait_for_refresh()

    # -- playing

    @property
    def playing(self) -> bool:
        """Whether the steps are played."""
        return self._playing is not None

    def play(self) -> None:
        """Play the steps, from the start if the last one is shown; or stop."""
        if self._playing is not None:
            self.stop_playing()
            self.draw()
            return
        self._playing = self.screen.set_interval(1 / _SPEEDS[self._speed], self._play_on)
        at_end = self.state.step == self.state.head.length
        self.show(self.state.to(0) if at_end else self.state)

    def _play_on(self) -> None:
        head = self.state.head.to(self.state.step + 1)
        if head.step == head.length:
            self.stop_playing()
        self.show(self.state.look(head))

    def stop_playing(self) -> None:
        """Stay at the step shown."""
        if self._playing is not None:
            self._playing.stop()
            self._playing = None

    def change_speed(self, by: int) -> None:
        """Play faster or slower."""
        self._speed = max(0, min(self._speed + by, len(_SPEEDS) - 1))
        if self._playing is None:
            tell(self.screen, f"{_SPEEDS[self._speed]:g} steps a second")
        else:
            self.stop_playing()
            self.play()


def _watched_title(found: Watched | None) -> str:
    """What the columns of the timeline show that are watched."""
    shown = " · ".join(map(one_line, found.expressions)) if found else ""
    return shown.replace("[", "\\[")


def _status_text(session: Session, state: PlayerState, first: Sequence[str], playing: str) -> str:
    """The line at the top: what comes first, where one is, how the record stands."""
    at, shown = state.step, state.shown
    name = f"{session.path.parent.resolve().name}/{session.path.name}"
    where = f"step {at} of {len(state.whole.steps)}"
    if state.head.hidden:
        where += f", {plural(state.head.hidden, 'event')} before its question"
    if at != session.pointer:
        where += f" (pointer at {session.pointer})"
    slow = f" · rewinds replay: {shown.tainted}" if shown.tainted else ""
    not_run = "" if session.awaits_replay else ", not run"
    recorded = f"as recorded{not_run}" if session.missing else ""
    alarm = [f"! {alert}" for alert in _alerts(state.whole)]
    standing = [where, f"branch {session.record.branch}{playing}"]
    found = state.finding.text if state.finding else ""
    result = outcome(session.transcript.status, session.transcript.score)
    standing.insert(2 if found else 0, result)  # a finding is about the place
    said = filter(None, (*first, recorded, *alarm, found, *standing, f"{name}{slow}"))
    return " · ".join(said)


def _alerts(run: Transcript) -> list[str]:
    """What is wrong with a run, in a few words each, the most serious first."""
    found = []
    if TAMPERED in run.observed:
        at = run.tampered_at
        found.append("tampered" if at is None else f"tampered at step {at}")
    if run.error_type == ENDED_BY_ANSWER:
        found.append("ended by an answer's code")
    return found


def place_shown(source: Source, shown: Transcript) -> tuple[Source, int | None]:
    """The file and line that a run asks at, or raised at; no line where it has ended well."""
    error = shown.last_error
    if error:
        return source.at(error.place, error.line)
    return source.at(shown.last.place, shown.last.line)


def _readable_source(session: Session) -> Source:
    """The script; an empty one if it cannot be read."""
    if session.missing is None:
        return session.source
    return Source(session.path.parent / session.record.script, b"")


def _heading(at: int, verb: str) -> str:
    return f"{_VERBS[verb]} at step {at}"


def _old_answers(row: TimelineRow) -> list[str]:
    """All answers ever given at a stop on any branch, the recorded one first."""
    found = [row.answer, *(one.answer for one in row.tries)]
    return list(dict.fromkeys(answer for answer in found if answer is not None))


def _locked_text(state: PlayerState, shown: Transcript) -> tuple[str, str]:
    """Title and text of a question that cannot be answered, with the recorded answer."""
    raised = shown.status == "error"
    asked = plain((shown.steps[-1] if raised else shown.last).prompt or "(no prompt)")
    answer = shown.steps[-1].input if raised else state.recorded
    said = [asked.rstrip()]
    if answer is not None:
        said.append(f"answered: {answer or '(empty)'}")
    return f"Question at step {state.step - raised}, locked", "\n".join(said)


def _recorded_text(session: Session, shown: Transcript, hidden: int, reload: str) -> str:
    """The text in place of the input: the recorded question, and how to repair the record."""
    error = session.missing
    asked = shown.status == "in_progress" and not hidden
    question = f"{shown.next_prompt or _NO_QUESTION}\n" if asked else ""
    if session.awaits_replay:
        return f"{question}Not replayed yet; {reload} starts the replay if it was stopped."
    why = f"{session.record.script}: {error.message}" if error else ""
    mend = f"Put it back, or edit `script:` in {session.path.name}; then press {reload}."
    return f"{question}Nothing can be run. {why}. {mend}"
