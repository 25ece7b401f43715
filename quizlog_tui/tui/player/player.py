"""The player screen: a record's output, question, error, timeline and source.

A key calls an `action_` of the screen. Actions that only look move the state of `panes`, which
draws it; those that change the record call `editing`; the others open another screen, most of which
are imported only then, and apply its result. The screen makes no decisions about records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, wraps
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical

from ...errors import QuizlogError
from ...files.paths import typed_path
from ...replay.replayer import Replayer
from ...replay.script.source import Source
from ...session.session import Session
from ...session.timeline import total_effort
from ...terminal_text import plain
from ...text import one_line, plural, told_apart
from .. import external
from ..clock import Clock
from ..draw.output import events
from ..draw.timeline import effort_text
from ..lessons import LessonScene
from ..messages import ChosenHit, Neighbour
from ..screens.base import DIALOG, Destination, QuizlogScreen
from ..screens.commands import CommandRunner
from ..screens.export import Export, ReportExport, report_name
from ..screens.undoing import redo, undo
from ..state import State
from ..toasts import complain, tell, warn
from ..widgets.columns import Grid
from ..widgets.documents import Paragraphs
from ..widgets.expression_line import ExpressionLine
from ..widgets.line_view import BlockView, LineView
from ..widgets.prompt_panel import PromptPanel
from ..widgets.row_list import RowList
from ..widgets.scrubber import Scrubber
from ..widgets.text_fields import Answered
from .editing import Editing, Holding
from .find_all import FindAll
from .layout import PaneLayout
from .looks import VariablesPane, choose_step_of_line
from .noting import Noting
from .panes import Panes, place_shown
from .player_state import BisectFinding, PlayerState
from .proving import Proving

if TYPE_CHECKING:
    from ...episodes.build.make import BuildResult
    from ...proof.proven import ProvenRecord
    from ..screens.sweep import Trial


def _writes(
    doing: str, kind: str = ""
) -> Callable[[Callable[[PlayerScreen], object]], Callable[[PlayerScreen], None]]:
    """An action that audit mode refuses at once; see `Audit.check` for `doing` and `kind`."""

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
        proofs: The verdicts of this program by record; grows.
        confirms: Whether to ask before an answer at an earlier step starts a branch.
        browsing: Whether the user goes from record to record; the focus then stays on the screen.
        found: A hit to go to at first.
    """

    SCOPE = "player"
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
        & #recorded, & #variables, & #lines { height: 1fr; display: none; }
        &.-recorded #recorded, &.-variables #variables, &.-lines #lines { display: block; }
        &.-beside #source, &.-wide.-beside #source { display: none; }
        &.-beside.-source #timeline { display: block; }
        &.-narrow.-beside #timeline, &.-lines #timeline { display: none; }
        &.-lines #source { display: block; }
        &.-narrow #side { display: none; }
        &.-short #scrubber { max-height: 1; }
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
        proofs: dict[Path, ProvenRecord],
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
        self._clock = clock
        self._agreed = agreed
        self._found_at_first = found
        self._trials: dict[tuple[str, tuple[str, ...]], Trial] = {}
        """Attempts at stops of the script, by its text and the answers before."""
        self._apart: Replayer | None = None
        """Replays episodes without checkpoints, as on another machine."""
        self.panes = Panes(self, session, replayer, clock, browsing=browsing)
        self.known = self.panes.known
        self.sides = PaneLayout(self)
        self.editing = Editing(self.panes, confirms=confirms)
        self.holding = Holding(self.panes)
        self.noting = Noting(self.panes, self.editing, clock, author)
        self.find_all = FindAll(self.panes, self.editing, replayer)
        self.proving = Proving(self.panes, self.editing, replayer, proofs)
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
                yield VariablesPane(id="variables")
                yield RowList(id="lines")
        yield Scrubber(id="scrubber")

    async def on_mount(self) -> None:
        """Draw, and focus the pending question if it is shown."""
        for name in ("output", "error", "source", "lines"):
            self.query_one(f"#{name}").border_title = name.capitalize()
        self.call_after_refresh(self.panes.draw_source)
        self.panes.show(self.state.to(self._place()))
        if self.state.step == self.session.pointer:
            self.panes.focus_pending()
        else:
            self.panes.output.focus()
        self.panes.take_keys_when_painted()
        self._complete()
        for warning in self.session.warnings:
            warn(self, warning)
        self._offer_grants_if_refused()
        self.editing.follow()
        self.holding.follow()
        self.proving.watch.follow()
        if len(self.session.record.inputs) > self.session.pointer:
            self.editing.take_tail(self._place())
        if self._found_at_first is not None:
            self._go_to_hit(self._found_at_first)

    @work
    async def _complete(self) -> None:
        """Once a long record is painted: draw all of it, and replay what is shown as recorded."""
        await self.panes.painted()
        self.run_worker(self.panes.measure())
        if self.session.awaits_replay:
            await self.editing.replay()
            self._offer_grants_if_refused()

    @work(group=DIALOG)
    async def _go_to_hit(self, found: ChosenHit) -> None:
        await self.find_all.start(found)

    def _place(self) -> int:
        """The step shown last, if the record's pointer is unchanged."""
        place, pointer = self._remembered.place(self.session.path), self.session.pointer
        step = place.get("step")
        return step if place.get("pointer") == pointer and isinstance(step, int) else pointer

    def _look(self, step: int) -> None:
        """Show a step; a started fork or amendment stays."""
        self.panes.show(self.state.to(step))

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
        text = await self.ask(question)
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
        """Show the step selected in the timeline, or the line selected among those that ran."""
        if event.list.id == "timeline" and isinstance(event.document, Grid):
            step = event.document.shown[event.index]
            if step != self.state.step:
                self.panes.look_at(step)
        elif event.list.id == "lines" and (place := self.panes.lines.place(event.index)):
            self.panes.show_line(*place)

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Focus the input, open a value or a loop, or ask at which steps a line ran."""
        if event.list.id == "timeline":
            self.panes.focus_pending()
        elif event.list.id == "values":
            self.panes.variables.turn(event.index)
        elif event.list.id == "lines":
            self._choose_line(event.index)
        elif event.list.id == "source":
            self._go_where_ran(self.panes.file_shown, event.index + 1)

    def _choose_line(self, index: int) -> None:
        place = self.panes.lines.place(index)
        if not self.panes.lines.turn(index) and place is not None:
            self._go_where_ran(*place)

    def on_expression_line_asked(self, event: ExpressionLine.Asked) -> None:
        """Show the value of an expression."""
        self.panes.variables.ask(event.text)

    @work(group=DIALOG)
    async def _go_where_ran(self, file: Source, at: int) -> None:
        """List the steps in which a line ran, and go to the chosen one."""
        if self.session.missing is not None:
            complain(self, self.session.missing)
            return
        rows, here = self.known.timeline(self.state.whole), self.state.step
        step = await choose_step_of_line(self, self.session, rows, file, at, here)
        if step is not None:
            self.panes.look_at(step)

    def destinations(self) -> Iterator[Destination]:
        """The steps and branches, for the palette."""
        for step, row in enumerate(self.known.timeline(self.state.whole)):
            about = one_line(f"{plain(row.question or '')} {row.answer or ''}").strip()
            yield Destination(f"Step {step}", about, partial(self.panes.look_at, step))
        names = [branch.name for branch in self.session.branches if not branch.active]
        for name, shown in told_apart(names).items():
            yield Destination(f"Branch {shown}", "switch to it", partial(self.editing.switch, name))

    # -- changing the record

    @_writes("an answer")
    @_needs_script
    def action_answer(self) -> None:
        """Focus the input, and end browsing."""
        self.panes.browsing = False
        self.panes.focus_pending()

    @_writes("a hold")
    def action_hold(self) -> None:
        """Let programs that answer the record wait, or give it back."""
        self.holding.turn()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action makes sense now: `answer` does not while the user is typing."""
        # asked of every key there is, whenever the focus moves
        if action != "answer":
            return True
        return not any(panel.has_focus_within for panel in self.query(PromptPanel))

    def on_answered(self, event: Answered) -> None:
        """Give the answer, and end browsing."""
        self.panes.browsing = False
        self.editing.give_answer(event.answer)

    def action_plain(self) -> None:
        """Switch between a plain line and the fitting input."""
        self.panes.prompt.toggle_plain()
        self.panes.focus_pending()

    def action_rewind(self) -> None:
        """Set the pointer to the step shown."""
        step = self.state.step
        self.editing.move(lambda: self.session.rewind(step))

    def action_redo_tail(self) -> None:
        """Move the pointer after all recorded answers."""
        end = len(self.session.record.inputs)
        if end == self.session.pointer:
            tell(self, "no recorded answers after the pointer")
        else:
            self.editing.move(lambda: self.session.rewind(end))

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
        """Find the answer that makes the outcome fail, and show it. The finding stays visible."""
        found = await self.slow_work.run(lambda: (self.session.bisect(),), "searching")
        if found is None:
            return
        [culprit] = found
        state, finding = self.state, BisectFinding.of(self.session, culprit)
        self.panes.show((state.to(culprit.step) if culprit else state).found(finding))

    def action_undo(self) -> None:
        """Undo the last change."""
        self.editing.move(lambda: undo(self.session))

    def action_redo(self) -> None:
        """Redo the change that was undone."""
        self.editing.move(lambda: redo(self.session))

    def action_reload(self) -> None:
        """Read the record and the script again, and stay at the step."""
        self.editing.move(self.session.reload)

    # -- branches

    @work(group=DIALOG)
    async def action_tree(self) -> None:
        """Show the tree of branches, then its changes."""
        from ..screens.tree import TreeScreen

        tree = TreeScreen(self.session, self._replayer, self._clock)
        if await self.app.push_screen_wait(tree):
            self.editing.move(self.session.reply)

    @work(group=DIALOG)
    async def action_compare(self) -> None:
        """Compare this branch with another branch or record."""
        from ..screens.compare import CompareScreen, choose, side_of

        side = side_of(self.session, self.session.record.branch, self.state.whole)
        found = await choose(self, self.session, self._replayer, side)
        if found is None:
            return
        screen = CompareScreen(self.session, self._replayer, found)
        step = await self.app.push_screen_wait(screen)
        if step is not None:
            self._look(step)

    @_needs_script
    @work(group=DIALOG)
    async def action_sweep(self) -> None:
        """Try many answers at the step shown."""
        from ..screens.sweep import SweepScreen, first_trial

        state = self.state
        at = state.step - (state.shown.status != "in_progress")
        if at < 0:
            tell(self, "there is no question here")
            return
        stop = state.whole.upto(at)
        place = (self.session.source.code_hash, stop.inputs)
        trial = self._trials.setdefault(place, first_trial(stop))
        screen = SweepScreen(self.session, self._replayer, state.whole, at, trial)
        if await self.app.push_screen_wait(screen):
            self.panes.draw()

    def action_effort(self) -> None:
        """Tell who answered and how long it took, in sums."""
        efforts = self.known.efforts(self.state.whole)
        sums = effort_text(total_effort(efforts), self._clock)
        each = "`quizlog steps RECORD` lists each answer"
        tell(self, f"{plural(len(efforts), 'answer')} · {sums} · {each}")

    def action_giver(self) -> None:
        """Show only the answers of the next giver in the timeline; after the last one, all."""
        self.panes.show_next_giver()

    # -- proof

    @_needs_script
    def action_verify(self) -> None:
        """Verify the record beside the screen, or show how its verdict was found."""
        self.proving.verify()

    @_needs_script
    def action_drift(self) -> None:
        """Show how far each branch fits the script as it is now."""
        self.proving.drift()

    # -- notes

    @_writes("a note or verdict at this step", "notes")
    @_needs_script
    @work(group=DIALOG)
    async def action_note(self) -> None:
        """Write a note on the step shown."""
        await self.noting.write()

    @work(group=DIALOG)
    async def action_notes(self) -> None:
        """Show all notes; go to the step of the chosen one."""
        await self.noting.choose()

    # -- what is watched

    @_writes("whatever an expression does", "expressions")
    @_needs_script
    @work(group=DIALOG)
    async def action_watch(self) -> None:
        """Watch an expression at every step, another one in its place, or none."""
        if await self.panes.watches.edit():
            self.panes.draw()

    @_writes("whatever an expression does", "expressions")
    @_needs_script
    @work(group=DIALOG)
    async def action_until(self) -> None:
        """Go to the next step at which an expression turns true."""
        step = await self.panes.watches.until(self.state.step)
        if step is not None:
            self.panes.look_at(step)

    # -- grants

    def _offer_grants_if_refused(self) -> None:
        if self.audit is None and self.session.missing is None and self.session.source.refused:
            self._offer_grants()

    @work(group=DIALOG)
    async def _offer_grants(self) -> None:
        await self.editing.offer_grants()

    # -- models

    @work(group=DIALOG)
    async def action_decision(self) -> None:
        """Show how several models chose the answer at this step."""
        from ...files.paths import decisions_path
        from ...solver.decision_text import read_decisions
        from ..screens.consensus import ConsensusScreen
        from .known_steps import decisions_by_step, nearest

        path = decisions_path(self.session.path)
        kept = await self.slow_work.run(lambda: read_decisions(path), "reading decisions")
        if kept is None:
            return
        if kept.faults:
            warn(self, f"{plural(len(kept.faults), 'line')} cannot be read: {kept.faults[0]}")
        if not kept.decisions:
            tell(self, f"there are no decisions in {path.name}")
            return
        record = self.session.record
        start = nearest(kept.decisions, record, self.state.step)
        screen = ConsensusScreen(kept.decisions, start, self._clock)
        chosen = await self.app.push_screen_wait(screen)
        if chosen is None:
            return
        steps = decisions_by_step(kept.decisions, record).items()
        step = next((at for at, indexes in steps if chosen in indexes), None)
        if step is None:
            branch = kept.decisions[chosen].question.branch
            tell(self, f"it was not asked on this branch, but on {branch or 'none'}")
            return
        self._look(step)

    @_writes("what models decide")
    @_needs_script
    @work(group=DIALOG)
    async def action_ask_models(self) -> None:
        """Ask several models the pending question."""
        missing = [name for name in ("httpx", "pydantic", "dotenv") if find_spec(name) is None]
        if missing:
            warn(self, "asking models needs an extra: pip install 'quizlog-tui[solver]'")
            return
        from .ask import AskModelsScreen

        self.gate.shut()
        screen = AskModelsScreen(self.session, self._clock, self._agreed)
        said = await self.app.push_screen_wait(screen) or ""
        if said == "changed":
            self.editing.move(self.session.reply)
        else:
            self.panes.draw()
        if said.startswith("override: "):
            self._look(self.session.pointer)
            self.panes.prompt.fill(said.removeprefix("override: "))
            self.panes.focus_pending()
        self.panes.take_keys_when_painted()

    # -- views of the output

    @work(group=DIALOG)
    async def action_formatted(self) -> None:
        """Show the output with its Markdown, JSON and CSV laid out."""
        from ..draw.formats import MOST, formatted_lines, sections
        from ..screens.reading import ReadingScreen

        state = self.state
        text = "".join(state.shown.last.written)
        if len(text) > MOST:
            tell(self, f"the output has over {MOST:,} characters: too many to lay out")
            return
        found = sections(plain(text))
        kinds = ", ".join(dict.fromkeys(filter(None, (section.kind for section in found))))
        if not kinds:
            tell(self, f"no Markdown, JSON or CSV in the output of step {state.step}")
            return
        about = f"Output of step {state.step} · {kinds}"
        screen = ReadingScreen(
            "Laid out", about, lambda width: Paragraphs(formatted_lines(found, width))
        )
        await self.app.push_screen_wait(screen)

    @work(group=DIALOG)
    async def action_difference(self) -> None:
        """Show how the output differs from the step before, or from another branch's."""
        from ..screens.compare import choose_step
        from ..screens.reading import ReadingScreen

        found = await choose_step(self, self.session, self.state.whole, self.state.step)
        if found is None:
            return
        same = "" if found.differences else " · nothing differs"
        about = f"{found.a.name} (left, <) and {found.b.name} (right, >){same}"
        screen = ReadingScreen("Difference", about, lambda width: found)
        await self.app.push_screen_wait(screen)

    # -- files

    def exports(self) -> list[Export]:
        """The screen, and the whole record with all its branches."""
        name = report_name(self.session.path)
        report = ReportExport(self.session, self.slow_work.tell_progress)
        played = partial(report.write, player=True)
        return [
            *super().exports(),
            Export("the whole record as HTML", f"{name}.html", report.write, report),
            Export("the whole record as HTML with a player", f"{name}.html", played, report),
            Export("the whole record as Markdown", f"{name}.md", report.write, report),
        ]

    @_writes("an episode of this branch")
    @_needs_script
    @work(group=DIALOG)
    async def action_episode(self) -> None:
        """Add the branch shown as an episode to a file."""
        from ...episodes.read.index import USUAL

        name = self.session.record.branch
        question = f"Write {name} as an episode to which file?"
        wanted = (await self.ask(question, USUAL) or "").strip()
        if not wanted:
            return
        path = typed_path(wanted)
        self._apart = Replayer(self._replayer.limits, checkpoints=0)
        put = partial(_put_episode, self.session.path, name, path, self._apart)
        made = await self.slow_work.run(put, "replaying it")
        if made is not None:
            tell(self, f"{name} is in {path}; {made.standing}")

    @_writes("the script, in your editor")
    @_needs_script
    def action_editor(self) -> None:
        """Open the script at the line shown in the user's editor."""
        file, line = place_shown(self.session.source, self.state.shown)
        try:
            external.edit(self.app, file.path, line)
        except QuizlogError as error:
            complain(self, error)
            return
        self.action_reload()

    def action_neighbour(self, by: int) -> None:
        """Open the next or previous record of the library."""
        self.post_message(Neighbour(self.session.path, by))

    def action_own_command(self, name: str) -> None:
        """Run one of the user's own commands on the step shown."""
        if self._is_locked(f"whatever the command {name} does"):
            return
        values = {
            "record": str(self.session.path.absolute()),
            "branch": self.session.record.branch,
            "step": str(self.state.step),
            "answer": self.state.recorded or "",
            "question": self.state.shown.next_prompt or "",
        }
        self.commands.run(name, values)

    # -- the panes

    def action_source(self) -> None:
        """Show the source instead of the timeline, or back; both if there is room."""
        self.sides.turn_source()

    def action_beside(self, name: str) -> None:
        """Show a pane beside the output, or take it away again."""
        self.sides.turn(name)
        self.panes.draw()

    def action_expression(self) -> None:
        """Show the variables, and focus the line for expressions."""
        if not self.sides.shows("variables"):
            self.action_beside("variables")
        self.query_one(ExpressionLine).focus()

    def action_focus_pane(self, name: str) -> None:
        """Focus a pane and show it."""
        self.sides.focus(name)

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
        if self._apart is not None:
            self._apart.give_up()
        self.panes.watches.cancel()
        self.commands.cancel()

    def action_back(self) -> None:
        """Escape: stop a script or a proof, cancel a fork, leave the input or end a search."""
        if self.slow_work.running:
            super().action_back()
        elif self.proving.running:
            self.proving.stop()
        elif self.state.mode != "answer":
            self.panes.show(self.state.give_up())
            self.panes.output.focus()
        elif self.panes.prompt.has_focus_within:
            self.panes.output.focus()
        elif not self.slow_work.running and isinstance(self.focused, ExpressionLine):
            self.query_one("#values").focus()
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
            self.panes.output.focus()
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
        """Remember the place, however one leaves, and end a command of the user's, and a proof."""
        self.commands.end()
        self.proving.end()
        self.holding.end()
        self._remembered.remember(self.session.path, self.state.step, self.session.pointer)


def _put_episode(record: Path, branch: str, path: Path, replayer: Replayer) -> BuildResult:
    """Build the episode of a branch and write it. In a thread."""
    from ...episodes.build.build import BuildSettings
    from ...episodes.build.make import make

    with replayer:
        made = make(
            [record],
            path,
            BuildSettings(),
            lambda *told: None,
            replayer=replayer,
            branch=branch,
        )
    for error in made.skipped:
        raise error
    return made
