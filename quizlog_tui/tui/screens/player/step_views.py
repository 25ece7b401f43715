"""Opens other views of the output of the step shown: laid out, or beside another step's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....replay.transcript import Transcript
from ....terminal_text import plain
from ....text import told_apart
from ...toasts import tell
from ...widgets.lines.documents import Paragraphs, line
from ..base import DIALOG, in_worker
from ..dialogs import ChooseScreen
from .context import PlayerContext

if TYPE_CHECKING:
    from ...draw.compare import DrawnSide


class StepViews:
    """Opens them.

    Args:
        context: What the parts of the player share.
    """

    def __init__(self, context: PlayerContext) -> None:
        self.view, self.session = context.view, context.session
        self._holder = context.holder

    @in_worker(DIALOG)
    async def formatted(self) -> None:
        """Show the output with its Markdown, JSON and CSV laid out."""
        from ...draw.formats import MOST, formatted_lines, sections
        from ..reading import ReadingScreen

        state = self._holder.state
        text = "".join(state.shown.last.written)
        if len(text) > MOST:
            tell(self.view, f"the output has over {MOST:,} characters: too many to lay out")
            return
        found = sections(plain(text))
        kinds = ", ".join(dict.fromkeys(filter(None, (section.kind for section in found))))
        if not kinds:
            tell(self.view, f"no Markdown, JSON or CSV in the output of step {state.step}")
            return
        about = f"Output of step {state.step} · {kinds}"
        screen = ReadingScreen(
            "Laid out", about, lambda width: Paragraphs(formatted_lines(found, width))
        )
        await self.view.app.push_screen_wait(screen)

    @in_worker(DIALOG)
    async def difference(self) -> None:
        """Show how the output differs from the step before, or from another branch's."""
        from ...draw.compare import Comparison
        from ..reading import ReadingScreen

        state = self._holder.state
        here = self._side(f"step {state.step}", state.whole, state.step)
        other = await self._other(state.step)
        if other is None:
            return
        found = Comparison(other, here)
        same = "" if found.differences else " · nothing differs"
        about = f"{other.name} (left, <) and {here.name} (right, >){same}"
        await self.view.app.push_screen_wait(
            ReadingScreen("Difference", about, lambda width: found)
        )

    async def _other(self, step: int) -> DrawnSide | None:
        """What the user chooses to compare a step with; None if nothing."""
        branches = self._branches(step)
        names = [f"the step before ({step - 1})"] if step else []
        told = told_apart(self.session.record.names)
        names += [f"step {step} on branch {told[branch]}" for branch in branches]
        if not names:
            tell(self.view, "there is no step before, and no other branch has this step")
            return None
        lines = [line(name, cut=True) for name in names]
        ask = ChooseScreen(f"Compare the output of step {step} with", lines)
        chosen = 0 if len(names) == 1 else await self.view.app.push_screen_wait(ask)
        if chosen is None:
            return None
        if step and chosen == 0:
            return self._side(f"step {step - 1}", self._holder.state.whole, step - 1)
        branch = branches[chosen - bool(step)]
        run = await self.view.slow_work.run(lambda: self.session.transcript_of(branch))
        return None if run is None else self._side(names[chosen], run, step)

    def _branches(self, step: int) -> Sequence[str]:
        """The other branches that have a step."""
        record = self.session.record
        others = [name for name in record.names if name != record.branch]
        return [name for name in others if len(record.path_of(name)) >= step]

    @staticmethod
    def _side(name: str, run: Transcript, step: int) -> DrawnSide:
        """One step of a run as a run of its own."""
        from ...draw.compare import DrawnSide

        stop = run.upto(step)
        alone = Transcript(stop.steps.upto(0), stop.last, stop.status, stop.last_error)
        return DrawnSide(name, alone, step)
