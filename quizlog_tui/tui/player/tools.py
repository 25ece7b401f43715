"""Opens other screens and dialogs about the record at the step shown, and applies their results.

`FindAll` also goes on from one hit to the next in the player. Most screens are imported when they
are opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ...config import QUESTION, keep_author
from ...errors import QuizlogError
from ...files.paths import typed_path
from ...replay.replayer import Replayer
from ...replay.transcript import Transcript
from ...session.find import Hit, excerpt
from ...session.timeline import total_effort
from ...terminal_text import plain
from ...text import clipped, plural, told_apart
from .. import external
from ..draw.timeline import effort_text
from ..messages import ChosenHit, Query
from ..screens.dialogs import AskScreen, ChooseScreen, switch_dialog
from ..screens.export import Export, ReportExport, report_name
from ..toasts import complain, tell, warn
from ..widgets.documents import Paragraphs, line, safe
from ..widgets.finding import Finding, Place
from .editing import Editing
from .panes import Panes, place_shown

if TYPE_CHECKING:
    from ...episodes.build.make import BuildResult
    from ..screens.compare import DrawnSide
    from ..screens.notes import Remark
    from ..screens.sweep import Trial


_MOST_LINES = 5
"""Maximum number of arguments and answers that are shown before something is allowed."""
_MOST_SHOWN = 80
"""Characters of each; the timeline shows all of it."""


class Tools:
    """Opens other screens at the step shown.

    Args:
        panes: What is shown, and where.
        editing: Changes the record, and shows what other screens have changed.
        replayer: Runs the script.
        author: Default author of notes.
        agreed: The models that the user agreed to ask although they may cost money; grows.
    """

    def __init__(
        self, panes: Panes, editing: Editing, replayer: Replayer, author: str, agreed: set[str]
    ) -> None:
        self.session = panes.session
        self._screen = panes.screen
        self._clock = panes.clock
        self._panes = panes
        self._editing = editing
        self._replayer = replayer
        self._author = author
        self._agreed = agreed
        self._drafts: dict[tuple[str, int], Remark] = {}
        self._trials: dict[tuple[str, tuple[str, ...]], Trial] = {}
        """Attempts at stops of the script, by its text and the answers before."""
        self._apart: Replayer | None = None
        """Replays episodes without checkpoints, as on another machine."""

    def cancel(self) -> None:
        """Stop a script that runs for an episode."""
        if self._apart is not None:
            self._apart.cancel()

    def _look(self, step: int) -> None:
        """Show a step; a started fork or amendment stays."""
        self._panes.show(self._panes.state.to(step))

    # -- branches

    async def tree(self) -> None:
        """Show the tree of branches, then its changes."""
        from ..screens.tree import TreeScreen

        tree = TreeScreen(self.session, self._replayer, self._clock)
        if await self._screen.app.push_screen_wait(tree):
            self._editing.show_session()

    async def compare(self) -> None:
        """Compare this branch with another branch or record."""
        from ..screens.compare import CompareScreen, DrawnSide, choose

        side = DrawnSide(self.session.record.branch, self._panes.state.whole)
        found = await choose(self._screen, self.session, self._replayer, side)
        if found is None:
            return
        screen = CompareScreen(self.session, self._replayer, found)
        step = await self._screen.app.push_screen_wait(screen)
        if step is not None:
            self._look(step)

    async def sweep(self) -> None:
        """Try many answers at the step shown."""
        from ..screens.sweep import SweepScreen, first_trial

        state = self._panes.state
        at = state.step - (state.shown.status != "in_progress")
        if at < 0:
            tell(self._screen, "there is no question here")
            return
        stop = state.whole.upto(at)
        place = (self.session.source.code_hash, stop.inputs)
        trial = self._trials.setdefault(place, first_trial(stop))
        screen = SweepScreen(self.session, self._replayer, state.whole, at, trial)
        if await self._screen.app.push_screen_wait(screen):
            self._panes.draw()

    def effort(self) -> None:
        """Tell who answered and how long it took, in sums."""
        efforts = self._panes.known.efforts(self._panes.state.whole)
        sums = effort_text(total_effort(efforts), self._clock)
        each = "`quizlog steps RECORD` lists each answer"
        tell(self._screen, f"{plural(len(efforts), 'answer')} · {sums} · {each}")

    # -- notes and grants

    async def note(self) -> None:
        """Write a note on the step shown."""
        from ..screens.notes import Remark, RemarkScreen

        state, session, screen = self._panes.state, self.session, self._screen
        at, recorded = state.step, state.recorded
        place = (session.record.branch, at)
        given = f", answer {recorded!r}" if recorded is not None else ""
        about = f"Note on step {at} of {session.record.branch}{given}"
        draft = self._drafts.pop(place, Remark())
        said = await screen.app.push_screen_wait(RemarkScreen(about, draft))
        self._drafts[place] = said
        if not said.sent or not await self._ask_author():
            if not said.empty:
                tell(screen, f"saved as a draft; {screen.key('player.note')} continues it")
            return
        author = self._author
        done = await screen.slow_work.run(
            lambda: session.comment(at, said.text, said.verdict, author), "writing"
        )
        if done is not None:
            del self._drafts[place]
            self._panes.draw()
            tell(screen, f"noted at step {at}; F lists all notes")

    async def _ask_author(self) -> bool:
        """Ask for the author's name unless it is known; returns whether it is known now."""
        if not self._author:
            name = await self._screen.app.push_screen_wait(AskScreen(QUESTION))
            self._author = "" if name is None else keep_author(name)
        return bool(self._author)

    async def notes(self) -> None:
        """Show all notes; go to the step of the chosen one."""
        from ..screens.notes import NotesScreen

        notes = NotesScreen(self.session, self._clock)
        place = await self._screen.app.push_screen_wait(notes)
        if place is None:
            return
        if place.branch is not None:
            await self._editing.switch(place.branch).wait()
        if place.branch in (None, self.session.record.branch):
            self._look(place.step)

    async def offer_grants(self) -> None:
        """Ask whether to grant the script what it asks for."""
        from ...record.given_here import given_lines
        from ...session.session import allow, not_given_here

        source, unknown = self.session.source, not_given_here(self.session)
        question = f"{source.path.name} asks for {' and '.join(source.refused)}."
        details = [source.withheld] if source.withheld else []
        if unknown is not None:
            given = [clipped(each, _MOST_SHOWN) for each in given_lines(unknown, _MOST_LINES)]
            details += ["The record is from elsewhere:", *given]
        lines = [line("run it without", cut=True), line("allow it, for what is here now", cut=True)]
        screen = ChooseScreen(question, lines, details=details)
        if await self._screen.app.push_screen_wait(screen) == 1:
            self._editing.move(lambda: allow(self.session, source.refused, unknown))

    # -- models

    async def decision(self) -> None:
        """Show how several models chose the answer at this step."""
        from ...files.paths import decisions_path
        from ...solver.decision_text import read_decisions
        from ..screens.consensus import ConsensusScreen
        from .known_steps import decisions_by_step, nearest

        path = decisions_path(self.session.path)
        kept = await self._screen.slow_work.run(lambda: read_decisions(path), "reading decisions")
        if kept is None:
            return
        self._tell_faults(kept.faults)
        if not kept.decisions:
            tell(self._screen, f"there are no decisions in {path.name}")
            return
        record = self.session.record
        start = nearest(kept.decisions, record, self._panes.state.step)
        screen = ConsensusScreen(kept.decisions, start, self._clock)
        chosen = await self._screen.app.push_screen_wait(screen)
        if chosen is None:
            return
        steps = decisions_by_step(kept.decisions, record).items()
        step = next((at for at, indexes in steps if chosen in indexes), None)
        if step is None:
            branch = kept.decisions[chosen].question.branch
            tell(self._screen, f"it was not asked on this branch, but on {branch or 'none'}")
            return
        self._look(step)

    def _tell_faults(self, faults: Sequence[QuizlogError]) -> None:
        """Report the lines of a decisions file that cannot be read."""
        if faults:
            warn(self._screen, f"{plural(len(faults), 'line')} cannot be read: {faults[0]}")

    async def ask_models(self) -> None:
        """Ask several models the pending question."""
        missing = [name for name in ("httpx", "pydantic", "dotenv") if find_spec(name) is None]
        if missing:
            warn(self._screen, "asking models needs an extra: pip install 'quizlog-tui[solver]'")
            return
        from .ask import AskModelsScreen

        self._screen.gate.shut()
        screen = AskModelsScreen(self.session, self._clock, self._agreed)
        said = await self._screen.app.push_screen_wait(screen) or ""
        if said == "changed":
            self._editing.show_session()
        else:
            self._panes.draw()
        if said.startswith("override: "):
            self._look(self.session.pointer)
            self._panes.prompt.fill(said.removeprefix("override: "))
            self._panes.focus_pending()
        self._panes.take_keys_when_painted()

    # -- views of the output

    async def formatted(self) -> None:
        """Show the output with its Markdown, JSON and CSV laid out."""
        from ..draw.formats import MOST, formatted_lines, sections
        from ..screens.reading import ReadingScreen

        state = self._panes.state
        text = "".join(state.shown.last.written)
        if len(text) > MOST:
            tell(self._screen, f"the output has over {MOST:,} characters: too many to lay out")
            return
        found = sections(plain(text))
        kinds = ", ".join(dict.fromkeys(filter(None, (section.kind for section in found))))
        if not kinds:
            tell(self._screen, f"no Markdown, JSON or CSV in the output of step {state.step}")
            return
        about = f"Output of step {state.step} · {kinds}"
        screen = ReadingScreen(
            "Laid out", about, lambda width: Paragraphs(formatted_lines(found, width))
        )
        await self._screen.app.push_screen_wait(screen)

    async def difference(self) -> None:
        """Show how the output differs from the step before, or from another branch's."""
        from ..screens.compare import Comparison
        from ..screens.reading import ReadingScreen

        state = self._panes.state
        here = _side(f"step {state.step}", state.whole, state.step)
        other = await self._other_side(state.step)
        if other is None:
            return
        found = Comparison(other, here)
        same = "" if found.differences else " · nothing differs"
        about = f"{other.name} (left, <) and {here.name} (right, >){same}"
        screen = ReadingScreen("Difference", about, lambda width: found)
        await self._screen.app.push_screen_wait(screen)

    async def _other_side(self, step: int) -> DrawnSide | None:
        """What the user chooses to compare a step with; None if nothing."""
        branches = self._other_branches(step)
        names = [f"the step before ({step - 1})"] if step else []
        told = told_apart(self.session.record.names)
        names += [f"step {step} on branch {told[branch]}" for branch in branches]
        if not names:
            tell(self._screen, "there is no step before, and no other branch has this step")
            return None
        lines = [line(name, cut=True) for name in names]
        ask = ChooseScreen(f"Compare the output of step {step} with", lines)
        chosen = 0 if len(names) == 1 else await self._screen.app.push_screen_wait(ask)
        if chosen is None:
            return None
        if step and chosen == 0:
            return _side(f"step {step - 1}", self._panes.state.whole, step - 1)
        branch = branches[chosen - bool(step)]
        run = await self._screen.slow_work.run(lambda: self.session.transcript_of(branch))
        return None if run is None else _side(names[chosen], run, step)

    def _other_branches(self, step: int) -> Sequence[str]:
        """The other branches that have a step."""
        record = self.session.record
        others = [name for name in record.names if name != record.branch]
        return [name for name in others if len(record.path_of(name)) >= step]

    # -- files

    def exports(self) -> list[Export]:
        """Exports of the whole record with all its branches."""
        name = report_name(self.session.path)
        report = ReportExport(self.session, self._screen.slow_work.tell_progress)
        played = partial(report.write, player=True)
        return [
            Export("the whole record as HTML", f"{name}.html", report.write, report),
            Export("the whole record as HTML with a player", f"{name}.html", played, report),
            Export("the whole record as Markdown", f"{name}.md", report.write, report),
        ]

    async def episode(self) -> None:
        """Add the branch shown as an episode to a file."""
        from ...episodes.read.index import USUAL

        name, app = self.session.record.branch, self._screen.app
        question = f"Write {name} as an episode to which file?"
        wanted = (await app.push_screen_wait(AskScreen(question, USUAL)) or "").strip()
        if not wanted:
            return
        path = typed_path(wanted)
        made = await self._screen.slow_work.run(
            lambda: self._put_episode(name, path), "replaying it"
        )
        if made is not None:
            tell(self._screen, f"{name} is in {path}; {made.standing}")

    def _put_episode(self, branch: str, path: Path) -> BuildResult:
        """Build and write it. In a thread."""
        from ...episodes.build.build import BuildSettings
        from ...episodes.build.make import make

        with Replayer(self._replayer.limits, checkpoints=0) as self._apart:
            made = make(
                [self.session.path],
                path,
                BuildSettings(),
                lambda *told: None,
                replayer=self._apart,
                branch=branch,
            )
        for error in made.skipped:
            raise error
        return made

    def editor(self) -> None:
        """Open the script at the line shown in the user's editor."""
        file, line = place_shown(self.session.source, self._panes.state.shown)
        try:
            external.edit(self._screen.app, file.path, line)
        except QuizlogError as error:
            complain(self._screen, error)
            return
        self._editing.reload()


