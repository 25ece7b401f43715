"""The tree screen: all branches of a record with their outcomes, and changes to branches.

Every change is a call of the session and can be undone, so that none needs a confirmation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from textual import on, work
from textual.app import ComposeResult

from ...errors import QuizlogError
from ...files.regular_file import Watch
from ...record.model import Record
from ...replay.replayer import Replayer
from ...replay.script.source import Source
from ...replay.transcript import Transcript
from ...replay.tree_walk import tree_of
from ...replay.uncached_runs import UncachedRuns
from ...replay.world import world_of
from ...session.reply import BranchInfo
from ...session.session import Session
from ...text import one_line, plural, told_apart, visible
from ..clock import Clock
from ..draw.status import STYLES, outcome, state_text
from ..toasts import complain, tell, warn
from ..widgets.columns import Cell, Grid, Layout, cells_line, layout, widest
from ..widgets.documents import Line, Paragraphs, StackedDocuments, Table, line
from ..widgets.line_view import LineView
from ..widgets.row_list import RowList
from .base import DIALOG, QuizlogScreen, halves
from .dialogs import AskTextScreen
from .undoing import redo, undo

_LEVELS = 12
"""Maximum levels drawn; deeper branches have a mark."""


@dataclass(frozen=True)
class TreeRow:
    """A branch in the tree."""

    branch: BranchInfo
    under: str | None
    """The branch above it in the tree; None at the root."""
    at: int
    """Number of answers it shares with that branch."""
    lead: str
    """The lines that connect it to the tree."""
    name: str
    """The branch's name as it is shown: no other in the tree looks the same."""

    @property
    def label(self) -> str:
        """Lines and name, the active branch with a star."""
        star = "* " if self.branch.active else ""
        return f"{self.lead}{star}{self.name}"


def tree_rows(branches: Sequence[BranchInfo], *, deleted: bool = False) -> list[TreeRow]:
    """The rows of the tree: parents before children, earlier forks first.

    A branch is drawn under the branch with which it shares its last common answer. That is not its
    parent if the parent is hidden or has no own answer before the fork.

    Args:
        branches: All branches, oldest first.
        deleted: Show deleted ones too.
    """
    shown = {each.name: each for each in branches if deleted or each.active or not each.deleted}
    places = _places(branches, shown)
    children: dict[str | None, list[BranchInfo]] = {}
    for branch in shown.values():
        children.setdefault(places[branch.name][0], []).append(branch)
    for family in children.values():
        family.sort(key=lambda each: places[each.name][1])
    rows, names = [], told_apart(shown)
    todo = [(root, "", "") for root in reversed(children.get(None, []))]
    while todo:
        branch, lead, below = todo.pop()
        rows.append(TreeRow(branch, *places[branch.name], _cut(lead), names[branch.name]))
        family = children.get(branch.name, [])
        for place, child in reversed([*enumerate(family, 1)]):
            ends = place == len(family)
            deeper = below + ("  " if ends else "│ ")
            todo.append((child, below + ("└─" if ends else "├─"), deeper[-2 * _LEVELS - 2 :]))
    return rows


def _cut(lead: str) -> str:
    """The connecting lines of a branch without those of distant levels."""
    return lead if len(lead) <= 2 * _LEVELS else f"⋯ {lead[2 - 2 * _LEVELS :]}"


def _places(
    branches: Sequence[BranchInfo], shown: dict[str, BranchInfo]
) -> dict[str, tuple[str | None, int]]:
    """For each branch, the branch above it and the number of shared answers."""
    known = {each.name: each for each in branches}
    found: dict[str, tuple[str | None, int]] = {}
    for branch in branches:
        chain = []
        here: BranchInfo | None = branch
        while here is not None and here.name not in found:
            chain.append(here)
            here = known.get(here.parent) if here.parent is not None else None
        for each in reversed(chain):
            found[each.name] = _place(each, found, shown)
    return found


def _place(
    branch: BranchInfo, found: dict[str, tuple[str | None, int]], shown: dict[str, BranchInfo]
) -> tuple[str | None, int]:
    """The same for one branch whose parent has been placed."""
    if branch.parent is None or branch.parent not in found:
        return None, 0
    above, at = found[branch.parent]
    if branch.parent in shown and (above is None or branch.at > at):
        return branch.parent, branch.at
    return above, min(branch.at, at)


class _Remark(NamedTuple):
    """What is said of a branch besides how it stands."""

    sign: str
    text: str
    style: str


