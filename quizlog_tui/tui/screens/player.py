"""The player: one record's output, pending question, error and timeline, and the keys that move.

Stepping only looks: the record changes when one answers, rewinds, forks or switches. Every change
is a call of the session in a thread, so that a slow script never freezes the screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Footer, Static

from ...errors import QuizlogError
from ...replay.replayer import Replayer
from ...replay.transcript import Transcript
from ...session import Session
from ...text import one_line, plural
from ..drawing import MARKS, WORDS, error_lines, output_lines, score_text, timeline_lines
from ..widgets.line_view import LineView
from ..widgets.prompt_panel import PromptPanel
from .branches import BranchesScreen
from .help import HelpScreen


class PlayerScreen(Screen[None]):
    """Audits one record.

    Args:
        session: The open record; the screen moves it.
        replayer: Where it runs, to cancel a slow script.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h,left", "step(-1)", "Back", key_display="h", tooltip="one step back (also left)"),
        Binding(
            "l,right",
            "step(1)",
            "Forward",
            key_display="l",
            tooltip="one step forward (also right)",
        ),
        Binding("0", "go(0)", "First", show=False, tooltip="to the start"),
        Binding("dollar_sign", "go(-1)", "Last", show=False, key_display="$", tooltip="to the end"),
        Binding("i,enter", "focus_answer", "Answer", key_display="i", tooltip="type an answer"),
        Binding("r", "rewind", "Rewind", tooltip="set the record's pointer to the step shown"),
        Binding("f", "fork", "Fork", tooltip="another answer here, on a branch of its own"),
        Binding("b", "branches", "Branches", tooltip="list the branches and switch"),
        Binding("R", "reload", "Reload", show=False, tooltip="read record and script again"),
        Binding("question_mark", "help", "Help", key_display="?", tooltip="this page"),
        Binding("q", "quit_player", "Quit", tooltip="quit (nothing is ever unsaved)"),
        Binding(
            "escape", "leave", "Keys", key_display="esc", tooltip="leave the input; stop a script"
        ),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (78, "-normal")]  # noqa: RUF012
    DEFAULT_CSS = """
    PlayerScreen {
        & > #status {
            height: 1; padding: 0 1; background: $panel;
            text-wrap: nowrap; text-overflow: ellipsis;
        }
        & #left { width: 2fr; }
        & #output { height: 1fr; border: round $panel; }
        & #error { height: auto; max-height: 9; border: round $error; display: none; }
        & #error.-shown { display: block; }
        & #timeline { width: 1fr; border: round $panel; }
        & LineView:focus { border: round $primary; }
        &.-narrow #timeline { display: none; }
    }
    """

    def __init__(self, session: Session, replayer: Replayer) -> None:
        super().__init__()
        self.session = session
        self._replayer = replayer
        self._whole: Transcript = session.transcript
        self._shown = session.pointer
        self._forking = False
        self._busy = False

    def compose(self) -> ComposeResult:
        """Status line, panes, footer."""
        yield Static(id="status", markup=False)
        with Horizontal():
            with Vertical(id="left"):
                yield LineView(id="output")
                yield LineView(id="error")
                yield PromptPanel(id="prompt")
            yield LineView(id="timeline")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Draw, and give a pending question the focus."""
        self.query_one("#output").border_title = "Output"
        self.query_one("#timeline").border_title = "Answers"
        self.query_one("#error").border_title = "Error"
        self.draw()
        self._focus_pending()
        for warning in self.session.warnings:
            self.notify(one_line(warning), severity="warning", markup=False)
        if len(self.session.inputs) > self.session.pointer:
            self._move(self.session.reply)

    # -- drawing

    @property
    def shown(self) -> Transcript:
        """The run as it stood at the step that is shown."""
        return self._whole.upto(self._shown)

    def draw(self) -> None:
        """Put the session's state on the screen."""
        shown = self.shown
        self.query_one("#output", LineView).show(output_lines(shown), end=True)
        lines = timeline_lines(self._whole.steps, self._whole, self.session.pointer)
        self.query_one("#timeline", LineView).show(lines, cursor=self._shown)
        error = error_lines(shown, self.session)
        pane = self.query_one("#error", LineView)
        pane.set_class(bool(error), "-shown")
        pane.show(error)
        self.query_one("#status", Static).update(self._status(shown))
        self._draw_prompt(shown)
        self.refresh_bindings()

    def _status(self, shown: Transcript) -> str:
        session = self.session
        state = f"{MARKS[shown.status]} {WORDS[shown.status]}{score_text(shown.score)}"
        name = f"{session.path.parent.resolve().name}/{session.path.name}"
        where = f"step {self._shown} of {len(self._whole.steps)}"
        if self._shown != session.pointer:
            where += f" (pointer at {session.pointer})"
        slow = f" · rewinds run again: {shown.tainted}" if shown.tainted else ""
        return one_line(f"{state} · {where} · branch {session.branch} · {name}{slow}")

    def _draw_prompt(self, shown: Transcript) -> None:
        panel = self.query_one(PromptPanel)
        recorded = self._recorded()
        if shown.status == "in_progress":
            kind = "/".join(shown.choices) or str(shown.input_type)
            hint = f"recorded: {recorded}" if recorded is not None else ""
            verb = "Fork" if self._forking else "Question"
            panel.ask(f"{verb} {self._shown}", shown.next_prompt or "", kind, hint)
        elif shown.status == "error" and self._shown:
            panel.ask("Try again", shown.steps[-1].prompt or "", shown.steps[-1].input_type)
        else:
            text = f"Finished after {plural(self._shown, 'answer')}. Step back with h, fork with f."
            panel.tell("End", text if shown.status == "success" else "The script cannot start.")

    def _recorded(self) -> str | None:
        """The answer recorded at the step shown, if there is one."""
        steps = self._whole.steps
        return steps[self._shown].input if self._shown < len(steps) else None

    def _focus_pending(self) -> None:
        field = self.query_one(PromptPanel).field
        if field.disabled:
            self.query_one("#output").focus()
        else:
            field.focus()

    # -- looking

    def action_step(self, by: int) -> None:
        """Look at another step."""
        self._look(self._shown + by)

    def action_go(self, step: int) -> None:
        """Look at a step; -1 is the last."""
        self._look(len(self._whole.steps) if step < 0 else step)

    def _look(self, step: int) -> None:
        self._forking = False
        self._shown = max(0, min(step, len(self._whole.steps)))
        self.draw()

    def action_focus_answer(self) -> None:
        """Go and type."""
        self._focus_pending()

    def action_leave(self) -> None:
        """Escape: stop a running script, give up a fork, or leave the input for the keys."""
        if self._busy:
            self._replayer.cancel()
        elif self._forking:
            self._forking = False
            self.draw()
        self.query_one("#output").focus()

    def action_help(self) -> None:
        """Show the keys."""
        shown = [binding for binding in self.BINDINGS if isinstance(binding, Binding)]
        self.app.push_screen(HelpScreen(shown))

    # -- moving

    def action_rewind(self) -> None:
        """Put the pointer where we look."""
        step = self._shown
        self._move(lambda: self.session.rewind(step))

    def action_fork(self) -> None:
        """Take the next answer as a fork at the step shown."""
        if self.shown.status != "in_progress":
            if not self._shown:
                return
            self._shown -= 1
        self._forking = True
        self.draw()
        self._focus_pending()

    def on_prompt_panel_answered(self, event: PromptPanel.Answered) -> None:
        """An answer: a fork if one was begun, else at the step shown."""
        step, answer = self._shown, event.answer
        if self._forking:
            self._move(lambda: self.session.fork(step, answer))
        else:
            self._move(lambda: self._answer_at(step, answer))

    def _answer_at(self, step: int, answer: str) -> None:
        if step != self.session.pointer:
            self.session.rewind(step)
        self.session.answer(answer)

    @work
    async def action_branches(self) -> None:
        """Choose another branch."""
        name = await self.app.push_screen_wait(BranchesScreen(self.session.branches))
        if name is not None and name != self.session.branch:
            self._move(lambda: self.session.switch(name))

    def action_reload(self) -> None:
        """Read everything again, keeping the place."""
        self._move(self.session.reload)

    @work(exclusive=True, group="move")
    async def _move(self, call: Callable[[], Any]) -> None:
        """Make a change in a thread, then show where it led."""
        if self._busy:
            self.notify("still running; Escape stops it", markup=False)
            return
        self._busy = True
        status = self.query_one("#status", Static)
        slow = self.set_timer(0.2, lambda: status.update("… running; Escape stops it"))
        try:
            await asyncio.to_thread(call)
            self._whole = await asyncio.to_thread(self.session.preview)
            self._shown, self._forking = self.session.pointer, False
        except QuizlogError as error:
            self.notify(one_line(str(error)), severity="error", markup=False)
        finally:
            slow.stop()
            self._busy = False
        self.draw()
        self._focus_pending()

    def action_quit_player(self) -> None:
        """Leave; a running script ends with us."""
        self._replayer.cancel()
        self.app.exit()
