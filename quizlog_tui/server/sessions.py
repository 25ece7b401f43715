"""Open records and how they move: one session for each, one move of it at a time, off the loop.

A session is only ever a shortcut: it may be dropped at any time and is opened again from its file.
That happens also when somebody else changed the record or its script. Nothing here knows HTTP.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar

from ..errors import ConflictError, QuizlogError, ScriptError, UsageError
from ..files.stamp import Stamp, stamp_of
from ..record.store import RecordFile
from ..replay.pending_step import PendingStep
from ..replay.script.source_cache import SourceCache
from ..replay.transcript import Transcript
from ..session.reply import Reply
from ..session.session import Session
from .bodies import ScriptStep, SheetStep
from .faults import encode
from .lookup import SCRIPT, SHEET, Folders
from .replayer_pool import ReplayerPool, Slot

SESSIONS = 4096
"""Records held open at once."""
QUICK = 0.01
"""Seconds that a step is waited for without a thread."""
THREADS = 64
"""Scripts that run at the same time; each thread waits for one."""

T = TypeVar("T")


class SessionEntry:
    """A record's place: its session, and whose turn it is."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self.turn = asyncio.Lock()
        self.users = 0
        self.session: Session | None = None
        self.slot: Slot | None = None
        self.stamp: Stamp = ()

    def fresh(self) -> Session | None:
        """The session, if the files are as it knows them."""
        if self.session is not None and self.stamp == _stamp(self.session):
            return self.session
        return None


class Sessions:
    """All records a server holds open.

    Args:
        folders: Where records and scripts may lie.
        warmth: Where their scripts run.
        most: How many are held open at once.
    """

    def __init__(self, folders: Folders, warmth: ReplayerPool, most: int = SESSIONS) -> None:
        self.folders = folders
        self.warmth = warmth
        self._most = most
        self._seats: OrderedDict[Path, SessionEntry] = OrderedDict()
        self._scripts = SourceCache()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="quizlog-script")

    def __len__(self) -> int:
        return len(self._seats)

    # -- moves

    async def replayed(self, step: ScriptStep) -> bytes:
        """Where a script stands after its answers, as a reply."""
        source = self._scripts.source(self.folders.find(SCRIPT, step.script_id))
        slot = self.warmth.slot(source.path, step.seed)
        held = slot.held
        with self.warmth.holding(slot) as replayer:
            found = replayer.begin(source, step.seed, step.inputs)
            if found is None:
                run = partial(replayer.replay, source, step.seed, step.inputs)
                found = await self.off_loop(run)
            elif isinstance(found, PendingStep):
                found = await self._followed(found)
            else:
                await asyncio.sleep(0)  # what is known at once keeps nobody from his turn
        if slot.held > held:
            await self.off_loop(self.warmth.evict)
        return said(Reply(found, "main", ""), None)

    async def _followed(self, step: PendingStep) -> Transcript:
        """Where a step leads: a quick one without a thread, any other in one."""
        try:
            quick = await arrived(step) and step.asks()
        except BaseException:
            step.abandon()
            raise
        return step.finish() if quick else await self.off_loop(step.finish)

    async def stepped(self, step: SheetStep) -> bytes:
        """Where a record stands, or stands after one more answer, as a reply."""
        path = self.folders.find(SHEET, step.sheet_id)
        if step.input is None:
            known = self._seats.get(path)
            session = known.fresh() if known and not known.users else None
            if session is not None:
                return _shown(session, step)
        return await self.move(path, lambda session: _shown(session, step))

    async def move(self, path: Path, act: Callable[[Session], T]) -> T:
        """Do something with a record's session, in its turn and in a thread."""
        seat = self._seat(path)
        seat.users += 1
        try:
            async with seat.turn:
                return await self.off_loop(lambda: self._acted(seat, act))
        finally:
            seat.users -= 1

    def _seat(self, path: Path) -> SessionEntry:
        seat = self._seats.get(path)
        if seat is None:
            seat = self._seats[path] = SessionEntry(self.folders.shown(str(path)), path)
            idle = [one for one in self._over() if not self._seats[one].users]
            for one in idle:
                del self._seats[one]
        self._seats.move_to_end(path)
        return seat

    def _over(self) -> list[Path]:
        """The paths beyond the bound, those not used for longest first."""
        return list(self._seats)[: max(0, len(self._seats) - self._most)]

    def _acted(self, seat: SessionEntry, act: Callable[[Session], T]) -> T:
        """Act on a record that others may change meanwhile: then once more, while they may not.

        The script runs without the record's lock, which others wait for; it is held for the write.
        """
        try:
            return self._acted_on(self._fresh(seat), seat, act)
        except ConflictError:
            return self._acted_on(self._fresh(seat), seat, partial(_while_locked, act))

    def _acted_on(self, session: Session, seat: SessionEntry, act: Callable[[Session], T]) -> T:
        assert seat.slot is not None
        with self.warmth.using(seat.slot):
            try:
                return act(session)
            except ConflictError:
                seat.session = None
                raise
            finally:
                seat.stamp = _stamp(session)
                if session.outdated:
                    seat.session = None

    def _fresh(self, seat: SessionEntry) -> Session:
        """The seat's session, opened again if the files are others than it knows."""
        session = seat.fresh()
        return self._open(seat) if session is None else session

    def _open(self, seat: SessionEntry) -> Session:
        """Open a record whose script lies in the folders too."""
        seat.session = None
        script, seed = self.script_of(seat.path)
        seat.slot = self.warmth.slot(script, seed)
        with self.warmth.using(seat.slot) as replayer:
            session = Session(seat.path, replayer)
        if self.folders.inside(session.source.path) is None:
            raise _outside(seat.name)
        seat.session, seat.stamp = session, _stamp(session)
        return session

    def script_of(self, record: Path) -> tuple[Path, int]:
        """The script and the seed of a record.

        Raises:
            RecordError: It is no record.
            ScriptError: Its script is in no served folder.
        """
        read = RecordFile(record).read()
        script = self.folders.inside(record.parent / read.script)
        if script is None:
            raise _outside(self.folders.shown(str(record)))
        return script, read.seed

    # -- threads

    async def off_loop(self, work: Callable[[], T]) -> T:
        """Work in a thread; one that is cancelled meanwhile waits for its end first."""
        future: Future[T] = self._threads.submit(work)
        waiting = asyncio.wrap_future(future)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            await asyncio.wait([waiting])
            raise

    def close(self) -> None:
        """End all that runs and every process."""
        self.warmth.end()
        self._threads.shutdown(wait=True, cancel_futures=True)
        with closing(self.warmth):
            self._seats.clear()


