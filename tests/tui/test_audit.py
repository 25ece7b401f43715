"""Audit mode on the screens: whatever one presses, no file changes, and each refusal says so."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest
from textual.pilot import Pilot

from quizlog_tui.record.summary import Summary
from quizlog_tui.session.audit import Audit
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.keys.actions import ACTIONS, find_action
from quizlog_tui.tui.keys.keymap import effective
from quizlog_tui.tui.keys.palette import ActionCommands
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.screens.help import HelpScreen
from quizlog_tui.tui.screens.library import LibraryScreen
from quizlog_tui.tui.screens.tree import TreeScreen
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.shelf import record_line
from quizlog_tui.tui.widgets.footer import KeyLine
from quizlog_tui.tui.widgets.line_view import LineView
from tests.support.build import Build
from tests.support.long_runs import few
from tests.support.player_quizzes import QUIZ
from tests.support.screens import SIZE, check, found, idle, opened, playing, press, settled, shows

AUDIT = Audit("--read-only")
WIDE = (200, 60)
LOCKED = {
    "player.answer": "an answer",
    "player.rewind": "rewind to step 1",
    "player.redo_tail": "rewind to step 2",
    "player.fork": "another answer, on a branch of its own",
    "player.amend": "another answer in place of the recorded one",
    "player.note": "a note or verdict at this step",
    "player.ask": "what models decide",
    "player.episode": "an episode of this branch",
    "player.editor": "the script, in your editor",
    "app.export": "an export",
    "library.new": "a new record",
    "library.editor": "the record, in your editor",
    "tree.fork": "a new branch",
    "tree.rename": "another name of the branch",
    "tree.note": "a note on the branch",
    "tree.delete": "deletion of",
}


@pytest.fixture
def record(build: Build, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record with branches, one of them deleted, and an editor that would write."""
    folder = build.folder / "audit"
    folder.mkdir()
    path = Build(folder, build.dedent).record(QUIZ, "Ada", "28")
    with Session(path) as session:
        session.fork(1, "29", "other")
        session.fork(1, "30", "gone")
        session.switch("main")
        session.delete("gone")
        session.comment(1, "well", "right", "Ada")
        session.rewind(1)
    editor = build.outside / "editor"
    editor.write_text('#!/bin/sh\nfor last; do :; done\necho changed >> "$last"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.setenv(name, str(editor))
    monkeypatch.setenv("PAGER", "true")
    monkeypatch.chdir(folder)
    return path


def content(folder: Path) -> Mapping[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


async def try_everything(pilot: Pilot[None], scopes: list[str], begin: list[str]) -> None:
    """Press the keys of all actions, each with what agrees to what it asks, then come back."""
    home = type(pilot.app.screen)
    for action in [action for scope in scopes for action in ACTIONS[scope]]:
        if action.id in ("app.quit", "player.library") or action.id.endswith(".leave"):
            continue
        await pilot.press(*begin)
        await idle(pilot)
        before = (pilot.app.screen, pilot.app.focused)
        await pilot.press(effective(action, {})[0])
        await idle(pilot)
        if before != (pilot.app.screen, pilot.app.focused):  # something is asked
            for key in ("x", "enter", "enter", "ctrl+s", "enter"):
                await pilot.press(key)
                await idle(pilot)
        for key in ("escape", "q") * 6:
            leaves = home is LibraryScreen or key == "q"
            if type(pilot.app.screen) is home and leaves:
                break
            await pilot.press(key)
            await idle(pilot)
        assert type(pilot.app.screen) is home, f"{action.id}\n{screen_text(pilot.app)}"


WAYS = {
    "player": ["escape"],
    "app": ["escape"],
    "tree": ["escape", "b"],
    "sweep": ["escape", "s"],
    "notes": ["escape", "F"],
    "compare": ["escape", "c", "enter"],
}
"""The keys that lead from the player to where the actions of a scope work."""


@pytest.mark.parametrize("scope", few(WAYS, "player", "tree"))
async def test_no_key_of_the_player_changes_a_file(scope: str, record: Path) -> None:
    before = content(record.parent)
    async with playing(record, clock=FrozenClock(), audit=AUDIT, notifications=True) as pilot:
        await try_everything(pilot, [scope], WAYS[scope])
    assert content(record.parent) == before


async def test_no_key_of_the_library_changes_a_file(record: Path) -> None:
    before = content(record.parent)
    app = QuizlogApp(record.parent, clock=FrozenClock(), audit=AUDIT)
    async with app.run_test(notifications=True) as pilot:
        await opened(pilot, LibraryScreen)
        await try_everything(pilot, ["library", "app"], [])
    assert content(record.parent) == before


async def says_that_it_is_locked(pilot: Pilot[None], scope: str) -> None:
    """Press each key of a scope that would write."""
    for action in (action for action in ACTIONS[scope] if action.id in LOCKED):
        await pilot.press(action.keys.split(",")[0])
        await shows(pilot, f"locked; this would write: {LOCKED[action.id]}")
        await shows(pilot, "--read-only")
        pilot.app.clear_notifications()


async def test_a_key_that_would_write_says_what_and_that_it_is_locked(record: Path) -> None:
    async with QuizlogApp(record.parent, audit=AUDIT).run_test(notifications=True) as pilot:
        await opened(pilot, LibraryScreen)
        await says_that_it_is_locked(pilot, "library")
    async with QuizlogApp(record, audit=AUDIT).run_test(notifications=True) as pilot:
        await settled(pilot)
        await says_that_it_is_locked(pilot, "player")
        await says_that_it_is_locked(pilot, "app")
        await pilot.press("b")
        await opened(pilot, TreeScreen)
        await pilot.press("g", "j")
        await says_that_it_is_locked(pilot, "tree")


async def test_no_input_takes_the_focus_in_audit_mode(record: Path) -> None:
    async with playing(record, audit=AUDIT) as pilot:
        player = await settled(pilot)
        for key in ("i", "enter", "f", "A", "ctrl+t", "tab", "tab", "tab", "tab", "tab"):
            await press(pilot, key)
            assert not player.panes.prompt.has_focus_within, key
        await shows(pilot, "[locked]")


async def test_notes_can_be_allowed(record: Path) -> None:
    app = QuizlogApp(record, audit=Audit("--read-only", frozenset({"notes"})))
    app.config = type(app.config)(author="Ada")
    with Session(record) as session:
        before = session.record
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("a")
        await idle(pilot)
        await pilot.press(*"odd", "ctrl+s")
        await settled(pilot)
    with Session(record) as session:
        assert [each.text for each in session.feedback] == ["well", "odd"]
        same = {name: value for name, value in session.record.extras.items() if name != "feedback"}
        assert same == {n: value for n, value in before.extras.items() if n != "feedback"}
        assert session.record.inputs == before.inputs


async def test_another_branch_is_looked_at_without_writing(record: Path) -> None:
    before = content(record.parent)
    async with playing(record, audit=AUDIT) as pilot:
        await pilot.press("b")
        await opened(pilot, TreeScreen)
        await pilot.press("g", "j", "enter")
        await settled(pilot)
        await shows(pilot, "branch other")
    assert content(record.parent) == before


async def test_the_palette_switches_as_the_tree_does(record: Path) -> None:
    before = content(record.parent)
    async with playing(record, audit=AUDIT, size=(100, 30)) as pilot:
        await press(pilot, "escape")
        await pilot.press("ctrl+p", *"other: switch")
        await found(pilot, "other")
        await pilot.press("enter")
        await settled(pilot)
        await shows(pilot, "branch other")
    assert content(record.parent) == before


async def offers_nothing_refused(pilot: Pilot[None], scope: str, audit: Audit) -> None:
    """Hold footer, palette and help of the screen shown against what audit mode refuses."""
    actions = [*ACTIONS[scope], *ACTIONS["app"]]
    refused = {action.id for action in actions if action.is_refused(audit)}
    assert refused and (f"{scope}.note" in refused) == (not audit.allowed and scope != "library")
    footer = {binding.id for binding, _ in pilot.app.screen.query_one(KeyLine)._shown}
    assert footer and not footer & refused
    assert not {each.id for each in ActionCommands(pilot.app.screen)._actions()} & refused
    await pilot.press("question_mark")
    shown = await opened(pilot, HelpScreen)
    document = shown.query_one(LineView).document
    rows = [document.text(at) for at in range(len(document))]
    for action in actions:
        row = next(row for row in rows if action.help in row)
        assert row.endswith("(locked)") == (action.id in refused)
    await pilot.press("question_mark")


@pytest.mark.parametrize("allowed", [(), ("notes",)])
async def test_footer_palette_and_help_offer_no_key_that_is_refused(
    allowed: tuple[str, ...], record: Path
) -> None:
    audit = Audit("--read-only", frozenset(allowed))
    app = QuizlogApp(record.parent, audit=audit)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, LibraryScreen)
        await shows(pilot, "record.yaml")
        await idle(pilot)
        await offers_nothing_refused(pilot, "library", audit)
        await opened(pilot, LibraryScreen)
        await pilot.press("enter")
        await settled(pilot)
        await offers_nothing_refused(pilot, "player", audit)
        await settled(pilot)
        await pilot.press("b")
        await opened(pilot, TreeScreen)
        await offers_nothing_refused(pilot, "tree", audit)


@pytest.mark.parametrize("name", sorted(LOCKED))
def test_what_is_refused_is_marked_as_writing(name: str) -> None:
    action = find_action(name)
    assert action is not None and action.is_refused(AUDIT)


async def test_a_record_that_may_not_be_written_opens_locked(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode, **more: path != record and allowed(path, mode, **more)
    )
    async with playing(record, notifications=True) as pilot:
        await shows(pilot, "[locked]")
        await pilot.press("r")
        await shows(pilot, "you may not write this record")


async def test_golden_audit(record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock(), audit=AUDIT)
    async with app.run_test(size=SIZE) as pilot:
        assert isinstance(await settled(pilot), PlayerScreen)
        check("audit", SIZE, screen_text(app))


@pytest.mark.parametrize("allowed", [(), ("notes",)])
async def test_no_text_offers_a_key_that_is_refused(allowed: tuple[str, ...], build: Build) -> None:
    audit = Audit("--read-only", frozenset(allowed))
    async with playing(build.record('input("n? ")', "1"), audit=audit, size=WIDE) as pilot:
        await shows(pilot, "Finished after 1 answer. Step back with")
        assert "fork with" not in screen_text(pilot.app)
        await pilot.press("F")
        await shows(pilot, "No notes yet.")
        assert ("writes a note" in screen_text(pilot.app)) == bool(allowed)
    broken = Summary(build.folder / "broken.yaml", problem="odd")
    assert record_line(broken, build.folder, lambda name: "") == "broken.yaml: odd"


@pytest.mark.parametrize(("key", "doing"), [("d", "deletion of main"), ("U", "a deleted branch")])
async def test_audit_mode_refuses_before_anything_else_does(
    key: str, doing: str, record: Path
) -> None:
    async with playing(record, audit=AUDIT, notifications=True) as pilot:
        await pilot.press("b")
        await opened(pilot, TreeScreen)
        await pilot.press(key)
        await shows(pilot, f"locked; this would write: {doing}")
