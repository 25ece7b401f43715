"""A record and a replayer together: the one door through which every front end moves.

Each move replays, changes the record by the rules of `record.branches`, and writes it durably.
Prints nothing; what a user should hear is in `Session.warnings`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from .branch_list import BranchInfo, branch_list
from .drift.settle import settle, settle_switched
from .errors import QuizlogError, UsageError
from .extensions import extensions
from .new_record import utc_now
from .record import branches as rules
from .record.model import Record
from .record.store import RecordFile, locked
from .replay import walks
from .replay.replayer import Replayer
from .replay.source import Source, read_source
from .replay.trail import grown
from .replay.transcript import Transcript
from .replay.world import World, world_of
from .reply import Reply
from .result import checked_output, write_result
from .series import Series
from .text import plural

if TYPE_CHECKING:
    from .drift.sides import Compared
    from .replay.verdict import Verdict


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
        clock: Callable[[], str] = utc_now,
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
            self._take(self._record)
        except BaseException:
            self.close()
            raise

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
            extras=extensions(self._record, transcript, self._clock),
        )

    @property
    def branches(self) -> list[BranchInfo]:
        """All branches, oldest first."""
        return branch_list(self._record, self._transcript)

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
        transcript = self._one_more(at, answer)
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

    def amend(self, at: int, answer: str) -> Reply:
        """Change answer `at`, keeping later answers while their questions stay the same.

        Stops at the first question that differs. The old answers stay as a branch.

        Raises:
            UsageError: There is no such answer.
        """
        whole = self.preview()
        if not 0 <= at < len(whole.steps):
            have = plural(len(whole.steps), "answer")
            hint = f"choose one from 0 to {len(whole.steps) - 1}"
            raise UsageError(f"there is no answer {at}: the record has {have}", hint=hint)
        parked = rules.Parked(whole.status, whole.score, self._clock())
        transcript = walks.amend(self._replay, whole.steps, at, answer)
        record = rules.answered(self._record, at, answer, parked)
        inputs = record.inputs if record.inputs == self._record.inputs else transcript.inputs
        return self._become(replace(record, inputs=Series(inputs)), transcript)

    def bisect(self) -> walks.Culprit | None:
        """The first answer of this branch that spoils the outcome the best other branch has.

        Without a better branch, the answer at which the script raised. None if nothing is spoiled.
        """
        bad = list(self._record.inputs)
        others = [branch for branch in self.branches if not branch.active]
        best = max(others, key=lambda branch: branch.score or 0.0, default=None)
        good = list(self._record.path_of(best.name)) if best and best.score else []
        end = self.preview()
        if best is None or (best.score or 0.0) <= (end.score or 0.0) or end.status == "success":
            good = []
        return walks.bisect(self._replay, bad, good)

    def fan_out(self, at: int, answers: Sequence[str]) -> list[Transcript | QuizlogError]:
        """What each of several answers at step `at` leads to; the record stays as it is.

        Raises:
            UsageError: There is no such step.
        """
        rules.check_pointer(self._record, at)
        path = self._record.inputs.upto(at)
        return self._replayer.fan_out(self.source, self._world, path, answers)

    def diff(self, branch: str) -> Compared:
        """Where the active branch and another part, each to its end.

        Raises:
            UsageError: There is no such branch.
        """
        from .drift.sides import Side, compare, run_of, with_branch

        mine = Side(self.path, self.record, self.source, self.branch, whole=True)
        runs = [run_of(side, self._replayer) for side in (mine, with_branch(mine, branch))]
        return compare(runs[0][0], runs[1][0], ended=(runs[0][1], runs[1][1]))

    def verify(self) -> Verdict:
        """Whether the record, as it is on disk, is what its script does: two fresh replays judge.

        Raises:
            RecordError: The record cannot be read any more.
            ScriptError: Its script cannot be read any more.
        """
        from .replay.verify import Runs, verify

        return verify(self.path, Runs(self._replayer.limits))

    def explain(self) -> str | None:
        """Why going back to this step needs a run from before it; None if it does not."""
        return self._replayer.explain(self._transcript)

    def switch(self, name: str) -> Reply:
        """Make another branch the active one, at its end.

        Raises:
            UsageError: There is no such branch.
        """
        moved = rules.switched(self._record, name, self._parked(name != self.branch))
        if moved is self._record:
            return self._become(moved, self._replay(moved.used))
        found = settle_switched(self._record, moved, self.source, self._replayer, self._clock)
        self.warnings = list(found.warnings)
        return self._become(found.record, found.transcript)

    def reload(self) -> Reply:
        """Read the record and the script again, after somebody else changed them."""
        record, self.source = self._file.read(), read_source(self.source.path)
        self._take(record)
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

    def _take(self, record: Record) -> None:
        """Start from what the file holds, as far as it agrees with the script."""
        found = settle(record, self.source, self._replayer, self._clock)
        self._record, self._transcript = found.record, found.transcript
        self.warnings = list(found.warnings)

    def _replay(self, inputs: Sequence[str]) -> Transcript:
        return self._replayer.replay(self.source, self._world, inputs)

    @property
    def _world(self) -> World:
        return world_of(self._record)

    def _one_more(self, at: int, answer: str) -> Transcript:
        """The run with one more answer; in constant time where the process waits for it."""
        if at == self.pointer:
            extended = self._replayer.extend(self._transcript, answer)
            if extended is not None:
                return extended
        return self._replay(self._record.inputs.upto(at).then(answer))

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
        trail = grown(record.trail, transcript)
        self._record = replace(record, pointer=len(transcript.steps), trail=trail)
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


def open_record(
    path: str | Path, replayer: Replayer | None = None, *, save: bool = True
) -> Session:
    """Open a record; see `Session`."""
    return Session(path, replayer, save=save)
