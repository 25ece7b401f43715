"""The player proves its record beside what one does, and its verdict stands as long as it holds."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from types import ModuleType
from typing import Any

import pytest
from textual.pilot import Pilot

from quizlog_tui.episodes.build import make
from quizlog_tui.errors import CancelledError, QuizlogError
from quizlog_tui.proof import beside, drift, verify
from quizlog_tui.session.audit import Audit
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.screens.compare import CompareScreen
from quizlog_tui.tui.screens.dialogs import AskScreen, ChooseScreen
from quizlog_tui.tui.screens.library import LibraryScreen
from quizlog_tui.tui.screens.proof import DriftScreen, ProofScreen
from quizlog_tui.tui.widgets.line_view import LineView
from tests.support.build import Build
from tests.support.player_quizzes import EVIL
from tests.support.processes import IS_UP, below, is_up
from tests.support.screens import (
    SIZE,
    SIZES,
    found,
    idle,
    opened,
    patiently,
    playing,
    press,
    screen_text,
    settled,
    shows,
)
from tests.support.terminal import quizlog
from tests.support.tmux import Tmux

STEADY = """
    print("hello")
    name = input("name? ")
    if name == "5":
        print("five it is")
    else:
        print("not five")
    input("more? ")
"""
FRAGILE = """
    import os
    name = input("name? ")
    print("inode", os.stat(__file__).st_ino)
    input("more? ")
"""
UNVERIFIABLE = """
    import os
    name = input("name? ")
    print("load", len(os.getloadavg()))
    input("more? ")