def tree_grid(
    rows: Sequence[TreeRow], clock: Clock, errors: Mapping[str, str] = MappingProxyType({})
) -> Grid:
    """A row for each branch, the columns as the width allows.

    The first remark on a branch stands in the last column if it fits, the others below the row.

    Args:
        rows: The branches.
        clock: Formats ages.
        errors: The errors that branches end with, by name, as far as they are known.
    """
    remarks = [list(_remarks(row.branch, errors)) for row in rows]
    columns = {
        "branch": max(widest(row.label for row in rows), 12),
        "left at": 7,
        "answers": 7,
        "state": 13,
        "created": 10,
        "note": max(widest(said[0].text for said in remarks if said), 8),
    }
    least = {"branch": min(18, columns["branch"]), "created": 10, "note": 8}

    def fits(index: int, shown: Layout) -> bool:
        said = remarks[index]
        return bool(said) and widest([said[0].text]) <= shown.get("note", 0)

    def make(index: int, shown: Layout) -> Line:
        first = remarks[index][0] if fits(index, shown) else _Remark("", "", "")
        return cells_line(shown, _cells(rows[index], clock, first))

    def below(index: int, shown: Layout) -> list[tuple[str, str]]:
        said = remarks[index][fits(index, shown) :]
        return [(f"    {one.sign} {one.text}", one.style) for one in said]

    def text(index: int) -> str:
        branch = rows[index].branch
        said = " ".join(one.text for one in remarks[index])
        return f"{rows[index].label} {state_text(branch.status, branch.score)} {said}"

    lay_out = partial(layout, columns=columns, least=least)
    return Grid(len(rows), lay_out, make, text, below=below)


def _remarks(branch: BranchInfo, errors: Mapping[str, str]) -> Iterator[_Remark]:
    if branch.note:
        yield _Remark("✎", branch.note, "")
    if branch.name in errors:
        yield _Remark("✗", errors[branch.name], "error")


def _cells(row: TreeRow, clock: Clock, said: _Remark) -> dict[str, Cell]:
    branch = row.branch
    state = (state_text(branch.status, branch.score), STYLES[branch.status])
    return {
        "branch": (row.label, "answer" if branch.active else "dim" if branch.deleted else ""),
        "left at": "" if row.under is None else f"step {row.at}",
        "answers": f"{branch.length:>7}",
        "state": ("␡ deleted", "dim") if branch.deleted else state,
        "created": (clock.describe(branch.created), "dim"),
        "note": (said.text, said.style),
    }


def branch_errors(
    record: Record, source: Source, names: Sequence[str], runs: UncachedRuns
) -> dict[str, str]:
    """The errors that branches end with, by replays; those without one are left out.

    Raises:
        CancelledError: `runs` were cancelled.
    """
    walk = runs.walk(source, [world_of(record)], tree_of(map(record.path_of, names)))
    ends = ((names[index], run) for index, [run] in walk if isinstance(run, Transcript))
    return {name: text for name, run in ends if (text := run.error_text())}


def branch_detail(
    row: TreeRow, path: Sequence[str], clock: Clock, error: str = ""
) -> StackedDocuments:
    """The details of a branch, then all its answers, those of its `path`, with the fork marked."""
    facts = Paragraphs([*_facts(row, clock, error), line("")])
    return StackedDocuments(facts, _answers(row, path))


def _facts(row: TreeRow, clock: Clock, error: str) -> Iterator[Line]:
    branch = row.branch
    active = " · the active branch" if branch.active else ""
    state = (outcome(branch.status, branch.score), STYLES[branch.status])
    yield line((row.name, "head"), " · ", state, (active, "dim"))
    left = f", leaves {row.under} at step {row.at}" if row.under is not None else ""
    made = f", made {clock.describe(branch.created)}" if branch.created else ""
    yield line((f"{plural(branch.length, 'answer')}{left}{made}", "dim"))
    if error:
        yield line((f"✗ {error}", "error"))
    if branch.deleted:
        yield line((f"deleted {clock.describe(branch.deleted)}; U restores it", "warn"))
    if branch.note:
        yield line(("✎ ", "dim"), branch.note)


def _answers(row: TreeRow, path: Sequence[str]) -> Table:
    fork = row.at if row.under is not None else -1

    def make(index: int) -> Line:
        if index == fork:
            return line((f"  ┬ leaves {row.under}", "warn"), cut=True)
        at = index - 1 if 0 <= fork < index else index
        own = at >= fork
        answer = one_line(path[at]) or "(empty)"
        return line((f"{at:4} ", "dim"), (answer, "answer" if own else "dim"), cut=True)

    return Table(len(path) + (fork >= 0), make)


