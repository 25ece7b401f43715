"""The open records of a server: one session each, moved by one request at a time, in threads.

A session only saves time: it may be dropped at any moment and reopened from its file. It is also
reopened if somebody else has changed the record or its script. Nothing here knows a protocol.
"""

from __future__ import annotations

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar

from ..errors import CancelledError, ConflictError, QuizlogError, ScriptError, UsageError
from ..files.regular_file import Stamp, stamp_of
from ..record import hold, who
from ..record.store import RecordFile
from ..record.who import PROGRAM, Attribution, Giver, giver_text
from ..text import clipped, one_line
from .replayer_pool import ReplayerPool, Slot
from .served_folders import Folders
from .session import Session

_SESSIONS = 4096
"""Maximum number of open records."""
HOLD_SECONDS = 600.0
"""Default of the time that a change waits for a record that a person holds."""
THREADS = 64
"""Maximum number of scripts that run at the same time; a thread waits for each."""

T = TypeVar("T")


class _SessionEntry:
    """A record with its session, and the lock that gives requests their turn."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self.turn = asyncio.Lock()
        self.users = 0
        self.held = 0
        self.session: Session | None = None
        self.slot: Slot | None = None
        self.stamp: Stamp = ()

    def fresh(self) -> Session | None:
        """The session, if its files have not changed since; else None."""
        if self.session is not None and self.stamp == _stamp(self.session):
            return self.session
        return None


class OpenSessions:
    """All open records of a server.

    Args:
        folders: What is served.
        replayers: Run the scripts.
        giver: Who gives answers, unless a move says otherwise.
        hold_seconds: How long a change waits for a record that a person holds.
        most: Maximum number of open records.
    """

    def __init__(
        self,
        folders: Folders,
        replayers: ReplayerPool,
        giver: Giver = PROGRAM,
        hold_seconds: float = HOLD_SECONDS,
        most: int = _SESSIONS,
    ) -> None:
        self.folders = folders
        self.replayers = replayers
        self._giver = giver
        self._hold_seconds = hold_seconds
        self._most = most
        self._entries: OrderedDict[Path, _SessionEntry] = OrderedDict()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="quizlog-script")

    def __len__(self) -> int:
        return len(self._entries)

    # -- moves

    def unchanged(self, path: Path) -> Session | None:
        """The open session of a record that nobody moves and nobody has changed; else None."""
        entry = self._entries.get(path)
        return entry.fresh() if entry and not entry.users else None

    async def move(self, path: Path, act: Callable[[Session], T]) -> T:
        """Call `act` with a record's session, in its turn and in a thread.

        If it is cancelled while the script runs, the run is cancelled too, unless others use the
        same script and seed: whose run is whose could not be told. It goes on to its limit then.
        """
        entry = self._entry(path)
        entry.users += 1
        try:
            async with entry.turn:
                stop = partial(self._stop_run, entry)
                return await self.off_loop(lambda: self._act(entry, act), stop)
        finally:
            entry.users -= 1

    def _stop_run(self, entry: _SessionEntry) -> None:
        if entry.slot is not None:
            self.replayers.stop(entry.slot)

    async def change(
        self,
        path: Path,
        act: Callable[[Session], T],
        name: str,
        has_left: Callable[[], Awaitable[bool]] | None = None,
    ) -> T:
        """Change a record in its turn, once no person holds it.

        Args:
            path: The record.
            act: Makes the change.
            name: Who makes it, for the person to see.
            has_left: Whether the client has left meanwhile; None if its leaving cancels this.

        Raises:
            CancelledError: The client has left while the record was held.
            LockedError: It is held for longer than this server waits.
            TakenOverError: The person has answered meanwhile; nothing was changed.
        """
        held = hold.join(path, name)
        if held is None:
            return await self.move(path, act)
        entry = self._entry(path)
        entry.held += 1
        try:
            with held:
                before = await self.move(path, lambda session: session.record.used)
                await self._until_given_back(path, held)
        finally:
            entry.held -= 1
        if has_left is not None and await has_left():
            raise CancelledError("the client has left; nothing was done for it")
        return await self.move(path, partial(_unless_taken_over, before, act))

    def waits_for_person(self, path: Path) -> bool:
        """Whether a change of a record waits for a person who holds it."""
        entry = self._entries.get(path)
        return entry is not None and entry.held > 0

    async def _until_given_back(self, path: Path, held: socket.socket) -> None:
        held.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._hold_seconds):
                while await loop.sock_recv(held, 1):
                    pass
        except TimeoutError:
            raise hold.held_too_long(path, self._hold_seconds) from None
        except OSError:  # the holder has gone without reading
            return

    def _entry(self, path: Path) -> _SessionEntry:
        entry = self._entries.get(path)
        if entry is None:
            entry = self._entries[path] = _SessionEntry(self.folders.shown(str(path)), path)
            for oldest in list(self._entries)[: max(0, len(self._entries) - self._most)]:
                if not self._entries[oldest].users:
                    del self._entries[oldest]
        self._entries.move_to_end(path)
        return entry

    def _act(self, entry: _SessionEntry, act: Callable[[Session], T]) -> T:
        """Act on a record; if somebody else changes it meanwhile, do it again under its lock.

        At first the lock is held only for the write, so that others need not wait for the script.
        """
        try:
            return self._act_on(self._fresh(entry), entry, act)
        except ConflictError:
            return self._act_on(self._fresh(entry), entry, partial(_while_locked, act))

    def _act_on(self, session: Session, entry: _SessionEntry, act: Callable[[Session], T]) -> T:
        assert entry.slot is not None
        with self.replayers.using(entry.slot):
            try:
                return act(session)
            except ConflictError:
                entry.session = None
                raise
            finally:
                entry.stamp = _stamp(session)
                if session.outdated:
                    entry.session = None

    def _fresh(self, entry: _SessionEntry) -> Session:
        """The session of an entry, reopened if its files have changed."""
        session = entry.fresh()
        return self._open(entry) if session is None else session

    def _open(self, entry: _SessionEntry) -> Session:
        """Open a record whose script is in a served folder too."""
        entry.session = None
        script, seed = self.script_of(entry.path)
        entry.slot = self.replayers.slot(script, seed)
        with self.replayers.using(entry.slot) as replayer:
            session = Session(entry.path, replayer, giver=self._giver)
        if self.folders.inside(session.source.path) is None:
            raise _outside(entry.name)
        entry.session, entry.stamp = session, _stamp(session)
        return session

    def script_of(self, record: Path) -> tuple[Path, int]:
        """The script and the seed of a record.

        Raises:
            RecordError: The file is not a record.
            ScriptError: Its script is not in a served folder.
        """
        read = RecordFile(record).read()
        script = self.folders.inside(record.parent / read.script)
        if script is None:
            raise _outside(self.folders.shown(str(record)))
        return script, read.seed

    # -- threads

    async def off_loop(self, work: Callable[[], T], stop: Callable[[], None] | None = None) -> T:
        """Call `work` in a thread; if cancelled, wait until the thread is done.

        Args:
            work: What is done.
            stop: Makes it end soon; None if it does so by itself.
        """
        loop = asyncio.get_running_loop()
        found: asyncio.Future[T] = loop.create_future()
        running = self._threads.submit(_answer, work, loop, found)
        try:
            return await found
        except asyncio.CancelledError:
            if not running.cancel() and stop is not None:
                stop()
            await asyncio.wait([asyncio.wrap_future(running)])
            raise

    def close(self) -> None:
        """Cancel all runs and end all processes."""
        self.replayers.end()
        self._threads.shutdown(wait=True)
        with closing(self.replayers):
            self._entries.clear()


def _answer(
    work: Callable[[], T], loop: asyncio.AbstractEventLoop, found: asyncio.Future[T]
) -> None:
    """Call `work`, and tell the loop what it returned or raised.

    To have asyncio copy that from the executor's future takes longer.
    """
    try:
        result = work()
    except BaseException as error:
        loop.call_soon_threadsafe(_settle, found, found.set_exception, error)
    else:
        loop.call_soon_threadsafe(_settle, found, found.set_result, result)


def _settle(found: asyncio.Future[T], settle: Callable[[Any], None], outcome: object) -> None:
    if not found.cancelled():
        settle(outcome)


def _while_locked(act: Callable[[Session], T], session: Session) -> T:
    with session.locked():
        return act(session)


def _stamp(session: Session) -> Stamp:
    """The stamp of a session's files as they are now, with those that a grant names."""
    folder = session.source.path.parent
    granted = (folder / name for name, _ in session.source.surroundings)
    return stamp_of(session.path, session.source.path, *granted)


