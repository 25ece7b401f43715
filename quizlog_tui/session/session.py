"""A record and a replayer together: the one door through which every front end moves.

What a move leads to is worked out in `moves`, and made durable in one place, `journal`. Prints
nothing; what a user should hear is in `Session.warnings`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ..errors import QuizlogError, ScriptError
from ..record import upkeep
from ..record.lineage import check_branch
from ..record.lock import WAIT_SECONDS
from ..record.model import Record
from ..record.store import RecordFile
from ..replay.replayer import Replayer
from ..replay.script.source import Source
from ..replay.transcript import Transcript
from . import moves
from .audit import Audit
from .journal import Journal
from .live_record import LiveRecord
from .new_record import utc_now
from .reply import Reply
from .state import Move, SessionState

if TYPE_CHECKING:
    from ..proof.compare.sides import RunComparison
    from ..proof.verdict import Verdict
    from ..record.feedback import Feedback
    from .branch_list import BranchInfo
    from .walks import Culprit


class Session:
    """An open record and the moves that change it.

    A move is written before it counts. It raises a `UsageError` where the step, the branch or the
    change that it names does not exist or cannot be had, a `ConflictError` where somebody else
    changed the record, a `LockedError` where somebody else holds it, a `LimitError` where the
    script or the record goes over a limit, a `ScriptError` where the script cannot be read, a
    `ReadOnlyError` in audit mode. Then nothing was written, and the session stands where it stood.

    Args:
        path: The record file.
        replayer: Where its script runs; a private one if None, closed with the session.
        save: Write the record at each change.
        wait: Seconds to wait while somebody else holds the record.
        clock: Gives the time for `created` and `end_time`.
        recorded: Show what the record holds where its script cannot be read. Nothing can be
            changed then: see `missing`.
        audit: Refuse every move that would write; None writes them.
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
        audit: Audit | None = None,
    ) -> None:
        self.path = Path(path)
        self.audit = audit
        """Why nothing can be changed; None if it can."""
        self._owns_replayer = replayer is None
        file = RecordFile(self.path, wait)
        # With real files a run could change them, so nothing is granted in audit mode.
        self._live = LiveRecord(
            file, replayer or Replayer(), clock, recorded=recorded, granted=audit is None
        )
        self._journal = Journal(self._live, save=save, audit=audit)
        try:
            self._journal.read()
        except BaseException:
            self.close()
            raise

    # -- looking

    @property
    def warnings(self) -> list[str]:
        """What a user should know of the record as it stands."""
        return self._journal.warnings

    @property
    def source(self) -> Source:
        """The script.

        Raises:
            ScriptError: It cannot be read; `missing` says so too.
        """
        return self._live.source

    @property
    def missing(self) -> ScriptError | None:
        """Why the script cannot be read: what is shown is only recorded. None if it can."""
        return self._live.missing

    @property
    def record(self) -> Record:
        """The record as it would be written now."""
        return self._state.record

    @property
    def transcript(self) -> Transcript:
        """The run up to the pointer."""
        return self._state.transcript

    @property
    def pointer(self) -> int:
        """Index of the next unanswered question."""
        return len(self._state.transcript.steps)

    @property
    def inputs(self) -> Sequence[str]:
        """The active branch's answers, also those after the pointer."""
        return self._state.record.inputs

    @property
    def branch(self) -> str:
        """Name of the active branch."""
        return self._state.record.branch

    @property
    def written(self) -> bool:
        """Whether this session has written the record."""
        return self._live.file.written

    @property
    def branches(self) -> list[BranchInfo]:
        """All branches but the deleted ones, oldest first."""
        return [branch for branch in self.all_branches if branch.active or not branch.deleted]

    @property
    def all_branches(self) -> list[BranchInfo]:
        """All branches, also the deleted ones, oldest first."""
        from .branch_list import branch_list

        return branch_list(self.record, self.transcript)

    @property
    def outdated(self) -> bool:
        """Whether somebody else changed the record file since it was read or written."""
        return self._live.file.changed()

    @property
    def feedback(self) -> list[Feedback]:
        """All remarks, in the order they were made; `record.feedback` has filters for them."""
        from ..record.feedback import read

        return read(self.record)

    def reply(self) -> Reply:
        """Where the questionnaire stands."""
        return self._journal.reply()

    def transcript_of(self, name: str | None = None) -> Transcript:
        """The run through all answers of a branch, also of a deleted one; None for the active one.

        Raises:
            UsageError: There is no such branch.
        """
        if name is None:
            return self._live.replay(self.record, self.inputs)
        check_branch(self.record, name)
        return self._live.replay(self.record, self.record.path_of(name))

    def transcripts_of(
        self, names: Sequence[str]
    ) -> Iterator[tuple[str, Transcript | QuizlogError]]:
        """The runs of several branches to their ends, or what stopped one; in any order."""
        from . import trials

        return trials.transcripts_of(self._live, self._state, names)

    # -- moving

    def answer(self, answer: str, *, at: int | None = None) -> Reply:
        """Answer a question; answers that were given from there on stay as a branch.

        Args:
            answer: The answer.
            at: The step of the question, as if the record were rewound to it; None for the pending
                question, or after an error for the one that led to it.
        """
        return self._journal.make(moves.answer(self._live, self._state, answer, at))

    def rewind(self, pointer: int) -> Reply:
        """Set the pointer; all answers stay."""
        return self._journal.make(moves.rewind(self._live, self._state, pointer))

    def fork(self, at: int, answer: str, name: str | None = None) -> Reply:
        """Start a branch at step `at` with another answer, and make it the active one."""
        return self._journal.make(moves.fork(self._live, self._state, at, answer, name))

    def keep(
        self, at: int, answer: str, name: str | None = None, *, later: Sequence[str] = ()
    ) -> Reply:
        """Add a branch with another answer at step `at`, and `later` ones; the active one stays.

        So several answers that were tried may be kept, each leaving from the same branch.
        """
        move = moves.add_branch(self._live, self._state, at, answer, name, later)
        return self._journal.make(move)

    def amend(self, at: int, answer: str) -> Reply:
        """Change answer `at`, keeping later answers while their questions stay the same.

        Stops at the first question that differs. The old answers stay as a branch.
        """
        return self._journal.make(moves.amend(self._live, self._state, at, answer))

    def switch(self, name: str) -> Reply:
        """Make another branch the active one, at its end; in audit mode only in this session."""
        move = moves.switch(self._live, self._state, name)
        return self._journal.make(move) if self.audit is None else self._journal.look(move)

    # -- keeping order

    def rename(self, name: str, new: str) -> Reply:
        """Give a branch another name."""
        return self._change(upkeep.renamed(self.record, name, new), f"renaming of {name}")

    def note(self, name: str, text: str) -> Reply:
        """Set the remark of a branch; an empty one takes it away."""
        return self._annotate(lambda record: upkeep.noted(record, name, text), f"note on {name}")

    def delete(self, name: str) -> Reply:
        """Hide a branch. Its answers stay in the record, and so do the branches that left it."""
        hidden = upkeep.deleted(self.record, name, self._live.now())
        return self._change(hidden, f"deletion of {name}")

    def restore(self, name: str) -> Reply:
        """Show a deleted branch again."""
        return self._change(upkeep.restored(self.record, name), f"restoring of {name}")

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
        """
        from ..record.feedback import Feedback, added

        said = Feedback(at, branch or self.branch, author, self._live.now(), verdict, text)
        return self._annotate(lambda record: added(record, said), f"comment on step {at}")

    # -- taking back

    @property
    def can_undo(self) -> str | None:
        """What `undo` would take back, in words; None if there is nothing."""
        change = self._state.history.last
        return change.label if change else None

    @property
    def can_redo(self) -> str | None:
        """What `redo` would do again, in words; None if there is nothing."""
        change = self._state.history.next
        return change.label if change else None

    def undo(self) -> Reply:
        """Take the last change of this session back; it can be done again.

        No answer is lost: one that was given stays ahead of the pointer, as after a rewind, or as
        a deleted branch.
        """
        return self._journal.undo()

    def redo(self) -> Reply:
        """Do the change again that `undo` took back last."""
        return self._journal.redo()

    # -- trying

    def fan_out(
        self, at: int, answers: Sequence[str], *, deep: bool = False
    ) -> list[Transcript | QuizlogError]:
        """What each of several answers at step `at` leads to; the record stays as it is.

        A `deep` run goes on with the recorded later answers, as `amend` keeps them.
        """
        from . import trials

        return trials.fan_out(self._live, self._state, at, answers, deep=deep)

    def bisect(self) -> Culprit | None:
        """The first answer of this branch that spoils the outcome the best other branch has.

        Without a better branch, the answer at which the script raised. None if nothing is spoiled.
        """
        from . import trials

        return trials.bisect(self._live, self._state)

    def diff(self, branch: str) -> RunComparison:
        """Where the active branch and another part, each to its end."""
        from . import trials

        return trials.diff(self._live, self._state, branch)

    def verify(self) -> Verdict:
        """Whether the record on disk is what its script does: two fresh replays judge."""
        from ..proof.verify import verify
        from ..replay.uncached_runs import UncachedRuns

        return verify(self.path, UncachedRuns(self._live.replayer.limits))

    def explain(self) -> str | None:
        """Why going back to this step needs a run from before it; None if it does not."""
        return self._live.replayer.explain(self.transcript)

    # -- the file

    def save(self) -> None:
        """Write the record as it stands, and its result file if it names one, durably.

        Raises:
            ScriptError: The script cannot be read.
            ConflictError: Somebody else changed the record since it was read.
            LockedError: Somebody else holds it.
            LimitError: It would be too big to be read again; nothing was written.
        """
        self._journal.save()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others from changing the record, whose changes so far are read first.

        Raises:
            LockedError: Somebody else holds it for longer than one waits.
            ConflictError: There is no record any more.
        """
        with self._live.file.locked():
            if self.outdated:
                self.reload()
            yield

    def reload(self) -> Reply:
        """Read the record and the script again, after somebody else changed them.

        What was done before can no longer be taken back.

        Raises:
            ConflictError: The record names another script now.
        """
        self._journal.read(self.record)
        return self.reply()

    def close(self) -> None:
        """End the processes this session started."""
        if self._owns_replayer:
            self._live.replayer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- inside

    @property
    def _state(self) -> SessionState:
        return self._journal.state

    def _change(self, record: Record, label: str) -> Reply:
        """Make a move that leaves the pointer where it is."""
        return self._journal.make(Move(record, self.transcript, label))

    def _annotate(self, change: Callable[[Record], Record], label: str) -> Reply:
        if self.audit is not None:
            return self._journal.annotate(change, label)
        return self._change(change(self.record), label)
