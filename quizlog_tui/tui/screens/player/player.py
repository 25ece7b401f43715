"""The player screen: a record's output, question, error, timeline and source.

Stepping changes nothing. `editing` changes the record: answer, rewind, fork, switch. The screen
composes the parts that act and draws their results; it makes no decisions about records.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from ....replay.replayer import Replayer
from ....replay.transcript import Transcript
from ....session.session import Session
from ....session.timeline import Timeline
from ...clock import Clock
from ...destinations import Destination, branch_destinations, step_destinations
from ...draw.alerts import alert_lines
from ...draw.error import error_lines
from ...draw.status_signs import bars
from ...draw.timeline import giver_and_time, sums_title, timeline_grid
from ...keys.bindings import screen_bindings
from ...known_steps import KnownSteps
from ...lessons import LessonScene
from ...messages import ChosenHit
from ...state import State
from ...toasts import tell, warn
from ...widgets.editors.editor import Answered
from ...widgets.key_line import leads_to_library
from ...widgets.lines.block_view import BlockView
from ...widgets.lines.documents import Paragraphs
from ...widgets.lines.line_view import LineView
from ...widgets.lines.row_list import RowList
from ...widgets.prompt_panel import PromptPanel
from ...widgets.scrubber import Scrubber
from ..base import QuizlogScreen
from ..commands.runner import CommandRunner
from ..export import Export
from .answer_pane import AnswerPane
from .autoplay import Autoplay
from .context import PlayerContext
from .dialogs import Dialogs
from .editing import Editing
from .find_all import FindAll
from .moves import Moves
from .navigation import Navigation
from .output import Output
from .panes import Panes
from .player_state import PlayerState, StateHolder, command_values, state_of
from .prompt import PromptDrawing
from .source_pane import SourcePane
from .status_line import status_text
from .step_views import StepViews
from .tools import Tools
from .unreadable_script import source_to_draw


class PlayerScreen(QuizlogScreen[None]):
    """Audits one record.

    Args:
        session: The open record; the screen moves it.
        replayer: Runs the script; cancels a slow one.
        state: Remembers the step shown.
        clock: Formats durations.
        author: Default author of notes.
        agreed: The models that the user agreed to ask although they may cost money; grows.
        confirms: Whether to ask before an answer at an earlier step starts a branch.
        browsing: Whether the user goes from record to record; the focus then stays on the screen.
        found: A hit to go to at first.
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
        & #recorded { height: 1fr; display: none; }
        &.-recorded #recorded { display: block; }
        &.-recorded #source, &.-wide.-recorded #source { display: none; }
        &.-recorded.-source #timeline { display: block; }
        &.-narrow.-recorded #timeline { display: none; }
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
        browsing: bool = False,
        found: ChosenHit | None = None,
    ) -> None:
        super().__init__()
        self.gate.shut()  # until the first question is painted
        self.session = session
        self.audit = session.audit
        self._replayer = replayer
        self._clock = clock
        self._remembered = state
        self.known = KnownSteps(session)
        holder = StateHolder(state_of(session.transcript, session.pointer), self._state_changed)
        self._holder = holder
        self.panes = Panes(self, session, browsing)
        context = PlayerContext(self, session, replayer, holder, clock)
        self.moves = Moves(context, self.panes)
        self.editing = Editing(context, self.panes, self.moves, confirms)
        self.output = Output(context, self.panes, self._about_answer)
        self.navigation = Navigation(context, self.output, self._marks)
        self.autoplay = Autoplay(context)
        self.dialogs = Dialogs(context, self.moves, author)
        self.tools = Tools(context, self.panes, self.moves, agreed, self.known)
        self.find_all = FindAll(context, self.panes, self.moves, self.output)
        self.step_views = StepViews(context)
        self.answer_pane = AnswerPane(context, self.panes)
        self._found_at_first = found
        self.commands = CommandRunner(self)
        self._drawn: Timeline | None = None
        self._source = SourcePane(self)

    @property
    def state(self) -> PlayerState:
        """What is shown."""
        return self._holder.state

    def content(self) -> ComposeResult:
        """Output and question on the left, timeline and source on the right, the slider below."""
        with Horizontal():
            with Vertical(id="left"):
                with Vertical(id="above"):  # what the question leaves, so that one sees it whole
                    yield BlockView(id="output")
                    yield LineView(id="error")
                yield PromptPanel(id="prompt")
            with Vertical(id="side"):
                yield RowList(id="timeline")
                yield RowList(id="source")
                yield LineView(id="recorded")
        yield Scrubber(id="scrubber")

    async def on_mount(self) -> None:
        """Draw, and focus the pending question if it is shown."""
        for name in ("output", "error", "source"):
            self.query_one(f"#{name}").border_title = name.capitalize()
        self.call_after_refresh(self._open_source)
        self._holder.become(self.state.to(self._place()))
        if self.state.step == self.session.pointer:
            self.panes.focus_pending()
        else:
            self.panes.focus_output()
        self.panes.take_keys_when_painted()
        for warning in self.session.warnings:
            warn(self, warning)
        if self.audit is None and self.session.missing is None and self.session.source.refused:
            self.dialogs.offer_grants()
        self.moves.follow()
        if len(self.session.record.inputs) > self.session.pointer:
            self.moves.take_tail(self._place())
        if self._found_at_first is not None:
            self.find_all.start(self._found_at_first)

    def _open_source(self) -> None:
        self._source.open(source_to_draw(self.session), self.state.shown)

    def _place(self) -> int:
        """The step shown last, if the record's pointer is unchanged."""
        place, pointer = self._remembered.place(self.session.path), self.session.pointer
        step = place.get("step")
        return step if place.get("pointer") == pointer and isinstance(step, int) else pointer

    def scene(self) -> LessonScene:
        """The state of the screens, for the tour."""
        return LessonScene(
            answers=len(self.session.record.inputs),
            status=self.session.reply().status,
            step=self.state.step,
            pointer=self.session.pointer,
            branches=len(self.session.branches),
            screen=getattr(self.app.screen, "SCOPE", ""),
        )

    # -- acting

    def action_do(self, name: str, value: int | str | None = None) -> None:
        """Call a method of a part of the player.

        Args:
            name: `part.method`, as in the table of actions.
            value: The method's argument, if it has one.
        """
        method = attrgetter(name)(self)
        if value is None:
            method()
        else:
            method(value)

    def action_own_command(self, name: str) -> None:
        """Run one of the user's own commands on the step shown."""
        if not self._is_locked(f"whatever the command {name} does"):
            self.commands.run(name, command_values(self.session, self.state))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action makes sense now: `answer` does not while the user is typing."""
        # asked of every key there is, whenever the focus moves
        if action != "do" or parameters != ("panes.focus_answer",):
            return True
        return not any(panel.has_focus_within for panel in self.query(PromptPanel))

    def destinations(self) -> Iterator[Destination]:
        """The steps and branches, for the palette."""
        moments = self.known.moments(self.state.whole)
        yield from step_destinations(moments, self.navigation.look_at)
        names = [branch.name for branch in self.session.branches if not branch.active]
        yield from branch_destinations(names, self.dialogs.switch)

    def on_answered(self, event: Answered) -> None:
        """Give the answer, and end browsing."""
        self.panes.stay()
        self.editing.answer(event.answer)

    def on_scrubber_jumped(self, event: Scrubber.Jumped) -> None:
        """Show the step chosen on the slider."""
        self.navigation.look_at(event.step)

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Show the step selected in the timeline."""
        if event.list.id == "timeline" and event.index != self.state.step:
            self.navigation.look_at(event.index)

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Focus the input when an answer of the timeline is chosen."""
        if event.list.id == "timeline":
            self.panes.focus_pending()

    def action_find(self) -> None:
        """Open the search bar; in the output also what is folded."""
        if self.pane() is self.panes.output:
            self.output.open_folds()
        super().action_find()

    def _tell_no_hit(self, pane: LineView) -> None:
        """Report that nothing was found, or at which later step."""
        step = self.navigation.next_with_hit(pane)
        if step is None:
            super()._tell_no_hit(pane)
        else:
            goes = f"{self.key('app.next')} goes on to step {step}"
            tell(self, f"not found up to step {self.state.step}; {goes}")

    def action_find_next(self, by: int) -> None:
        """Go to another hit; in the output also to later steps."""
        if self.find_all.go_on(by):
            return
        pane = self.pane()
        if pane is None or by < 0 or not self.navigation.find_later(pane):
            super().action_find_next(by)

    def exports(self) -> list[Export]:
        """The screen, and the whole record."""
        return [*super().exports(), *self.dialogs.exports()]

    def cancel(self) -> None:
        """Stop a running script, including one that runs for an episode, and the autoplay."""
        self.autoplay.stop()
        if self.slow_work.running:
            self._replayer.cancel()
        self.tools.cancel()
        self.commands.cancel()

    def action_back(self) -> None:
        """Escape: stop a running script, cancel a fork, leave the input or end a search."""
        if not self.slow_work.running and self.state.mode != "answer":
            self._holder.become(self.state.give_up())
            self.panes.focus_output()
        elif not self.slow_work.running and self.panes.prompt.has_focus_within:
            self.panes.focus_output()
        else:
            super().action_back()

    def _back_out(self) -> None:
        """Go back to the library, unless there is a finding to give up or typed text to lose.

        Without a library this would end the program, and Escape is pressed too easily: q leaves.
        """
        if self.state.finding is not None or not leads_to_library(self):
            self._holder.become(self.state.found(None))
            self.panes.focus_output()
        elif self.panes.prompt.has_drafts:
            leave = self.key("player.library")
            tell(self, f"there is typed text; {leave} goes back to the library without it")
        else:
            self.leave()

    # -- drawing

    def _marks(self) -> dict[int, str]:
        """The steps worth stopping at, each with its sign."""
        return self.known.marks(self.state.whole)

    def _about_answer(self, step: int) -> str:
        """Who gave the answer at a step, and when."""
        return giver_and_time(self.known.efforts(self.state.whole)[step], self._clock)

    def _state_changed(self, before: PlayerState) -> None:
        if self.state.whole is not before.whole:
            self._measure_output()
        self.draw()

    def _measure_output(self) -> None:
        """Measure the output of a new run."""
        self.output.measure()

    def draw(self) -> None:
        """Draw the session's state."""
        shown = self.state.shown
        self.query_one("#output", LineView).show(self.output.at(shown), end=True)
        moments = self.known.moments(self.state.whole)
        self._draw_timeline(moments)
        self.answer_pane.draw(self.state, moments, self.known.given)
        self._draw_error(shown)
        self._source.draw(source_to_draw(self.session), shown)
        PromptDrawing(self.panes.prompt, self.session, self.key, moments).draw(self.state, shown)
        self.query_one("#scrubber", Scrubber).show(
            self.state.step, self.state.head.length, self._marks(), self._scores()
        )
        self.status(status_text(self.session, self.state, self.autoplay.playing))

    def _scores(self) -> str:
        scores = [b.score for b in self.session.branches if b.score is not None]
        return f"scores {bars(scores)}" if len(scores) > 1 else ""

    def _draw_timeline(self, moments: Timeline) -> None:
        """Draw the rows again only if the record changed; else move the cursor."""
        timeline = self.query_one("#timeline", RowList)
        if moments is not self._drawn:
            self._drawn = moments
            pointer = self.session.pointer
            rows = timeline_grid(
                moments, self.state.whole, pointer, self.known.decided, self._clock
            )
            timeline.show(rows, cursor=self.state.step)
            took = self.known.efforts(self.state.whole)
            timeline.border_title = sums_title(took, self._clock)
        timeline.mark(self.state.step)

    def _draw_error(self, shown: Transcript) -> None:
        error = [*alert_lines(shown), *error_lines(shown, source_to_draw(self.session))]
        pane = self.query_one("#error", LineView)
        pane.border_title = "Error" if shown.last_error else "Warning"
        pane.set_class(bool(error), "-shown")
        pane.show(Paragraphs(error))

    # -- leaving

    def leave(self) -> None:
        """Stop a running script and leave."""
        self.cancel()
        self.dismiss(None)

    def on_unmount(self) -> None:
        """Remember the place, however one leaves, and end a command of the user's."""
        self.commands.end()
        self._remembered.remember(self.session.path, self.state.step, self.session.pointer)
