"""The tree: golden text at two sizes, and every key; its lines and columns as they are drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from quizlog_tui.record.given_here import note_given
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.script.granted import grant, place_of
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.replay.uncached_runs import UncachedRuns
from quizlog_tui.session.reply import BranchInfo
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screens.tree import (
    TreeRow,
    TreeScreen,
    branch_detail,
    branch_errors,
    tree_grid,
    tree_rows,
)
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.processes import IS_UP, gives_up
from tests.support.screens import ask, asking, check, idle, settled, shows, sized

QUIZ = """
name = input("Your name? ")
for i in range(3):
    if input(f"Is {i} less than 2? ") != ("yes" if i < 2 else "no"):
        raise Exception("wrong")  #score = 0.5
print("Done.")
"""


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    path = Build(folder, build.dedent).record(QUIZ, "Ada", "yes", "yes")
    with Session(path, clock=lambda: "1970-01-01T00:00:00+00:00") as session:
        session.answer("no")
        session.fork(1, "no", "early")
        session.note("early", "a slip of the finger")
        session.switch("main")
        session.fork(3, "maybe", "late")
        session.fork(0, "Bob", "bob")
        session.switch("main")
    return path


async def tree(pilot: Pilot[Any], *keys: str) -> TreeScreen:
    await pilot.press(*keys)
    await idle(pilot)
    while not isinstance(pilot.app.screen, TreeScreen):
        await idle(pilot)
    return pilot.app.screen


async def opened(pilot: Pilot[Any]) -> TreeScreen:
    player = await settled(pilot)
    if player.state.shown.status != "success":
        await pilot.press("escape")
    return await tree(pilot, "b")


async def asked(pilot: Pilot[Any], key: str, *answers: str) -> TreeScreen:
    await ask(pilot, key, *answers)
    return await tree(pilot)


def names(screen: TreeScreen) -> list[str]:
    return [row.branch.name for row in screen._tree]


def marked(screen: TreeScreen) -> str | None:
    return screen.row.branch.name if screen.row else None


@sized()
async def test_golden_screens(size: tuple[int, int], record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await tree(pilot, "j", "j")
        check("tree", size, screen_text(app))


async def test_enter_switches_and_goes_back_to_the_player(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        screen = await opened(pilot)
        assert names(screen) == ["main", "bob", "early", "late"]
        assert marked(screen) == "main"
        await pilot.press("j", "enter")
        player = await settled(pilot)
        assert player.session.record.branch == "bob" and player.state.shown.inputs[0] == "Bob"
    assert yaml.safe_load(record.read_text())["branch"] == "bob"


async def test_looking_changes_nothing(record: Path) -> None:
    before = record.read_bytes()
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        screen = await opened(pilot)
        await tree(pilot, "j", "G", "k", "g", "tab", "tab")
        assert marked(screen) == "main"
        await pilot.press("enter")
        await settled(pilot)
    assert record.read_bytes() == before


async def test_switch_rename_note_and_undo_stay_in_the_tree(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await opened(pilot)
        await tree(pilot, "j", "space")
        assert screen.session.record.branch == "bob"
        await asked(pilot, "r", "robert")
        assert marked(screen) == "robert" == screen.session.record.branch
        await asked(pilot, "a", "[/nope] mine")
        await shows(pilot, "✎ [/nope] mine")
        await tree(pilot, "z", "z")
        assert (marked(screen), screen.session.record.branch) == ("bob", "bob")
        await shows(pilot, "undone: renaming of bob")
        await tree(pilot, "z")
        assert screen.session.record.branch == "main"
        await tree(pilot, "Z", "Z")
        assert "robert" in names(screen)
        await asked(pilot, "r", "late")
        await shows(pilot, "there is a branch 'late' already")
        await pilot.press("q")
        player = await settled(pilot)
        assert player.session.record.branch == "robert" and player.state.shown.inputs[0] == "Bob"


async def test_delete_hides_and_undo_or_restore_brings_back(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        screen = await opened(pilot)
        await tree(pilot, "d")
        await shows(pilot, "'main' is the active branch")
        await tree(pilot, "j", "d")
        await shows(pilot, "bob is hidden, its answers stay")
        assert names(screen) == ["main", "early", "late"]
        await tree(pilot, "z")
        assert names(screen) == ["main", "bob", "early", "late"] and marked(screen) == "bob"
        await tree(pilot, "d", "U")
        await shows(pilot, "no deleted branch is selected")
        await tree(pilot, "D")
        assert marked(screen) == "bob"
        await shows(pilot, "␡ deleted")
        await tree(pilot, "U", "D")
        assert names(screen) == ["main", "bob", "early", "late"]
        await tree(pilot, "D")
        await shows(pilot, "no branch is deleted")
    assert "deleted" not in record.read_text()


async def test_a_fork_leaves_the_marked_branch(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        screen = await opened(pilot)
        await tree(pilot, "j")
        await asked(pilot, "f", "9")
        await shows(pilot, "bob has 1 answer")
        await asked(pilot, "f", "1", "no")
        assert marked(screen) == "fork-1" == screen.session.record.branch
        assert list(screen.session.record.inputs) == ["Bob", "no"]
        await tree(pilot, "g")
        await asked(pilot, "f", "4", "more")
        await shows(pilot, "the script asks nothing at step 4")
        assert screen.session.record.branch == "fork-1"
        await pilot.press("f")
        await asking(pilot)
        await tree(pilot, "escape")
    data = yaml.safe_load(record.read_text())
    assert data["branches"]["fork-1"]["parent"] == "bob"


async def test_what_others_wrote_is_followed(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        screen = await opened(pilot)
        with Session(record) as other:
            other.rename("late", "other")
        await shows(pilot, "another program changed the record")
        while "other" not in names(screen):
            await pilot.pause()
        await tree(pilot, "R")
        assert names(screen) == ["main", "bob", "early", "other"]


async def test_a_slow_switch_is_stopped_by_escape(build: Build) -> None:
    path = build.record("if input('go? ') == 'y':\n    while True: pass\n")
    data = yaml.safe_load(path.read_text())
    data["branches"] = {"slow": {"parent": "main", "at": 0, "inputs": ["y"]}}
    path.write_text(yaml.safe_dump(data))
    app = QuizlogApp(path)
    async with app.run_test(notifications=True) as pilot:
        screen = await opened(pilot)
        await pilot.press("j", "space")
        await shows(pilot, "Escape stops it")
        await tree(pilot, "escape")
        assert isinstance(app.screen, TreeScreen) and screen.session.record.branch == "main"


EVIL = "[/nope] [@click=app.quit]go[/] \x1b]0;owned\x07 \x9b31m \u202e \u2028 \x85"


async def test_no_name_note_or_answer_is_markup_or_a_control_sequence(build: Build) -> None:
    path = build.record("input('a? ')\ninput('b? ')\n", EVIL)
    data = yaml.safe_load(path.read_text())
    branch = {"parent": "main", "at": 0, "inputs": [EVIL, EVIL], "note": EVIL, "created": EVIL}
    data["branches"] = {EVIL: branch}
    path.write_text(yaml.safe_dump(data))
    app = QuizlogApp(path)
    async with app.run_test(size=(180, 40), notifications=True) as pilot:
        await opened(pilot)
        await tree(pilot, "j")
        text = screen_text(app)
        for key in ("r", "a", "f"):
            await pilot.press(key)
            await asking(pilot)
            text += screen_text(app)
            await tree(pilot, "escape")
        await ask(pilot, "f", "0")
        await asking(pilot)
        text += screen_text(app)
        await tree(pilot, "escape")
        await tree(pilot, "d")
        text += screen_text(app)
    assert text.count("[/nope] [@click=app.quit]go[/]") > 6
    assert not set(text) & set("\x1b\x07\x9b\u202e\u2028\x85")


async def test_errors_stand_at_their_branches_and_beside_them_and_nothing_is_written(
    record: Path,
) -> None:
    before = record.read_bytes()
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=(60, 20)) as pilot:
        await opened(pilot)
        await shows(pilot, "✗ wrong │")
        screen = await tree(pilot, "j", "j")
        assert (screen._marked, screen.session.record.branch) == ("early", "main")
        text = screen_text(app)
        assert text.count("✗ wrong") == 3  # below two rows, and beside the selected one
    assert record.read_bytes() == before


async def test_errors_are_those_of_the_branches_after_a_change(record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test() as pilot:
        screen = await opened(pilot)
        assert {*screen._errors} == {"early", "late"}
        await tree(pilot, "G")
        await asked(pilot, "r", "latest")
        assert {*screen._errors} == {"early", "latest"}


async def test_what_is_granted_to_a_script_is_not_used_to_look_at_its_branches(
    build: Build,
) -> None:
    path = build.record(f"#quizlog: real-files\n{QUIZ}", "Ada", "no")
    with Session(path) as session:
        session.fork(1, "maybe", "other")
        grant(session.source, ["real-files"])
        note_given(path, session.record, place_of(session.source.path))
    app = QuizlogApp(path, clock=FrozenClock())
    async with app.run_test() as pilot:
        screen = await opened(pilot)
        assert screen.session.source.allowed and not screen._errors


def test_the_errors_of_branches_can_be_given_up(build: Build) -> None:
    path = build.record(f"input('a? ')\n{IS_UP}\nwhile True: pass\n", "1")
    record, runs = RecordFile(path).read(), UncachedRuns()
    source = read_source(build.folder / "quiz.py")
    assert gives_up(lambda: branch_errors(record, source, ["main"], runs), runs.give_up)


def branch(
    name: str, parent: str | None = None, at: int = 0, *, deleted: str | None = None
) -> BranchInfo:
    return BranchInfo(name, name == "main", parent, at, at + 2, "error", 0.5, None, None, deleted)


def labels(*branches: BranchInfo, deleted: bool = False) -> list[str]:
    return [row.label for row in tree_rows(branches, deleted=deleted)]


FAMILY = (
    branch("main"),
    branch("late", "main", 3),
    branch("early", "main", 1),
    branch("child", "early", 2),
    branch("last", "late", 4),
)


def test_children_hang_below_their_parents_those_that_leave_earlier_first() -> None:
    assert labels(*FAMILY) == [
        "* main",
        "├─early",
        "│ └─child",
        "└─late",
        "  └─last",
    ]


def test_what_left_a_deleted_branch_hangs_from_the_nearest_one_shown() -> None:
    hidden = [replace(each, deleted="now") if each.name == "early" else each for each in FAMILY]
    rows = {row.branch.name: row for row in tree_rows(hidden)}
    assert "early" not in rows
    assert (rows["child"].under, rows["child"].at) == ("main", 1)
    assert labels(*hidden, deleted=True) == labels(*FAMILY)


def test_a_branch_that_left_before_its_parent_had_answers_hangs_from_the_one_before() -> None:
    sister = branch("sister", "early", 1)
    rows = {row.branch.name: row for row in tree_rows([*FAMILY, sister])}
    assert (rows["sister"].under, rows["sister"].at) == ("main", 1)


def test_names_that_differ_in_what_shows_nothing_are_told_apart() -> None:
    names = ["main", "ma\u200cin", "main\u3164", "main\ufe0f", "main\U000e0100", "✔", "✔\ufe0f"]
    rows = tree_rows([branch(name, None if name == "main" else "main", 1) for name in names])
    shown = {row.branch.name: row.name for row in rows}
    assert list(shown.values()) == [
        "main", r"ma\u200cin", r"main\u3164", r"main\ufe0f", r"main\U000e0100", "✔", r"✔\ufe0f"
    ]  # fmt: skip
    grid = tree_grid(rows, FrozenClock())
    grid.starts(100)
    assert [shown[row.branch.name] in grid[at].text for at, row in enumerate(rows)] == [True] * 7
    assert branch_detail(rows[6], [], FrozenClock())[0].text.startswith(r"✔\ufe0f ·")


def test_a_deleted_active_branch_is_shown() -> None:
    assert labels(replace(FAMILY[0], deleted="now")) == ["* main"]


@st.composite
def families(draw: st.DrawFn) -> list[BranchInfo]:
    found = [branch("main")]
    for number in range(draw(st.integers(0, 30))):
        parent = draw(st.sampled_from(found)).name
        hidden = "now" if draw(st.booleans()) else None
        found.append(branch(f"b{number}", parent, draw(st.integers(0, 5)), deleted=hidden))
    return draw(st.permutations(found))


@given(families(), st.booleans())
def test_every_branch_shown_is_there_once_below_what_it_hangs_from(
    found: list[BranchInfo], deleted: bool
) -> None:
    rows = tree_rows(found, deleted=deleted)
    seen: set[str | None] = {None}
    for row in rows:
        assert row.under in seen and row.at <= row.branch.at
        seen.add(row.branch.name)
    assert len(rows) == sum(1 for each in found if deleted or each.active or not each.deleted)


def test_two_thousand_branches_also_in_one_long_line() -> None:
    line = [
        branch("main"),
        *(branch(f"b{n}", f"b{n - 1}" if n else "main", n) for n in range(2000)),
    ]
    fan = [branch("main"), *(branch(f"b{n}", "main", n) for n in range(2000))]
    for family in (line, fan):
        rows = tree_rows(family)
        grid = tree_grid(rows, FrozenClock())
        grid.starts(56)
        assert len(rows) == 2001 and max(len(row.lead) for row in rows) <= 24
        assert all(grid[index].text for index in range(len(grid)))
    assert tree_rows(line)[-1].lead.startswith("⋯")


def rows(width: int, *branches: BranchInfo, deleted: bool = False) -> list[str]:
    grid = tree_grid(tree_rows(branches, deleted=deleted), FrozenClock())
    grid.starts(width)
    return [grid[index].text.rstrip() for index in range(len(grid))]


def test_a_row_says_where_it_left_how_long_how_it_ended_and_the_note() -> None:
    other = replace(branch("other", "main", 1), note="a try", created="2026-01-01T00:00:00+00:00")
    gone = branch("gone", "main", 2, deleted="2026-01-01T00:00:00+00:00")
    assert rows(90, branch("main"), other, gone, deleted=True) == [
        "* main                       2  ✗ error 0.5",
        "├─other       step 1         3  ✗ error 0.5    just now    a try",
        "└─gone        step 2         4  ␡ deleted",
    ]


def test_a_remark_that_its_column_cuts_stands_below_the_row_and_so_does_a_second_one() -> None:
    noted = replace(branch("noted", "main", 1), note="a try that is told at length")
    grid = tree_grid(
        tree_rows([branch("main"), noted, branch("last", "main", 2)]),
        FrozenClock(),
        {"noted": "no\nlamp", "last": "dark"},
    )
    assert list(grid.starts(80)) == [0, 1, 4, 5]
    assert grid[1].text.split("\n")[1:] == [
        f"{'    ✎ a try that is told at length':80}",
        f"{'    ✗ no⏎lamp':80}",
    ]
    assert grid[2].text.rstrip().endswith("✗ error 0.5                dark")
    assert list(grid.starts(40)) == [0, 1, 4, 6]  # there is no such column
    assert list(grid.starts(120)) == [0, 1, 3, 4]
    assert "told at length" in grid[1].text.split("\n")[0]
    assert "a try that is told at length no⏎lamp" in grid.text(1)  # as a search reads it


def detail(row: TreeRow, *path: str) -> list[str]:
    found = branch_detail(row, path, FrozenClock())
    assert len(found.starts(60)) == len(found) + 1
    return [found[index].text for index in range(len(found))]


def test_the_detail_has_the_note_and_marks_where_the_branch_left() -> None:
    other = replace(branch("other", "main", 1), note="two\nlines", deleted="yesterday")
    assert detail(tree_rows([branch("main"), other], deleted=True)[1], "a", "", "c") == [
        "other · ✗ error, score 0.5",
        "3 answers, leaves main at step 1",
        "deleted yesterday; U restores it",
        "✎ two\nlines",
        "",
        "   0 a",
        "  ┬ leaves main",
        "   1 (empty)",
        "   2 c",
    ]
    assert detail(tree_rows([branch("main")])[0], "a", "b")[-2:] == ["   0 a", "   1 b"]


def test_foreign_text_is_made_visible() -> None:
    evil = "\x1b]0;x\x07\x9b31m\u202e"
    one = replace(branch("main"), name=evil, active=True, note=evil, created=evil, deleted=evil)
    text = "".join(rows(120, one, deleted=True)) + "".join(detail(tree_rows([one])[0], evil))
    assert not set(text) & set(evil[:1] + "\x07\x9b\u202e")
