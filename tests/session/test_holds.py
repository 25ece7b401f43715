"""A program waits for a record that a person holds, and is told what was answered for it."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.errors import CancelledError, LockedError
from quizlog_tui.record.hold import Hold
from quizlog_tui.record.who import Giver
from quizlog_tui.session.open_sessions import OpenSessions, TakenOverError
from quizlog_tui.session.replayer_pool import ReplayerPool
from quizlog_tui.session.served_folders import served
from quizlog_tui.session.session import Session
from tests.support.build import Build

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs abstract socket names")
QUIZ = """
    for name in "abcdef":
        print("got", input(name + "? "))
"""
PERSON = Giver("screen", "person", "Ann")


@pytest.fixture
def sessions(build: Build) -> Iterator[OpenSessions]:
    found = OpenSessions(served([build.folder]), ReplayerPool())
    yield found
    found.close()


@pytest.fixture
def path(build: Build) -> Path:
    return build.record(QUIZ, "1").resolve()


async def seen(held: Hold) -> list[str]:
    """The names of those who wait, once there are any."""
    while not (names := held.waiting()):
        await asyncio.sleep(0.001)
    return names


def answering(sessions: OpenSessions, path: Path, text: str) -> asyncio.Task[int]:
    work = sessions.change(path, lambda session: session.answer(text).pointer, "agent 1")
    return asyncio.create_task(work)


async def test_an_answer_waits_until_the_record_is_given_back(
    sessions: OpenSessions, path: Path
) -> None:
    with Hold(path) as held:
        answer = answering(sessions, path, "2")
        assert await seen(held) == ["agent 1"]
        assert await sessions.move(path, lambda session: session.pointer) == 1  # one may look
    assert await answer == 2


@pytest.mark.parametrize(
    ("moves", "said"),
    [
        (["answer 2", "answer 3"], 'answered since: "2" by Ann, "3" by Ann'),
        (["rewind 0"], "it was rewound, or another branch is active"),
        (["rewind 0", "answer x"], 'answered since: "x" by Ann'),
    ],
)
async def test_a_person_who_took_over_is_told_of(
    sessions: OpenSessions, path: Path, moves: list[str], said: str
) -> None:
    with Hold(path) as held:
        answer = answering(sessions, path, "mine")
        await seen(held)
        with Session(path, giver=PERSON) as person:
            for move in moves:
                word, given = move.split()
                person.answer(given) if word == "answer" else person.rewind(int(given))
            left = list(person.record.used)
    with pytest.raises(TakenOverError, match=said):
        await answer
    with Session(path) as after:
        assert list(after.record.used) == left


async def test_one_who_holds_for_ever(build: Build, path: Path) -> None:
    sessions = OpenSessions(served([build.folder]), ReplayerPool(), hold_seconds=0.01)
    try:
        with Hold(path), pytest.raises(LockedError, match="a person has held it"):
            await answering(sessions, path, "2")
        assert await answering(sessions, path, "2") == 2
    finally:
        sessions.close()


async def test_one_who_gives_up_waiting_answers_nothing(sessions: OpenSessions, path: Path) -> None:
    with Hold(path) as held:
        answer = answering(sessions, path, "2")
        await seen(held)
        answer.cancel()
        await asyncio.wait([answer])
        while held.waiting():
            await asyncio.sleep(0.001)
    with Session(path) as after:
        assert after.pointer == 1


@pytest.mark.parametrize("takes_over", [False, True])
def test_a_shell_waits_too(
    path: Path, takes_over: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = []
    with Hold(path) as held:
        shell = threading.Thread(target=lambda: codes.append(main([str(path), "2", "--new"])))
        shell.start()
        while held.waiting() != ["a shell"]:
            pass
        if takes_over:
            with Session(path, giver=PERSON) as person:
                person.answer("hers")
    shell.join()
    said = capsys.readouterr()
    assert "note: a person holds the record; this waits at most 600 s" in said.err
    if takes_over:
        assert codes == [4]
        assert 'it was moved meanwhile; answered since: "hers" by Ann' in said.err
    else:
        assert (codes, said.out) == ([0], "got 2\nc? \n")


async def test_a_client_that_has_left_answers_nothing(sessions: OpenSessions, path: Path) -> None:
    async def has_left() -> bool:
        return True

    with Hold(path) as held:
        work = sessions.change(path, lambda session: session.answer("2"), "agent", has_left)
        answer = asyncio.create_task(work)
        await seen(held)
    with pytest.raises(CancelledError, match="the client has left"):
        await answer
    with Session(path) as after:
        assert after.pointer == 1


@pytest.mark.parametrize("words", [["migrate"], ["rewind", "0"]])
def test_what_changes_the_record_waits(
    path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    word, *more = words
    codes: list[int] = []
    with Hold(path) as held:
        shell = threading.Thread(target=lambda: codes.append(main([word, str(path), *more])))
        shell.start()
        while held.waiting() != ["a shell"]:
            pass
        assert not codes
    shell.join()
    assert codes == [0]
