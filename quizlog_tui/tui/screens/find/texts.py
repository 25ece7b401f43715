"""The texts that a search goes through: those of an open record, or of many record files.

Replays and reads in threads; draws nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from ....errors import QuizlogError, RecordError
from ....record.store import RecordFile
from ....replay.replayer import Replayer
from ....replay.transcript import Transcript
from ....session.find import Passage, passages, recorded_passages
from ....session.session import Session
from ..slow_work import SlowWork

_SLICE = 0.1
"""Seconds of reading between two searches of what was read."""


class RecordTexts(NamedTuple):
    """The texts of one record."""

    record: Path
    texts: Sequence[Passage]


class Texts(Protocol):
    """What is searched."""

    @property
    def folder(self) -> Path | None:
        """The folder whose records are searched; None for a single record."""

    async def load(self, work: SlowWork) -> None:
        """Get what takes long and is needed only once."""

    def cancel(self) -> None:
        """Stop loading."""

    def batches(self) -> AsyncIterator[Sequence[RecordTexts]]:
        """All texts, some records at a time."""


class RunTexts:
    """The texts of all branches of an open record.

    Args:
        session: The open record.
        replayer: Where it runs.
        whole: The run through all answers of the active branch, which is searched at once.
    """

    folder: Path | None = None

    def __init__(self, session: Session, replayer: Replayer, whole: Transcript) -> None:
        self._session = session
        self._replayer = replayer
        self._texts = passages(session.record, {session.record.branch: whole})

    async def load(self, work: SlowWork) -> None:
        """Run the other branches; those that cannot be run are left out."""
        found = await work.run(lambda: self._all(work), "running all branches")
        self._texts = self._texts if found is None else found

    def _all(self, work: SlowWork) -> list[Passage]:
        session, runs = self._session, {}
        if session.missing is not None:
            return recorded_passages(session.record)
        names = [branch.name for branch in session.branches]
        for name, outcome in session.transcripts_of(names):
            if not isinstance(outcome, QuizlogError):
                runs[name] = outcome
        return passages(session.record, runs)

    def cancel(self) -> None:
        """Stop running them."""
        self._replayer.cancel()

    async def batches(self) -> AsyncIterator[Sequence[RecordTexts]]:
        """The texts, all at once."""
        yield [RecordTexts(self._session.path, self._texts)]


class LibraryTexts:
    """The texts of many records, as their files tell them; read anew for each search.

    Args:
        folder: The folder they are in.
        records: Their files.
    """

    def __init__(self, folder: Path, records: Sequence[Path]) -> None:
        self.folder: Path | None = folder
        self._records = records

    async def load(self, work: SlowWork) -> None:
        """Nothing: files are read while they are searched."""

    def cancel(self) -> None:
        """Nothing is loaded."""

    async def batches(self) -> AsyncIterator[Sequence[RecordTexts]]:
        """The texts of some records after the other."""
        records = iter(self._records)
        while some := await asyncio.to_thread(_read_some, records):
            yield some


def _read_some(records: Iterator[Path]) -> list[RecordTexts]:
    """Read records for a moment; one that cannot be read has no texts. Empty at the end."""
    start, found = time.monotonic(), []
    for path in records:
        try:
            texts = recorded_passages(RecordFile(path).read())
        except RecordError:
            texts = []
        found.append(RecordTexts(path, texts))
        if time.monotonic() - start > _SLICE:
            break
    return found
