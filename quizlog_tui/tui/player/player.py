"""The player screen: a record's output, question, error, timeline and source.

A key calls an `action_` of the screen. Actions that only look move the state of `panes`, which
draws it; those that change the record call `editing`; those that open another screen call `tools`.
The screen makes no decisions about records. `OpeningScreen` stands in for it while a long record
is replayed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical

from ...record.store import RecordFile
from ...replay.replayer import Replayer
from ...session.session import Session
from ..clock import Clock
from ..draw.output import events
from ..keys.keymap import screen_bindings
from ..keys.palette import branch_destinations, step_destinations
from ..lessons import LessonScene
from ..messages import ChosenHit, Neighbour
from ..screens.base import DIALOG, Destination, QuizlogScreen
from ..screens.commands import CommandRunner
from ..screens.dialogs import AskScreen
from ..screens.export import Export
from ..state import State
from ..toasts import complain, tell, warn
from ..widgets.documents import Paragraphs, line
from ..widgets.line_view import BlockView, LineView
from ..widgets.prompt_panel import PromptPanel
from ..widgets.row_list import RowList
from ..widgets.scrubber import Scrubber
from ..widgets.text_fields import Answered
from .editing import Editing
from .panes import Panes
from .player_state import PlayerState, command_values
from .tools import FindAll, Tools

_LONG = 1024 * 1024
"""Records with more bytes are first shown as recorded."""
_LAST_TEXTS = 50
"""Number of last printed texts shown."""


def _writes(
    doing: str, kind: str = ""
) -> Callable[[Callable[[PlayerScreen], object]], Callable[[PlayerScreen], None]]:
    """An action that audit mode refuses at once, before it asks or runs anything.

    Args:
        doing: What it would write.
        kind: Which kind of writing that is; see `Audit.check`.
    """

    def decorated(action: Callable[[PlayerScreen], object]) -> Callable[[PlayerScreen], None]:
        @wraps(action)
        def checked(screen: PlayerScreen) -> None:
            if not screen._is_locked(doing, kind):
                action(screen)

        return checked

    return decorated


def _needs_script(action: Callable[[PlayerScreen], object]) -> Callable[[PlayerScreen], None]:
    """An action that shows an error if the script cannot be read."""

    @wraps(action)
    def checked(screen: PlayerScreen) -> None:
        if screen.session.missing is not None:
            complain(screen, screen.session.missing)
        else:
            action(screen)

    return checked


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
        confirms: bool,
        browsing: bool,
        found: ChosenHit | None,
    ) -> None:
        super().__init__()
        self.gate.shut()  # until the first question is painted
        self.session = session
        self.audit = session.audit
        self._replayer = replayer
        self._remembered = state
        self._found_at_first = found
        self.panes = Panes(self, session, clock, browsing=browsing)
        self.known = self.panes.known
        self.editing = Editing(self.panes, confirms=confirms)
        self.tools = Tools(self.panes, self.editing, replayer, author, agreed)
        self.find_all = FindAll(self.panes, self.editing, replayer)
        self.commands = CommandRunner(self)

    @property
    def state(self) -> PlayerState:
        """What is shown."""
        return self.panes.state

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
        self.call_after_refresh(self.panes.draw_source)
        self.panes.show(self.state.to(self._place()))
        if self.state.step == self.session.pointer:
            self.panes.focus_pending()
        else:
            self.panes.focus_output()
        self.panes.take_keys_when_painted()
        for warning in self.session.warnings:
            warn(self, warning)
        if self.audit is None and self.session.missing is None and self.session.source.refused:
            self._offer_grants()
        self.editing.follow()
        if len(self.session.record.inputs) > self.session.pointer:
            self.editing.take_tail(self._place())
        if self._found_at_first is not None:
            self._go_to_hit(self._found_at_first)

    @work(group=DIALOG)
    async def _offer_grants(self) -> None:
        await self.tools.offer_grants()

    @work(group=DIALOG)
    async def _go_to_hit(self, found: ChosenHit) -> None:
        await self.find_all.start(found)

    def _place(self) -> int:
        """The step shown last, if the record's pointer is unchanged."""
        place, pointer = self._remembered.place(self.session.path), self.session.pointer
        step = place.get("step")
        return step if place.get("pointer") == pointer and isinstance(step, int) else pointer

    def scene(self) -> LessonScene:
        """The state of the screens, for the tour."""
        top = self.app.screen
        return LessonScene(
            status=self.session.reply().status,
            step=self.state.step,
            pointer=self.session.pointer,
            branches=len(self.session.branches),
            screen=top.SCOPE if isinstance(top, QuizlogScreen) else "",
        )

    # -- stepping, which changes nothing

    def action_step(self, by: int) -> None:
        """Show another step."""
        head = self.state.head
        whole = 1 if by < 0 and head.hidden else 0
        self.panes.look_at(head.step + by + whole)

    def action_go(self, step: int) -> None:
        """Show a step; -1 is the last."""
        self.panes.look_at(self.state.head.length if step < 0 else step)

    def action_event(self, by: int) -> None:
        """Go one printed text or question forward or back."""
        state = self.state
        head = state.head.event(by, lambda step: events(state.whole.upto(step).last))
        self.panes.show(state.look(head))

    def action_mark(self, by: int) -> None:
        """Go to the next or previous error, note, fork or decision."""
        state = self.state
        head = state.head.mark(by, list(self.known.marks(state.whole)))
        if head == state.head:
            tell(self, "no more markers that way")
        self.panes.show(state.look(head))

    @work(group=DIALOG)
    async def action_jump(self) -> None:
        """Ask for a step's number and go there."""
        question = f"Go to which step, 0 to {self.state.head.length}?"
        text = await self.app.push_screen_wait(AskScreen(question))
        if text and text.strip().isdecimal():
            self.panes.look_at(int(text))
        elif text:
            warn(self, f"{text!r} is not a step")

    def action_play(self) -> None:
        """Play the steps automatically, or stop."""
        self.panes.play()

    def action_speed(self, by: int) -> None:
        """Play faster or slower."""
        self.panes.change_speed(by)

    def on_scrubber_jumped(self, event: Scrubber.Jumped) -> None:
        """Show the step chosen on the slider."""
        self.panes.look_at(event.step)

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Show the step selected in the timeline."""
        if event.list.id == "timeline" and event.index != self.state.step:
            self.panes.look_at(event.index)

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Focus the input when an answer of the timeline is chosen."""
        if event.list.id == "timeline":
            self.panes.focus_pending()

    def destinations(self) -> Iterator[Destination]:
        """The steps and branches, for the palette."""
        moments = self.known.moments(self.state.whole)
        yield from step_destinations(moments, self.panes.look_at)
        names = [branch.name for branch in self.session.branches if not branch.active]
        yield from branch_destinations(names, self.editing.switch)

    # -- changing the record

    @_writes("an answer")
    @_needs_script
    def action_answer(self) -> None:
        """Focus the input, and end browsing."""
        self.panes.stop_browsing()
        self.panes.focus_pending()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action makes sense now: `answer` does not while the user is typing."""
        # asked of every key there is, whenever the focus moves
        if action != "answer":
            return True
        return not any(panel.has_focus_within for panel in self.query(PromptPanel))

    def on_answered(self, event: Answered) -> None:
        """Give the answer, and end browsing."""
        self.panes.stop_browsing()
        self.editing.give_answer(event.answer)

    def action_plain(self) -> None:
        """Switch between a plain line and the fitting input."""
        self.panes.prompt.toggle_plain()
        self.panes.focus_pending()

    def action_rewind(self) -> None:
        """Set the pointer to the step shown."""
        self.editing.rewind()

    def action_redo_tail(self) -> None:
        """Move the pointer after all recorded answers."""
        self.editing.redo_tail()

    @_writes("another answer, on a branch of its own")
    @_needs_script
    def action_fork(self) -> None:
        """Make the next answer a fork at the step shown."""
        self.editing.begin("fork")

    @_writes("another answer in place of the recorded one")
    @_needs_script
    def action_amend(self) -> None:
        """Make the next answer replace the recorded one and keep later answers."""
        self.editing.begin("amend")

    @_needs_script
    @work
    async def action_bisect(self) -> None:
        """Find the answer that makes the outcome fail."""
        await self.editing.bisect()

    def action_undo(self) -> None:
        """Undo the last change."""
        self.editing.undo()

    def action_redo(self) -> None:
        """Redo the change that was undone."""
        self.editing.redo()

    def action_reload(self) -> None:
        """Read the record and the script again."""
        self.editing.reload()

    # -- other screens

    @work(group=DIALOG)
    async def action_tree(self) -> None:
        """Show the branches as a tree."""
        await self.tools.tree()

    @work(group=DIALOG)
    async def action_compare(self) -> None:
        """Compare this branch with another branch or record."""
        await self.tools.compare()

    @_needs_script
    @work(group=DIALOG)
    async def action_sweep(self) -> None:
        """Try many answers at the step shown."""
        await self.tools.sweep()

    def action_effort(self) -> None:
        """Show who answered and how long it took, in sums."""
        self.tools.effort()

    @_writes("a note or verdict at this step", "notes")
    @_needs_script
    @work(group=DIALOG)
    async def action_note(self) -> None:
        """Write a note on the step shown."""
        await self.tools.note()

    @work(group=DIALOG)
    async def action_notes(self) -> None:
        """Show all notes."""
        await self.tools.notes()

    @work(group=DIALOG)
    async def action_decision(self) -> None:
        """Show how several models chose the answer at this step."""
        await self.tools.decision()

    @_writes("what models decide")
    @_needs_script
    @work(group=DIALOG)
    async def action_ask_models(self) -> None:
        """Ask several models the pending question."""
        await self.tools.ask_models()

    @_writes("an episode of this branch")
    @_needs_script
    @work(group=DIALOG)
    async def action_episode(self) -> None:
        """Add the branch shown as an episode to a file."""
        await self.tools.episode()

    @_writes("the script, in your editor")
    @_needs_script
    def action_editor(self) -> None:
        """Open the script at the line shown in the user's editor."""
        self.tools.editor()

    @work(group=DIALOG)
    async def action_formatted(self) -> None:
        """Show the output with its Markdown, JSON and CSV laid out."""
        await self.tools.formatted()

    @work(group=DIALOG)
    async def action_difference(self) -> None:
        """Show how the output differs from another step's."""
        await self.tools.difference()

    def action_neighbour(self, by: int) -> None:
        """Open the next or previous record of the library."""
        self.post_message(Neighbour(self.session.path, by))

    def action_own_command(self, name: str) -> None:
        """Run one of the user's own commands on the step shown."""
        if not self._is_locked(f"whatever the command {name} does"):
            self.commands.run(name, command_values(self.session, self.state))

    def exports(self) -> list[Export]:
        """The screen, and the whole record."""
        return [*super().exports(), *self.tools.exports()]

    # -- the panes

    def action_source(self) -> None:
        """Switch between the source and the timeline."""
        self.panes.toggle_source()

    def action_recorded(self) -> None:
        """Show or hide the whole recorded answer."""
        self.panes.toggle_recorded()

    def action_focus_pane(self, name: str) -> None:
        """Focus a pane and show it."""
        self.panes.focus_pane(name)

    def action_raw(self) -> None:
        """Switch between drawn output and its escape sequences as text."""
        self.panes.toggle_raw()

    def action_stderr(self) -> None:
        """Show or hide what the script wrote to stderr."""
        self.panes.toggle_stderr()

    def action_wrap(self) -> None:
        """Wrap or cut long lines of the output."""
        self.panes.toggle_wrapping()

    def action_fold(self) -> None:
        """Show long outputs in full, or their first and last lines."""
        self.panes.toggle_folds()

    def action_block(self, by: int) -> None:
        """Scroll the output to the next block, or to the one before."""
        self.panes.output.go_to_block(by)

    # -- finding

    @work(group=DIALOG)
    async def action_find_all(self) -> None:
        """Find in all steps, branches, notes and errors."""
        await self.find_all.open()

    def action_find(self) -> None:
        """Open the search bar; in the output also what is folded."""
        if self.pane() is self.panes.output:
            self.panes.open_folds()
        super().action_find()

    def _tell_no_hit(self, pane: LineView) -> None:
        """Report that nothing was found, or at which later step."""
        step = self.panes.next_with_hit(pane)
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
        if pane is None or by < 0 or not self.panes.find_later(pane):
            super().action_find_next(by)

    # -- stopping and leaving

    def cancel(self) -> None:
        """Stop a running script, including one that runs for an episode, and the autoplay."""
        self.panes.stop_playing()
        if self.slow_work.running:
            self._replayer.cancel()
        self.tools.cancel()
        self.commands.cancel()

    def action_back(self) -> None:
        """Escape: stop a running script, cancel a fork, leave the input or end a search."""
        if not self.slow_work.running and self.state.mode != "answer":
            self.panes.show(self.state.give_up())
            self.panes.focus_output()
        elif not self.slow_work.running and self.panes.prompt.has_focus_within:
            self.panes.focus_output()
        else:
            super().action_back()

    @property
    def _leads_to_library(self) -> bool:
        """Whether leaving goes back to the library; otherwise it ends quizlog."""
        stack = self.app.screen_stack
        below = stack[stack.index(self) - 1] if self in stack[1:] else None
        return isinstance(below, QuizlogScreen) and below.SCOPE == "library"

    def label(self, binding: Binding) -> str:
        """What the footer calls a key; the one that leaves says where that leads."""
        leads = binding.id == "player.library" and self._leads_to_library
        return "Library" if leads else super().label(binding)

    def _back_out(self) -> None:
        """Go back to the library, unless there is a finding to give up or typed text to lose.

        Without a library this would end the program, and Escape is pressed too easily: q leaves.
        """
        if self.state.finding is not None or not self._leads_to_library:
            self.panes.show(self.state.found(None))
            self.panes.focus_output()
        elif self.panes.prompt.has_drafts:
            leave = self.key("player.library")
            tell(self, f"there is typed text; {leave} goes back to the library without it")
        else:
            self.leave()

    def leave(self) -> None:
        """Stop a running script and leave."""
        self.cancel()
        self.dismiss(None)

    def on_unmount(self) -> None:
        """Remember the place, however one leaves, and end a command of the user's."""
        self.commands.end()
        self._remembered.remember(self.session.path, self.state.step, self.session.pointer)


