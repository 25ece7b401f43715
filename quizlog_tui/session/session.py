"""A record and a replayer together: the one door through which every front end moves.

Each move replays, changes the record by the rules of `record.branches`, and writes it durably.
Prints nothing; what a user should hear is in `Session.warnings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import QuizlogError, UsageError
from ..proof.drift.settle import settle_switched
from ..record import branches as rules
from ..record import upkeep
from ..record.append_only_list import AppendOnlyList
from ..record.lineage import check_branch
from ..record.lock import WAIT_SECONDS
from ..replay.replayer import Replayer
from ..replay.trail import stop_fingerprint
from ..replay.transcript import Transcript
from ..text import plural
from .reply import Reply
from .state import SessionState

if TYPE_CHECKING:
    from ..proof.compare.sides import Compared
    from ..proof.verdict import Verdict
    from ..record.feedback import Feedback
    from .branch_list import BranchInfo
    from .walks import Culprit


class Session(SessionState):
    """An open record and the moves that change it; see `OpenRecord` for the arguments."""

    @property
    def branches(self) -> list[BranchInfo]:
        """All branches but the deleted ones, oldest first."""
        return [branch for branch in self.all_branches if branch.active or not branch.deleted]

    @property
    def all_branches(self) -> list[BranchInfo]:
        """All branches, also the deleted ones, oldest first."""
        from .branch_list import branch_list

        return branch_list(self._record, self._transcript)

    @property
    def outdated(self) -> bool:
        """Whether somebody else changed the record file since it was read or written."""
        return self._file.changed()

    @property
    def feedback(self) -> list[Feedback]:
        """All remarks, in the order they were made; `record.feedback` has filters for them."""
        from ..record.feedback import read

        return read(self._record)

    def transcript_of(self, name: str) -> Transcript:
        """The run through all answers of a branch, also of a deleted one.

        Raises:
            UsageError: There is no such branch.
        """
        check_branch(self._record, name)
        return self._replay(self._record.path_of(name))

    def transcripts_of(
        self, names: Sequence[str]
    ) -> Iterator[tuple[str, Transcript | QuizlogError]]:
        """The runs of several branches, in one walk of their answers: in any order, each once.

        Yields:
            A branch's name with the run through all its answers, or with what stopped that.

        Raises:
            CancelledError: The replayer was cancelled meanwhile.
        """
        lines = map(self._record.path_of, names)
        for index, outcome in self._replayer.walk(self.source, self._world, lines):
            yield names[index], outcome

    # -- moving

    def answer(self, answer: str, *, at: int | None = None) -> Reply:
        """Answer a question; answers that were given from there on stay as a branch.

        Args:
            answer: The answer.
            at: The step of the question, as if the record were rewound to it; None for the pending
                question, or after an error for the one that led to it.

        Raises:
            UsageError: Nothing is asked, or there is no such step.
            ConflictError: The record was changed by somebody else; nothing was written.
            LimitError: The script went over a limit; nothing was written.
        """
        if at is None:
            at = self._answer_point()
        rules.check_pointer(self._record, at)
        parked = self._parked(rules.leaves_tail(self._record, at, answer))
        transcript = self._one_more(at, answer)
        _check_asked(transcript, at)
        record = rules.answered(self._record, at, answer, parked)
        return self._become(record, transcript, f"answer at step {at}")

    def rewind(self, pointer: int) -> Reply:
        """Set the pointer; all answers stay.

        Raises:
            UsageError: There is no such step.
        """
        moved = rules.rewound(self._record, pointer)
        return self._become(moved, self._replay(moved.used), f"rewind to step {pointer}")

    def fork(self, at: int, answer: str, name: str | None = None) -> Reply:
        """Start a branch at step `at` with another answer, and make it the active one.

        Raises:
            UsageError: There is no such step, nothing is asked there, or the name is taken.
        """
        rules.check_pointer(self._record, at)
        record = rules.forked(self._record, at, answer, name, self._parked(tail=True))
        transcript = self._replay(record.used)
        _check_asked(transcript, at)
        return self._become(record, transcript, f"fork at step {at}")

    def keep(self, at: int, answer: str, name: str | None = None) -> Reply:
        """Add a branch with another answer at step `at`; the active one stays, at its pointer.

        So several answers that were tried may be kept, each leaving from the same branch.

        Raises:
            UsageError: There is no such step, nothing is asked there, or the name is taken.
        """
        rules.check_pointer(self._record, at)
        end = self._replay(self._record.inputs.upto(at).then(answer))
        _check_asked(end, at)
        parked = rules.BranchEnd(end.status, end.score, self._clock())
        record = rules.added_branch(
            self._record, at, answer, name, parked, stop_fingerprint(end, at + 1)
        )
        return self._become(record, self._transcript, f"branch kept at step {at}")

    def amend(self, at: int, answer: str) -> Reply:
        """Change answer `at`, keeping later answers while their questions stay the same.

        Stops at the first question that differs. The old answers stay as a branch.

        Raises:
            UsageError: There is no such answer.
        """
        from . import walks

        whole = self.preview()
        if not 0 <= at < len(whole.steps):
            have = plural(len(whole.steps), "answer")
            hint = f"choose one from 0 to {len(whole.steps) - 1}"
            raise UsageError(f"there is no answer {at}: the record has {have}", hint=hint)
        parked = rules.BranchEnd(whole.status, whole.score, self._clock())
        transcript = walks.amend(self._replay, self._replayer.extend, whole.steps, at, answer)
        record = rules.answered(self._record, at, answer, parked)
        inputs = record.inputs if record.inputs == self._record.inputs else transcript.inputs
        record = replace(record, inputs=AppendOnlyList(inputs))
        return self._become(record, transcript, f"change of answer {at}")

    def bisect(self) -> Culprit | None:
        """The first answer of this branch that spoils the outcome the best other branch has.

        Without a better branch, the answer at which the script raised. None if nothing is spoiled.
        """
        from . import walks

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
        from ..proof.compare.sides import Side, compare, run_of, with_branch

        mine = Side(self.path, self.record, self.source, self.branch, whole=True)
        runs = [run_of(side, self._replayer) for side in (mine, with_branch(mine, branch))]
        return compare(runs[0][0], runs[1][0], ended=(runs[0][1], runs[1][1]))

    def verify(self) -> Verdict:
        """Whether the record, as it is on disk, is what its script does: two fresh replays judge.

        Raises:
            RecordError: The record cannot be read any more.
            ScriptError: Its script cannot be read any more.
        """
        from ..proof.verify import verify
        from ..replay.runs import Runs

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
        label = f"switch to {name}"
        if moved is self._record:
            return self._become(moved, self._replay(moved.used), label)
        found = settle_switched(self._record, moved, self.source, self._replayer, self._clock)
        self.warnings = list(found.warnings)
        return self._become(found.record, found.transcript, label)

    # -- keeping order

    def rename(self, name: str, new: str) -> Reply:
        """Give a branch another name.

        Raises:
            UsageError: There is no such branch, or the new name is taken or unusable.
        """
        record = upkeep.renamed(self._record, name, new)
        return self._become(record, self._transcript, f"renaming of {name}")

    def note(self, name: str, text: str) -> Reply:
        """Set the remark of a branch; an empty one takes it away.

        Raises:
            UsageError: There is no such branch.
        """
        record = upkeep.noted(self._record, name, text)
        return self._become(record, self._transcript, f"note on {name}")

    def delete(self, name: str) -> Reply:
        """Hide a branch. Its answers stay in the record, and so do the branches that left it.

        Raises:
            UsageError: There is no such branch, or it is the active one.
        """
        record = upkeep.deleted(self._record, name, self._clock())
        return self._become(record, self._transcript, f"deletion of {name}")

    def restore(self, name: str) -> Reply:
        """Show a deleted branch again.

        Raises:
            UsageError: There is no such branch.
        """
        record = upkeep.restored(self._record, name)
        return self._become(record, self._transcript, f"restoring of {name}")

    def comment(
        self,
        at: int,
        text: str,
        verdict: str | None = None,
        author: str | None = None,
        *,
        branch: str | None = None,
    ) -> Reply:
        """Add a remark about step `at` of a branch, the active one if None.

        Args:
            at: Index of the answer; the number of answers is where the branch stands.
            text: What there is to say; may be empty where the verdict says it.
            verdict: One of `record.feedback.VERDICTS`, or None.
            author: Who says it.
            branch: Name of the branch.

        Raises:
            UsageError: There is no such step or branch, the verdict is unknown, or nothing is said.
        """
        from ..record.feedback import Feedback, added

        said = Feedback(at, branch or self.branch, author, self._clock(), verdict, text)
        record = added(self._record, said)
        return self._become(record, self._transcript, f"comment on step {at}")

    # -- inside

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

    def _parked(self, tail: bool) -> rules.BranchEnd:
        """How the active branch stands at its end, if it is about to be left."""
        if not tail:
            return rules.BranchEnd()
        end = self._transcript
        if len(self._record.inputs) != self.pointer:
            end = self._replay(self._record.inputs)
        return rules.BranchEnd(end.status, end.score, self._clock())


def _check_asked(transcript: Transcript, at: int) -> None:
    """Raise a `UsageError` unless a run used an answer at step `at`."""
    if len(transcript.steps) < at + 1:
        hint = "choose an earlier step"
        raise UsageError(f"the script asks nothing at step {at}", hint=hint)


def open_record(
    path: str | Path,
    replayer: Replayer | None = None,
    *,
    save: bool = True,
    wait: float = WAIT_SECONDS,
) -> Session:
    """Open a record; see `Session`."""
    return Session(path, replayer, save=save, wait=wait)
