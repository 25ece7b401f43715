"""An open record: its file, its script, where it stands, and how a change reaches the disk.

Replays and writes, and takes changes back. Knows no rule by which a record changes; the moves are
in `session`, which is the door for everybody else. Prints nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Self

from ..errors import ConflictError, ScriptError, UsageError
from ..proof.drift.settle import settle
from ..record import branches as rules
from ..record.lock import WAIT_SECONDS
from ..record.model import Record
from ..record.store import RecordFile
from ..record.undoing import keeping
from ..replay.replayer import Replayer
from ..replay.script.source import Source, read_script_of
from ..replay.trail import grown
from ..replay.transcript import Transcript
from ..replay.world import World, world_of
from .history import Change, History
from .new_record import utc_now
from .reply import Reply
from .result_file import checked_output, result_file
from .run_metadata import extensions


class SessionState:
    """A record, the run up to its pointer, and what was changed since it was opened.

    Args:
        path: The record file.
        replayer: Where its script runs; a private one if None, closed with the session.
        save: Write the record at each change.
        wait: Seconds to wait while somebody else holds the record.
        clock: Gives the time for `created` and `end_time`.
        recorded: Show what the record holds where its script cannot be read. Nothing can be
            changed then: see `missing`.
    """

    def __init__(
        self,
        path: str | Path,
        replayer: Replayer | None = None,
        *,
        save: bool = True,
        wait: float = WAIT_SECONDS,
        clock: Callable[[], str] = utc_now,
        recorded: bool = False,
    ) -> None:
        self.path = Path(path)
        self._file = RecordFile(self.path, wait)
        self._record = self._file.read()
        self._save = save
        self._clock = clock
        self._history = History()
        self._shows_recorded = recorded
        self._script = self._read_script(self._record)
        if self._record.output and self.missing is None:
            checked_output(self.path, self._record.output, self.source.path)
        self._replayer = replayer or Replayer()
        self._owned = None if replayer else self._replayer
        try:
            self._take(self._record)
        except BaseException:
            self.close()
            raise

    # -- looking

    @property
    def source(self) -> Source:
        """The script.

        Raises:
            ScriptError: It cannot be read; `missing` says so too.
        """
        if isinstance(self._script, ScriptError):
            raise self._script
        return self._script

    @property
    def missing(self) -> ScriptError | None:
        """Why the script cannot be read: what is shown is only recorded. None if it can."""
        return self._script if isinstance(self._script, ScriptError) else None

    @property
    def transcript(self) -> Transcript:
        """The run up to the pointer."""
        return self._transcript

    @property
    def pointer(self) -> int:
        """Index of the next unanswered question."""
        return len(self._transcript.steps)

    @property
    def inputs(self) -> Sequence[str]:
        """The active branch's answers, also those after the pointer."""
        return self._record.inputs

    @property
    def branch(self) -> str:
        """Name of the active branch."""
        return self._record.branch

    @property
    def written(self) -> bool:
        """Whether this session has written the record."""
        return self._file.written

    @property
    def record(self) -> Record:
        """The record as it would be written now."""
        if self.missing is not None:
            return self._record
        transcript = self._transcript
        return replace(
            self._record,
            pointer=self.pointer,
            status=transcript.status,
            print=transcript.print,
            last_error=transcript.last_error,
            code_hash=self.source.code_hash,
            extras=extensions(self._record, transcript, self._clock),
        )

    def reply(self, *, since: int = 0) -> Reply:
        """Where the questionnaire stands; `print` without the first `since` steps."""
        return Reply(self._transcript, self._record.branch, str(self.path), since)

    def preview(self) -> Transcript:
        """The run through all recorded answers, also those after the pointer."""
        return self._replay(self._record.inputs)

    def save(self) -> None:
        """Write the record, and its result file if it names one, durably.

        Raises:
            ConflictError: Somebody else changed the record since it was read.
            LockedError: Somebody else holds it.
            LimitError: It would be too big to be read again; nothing was written.
        """
        record = self.record
        beside = result_file(self.path, record, self._transcript)
        remarks = self._file.write(record, beside)
        self.warnings += [remark for remark in remarks if remark not in self.warnings]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others from changing the record, whose changes so far are read first.

        Raises:
            LockedError: Somebody else holds it for longer than one waits.
            ConflictError: There is no record any more.
        """
        with self._file.locked():
            if self._file.changed():
                self.reload()
            yield

    def reload(self) -> Reply:
        """Read the record and the script again, after somebody else changed them.

        What was done before can no longer be taken back.

        Raises:
            ConflictError: The record names another script now.
        """
        record = self._file.read()
        if record.script != self._record.script and self.missing is None:
            hint = "open it again"
            raise ConflictError("names another script now", where=str(self.path), hint=hint)
        self._script = self._read_script(record)
        self._history.clear()
        self._take(record)
        return self.reply()

    def close(self) -> None:
        """End the processes this session started."""
        if self._owned:
            self._owned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- taking back

    @property
    def can_undo(self) -> str | None:
        """What `undo` would take back, in words; None if there is nothing."""
        change = self._history.last
        return change.label if change else None

    @property
    def can_redo(self) -> str | None:
        """What `redo` would do again, in words; None if there is nothing."""
        change = self._history.next
        return change.label if change else None

    def undo(self) -> Reply:
        """Take the last change of this session back; it can be done again.

        No answer is lost: one that was given stays ahead of the pointer, as after a rewind, or as
        a deleted branch.

        Raises:
            UsageError: There is nothing to take back.
            ConflictError: The record was changed by somebody else; nothing was written.
        """
        change = self._history.last
        if change is None:
            hint = "what was done before the record was opened can be reached by rewind and switch"
            raise UsageError("there is nothing to undo", hint=hint)
        here = self._record
        self._back_to(change)
        self._history.taken_back(here)
        return self.reply()

    def redo(self) -> Reply:
        """Do the change again that `undo` took back last.

        Raises:
            UsageError: There is nothing to do again.
            ConflictError: The record was changed by somebody else; nothing was written.
        """
        change = self._history.next
        if change is None:
            raise UsageError("there is nothing to redo", hint="a new change ends what was undone")
        here = self._record
        self._back_to(change)
        self._history.done_again(here)
        return self.reply()

    # -- inside

    def _read_script(self, record: Record) -> Source | ScriptError:
        """The script, or why it cannot be read where the record is to be shown all the same."""
        try:
            return read_script_of(self.path, record.script)
        except ScriptError as error:
            if not self._shows_recorded:
                raise
            return error

    def _take(self, record: Record) -> None:
        """Start from what the file holds, as far as it agrees with the script."""
        if self.missing is not None:
            from .recorded_run import recorded_run

            self._record, self.warnings = record, []
            self._transcript = recorded_run(record, record.branch).upto(record.pointer)
            return
        found = settle(record, self.source, self._replayer, self._clock)
        self._record, self._transcript = found.record, found.transcript
        self.warnings = list(found.warnings)

    def _replay(self, inputs: Sequence[str]) -> Transcript:
        if self.missing is not None:
            from .recorded_run import recorded_up_to

            known = recorded_up_to(self._record, inputs)
            if known is not None:
                return known
        return self._replayer.replay(self.source, self._world, inputs)

    @property
    def _world(self) -> World:
        return world_of(self._record)

    def _become(self, record: Record, transcript: Transcript, label: str) -> Reply:
        """Take the new state, on disk first; `label` says what was done, for `can_undo`."""
        before = self._record
        changed = before != record.but(pointer=len(transcript.steps))
        reply = self._put(record, transcript)
        if changed:
            self._history.add(label, before)
        return reply

    def _put(self, record: Record, transcript: Transcript) -> Reply:
        if self.missing is not None:
            raise self.missing
        before = self._record, self._transcript
        extras = extensions(record, transcript, self._clock)
        trail = grown(record.trail, transcript)
        self._record = record.but(pointer=len(transcript.steps), trail=trail, extras=extras)
        self._transcript = transcript
        try:
            if self._save:
                self.save()
        except BaseException as error:
            self._record, self._transcript = before
            if isinstance(error, ConflictError):
                self._history.clear()
            raise
        return self.reply()

    def _back_to(self, change: Change) -> None:
        """Take the record of a change; lines of answers it does not have yet stay, hidden."""
        parked = rules.BranchEnd(time=self._clock())
        if self.pointer == len(self._record.inputs):
            end = self._transcript
            parked = replace(parked, status=end.status, score=end.score)
        record = keeping(change.record, self._record, parked)
        self._put(record, self._replay(record.used))