async def arrived(step: PendingStep) -> bool:
    """Wait a moment for a step to tell something; whether it did."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[bool] = loop.create_future()

    def settle(whether: bool) -> None:
        if not ready.done():
            ready.set_result(whether)

    timer = loop.call_later(QUICK, settle, False)
    loop.add_reader(step.fileno(), settle, True)
    try:
        return await ready
    finally:
        loop.remove_reader(step.fileno())
        timer.cancel()


def _while_locked(act: Callable[[Session], T], session: Session) -> T:
    with session.locked():
        return act(session)


def _shown(session: Session, step: SheetStep) -> bytes:
    """The record's reply, after the answer if there is one."""
    if step.pointer is not None:
        check_pointer(session, step.pointer)
    reply = session.reply() if step.input is None else session.answer(step.input)
    return said(reply.newest() if step.new else reply, step.sheet_id)


def _stamp(session: Session) -> Stamp:
    """The files of a session as they are now."""
    return stamp_of(session.path, session.source.path)


def check_pointer(session: Session, pointer: int) -> None:
    """Make sure that the record stands where a client thinks it does.

    Raises:
        UsageError: It does not.
    """
    if session.pointer != pointer:
        hint = "look where it stands, then answer again"
        raise UsageError(f"the record is at step {session.pointer}, not {pointer}", hint=hint)


def said(reply: Reply, sheet: str | None) -> bytes:
    """A reply's bytes; the record by the name it was asked for."""
    return encode({"schema_version": 1} | reply.to_dict() | {"record": sheet})


def _outside(name: str) -> QuizlogError:
    hint = "serve its folder too, with --folder"
    return ScriptError("the record's script is in no served folder", where=name, hint=hint)