class OpeningScreen(QuizlogScreen[None]):
    """Shows the end of the recorded output while the record is replayed.

    Args:
        path: The record.
        open: Opens it, in a thread.
        replayer: Where it is replayed, to stop that.
    """

    SCOPE = "opening"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("opening")

    def __init__(self, path: Path, open: Callable[[Path], Session], replayer: Replayer) -> None:
        super().__init__()
        self._path = path
        self._open = open
        self._replayer = replayer

    def content(self) -> ComposeResult:
        """The output."""
        yield LineView(id="output")

    async def session(self) -> Session:
        """Show what is recorded, then replay it.

        Raises:
            QuizlogError: It cannot be read or replayed, or the user stopped it.
        """
        pane = self.query_one(LineView)
        pane.border_title = "Output as recorded"
        recorded = await asyncio.to_thread(RecordFile(self._path).read)
        texts = recorded.print[-_LAST_TEXTS:]
        pane.show(Paragraphs([line(text) for text in texts]), end=True)
        pane.focus()
        self.status("… replaying all answers; Escape stops it")
        return await asyncio.to_thread(self._open, self._path)

    def action_back(self) -> None:
        """Stop the replay."""
        self._replayer.cancel()

    def leave(self) -> None:
        """The same."""
        self._replayer.cancel()


def is_long(path: Path) -> bool:
    """Whether a record takes so long to replay that its recorded output is shown first."""
    try:
        return path.stat().st_size > _LONG
    except OSError:
        return False