"""
ENDLESS = f"{IS_UP}\nwhile True: pass\n"


def record_of(build: Build, source: str = STEADY) -> Path:
    """Main with two answers, and another branch from the first on."""
    path = build.record(source)
    with Session(path) as session:
        session.answer("4")
        session.fork(0, "5", "other")
        session.switch("main")
    return path


@pytest.fixture
def record(build: Build) -> Path:
    return record_of(build)


def script_of(record: Path) -> Path:
    return record.parent / "quiz.py"


def edit(record: Path, old: str, new: str) -> None:
    """Edit the record's script, as an editor beside the screen does."""
    script = script_of(record)
    text = script.read_text()
    assert old in text
    script.write_text(text.replace(old, new))


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Every proof waits before it judges until this is set."""
    go_on, judge = Event(), verify.verify_branches

    def judged(*given: Any, **more: Any) -> Any:
        assert go_on.wait(60)
        return judge(*given, **more)

    monkeypatch.setattr(verify, "verify_branches", judged)
    yield go_on
    go_on.set()


async def proved(pilot: Pilot[Any]) -> ProofScreen:
    """Prove the record, and wait until its verdict is shown."""
    await press(pilot, "escape", "1")
    await pilot.press("P")
    return await opened(pilot, ProofScreen)


def proof_text(screen: ProofScreen) -> str:
    """All that the screen of a verdict shows, also below its lower edge."""
    document = screen.query_one(LineView).document
    return " ".join(" ".join(document[at].text for at in range(len(document))).split())


@pytest.mark.parametrize("size", [*SIZES, SIZE], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(
    ("source", "edits", "top", "says"),
    [
        (STEADY, ("", ""), "✓ reproducible", "Replayed to the end: 2 branches, main with 1 answer"),
        (
            FRAGILE,
            ("", ""),
            "~ fragile: file-metadata at step 1 of main",
            "here (left, <) and in another world (right, >)",
        ),
        (
            STEADY,
            ("more?", "what else?"),
            "✗ diverges at step 1 of main: prompt",
            "recorded (left, <) and replayed (right, >)",
        ),
        (UNVERIFIABLE, ("", ""), "? unverifiable: it reads the system", "cannot be verified"),
    ],
    ids=["reproducible", "fragile", "diverges", "unverifiable"],
)
async def test_a_verdict_stands_at_the_top_with_its_cause(
    source: str,
    edits: tuple[str, str],
    top: str,
    says: str,
    size: tuple[int, int],
    build: Build,
) -> None:
    path = record_of(build, source)
    edit(path, *edits)
    before = path.read_bytes()
    async with playing(path, size=size) as pilot:
        screen = await proved(pilot)
        assert says in proof_text(screen)
        assert "In a shell: quizlog verify record.yaml" in proof_text(screen)
        assert screen_text(pilot.app).lstrip().startswith(top)
        await press(pilot, "escape")
        assert screen_text(pilot.app).lstrip().startswith(top)
        await pilot.press("P")  # again: how it was found
        await opened(pilot, ProofScreen)
        await press(pilot, "P")
    assert path.read_bytes() == before


async def test_both_sides_of_a_difference_have_their_words_marked(record: Path) -> None:
    edit(record, "more?", "what else?")
    async with playing(record, size=(120, 40)) as pilot:
        await proved(pilot)
        await shows(pilot, "1 «more»? ≠ 1 «what else»?")


@pytest.mark.parametrize("key", ["P", "D"])
async def test_a_text_that_the_record_did_not_keep_is_not_shown_as_none(
    key: str, build: Build
) -> None:
    data = build.folder / "data.txt"
    data.write_text("1")
    source = "if input('a? ') == '5': print(open('data.txt').read())\ninput('b? ')\n"
    path = record_of(build, source)
    data.write_text("2")
    async with playing(path, size=(160, 40)) as pilot:
        await press(pilot, "escape")
        await pilot.press(key)
        await shows(pilot, "(not kept, only that it differs)")
        assert "nothing" not in screen_text(pilot.app)


@pytest.mark.parametrize("key", ["P", "D"])
async def test_foreign_text_is_made_visible(key: str, build: Build) -> None:
    path = build.record(f"name = input('name? ')\nprint({EVIL!r})\ninput({EVIL!r})\n")
    with Session(path) as session:
        session.answer("4")
        session.fork(0, EVIL, "ev\u202eil")
        session.switch("main")
    edit(path, "print(", "print('other' + ")
    async with playing(path, size=(120, 40), notifications=True) as pilot:
        await press(pilot, "escape", "1")
        await pilot.press(key)
        await shows(pilot, "recorded (left, <)")
        text = screen_text(pilot.app)
        await press(pilot, "q")
        text += screen_text(pilot.app)
    assert "[/nope]" in text and not set(text) & set("\x1b\x07\x9b\u202e\u2028\x85\x00")


async def test_enter_goes_to_the_step_that_differs(build: Build) -> None:
    path = record_of(build, FRAGILE)
    async with playing(path) as pilot:
        await press(pilot, "escape", "0")
        await proved(pilot)
        assert (await press(pilot, "enter")).state.step == 1


async def test_a_step_of_another_branch_is_looked_at_without_a_switch(record: Path) -> None:
    edit(record, "five it is", "5 it is")
    before = record.read_bytes()
    async with playing(record) as pilot:
        await proved(pilot)
        await shows(pilot, "✗ diverges at step 1 of other: print")
        await pilot.press("enter")
        dialog = await opened(pilot, ChooseScreen)
        await shows(pilot, "Step 1 is on branch other.")
        await pilot.press("j", "enter")
        await opened(pilot, CompareScreen)
        screen = await press(pilot, "escape")
        assert screen.session.record.branch == "main" and dialog.is_attached is False
        assert record.read_bytes() == before
        await pilot.press("P")
        await opened(pilot, ProofScreen)
        await pilot.press("enter")
        await opened(pilot, ChooseScreen)
        screen = await press(pilot, "enter")
        assert (screen.session.record.branch, screen.state.step) == ("other", 1)


async def test_a_record_can_be_proved_in_audit_mode(record: Path) -> None:
    before = {path: path.read_bytes() for path in record.parent.iterdir()}
    async with playing(record, audit=Audit("--read-only")) as pilot:
        await proved(pilot)
        await press(pilot, "escape")
        await shows(pilot, "[locked] ✓ reproducible")
        await pilot.press("D")
        await opened(pilot, DriftScreen)
    assert {path: path.read_bytes() for path in record.parent.iterdir()} == before


async def test_without_its_script_nothing_is_proved(record: Path) -> None:
    script_of(record).unlink()
    async with playing(record, notifications=True) as pilot:
        for key in ("P", "D"):
            screen = await press(pilot, "escape", "1", key)
            assert not screen.proving.running
            await shows(pilot, "the script does not exist")
            pilot.app.clear_notifications()


async def test_a_script_that_has_gone_meanwhile_is_named(record: Path) -> None:
    async with playing(record, notifications=True) as pilot:
        await press(pilot, "escape")
        script_of(record).unlink()
        await pilot.press("P")
        await shows(pilot, "the script does not exist")


async def until(pilot: Pilot[Any], condition: Any) -> None:
    for _ in patiently():
        if condition():
            return
        await pilot.pause()
    raise AssertionError(screen_text(pilot.app))


def checked(screen: PlayerScreen) -> bool:
    """Whether the verdict was found to hold for the files as they are now."""
    path, watch = screen.session.path, screen.proving.watch
    return watch.seen == watch.known[path].about.traces(path)


async def test_one_goes_on_stepping_beside_a_proof_and_escape_stops_it(record: Path) -> None:
    async with playing(record, notifications=True) as pilot:
        screen = await press(pilot, "escape")
        script_of(record).write_text(ENDLESS)
        await pilot.press("P")
        await shows(pilot, "… verifying; Escape stops it")
        await until(pilot, is_up)
        await pilot.press("h")
        await shows(pilot, "step 0 of 1")
        await pilot.press("l", "S", "S")
        await shows(pilot, "step 1 of 1")
        await pilot.press("P")
        await shows(pilot, "a proof is under way; Escape stops it")
        assert screen.proving.running
        await pilot.press("escape")
        await shows(pilot, "stopped; nothing was found out")
        await until(pilot, lambda: not is_up() and not screen.proving.running)
        assert "verifying" not in screen_text(pilot.app).splitlines()[0]
        assert "unverifiable" not in screen_text(pilot.app)


@pytest.mark.parametrize("key", ["P", "D"])
async def test_leaving_the_screen_ends_what_runs(key: str, record: Path) -> None:
    async with playing(record) as pilot:
        await press(pilot, "escape")
        script_of(record).write_text(ENDLESS)
        await pilot.press(key)
        await until(pilot, is_up)
        await pilot.press("q")
    for _ in patiently():
        if not below(os.getpid()):
            return
    raise AssertionError("a process is left")


@pytest.mark.parametrize(
    ("key", "module", "name"), [("D", drift, "drift_report"), ("E", make, "make")], ids=["D", "E"]
)
async def test_leaving_just_before_the_first_replay_is_not_too_early(
    key: str, module: ModuleType, name: str, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, raised = Event(), Event(), list[type[BaseException]]()
    call = getattr(module, name)

    def late(*given: Any, **more: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        try:
            return call(*given, **more)
        except QuizlogError as error:
            raised.append(type(error))
            raise

    monkeypatch.setattr(module, name, late)
    async with playing(record) as pilot:
        await press(pilot, "escape")
        script_of(record).write_text(ENDLESS)
        await pilot.press(key)
        if key == "E":
            await opened(pilot, AskScreen)
            await pilot.press("enter")
        await until(pilot, begun.is_set)
        await pilot.press("q")
    go_on.set()
    for _ in patiently():
        if raised:
            break
    assert raised == [CancelledError]


async def test_a_drift_is_stopped_by_escape_too(record: Path) -> None:
    async with playing(record, notifications=True) as pilot:
        screen = await press(pilot, "escape")
        script_of(record).write_text(ENDLESS)
        await pilot.press("D")
        await shows(pilot, "… comparing with the script; Escape stops it")
        await until(pilot, is_up)
        await pilot.press("escape")
        await shows(pilot, "stopped; nothing was found out")
        await until(pilot, lambda: not is_up() and not screen.proving.running)


async def test_it_tells_which_branches_are_judged(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, go_on = Event(), Event()

    def judged(*given: Any, progress: Any, **more: Any) -> Any:
        progress("main-2", 3, 8)
        told.set()
        assert go_on.wait(60)
        raise AssertionError  # it is left before

    monkeypatch.setattr(verify, "verify_branches", judged)
    async with playing(record) as pilot:
        await press(pilot, "escape")
        await pilot.press("P")
        await shows(pilot, "… verifying: branch main-2, 3 of 8; Escape stops it · ● waiting")
    assert told.is_set()
    go_on.set()


async def test_a_verdict_on_what_has_changed_meanwhile_is_dropped(
    record: Path, held: Event
) -> None:
    async with playing(record, notifications=True) as pilot:
        await press(pilot, "escape")
        await pilot.press("P")
        await shows(pilot, "… verifying")
        with Session(record) as other:
            other.answer("b")
        await shows(pilot, "another program changed the record: step 1 → 2")
        held.set()
        await shows(pilot, "the record has changed meanwhile: the verdict was of how it was")
        await settled(pilot)
        assert "reproducible" not in screen_text(pilot.app).splitlines()[0]
        screen = await proved(pilot)
        assert "main with 2 answers" in proof_text(screen)


async def test_a_verdict_that_arrives_where_one_has_gone_on_opens_no_screen(
    record: Path, held: Event
) -> None:
    async with playing(record, notifications=True) as pilot:
        await press(pilot, "escape")
        await pilot.press("P")
        await shows(pilot, "… verifying")
        await pilot.press("h", "i", "x")  # typing
        held.set()
        await shows(pilot, "✓ reproducible; P shows how it was found")
        screen = await settled(pilot)
        assert screen.panes.prompt.draft == "x"
        await press(pilot, "escape")
        await pilot.press("P")
        await opened(pilot, ProofScreen)


async def test_a_verdict_ends_with_an_answer_and_not_with_a_rewind_or_a_note(
    record: Path,
) -> None:
    async with playing(record, notifications=True) as pilot:
        await proved(pilot)
        await press(pilot, "escape", "h", "r")
        with Session(record) as other:
            other.comment(0, "odd", "wrong", "Ada")
        await shows(pilot, "another program changed the record")
        screen = await press(pilot, "l", "T")
        await until(pilot, lambda: checked(screen))
        await shows(pilot, "✓ reproducible · ● waiting · step 1 of 1")
        await press(pilot, "i", "b", "enter")
        await shows(pilot, "the record has changed: the verdict '✓ reproducible' was of how it was")
        assert "reproducible" not in screen_text(pilot.app).splitlines()[0]


@pytest.mark.parametrize(
    ("file", "says"), [("quiz.py", "the script"), ("sums.py", "a file beside the script")]
)
async def test_a_verdict_ends_when_the_script_or_a_file_of_it_is_edited(
    file: str, says: str, build: Build
) -> None:
    build.script("one = 1\n", "sums.py")
    path = record_of(build, f"    import sums\n{STEADY}")
    async with playing(path, notifications=True) as pilot:
        await proved(pilot)
        await press(pilot, "escape")
        (path.parent / file).write_text((path.parent / file).read_text() + "# more\n")
        await shows(pilot, f"{says} has changed: the verdict '✓ reproducible' was of how it was")
        assert "reproducible" not in screen_text(pilot.app).splitlines()[0]


async def test_with_too_much_beside_the_script_a_verdict_is_shown_once(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "_MOST_ENTRIES", 1)
    app = QuizlogApp(record.parent)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, LibraryScreen)
        await pilot.press("enter")
        await settled(pilot)
        first = await proved(pilot)
        assert "too much in it to be watched" in proof_text(first)
        await press(pilot, "escape")
        await shows(pilot, "✓ reproducible, when verified · ● waiting")
        await pilot.press("P")
        assert (await opened(pilot, ProofScreen))._proven is not first._proven
        await pilot.press("escape", "q")
        await opened(pilot, LibraryScreen)
        await pilot.press("enter")
        await settled(pilot)
        assert not app._proofs
        assert "reproducible" not in screen_text(app)


async def test_a_verdict_ends_when_a_module_of_the_same_name_appears(build: Build) -> None:
    path = record_of(build, f"    import colorsys\n{STEADY}")
    async with playing(path, notifications=True) as pilot:
        first = await proved(pilot)
        await press(pilot, "escape")
        build.script("", "colorsys.py")
        await shows(pilot, "a file beside the script has changed: the verdict")
        await pilot.press("P")
        assert (await opened(pilot, ProofScreen))._proven is not first._proven


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("quiz.py", "hello", "hullo", "the script"),
        ("record.yaml", "seed: 7", "seed: 8", "the record"),
    ],
)
async def test_an_open_verdict_says_that_it_holds_no_longer(
    file: str, old: str, new: str, says: str, record: Path
) -> None:
    edited = record.with_name(file)
    text = edited.read_text()
    assert old in text
    async with playing(record, size=(120, 40)) as pilot:
        screen = await proved(pilot)
        ended = f"{says} has changed: the verdict was of how it was"
        assert ended not in proof_text(screen)
        edited.write_text(text.replace(old, new))
        await shows(pilot, f"{ended} · ✓ reproducible · record.yaml")
        assert screen.is_active and proof_text(screen).startswith(f"{ended}. ✓ reproducible")


async def test_a_verdict_ends_with_a_record_that_cannot_be_read(record: Path) -> None:
    async with playing(record, notifications=True) as pilot:
        await proved(pilot)
        await press(pilot, "escape")
        record.write_text("no record")
        await shows(pilot, "the verdict '✓ reproducible' was of how it was")


async def test_a_verdict_is_still_there_when_one_comes_back_from_the_library(
    record: Path,
) -> None:
    app = QuizlogApp(record.parent)
    async with app.run_test(notifications=True) as pilot:
        await opened(pilot, LibraryScreen)
        await pilot.press("enter")
        await settled(pilot)
        await proved(pilot)
        await press(pilot, "escape")
        await pilot.press("q")
        await opened(pilot, LibraryScreen)
        await pilot.press("enter")
        await shows(pilot, "✓ reproducible · ● waiting")
        await pilot.press("escape", "q")
        await opened(pilot, LibraryScreen)
        edit(record, "hello", "good day")
        await pilot.press("enter")
        await settled(pilot)
        await until(pilot, lambda: not app._proofs)
        assert "✓ reproducible" not in screen_text(app)


async def test_drift_says_for_each_branch_how_far_it_fits(record: Path) -> None:
    edit(record, "five it is", "5 it is")
    async with playing(record, size=(120, 40)) as pilot:
        await press(pilot, "escape")
        await pilot.press("D")
        await opened(pilot, DriftScreen)
        text = screen_text(pilot.app)
        assert text.lstrip().startswith("the script has changed")
        assert "✓ main" in text and "≠ other" in text
        await shows(pilot, "recorded (left, <) and now (right, >)")
        await pilot.press("k", "enter")
        await idle(pilot)
        assert isinstance(pilot.app.screen, DriftScreen)  # main has no step to go to
        await pilot.press("j", "enter")
        await opened(pilot, ChooseScreen)
        await press(pilot, "G", "enter")


@pytest.mark.parametrize(("words", "kind"), [("verify", ProofScreen), ("drift", DriftScreen)])
async def test_both_are_in_the_palette(
    words: str, kind: type[ProofScreen | DriftScreen], record: Path
) -> None:
    async with playing(record) as pilot:
        await press(pilot, "escape")
        await pilot.press("ctrl+p", *words)
        await found(pilot, f"{words.capitalize()}: ")
        await pilot.press("enter")
        await opened(pilot, kind)


async def test_the_verdict_leads_to_the_drift(record: Path) -> None:
    async with playing(record) as pilot:
        await proved(pilot)
        await pilot.press("d")
        await opened(pilot, DriftScreen)
        await shows(pilot, "its answer agrees")
        await press(pilot, "D")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")
def test_a_record_is_proved_in_a_real_terminal(record: Path, build: Build) -> None:
    with Tmux(build.outside, quizlog("tui", str(record))) as tmux:
        tmux.wait_for("more?")
        tmux.press_until("Escape", "Answer r Rewind")
        tmux.press_until("P", "Replayed to the end: 2 branches")
        tmux.press_until("q", "✓ reproducible · ● waiting")
