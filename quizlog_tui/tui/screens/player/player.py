"""The player: one record's output, question, error, timeline and source, and the keys that look.

Stepping only looks: the record changes when one answers, rewinds, forks or switches, which is in
`player_moves`. Opens the other screens; decides nothing about records.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from ....errors import QuizlogError
from ....replay.replayer import Replayer
from ....replay.script.source import Source
from ....replay.transcript import Transcript
from ....session.session import Session
from ....session.timeline import Timeline
from ....text import plural
from ... import external
from ...clock import Clock
from ...draw.alerts import alert_lines, alerts
from ...draw.error import error_lines
from ...draw.output import RunOutput
from ...draw.timeline import timeline_grid
from ...draw.words import bars, outcome
from ...keys.bindings import screen_bindings
from ...lessons import LessonScene
from ...state import State
from ...widgets.lines.documents import Paragraphs
from ...widgets.lines.line_view import LineView
from ...widgets.lines.row_list import RowList
from ...widgets.prompt_panel import PromptPanel
from ...widgets.scrubber import Scrubber
from .navigation import PlayerNavigation
from .recorded import needs_script, recorded_text, source_to_draw


class PlayerScreen(PlayerNavigation):
    """Audits one record.

    Args:
        session: The open record; the screen moves it.
        replayer: Where it runs, to cancel a slow script.
        state: Where the place is remembered.
        clock: How durations are told.
        author: Who writes remarks here.
        agreed: The models that may be asked although their providers may bill it; grows.
        confirms: Whether to ask before an answer at an earlier step starts a branch.
    """

    SCOPE = "player"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("player")
    DEFAULT_CSS = """
    PlayerScreen {
        & #left { width: 2fr; }
        & #side { width: 1fr; min-width: 30; }
        & #above { height: 1fr; }
        & #output { height: 1fr; min-height: 3; }
        & #error {
            height: auto; max-height: 60%; border: round $error; display: none;
            scrollbar-size-horizontal: 0;
        }
        & #error.-shown { display: block; }
        & #timeline { height: 1fr; }
        & #source { height: 1fr; display: none; }
        &.-source #timeline { display: none; }
        &.-source #source { display: block; }
        &.-wide #timeline, &.-wide #source { display: block; }
        &.-narrow #side { display: none; }
        &.-narrow.-aside #side { display: block; width: 100%; }
        &.-narrow.-aside #left { display: none; }
    }
    """

    def __init__(
        self,
        session: Session,
        replayer: Replayer,
        state: State,
        clock: Clock,
        author: str,
        agreed: set[str],
        *,
        confirms: bool = True,
    ) -> None:
        super().__init__(session, replayer, clock, author)
        self._agreed = agreed
        self._confirms = confirms
        self._state = state
        self._output = RunOutput(self.state.whole)
        self._drawn: Timeline | None = None
        self._drawn_source: Source | None = None

    def content(self) -> ComposeResult:
        """Panes on the left, timeline and source on the right, the slider below."""
        with Horizontal():
            with Vertical(id="left"):
                with Vertical(id="above"):  # what the question leaves, so that one sees it whole
                    yield LineView(id="output")
                    yield LineView(id="error")
                yield PromptPanel(id="prompt")
            with Vertical(id="side"):
                yield RowList(id="timeline")
                yield RowList(id="source")
        yield Scrubber(id="scrubber")

    async def on_mount(self) -> None:
        """Draw, and give the pending question the focus if it is the one that one looks at."""
        for name in ("output", "error", "source"):
            self.query_one(f"#{name}").border_title = name.capitalize()
        self.query_one("#timeline").border_title = "Answers"
        self.call_after_refresh(self._show_source)
        self.state = self.state.to(self._place())
        self.draw()
        if self.state.step == self.session.pointer:
            self.focus_pending()
        else:
            self.query_one("#output").focus()
        self.take_keys_when_painted()
        for warning in self.session.warnings:
            self.warn(warning)
        if self.session.missing is None and self.session.source.refused:
            self.offer_grants()
        self.follow()
        if len(self.session.inputs) > self.session.pointer:
            self.take_tail(self._place())

    def _show_source(self) -> None:
        """Colour the script, which must not hold up the first frame."""
        from ...draw.source import source_table

        self._drawn_source = source_to_draw(self.session)
        self.query_one("#source", RowList).show(source_table(self._drawn_source))
        self._draw_source(self.state.shown)

    def _place(self) -> int:
        """The step one looked at last, if the record stands where it stood."""
        place, pointer = self._state.place(self.session.path), self.session.pointer
        step = place.get("step")
        return step if place.get("pointer") == pointer and isinstance(step, int) else pointer

    def scene(self) -> LessonScene:
        """How the screens stand, for the guide."""
        return LessonScene(
            answers=len(self.session.inputs),
            status=self.state.shown.status,
            step=self.state.step,
            pointer=self.session.pointer,
            branches=len(self.session.branches),
            screen=getattr(self.app.screen, "SCOPE", ""),
        )

    # -- drawing

    def run_changed(self) -> None:
        """Measure the output anew: the run is another one."""
        self._output = RunOutput(self.state.whole)
        if source_to_draw(self.session) != self._drawn_source:
            self._show_source()

    def draw(self) -> None:
        """Put the session's state on the screen."""
        shown = self.state.shown
        self.query_one("#output", LineView).show(
            self._output.at(shown, self.state.head.hidden), end=True
        )
        self._draw_timeline()
        self._draw_error(shown)
        self._draw_source(shown)
        self._draw_prompt(shown)
        self.query_one("#scrubber", Scrubber).show(
            self.state.step, self.state.head.length, self.marks(), self._scores()
        )
        self.status(self._status_text(shown))

    def _scores(self) -> str:
        scores = [b.score for b in self.session.branches if b.score is not None]
        return f"scores {bars(scores)}" if len(scores) > 1 else ""

    def _draw_timeline(self) -> None:
        """Show the rows anew only where the record changed; else move the mark."""
        timeline, moments = self.query_one("#timeline", RowList), self.moments
        if moments is not self._drawn:
            self._drawn = moments
            pointer = self.session.pointer
            rows = timeline_grid(moments, self.state.whole, pointer, self.decided, self._clock)
            timeline.show(rows, cursor=self.state.step)
        timeline.mark(self.state.step)

    def _draw_error(self, shown: Transcript) -> None:
        error = [*alert_lines(shown), *error_lines(shown, source_to_draw(self.session))]
        pane = self.query_one("#error", LineView)
        pane.border_title = "Error" if shown.last_error else "Warning"
        pane.set_class(bool(error), "-shown")
        pane.show(Paragraphs(error))

    def _draw_source(self, shown: Transcript) -> None:
        line = shown.last_error.line if shown.last_error else shown.last.line
        source = self.query_one("#source", RowList)
        if line:
            source.mark(line - 1)

    def _status_text(self, shown: Transcript) -> str:
        session, at = self.session, self.state.step
        name = f"{session.path.parent.resolve().name}/{session.path.name}"
        where = f"step {at} of {len(self.state.whole.steps)}"
        if self.state.head.hidden:
            where += f", {plural(self.state.head.hidden, 'event')} before its question"
        if at != session.pointer:
            where += f" (pointer at {session.pointer})"
        slow = f" · rewinds run again: {shown.tainted}" if shown.tainted else ""
        state = outcome(session.transcript.status, session.transcript.score)
        recorded = "as recorded, nothing run" if session.missing else ""
        alarm = [f"! {alert}" for alert in alerts(self.state.whole)]
        found = "".join(f"{text} · " for text in (recorded, *alarm, self.state.verdict) if text)
        return f"{found}{state} · {where} · branch {session.branch}{self.playing} · {name}{slow}"

    def _draw_prompt(self, shown: Transcript) -> None:
        panel = self.query_one(PromptPanel)
        if self.session.missing is not None:
            reload = self.key("player.reload")
            text = recorded_text(self.session, shown, self.state.head.hidden, reload)
            panel.tell(f"As recorded at step {self.state.step}", text)
        elif shown.status == "in_progress" and not self.state.head.hidden:
            before = shown.last.written[-1] if shown.last.written else ""
            panel.ask(
                self.heading(self.state.step, self.state.mode),
                shown.next_prompt or "",
                shown.last.kind,
                before=before,
                suggestions=self.old_answers(),
            )
            panel.remark(self.remark(panel))
        elif shown.status == "error" and self.state.step and not self.state.head.hidden:
            last = shown.steps[-1]
            heading = self.heading(self.state.step - 1, "retry")
            panel.ask(heading, last.prompt or "", last.kind)
            panel.remark(self.remark(panel))
        else:
            panel.tell(*self._end_text(shown))

    def _end_text(self, shown: Transcript) -> tuple[str, str]:
        if self.state.head.hidden:
            on, last = self.key("player.event_forward"), self.key("player.last")
            return "Playing", f"The question is yet to come: {on} goes on, {last} to the end."
        if shown.status == "error":
            return "End", "The script cannot start."
        count = plural(self.state.step, "answer")
        back, fork = self.key("player.back"), self.key("player.fork")
        return "End", f"Finished after {count}. Step back with {back}, fork with {fork}."

    # -- panes

    def action_source(self) -> None:
        """The source in place of the timeline, or back; both where there is room."""
        self.toggle_class("-source")
        if self.has_class("-narrow"):
            self.set_class(self.has_class("-source"), "-aside")

    def action_panel(self, name: str) -> None:
        """Focus a pane, bringing it into sight."""
        self.set_class(name != "output", "-aside")
        if name != "output":
            self.set_class(name == "source", "-source")
        self.query_one(f"#{name}").focus()

    @needs_script
    def action_editor(self) -> None:
        """The script at the line shown in the user's editor."""
        shown = self.state.shown
        line = shown.last_error.line if shown.last_error else shown.last.line
        try:
            external.edit(self.app, self.session.source.path, line)
        except QuizlogError as error:
            self.complain(error)
            return
        self.move(self.session.reload)

    def part(self) -> None:
        """Before another screen takes this one's place: nothing runs on."""
        self.cancel()
        self._stop_playing()

    def leave(self) -> None:
        """Leave; a running script is stopped."""
        self.part()
        self.dismiss(None)

    def on_unmount(self) -> None:
        """Remember the place, however one leaves."""
        self._state.remember(self.session.path, self.state.step, self.session.pointer)