_FOLLOW_SECONDS = 0.5
"""Seconds between two checks for changes by other programs."""


class TreeScreen(QuizlogScreen[bool]):
    """Shows the branches of an open record; dismisses with whether the session was changed."""

    SCOPE = "tree"
    DEFAULT_CSS = "TreeScreen #detail { height: 1fr; min-height: 5; }"

    def __init__(self, session: Session, replayer: Replayer, clock: Clock) -> None:
        super().__init__()
        self.session = session
        self.audit = session.audit
        self._replayer = replayer
        self._clock = clock
        self._tree: list[TreeRow] = []
        self._marked = session.record.branch
        self._deleted = False
        self._changed = False
        self._watch = Watch(session.path)
        self._errors: dict[str, str] = {}
        self._errors_of: Record | None = None
        """The record whose branches were run for their errors."""
        self._runs = UncachedRuns(replayer.limits)

    def content(self) -> ComposeResult:
        """The tree, and the selected branch."""
        yield from halves("branches", "detail")

    def on_mount(self) -> None:
        """Select the active branch."""
        self.query_one("#detail").border_title = "Branch"
        self.draw()
        self.rows.focus()
        self.set_interval(_FOLLOW_SECONDS, self._look_for_changes)

    # -- drawing

    def draw(self) -> None:
        """Draw the session's branches; the cursor stays on its branch."""
        branches = self.session.all_branches
        self._tree = tree_rows(branches, deleted=self._deleted)
        names = [row.branch.name for row in self._tree]
        at = names.index(self._marked) if self._marked in names else None
        self.show_rows(tree_grid(self._tree, self._clock, self._errors), at)
        self._draw_detail()
        self.status(self._status_text(branches))
        if self._errors_of is not self.session.record and self.session.missing is None:
            self._errors_of = self.session.record
            self._find_errors(self.session.source)

    @work(exclusive=True, group="errors")
    async def _find_errors(self, source: Source) -> None:
        """Run the branches that end with an error, beside other work, and show what it says.

        What was granted to a script is real: nothing runs with it only to be looked at.
        """
        ended = [each.name for each in self.session.all_branches if each.status == "error"]
        if source.allowed or not ended:
            return
        find = partial(branch_errors, self.session.record, source, ended, self._runs)
        with suppress(QuizlogError):  # the screen is closed
            self._errors = await asyncio.to_thread(find)
            if self.is_mounted:
                self.draw()

    def on_unmount(self) -> None:
        """End the runs of branches."""
        self._runs.give_up()

    def _status_text(self, branches: list[BranchInfo]) -> str:
        hidden = sum(1 for each in branches if each.deleted and not each.active)
        shown = len(branches) - hidden
        words = [f"{plural(shown, 'branch')} of {self.session.path.name}"]
        if hidden:
            shows = "" if self._deleted else f", {self.key('tree.deleted')} shows"
            words.append(f"{hidden} deleted{shows}")
        if self.session.can_undo:
            words.append(f"{self.key('tree.undo')} undoes: {self.session.can_undo}")
        return " · ".join(words)

    def _draw_detail(self) -> None:
        row = self.row
        detail = self.query_one("#detail", LineView)
        if row is None:
            detail.show(Paragraphs())
        else:
            path = self.session.record.path_of(row.branch.name)
            error = self._errors.get(row.branch.name, "")
            detail.show(branch_detail(row, path, self._clock, error))

    @property
    def row(self) -> TreeRow | None:
        """The marked branch in the tree."""
        index = self.rows.index
        return None if index is None else self._tree[index]

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Show the newly selected branch."""
        if event.index < len(self._tree):
            self._marked = self._tree[event.index].branch.name
        self._draw_detail()

    # -- changing

    async def _change(self, call: Callable[[], object]) -> bool:
        """Change the session, tell a text that this returns, and draw; whether it succeeded."""
        done = await self.slow_work.run(lambda: (call(),))
        if done is not None:
            self._changed = True
            if isinstance(done[0], str):
                tell(self, done[0])
        if self.is_mounted:
            self.draw()
        return done is not None

    @on(RowList.Chosen)
    @work
    async def action_go(self) -> None:
        """Switch to the selected branch, and go back to the player."""
        row = self.row
        if row is None:
            return
        name = row.branch.name
        if row.branch.active or await self._change(lambda: self.session.switch(name)):
            self.leave()

    @work
    async def action_switch(self) -> None:
        """Switch to the marked branch."""
        row = self.row
        if row is not None:
            await self._change(lambda: self.session.switch(row.branch.name))

    @work(group=DIALOG)
    async def action_fork(self) -> None:
        """Ask for a step and an answer, and fork the selected branch there."""
        row = self.row
        if row is None or self._is_refused("a new branch"):
            return
        branch = row.branch
        start = self.session.pointer if branch.active else branch.at
        question = f"Fork {branch.name} at which step, 0 to {branch.length}?"
        step = await self.ask(question, str(start))
        if step is None:
            return
        if not step.strip().isdecimal() or int(step) > branch.length:
            has = f"{branch.name} has {plural(branch.length, 'answer')}"
            warn(self, f"{step!r} is not a step: {has}")
            return
        at = int(step)
        path = self.session.record.path_of(branch.name)
        recorded = f" It has {path[at]!r} there." if at < len(path) else ""
        question = f"Another answer at step {at}?{recorded}"
        answer = await self.app.push_screen_wait(AskTextScreen(question))
        if answer is not None and await self._change(lambda: self._forked(branch.name, at, answer)):
            self._mark(self.session.record.branch)

    def _is_refused(self, doing: str, kind: str = "") -> bool:
        """Whether it cannot be done, as the record is locked or the script unreadable; says so."""
        missing = self.session.missing
        if missing is not None:
            complain(self, missing)
        return missing is not None or self._is_locked(doing, kind)

    def _forked(self, name: str, at: int, answer: str) -> None:
        """Fork a branch; if that fails, the previous branch becomes active again."""
        switched = name != self.session.record.branch
        if switched:
            self.session.switch(name)
        try:
            self.session.fork(at, answer)
        except QuizlogError:
            if switched:
                self.session.undo()
            raise

    def _mark(self, name: str) -> None:
        self._marked = name
        self.draw()

    @work(group=DIALOG)
    async def action_rename(self) -> None:
        """Ask for a new name."""
        row = self.row
        if row is None or self._is_refused("another name of the branch"):
            return
        old = row.branch.name
        shown = old if visible(old) == old else ""
        new = await self.ask(f"New name for {old}?", shown)
        if new is not None and await self._change(lambda: self.session.rename(old, new)):
            self._mark(new)

    @work(group=DIALOG)
    async def action_note(self) -> None:
        """Ask for a note; an empty one removes the old one."""
        row = self.row
        if row is None or self._is_refused("a note on the branch", "notes"):
            return
        branch = row.branch
        old = branch.note or ""
        text = await self.app.push_screen_wait(AskTextScreen(f"Note on {branch.name}?", old))
        if text is not None and text != old:
            await self._change(lambda: self.session.note(branch.name, text))

    @work
    async def action_delete(self) -> None:
        """Hide the marked branch."""
        row = self.row
        if row is not None and not self._is_locked(f"deletion of {row.branch.name}"):
            name = row.branch.name
            await self._change(lambda: self._hidden(name))

    def _hidden(self, name: str) -> str:
        self.session.delete(name)
        return f"{name} is hidden, its answers stay; {self.key('tree.undo')} restores it"

    @work
    async def action_restore(self) -> None:
        """Restore the selected branch, or say how to select a deleted one."""
        row = self.row
        if self._is_locked("a deleted branch, restored"):
            return
        if row is None or not row.branch.deleted:
            tell(self, f"no deleted branch is selected; {self.key('tree.deleted')} shows them")
        else:
            await self._change(lambda: self.session.restore(row.branch.name))

    def action_deleted(self) -> None:
        """Show or hide deleted branches."""
        self._deleted = not self._deleted
        self.draw()
        if self._deleted and not any(row.branch.deleted for row in self._tree):
            tell(self, "no branch is deleted")

    @work
    async def action_undo(self) -> None:
        """Undo the last change."""
        again = f"; {self.key('tree.redo')} redoes it"
        await self._change(lambda: undo(self.session, again))

    @work
    async def action_redo(self) -> None:
        """Redo the change that was undone."""
        await self._change(lambda: redo(self.session))

    @work
    async def action_reload(self) -> None:
        """Read everything again."""
        await self._change(self.session.reload)

    def _look_for_changes(self) -> None:
        """Follow changes by other programs."""
        looks = self.is_active and not self.slow_work.running
        if looks and self._watch.touched() and self.session.outdated:
            self.action_reload()
            tell(self, "another program changed the record")

    def cancel(self) -> None:
        """Stop a slow script."""
        self._replayer.cancel()

    def leave(self) -> None:
        """Go back to the player."""
        if self.slow_work.running:
            self.cancel()
        self.dismiss(self._changed)
