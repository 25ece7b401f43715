"""A record and a replayer together: the one door through which every front end moves.

Each move replays, changes the record by the rules of `record.branches`, and writes it durably.
Prints nothing; what a user should hear is in `Session.warnings`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from .errors import UsageError
from .record import branches as rules
from .record.model import Record, Status
from .record.store import RecordFile, locked
from .replay.replayer import Replayer
from .replay.source import Source, read_source
from .replay.transcript import Transcript
from .reply import Reply
from .result import checked_output, write_result


@dataclass(frozen=True)
class BranchInfo:
    """One branch, as lists and trees show it."""

    name: str
    active: bool
    parent: str | None
    """The branch it left; None for the first."""
    at: int
    """How many answers it shares with its parent."""
    length: int
    """All its answers, the shared ones included."""
    status: Status | None
    """How it stands at its end; of the active one, at the pointer. None if not known."""
    score: float | None
    created: str | None
    note: str | None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Session:
    """An open record.

    Args:
        path: The record file.
        replayer: Where its script runs; a private one if None, closed with the session.
        save: Write the record at each change.
        clock: Gives the time for `created` and `end_time`.
    """

    def __init__(
        self,
        path: str | Path,
        replayer: Replayer | None = None,
        *,
        save: bool = True,
        clock: Callable[[], str] = _now,
    ) -> None:
        self.path = Path(path)
        self._file = RecordFile(self.path)
        self._record = self._file.read()
        self._save = save
        self._clock = clock
        self.source: Source = read_source(self.path.parent / self._record.script)
        if self._record.output:
            checked_output(self.path, self._record.output, self.source.path)
        self._replayer = replayer or Replayer()
        self._owned = None if replayer else self._replayer
        try:
            self._transcript = self._replay(self._record.used)
        except BaseException:
            self.close()
            raise
        self.warnings = [*_drift(self._record, self.source, self._transcript)]

    # -- looking

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
    def record(self) -> Record:
        """The record as it would be written now."""
        transcript = self._transcript
        return replace(
            self._record,
            pointer=self.pointer,
            status=transcript.status,
            print=transcript.print,
            last_error=transcript.last_error,
            code_hash=self.source.code_hash,
            extras=self._extensions(),
        )

    @property
    def branches(self) -> list[BranchInfo]:
        """All branches, oldest first."""
        return [self._info(name) for name in self._record.names]

    def reply(self, *, since: int = 0) -> Reply:
        """Where the questionnaire stands; `print` without the first `since` steps."""
        return Reply(self._transcript, self._record.branch, str(self.path), since)

    def preview(self) -> Transcript:
        """The run through all recorded answers, also those after the pointer."""
        return self._replay(self._record.inputs)

    # -- moving

    def answer(self, answer: str) -> Reply:
        """Answer the pending question; after an error, the question that led to it again.

        Raises:
            UsageError: Nothing is asked.
            ConflictError: The record was changed by somebody else; nothing was written.
            LimitError: The script went over a limit; nothing was written.
        """
        at = self._answer_point()
        parked = self._parked(rules.leaves_tail(self._record, at, answer))
        transcript = self._replay(self._record.inputs.upto(at).then(answer))
        return self._become(rules.answered(self._record, at, answer, parked), transcript)

    def rewind(self, pointer: int) -> Reply:
        """Set the pointer; all answers stay.

        Raises:
            UsageError: There is no such step.
        """
        moved = rules.rewound(self._record, pointer)
        return self._become(moved, self._replay(moved.used))

    def fork(self, at: int, answer: str, name: str | None = None) -> Reply:
        """Start a branch at step `at` with another answer, and make it the active one.

        Raises:
            UsageError: There is no such step, nothing is asked there, or the name is taken.
        """
        rules.check_pointer(self._record, at)
        record = rules.forked(self._record, at, answer, name, self._parked(tail=True))
        transcript = self._replay(record.used)
        if len(transcript.steps) < at + 1:
            hint = "fork at an earlier step"
            raise UsageError(f"the script asks nothing at step {at}", hint=hint)
        return self._become(record, transcript)

    def switch(self, name: str) -> Reply:
        """Make another branch the active one, at its end.

        Raises:
            UsageError: There is no such branch.
        """
        moved = rules.switched(self._record, name, self._parked(name != self.branch))
        return self._become(moved, self._replay(moved.used))

    def reload(self) -> Reply:
        """Read the record and the script again, after somebody else changed them."""
        record, source = self._file.read(), read_source(self.source.path)
        self._record, self.source = record, source
        self._transcript = self._replay(record.used)
        self.warnings = [*_drift(record, source, self._transcript)]
        return self.reply()

    def close(self) -> None:
        """End the processes this session started."""
        if self._owned:
            self._owned.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- inside

    def _replay(self, inputs: Sequence[str]) -> Transcript:
        return self._replayer.replay(self.source, self._record.seed, inputs)

    def _answer_point(self) -> int:
        """The step the next answer belongs to."""
        if self._transcript.status == "success":
            hint = "rewind or fork to try other answers"
            raise UsageError("the questionnaire is finished; nothing is asked", hint=hint)
        if self._transcript.status == "error":
            if self.pointer == 0:
                hint = "mend the script"
                raise UsageError("the script raises before its first question", hint=hint)
            return self.pointer - 1
        return self.pointer

    def _parked(self, tail: bool) -> rules.Parked:
        """How the active branch stands at its end, if it is about to be left."""
        if not tail:
            return rules.Parked()
        end = self._transcript
        if len(self._record.inputs) != self.pointer:
            end = self._replay(self._record.inputs)
        return rules.Parked(end.status, end.score, self._clock())

    def _become(self, record: Record, transcript: Transcript) -> Reply:
        """Take the new state, on disk first."""
        before = self._record, self._transcript
        self._record = replace(record, pointer=len(transcript.steps))
        self._transcript = transcript
        try:
            if self._save:
                self.save()
        except BaseException:
            self._record, self._transcript = before
            raise
        return self.reply()

    def save(self) -> None:
        """Write the record, and its result file if it names one, durably.

        Raises:
            ConflictError: Somebody else changed the record since it was read.
            LockedError: Somebody else holds it.
        """
        record = self.record
        with locked(self.path):
            self._file.write(record)
            if record.output:
                write_result(self.path, record, self._transcript)

    def _extensions(self) -> dict[str, Any]:
        """The record's extensions with stderr and the end's time brought up to date."""
        extras = dict(self._record.extras)
        outputs = extras.get("outputs")
        if self._transcript.stderr and isinstance(outputs, (dict, type(None))):
            extras["outputs"] = {**(outputs or {}), "stderr": self._transcript.stderr}
        elif isinstance(outputs, dict):
            extras["outputs"] = {k: v for k, v in outputs.items() if k != "stderr"}
        if extras.get("outputs") == {}:
            del extras["outputs"]
        if self._transcript.status == "in_progress":
            extras.pop("end_time", None)
        elif "start_time" in extras:
            extras.setdefault("end_time", self._clock())
        return extras

    def _info(self, name: str) -> BranchInfo:
        record, active = self._record, name == self._record.branch
        entry = record.branches.get(name)
        return BranchInfo(
            name=name,
            active=active,
            parent=entry.parent if entry else None,
            at=entry.at if entry else 0,
            length=len(record.path_of(name)),
            status=self._transcript.status if active else entry.status if entry else None,
            score=self._transcript.score if active else entry.score if entry else None,
            created=entry.created if entry else None,
            note=entry.note if entry else None,
        )


def _drift(record: Record, source: Source, transcript: Transcript) -> list[str]:
    """What no longer agrees between the record and a run of the script now."""
    found = []
    if (record.code_hash or "").startswith("sha256:") and record.code_hash != source.code_hash:
        found.append("the script has changed since the record was written")
    if len(transcript.steps) < record.pointer:
        used, count = len(transcript.steps), record.pointer
        found.append(f"the script ends after {used} of the {count} answers before the pointer")
    elif record.print and record.print != transcript.print:
        pairs = enumerate(zip(record.print, transcript.print, strict=False))
        short = min(len(record.print), len(transcript.print))
        index = next((i for i, (then, now) in pairs if then != now), short)
        found.append(f"the script no longer prints what was recorded, from print[{index}] on")
    return found + list(transcript.warnings)


def open_record(
    path: str | Path, replayer: Replayer | None = None, *, save: bool = True
) -> Session:
    """Open a record; see `Session`."""
    return Session(path, replayer, save=save)


def new_record(script: Path, record: Path, seed: int, *, clock: Callable[[], str] = _now) -> None:
    """Write a new record for a script.

    Raises:
        ScriptError: The script cannot be read.
        RecordError: The record exists already, or cannot be written.
    """
    import os
    import uuid

    source = read_source(script)
    folder = Path(os.path.realpath(record)).parent
    extras = {"start_time": clock(), "execution_id": str(uuid.uuid4())}
    relative = os.path.relpath(source.path, folder)
    empty = Record(relative, seed, code_hash=source.code_hash, extras=extras)
    RecordFile(record).create(empty)