class TakenOverError(QuizlogError):
    """A person who held the record has moved it, so what waited for them is not done.

    Args:
        message: What the person did.
        since: The number of answers that are still as they were.
    """

    exit_code = 4

    def __init__(self, message: str, since: int) -> None:
        super().__init__(message, hint="show the record, then answer again")
        self.since = since


def check_not_taken_over(session: Session, before: Sequence[str]) -> None:
    """Check that a record stands as it did before a person held it.

    Raises:
        TakenOverError: The answers before its pointer are others.
    """
    now = session.record.used
    if now != before:
        pairs = zip(now, before, strict=False)
        since = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        held = "a person held the record, and it was moved meanwhile"
        raise TakenOverError(f"{held}; {_since(session, since)}", since)


def _unless_taken_over(before: Sequence[str], act: Callable[[Session], T], session: Session) -> T:
    check_not_taken_over(session, before)
    return act(session)


def expect_pointer(session: Session, pointer: int | None) -> None:
    """Check that the record's pointer is where a client expects it; None expects nothing.

    Raises:
        UsageError: It is elsewhere; the message tells what happened since.
    """
    if pointer is not None and session.pointer != pointer:
        hint = "show the record, then answer again"
        found = f"the record is at step {session.pointer}, not {pointer}"
        raise UsageError(f"{found}; {_since(session, pointer)}", hint=hint)


_MOST_SINCE = 5
"""Maximum number of answers that are told of."""
_WIDTH = 60
"""Maximum number of characters of each."""


def _since(session: Session, pointer: int) -> str:
    """What was done to the record since its pointer was at a step, in words."""
    if session.pointer <= pointer:
        return "it was rewound, or another branch is active"
    answers = session.record.used[pointer:]
    givers = who.on_branch(session.record, session.record.branch)
    told = [
        f'"{clipped(one_line(answer), _WIDTH)}" by {giver_text(givers.get(at, Attribution()))}'
        for at, answer in enumerate(answers[:_MOST_SINCE], pointer)
    ]
    more = [f"{len(answers) - len(told)} more"] if len(answers) > len(told) else []
    return f"answered since: {', '.join(told + more)}"


def _outside(name: str) -> QuizlogError:
    hint = "serve its folder too, with --folder"
    return ScriptError("the record's script is not in a served folder", where=name, hint=hint)