def _side(name: str, run: Transcript, step: int) -> DrawnSide:
    """One step of a run as a run of its own."""
    from ..screens.compare import DrawnSide

    stop = run.upto(step)
    alone = Transcript(stop.steps.upto(0), stop.last, stop.status, stop.last_error)
    return DrawnSide(name, alone, step)


_SHOWN = 80
"""Characters of a hit's line that are told."""


class FindAll:
    """Finds in all branches of the record.

    Args:
        panes: What is shown; hits are marked in the output.
        editing: Switches to the branch of a hit.
        replayer: Runs the other branches.
    """

    def __init__(self, panes: Panes, editing: Editing, replayer: Replayer) -> None:
        self.session = panes.session
        self._screen = panes.screen
        self._panes = panes
        self._editing = editing
        self._replayer = replayer
        self._query = Query()
        self._chosen: ChosenHit | None = None
        self._marked: Finding | None = None
        """The search of the output that marks the hit one is at; another one ends going on."""

    async def open(self) -> None:
        """List what is found, and go to the hit that is chosen."""
        from ..screens.find import FindScreen, RunTexts

        state = self._panes.state
        texts = RunTexts(self.session, self._replayer, state.whole)
        chosen = await self._screen.app.push_screen_wait(FindScreen(texts, self._query))
        if chosen is not None:
            self._query = chosen.query
            await self._go(chosen)

    async def start(self, chosen: ChosenHit) -> None:
        """Go to a hit that was found in the library, also behind the pointer."""
        if len(self.session.record.inputs) > len(self._panes.state.whole.steps):
            await self._editing.take_tail(chosen.hits[chosen.index].passage.at).wait()
        await self._go(chosen)

    def go_on(self, by: int) -> bool:
        """Go to the next hit of this branch, or the one before; False if none was chosen."""
        chosen = self._chosen
        if chosen is None or self._marked is not self._panes.output.search.finding:
            return False
        here = [at for at, hit in enumerate(chosen.hits) if self._elsewhere(hit) is None]
        ahead = [at for at in here if (at - chosen.index) * by > 0] or here
        if ahead:
            self._look(replace(chosen, index=ahead[0 if by > 0 else -1]))
        return bool(ahead)

    async def _go(self, chosen: ChosenHit) -> None:
        """Go to a hit; asks before it switches to another branch."""
        hit = chosen.hits[chosen.index]
        branch = self._elsewhere(hit)
        if branch is not None:
            ask = switch_dialog(hit.passage.at, branch)
            if await self._screen.app.push_screen_wait(ask) != 0:
                return
            await self._editing.switch(branch).wait()
        if self._elsewhere(hit) is None:
            self._look(chosen)

    def _elsewhere(self, hit: Hit) -> str | None:
        """The branch to switch to; None if the active one has that step."""
        return self.session.branch_with(hit.passage.branch, hit.passage.at)

    def _look(self, chosen: ChosenHit) -> None:
        """Look at the step of a hit, and mark it in the output."""
        self._chosen = chosen
        hit = chosen.hits[chosen.index]
        self._panes.open_folds()
        self._panes.show(self._panes.state.to(hit.passage.at))
        output = self._panes.output
        output.find(hit.matched)
        if hit.passage.part in ("output", "question"):
            output.find_from(self._place(hit))
        self._marked = output.search.finding
        self._tell_place(chosen)

    def _place(self, hit: Hit) -> Place:
        """Where a hit in what was printed or asked stands in the output."""
        passage, state = hit.passage, self._panes.state
        stop = state.whole.upto(passage.at).last
        before = plain("".join(stop.written)) if passage.part == "question" else ""
        before += passage.text[: hit.start + hit.spans[0][0]]
        return Place(passage.at, len(safe(before)))

    def _tell_place(self, chosen: ChosenHit) -> None:
        """Say which hit it is and where, in words of its own: not all stands in the output."""
        hit = chosen.hits[chosen.index]
        count = f"{chosen.index + 1} of {plural(len(chosen.hits), 'hit')}"
        text = "".join(piece for piece, _ in excerpt(hit, _SHOWN)).strip()
        tell(self._screen, f"{count}, {hit.passage.part} of step {hit.passage.at}: {text}")
