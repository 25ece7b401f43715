"""A session: an open record with its replayer, used by every front end.

An answer goes its whole way here: `Session.answer` lets `moves.answer` compute the changed record
and its run, `_commit` has `LiveRecord.write` store both, and then the session's state is replaced.
Nothing is printed; see `Session.warnings`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ..errors import ConflictError, QuizlogError, ScriptError, UsageError
from ..record import WAIT_SECONDS
from ..record import branches as rules
from ..record.lineage import check_branch, lineage
from ..record.model import Record
from ..record.store import RecordFile
from ..record.who import PROGRAM, Giver
from ..replay.replayer import Replayer
from ..replay.script.granted import grant, place_of
from ..replay.script.source import Source
from ..replay.transcript import Transcript
from ..replay.world import world_of
from ..text import clipped
from . import moves
from .audit import Audit, check_reading
from .live_record import LiveRecord, SettledRecord, utc_now
from .moves import History, Move, SessionState
from .reply import BranchInfo, Reply, branch_list

if TYPE_CHECKING:
    from ..debug.inspection import Evaluation, Inspection, Trace, ValuePath
    from ..debug.watching import StopWalk, Watched
    from ..proof.compare import RunComparison
    from ..proof.verdict import Verdict
    from ..record.feedback import Feedback
    from .trials import Culprit


_LONGEST_LABEL = 40
"""Maximum characters of an expression in the name of a change."""


class Session:
    """An open record and the moves that change it.

    A move takes effect once it is written. It raises a `UsageError` if the step, branch or change
    does not exist or cannot be used, a `ConflictError` if somebody else changed the record, a
    `LockedError` if somebody else holds it, a `LimitError` if the script or the record exceeds a
    limit, a `ScriptError` if the script cannot be read, and a `ReadOnlyError` in audit mode. Then
    nothing was written, and the session is unchanged.

    Args:
        path: The record file.
        replayer: Runs the script; if None, a private one is made and closed with the session.
        save: Write the record at each change.
        wait: Seconds to wait while somebody else holds the record.
        clock: Returns the present time, for `created` and `end_time`.
        recorded: Show the recorded data if the script cannot be read. Then nothing can be changed;
            see `missing`.
        replays: Run the script at once; else the recorded data are shown until `reload` runs it.
        audit: Refuse every move that would write; None writes them.
        giver: Who gives answers here and through which door; recorded with each answer.
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
        replays: bool = True,
        audit: Audit | None = None,
        giver: Giver = PROGRAM,
    ) -> None:
        self.path = Path(path)
        self.audit = audit
        """Why nothing can be changed; None if it can."""
        self.giver = giver
        """Who gives answers here."""
        self.warnings: list[str] = []
        """Warnings for the user about the record."""
        check_reading(audit, self.path)
        self._owns_replayer = replayer is None
        file = RecordFile(self.path, wait)
        self._live = LiveRecord(
            file, replayer or Replayer(), clock, giver, recorded=recorded, audit=audit
        )
        self._save = save
        self._state: SessionState
        try:
            self._enter(self._live.read() if replays else self._live.read_recorded())
        except BaseException:
            self.close()
            raise

    @property
    def source(self) -> Source:
        """The script.

        Raises:
            ScriptError: It cannot be read; `missing` says so too.
        """
        return self._live.source

    @property
    def missing(self) -> ScriptError | None:
        """Why only recorded data are shown, as where the script cannot be read; None if it ran."""
        return self._live.missing

    @property
    def awaits_replay(self) -> bool:
        """Whether only recorded data are shown because the script was not run yet."""
        return self._live.awaits_replay

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
    def written(self) -> bool:
        """Whether this session has written the record."""
        return self._live.file.written

    @property
    def branches(self) -> list[BranchInfo]:
        """All branches except deleted ones, oldest first."""
        return [branch for branch in self.all_branches if branch.active or not branch.deleted]

    @property
    def all_branches(self) -> list[BranchInfo]:
        """All branches, including deleted ones, oldest first."""
        return branch_list(self.record, self.transcript)

    @property
    def outdated(self) -> bool:
        """Whether somebody else changed the record file since it was read or written."""
        return self._live.file.changed()

    @property
    def feedback(self) -> list[Feedback]:
        """All remarks in the order they were made; `record.feedback` can filter them."""
        from ..record.feedback import read

        return read(self.record)

    def reply(self) -> Reply:
        """The present state of the questionnaire."""
        state = self._state
        return Reply(state.transcript, state.record.branch, str(self._live.file.path))

    def transcript_of(self, name: str | None = None) -> Transcript:
        """The run through all answers of a branch, even a deleted one; None means the active one.

        Raises:
            UsageError: There is no such branch.
        """
        if name is None:
            return self._live.replay(self.record, self.record.inputs)
        check_branch(self.record, name)
        return self._live.replay(self.record, self.record.path_of(name))

    def transcripts_of(
        self, names: Sequence[str]
    ) -> Iterator[tuple[str, Transcript | QuizlogError]]:
        """The runs of several branches to their ends, or their errors, in any order.

        What they have in common is replayed once.

        Raises:
            CancelledError: The replayer was cancelled meanwhile.
        """
        lines = map(self.record.path_of, names)
        walk = self._live.replayer.walk(self.source, world_of(self.record), lines)
        for index, outcome in walk:
            yield names[index], outcome

    def branch_with(self, branch: str, at: int) -> str | None:
        """The branch to switch to for one of its steps; None if the active one shares it."""
        reach = lineage(self.record, self.record.branch)
        return None if at < reach.get(branch, 0) else branch

    def answer(self, answer: str, *, at: int | None = None, giver: Giver | None = None) -> Reply:
        """Answer a question; earlier answers from there on become a branch.

        Args:
            answer: The answer.
            at: The step of the question, as if the record were rewound to it. None for the pending
                question; after an error, for the question before the error.
            giver: Who gives it; None for the session's giver.
        """
        self._keep_end(at)
        return self._make(moves.answer(self._live, self._state, answer, at, giver))

    def rewind(self, pointer: int) -> Reply:
        """Set the pointer; all answers stay."""
        return self._make(moves.rewind(self._live, self._state, pointer))

    def fork(
        self, at: int, answer: str, name: str | None = None, giver: Giver | None = None
    ) -> Reply:
        """Start a branch at step `at` with another answer, and make it the active one."""
        return self._make(moves.fork(self._live, self._state, at, answer, name, giver))

    def keep(
        self, at: int, answer: str, name: str | None = None, *, later: Sequence[str] = ()
    ) -> Reply:
        """Add a branch with another answer at step `at`, and `later` ones; the active one stays.

        Several tried answers can be kept in this way, each as a branch of the active one.
        """
        move = moves.add_branch(self._live, self._state, at, answer, name, later)
        return self._make(move)

    def amend(self, at: int, answer: str) -> Reply:
        """Change answer `at`, and keep later answers while their questions stay the same.

        Stops at the first differing question. The old answers become a branch.
        """
        return self._make(moves.amend(self._live, self._state, at, answer))

    def switch(self, name: str) -> Reply:
        """Make another branch the active one, at its end; in audit mode only in this session."""
        move = moves.switch(self._live, self._state, name)
        if self.audit is not None:
            return self._commit(move, self._state.history, durable=False)
        return self._make(move)

    def rename(self, name: str, new: str) -> Reply:
        """Rename a branch."""
        return self._change(rules.renamed(self.record, name, new), f"renaming of {name}")

    def note(self, name: str, text: str) -> Reply:
        """Set the note on a branch; an empty text removes it."""
        return self._annotate(lambda record: rules.noted(record, name, text), f"note on {name}")

    def delete(self, name: str) -> Reply:
        """Hide a branch. Its answers and the branches that fork from it stay in the record."""
        hidden = rules.deleted(self.record, name, self._live.now())
        return self._change(hidden, f"deletion of {name}")

    def restore(self, name: str) -> Reply:
        """Show a deleted branch again."""
        return self._change(rules.restored(self.record, name), f"restoring of {name}")

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
            at: Index of the answer; the number of answers means the end of the branch.
            text: The text; may be empty if there is a verdict.
            verdict: One of `record.feedback.VERDICTS`, or None.
            author: The author.
            branch: Name of the branch.
        """
        from ..record.feedback import Feedback, added

        said = Feedback(at, branch or self.record.branch, author, self._live.now(), verdict, text)
        return self._annotate(lambda record: added(record, said), f"comment on step {at}")

    @property
    def watches(self) -> list[str]:
        """The expressions that the record keeps to be watched, as far as they are some."""
        from ..debug.watching import is_expression
        from ..record.feedback import watches

        return [text for text in watches(self.record) if is_expression(text)]

    def keep_watch(self, expression: str, author: str | None = None) -> Reply:
        """Keep an expression in the record, to be watched from now on."""
        from ..debug.watching import check_expression
        from ..record.feedback import with_watch

        check_expression(expression)
        now = self._live.now()
        doing = f"watch {clipped(expression, _LONGEST_LABEL)}"
        return self._annotate(lambda record: with_watch(record, expression, author, now), doing)

    def forget_watch(self, expression: str) -> Reply:
        """Take an expression that is kept out of the record."""
        from ..record.feedback import without_watch

        doing = f"end of watching {clipped(expression, _LONGEST_LABEL)}"
        return self._annotate(lambda record: without_watch(record, expression), doing)

    @property
    def can_undo(self) -> str | None:
        """The change that `undo` would undo, in words; None if there is none."""
        change = self._state.history.last
        return change.label if change else None

    @property
    def can_redo(self) -> str | None:
        """The change that `redo` would redo, in words; None if there is none."""
        change = self._state.history.next
        return change.label if change else None

    def undo(self) -> Reply:
        """Undo the last change of this session.

        No answer is lost: answers stay after the pointer, or as a deleted branch.
        """
        history = self._state.history
        if history.last is None:
            hint = "what was done before the record was opened can be reached by rewind and switch"
            raise UsageError("there is nothing to undo", hint=hint)
        back = moves.go_to(self._live, self._state, history.last)
        return self._commit(back, history.after_undo(self.record), durable=self._save)

    def redo(self) -> Reply:
        """Redo the change that was undone last."""
        history = self._state.history
        if history.next is None:
            raise UsageError("there is nothing to redo", hint="a new change ends what was undone")
        again = moves.go_to(self._live, self._state, history.next)
        return self._commit(again, history.after_redo(self.record), durable=self._save)

    def fan_out(
        self, at: int, answers: Sequence[str], *, deep: bool = False
    ) -> list[Transcript | QuizlogError]:
        """The outcomes of several answers at step `at`; the record is not changed.

        A `deep` run continues with the recorded later answers, as `amend` does.
        """
        from . import trials

        return trials.fan_out(self._live, self._state, at, answers, deep=deep)

    def bisect(self) -> Culprit | None:
        """Find the first answer of this branch that makes the outcome worse than the best other.

        Without a better branch, the answer at which the script raised. None if there is none. The
        answers of other branches at that step are tried too: see `Culprit.failing_too`.
        """
        from . import trials

        return trials.bisect(self._live, self._state)

    def diff(self, branch: str) -> RunComparison:
        """The first difference between the active branch and another, each to its end."""
        from ..proof.compare import Side, compare, run_of, with_branch

        mine = Side(self.path, self.record, self.source, self.record.branch, whole=True)
        runs = [run_of(side, self._live.replayer) for side in (mine, with_branch(mine, branch))]
        return compare(runs[0][0], runs[1][0], ended=(runs[0][1], runs[1][1]))

    def verify(self) -> Verdict:
        """Verify the record on disk by fresh replays."""
        from ..proof.verify import verify
        from ..replay.uncached_runs import UncachedRuns

        return verify(self.path, UncachedRuns(self._live.replayer.limits))

    def on_disk(self) -> tuple[Record, Source]:
        """The record and its script as their files are now; see `LiveRecord.on_disk`."""
        return self._live.on_disk()

    def inspect(
        self,
        at: int | None = None,
        *,
        frame: int = 0,
        expressions: Sequence[str] = (),
        opened: Sequence[ValuePath] = (),
    ) -> Inspection:
        """What the script knows at a step, the pointer if None; see `debug.inspection.inspect`."""
        from ..debug.inspection import inspect

        return inspect(
            self._live.replayer,
            self.source,
            world_of(self.record),
            self._answers_up_to(at),
            frame=frame,
            expressions=expressions,
            opened=opened,
        )

    def trace(self, at: int | None = None) -> Trace:
        """The lines that ran before a step, the pointer if None; see `debug.inspection.trace`."""
        from ..debug.inspection import trace

        answers = self._answers_up_to(at)
        return trace(self._live.replayer, self.source, world_of(self.record), answers)

    def evaluate(self, at: int, text: str, *, frame: int = 0) -> Evaluation:
        """The value of an expression at a step, or its exception; see `inspect`."""
        return self.inspect(at, frame=frame, expressions=[text]).expressions[0]

    def stop_walk(self) -> StopWalk:
        """A walk through all answers of the active branch, for `debug.watching`."""
        from ..debug.watching import StopWalk

        limits = self._live.replayer.limits
        return StopWalk(self.source, world_of(self.record), limits, self.record.inputs)

    def watch(self, *expressions: str) -> Watched:
        """The values of expressions at every step of the active branch; see `debug.watching`."""
        from ..debug.watching import watched

        return watched(self.stop_walk(), expressions)

    def steps_of_line(self, path: str, line: int) -> tuple[int, ...]:
        """The steps at which a line ran: between the answer before and the question, as `trace`.

        Both see only the thread that asked the question before, and the main thread at first: not
        a thread that asks for the first time.

        Args:
            path: The file, as in `trace`.
            line: Its number.
        """
        from ..debug.watching import lines_run

        return tuple(lines_run(self.stop_walk()).get((path, line), ()))

    def explain(self) -> str | None:
        """Why no checkpoint can be taken at this step; None if one can."""
        return self._live.replayer.explain(self.transcript)

    def save(self) -> None:
        """Write the record, and its result file if it names one, durably.

        Raises:
            ScriptError: The script cannot be read.
            ConflictError: Somebody else changed the record since it was read.
            LockedError: Somebody else holds it.
            LimitError: It would be too big to be read again; nothing was written.
        """
        as_it_stands = Move(self.record, self.transcript, "the record")
        self._commit(as_it_stands, self._state.history, durable=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the record against changes by others; earlier changes of others are read first.

        Raises:
            LockedError: Somebody else holds it for the whole waiting time.
            ConflictError: The record was removed.
        """
        with self._live.file.locked():
            if self.outdated:
                self.reload()
            yield

    def reload(self) -> Reply:
        """Read the record and the script again, after somebody else changed them, and run it.

        Earlier changes can no longer be undone.

        Raises:
            ConflictError: The record names another script now.
        """
        self._enter(self._live.read(self.record))
        return self.reply()

    def close(self) -> None:
        """End the processes that this session started."""
        if self._owns_replayer:
            self._live.replayer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- private

    def _answers_up_to(self, at: int | None) -> Sequence[str]:
        """The answers before a step, the pointer if None."""
        step = self.record.pointer if at is None else at
        self._check_fit(step)
        rules.check_pointer(self.record, step)
        return self.record.inputs.upto(step)

    def _check_fit(self, step: int) -> None:
        """Raise a `UsageError` if a step is recorded, but the edited script does not get there."""
        fit = len(self.record.inputs)
        if step <= fit or self.outdated:
            return
        recorded = len(RecordFile(self.path).read().inputs)
        if step <= recorded:
            message = f"there is no step {step} any more: of {recorded} recorded answers {fit} fit"
            hint = f"undo the edit of the script, or choose a step from 0 to {fit}"
            raise UsageError(message, hint=hint)

    def _enter(self, found: SettledRecord) -> None:
        """Start with the content of the file, as far as it agrees with the script."""
        self._state = SessionState(found.record, found.transcript)
        self.warnings = list(found.warnings)

    def _change(self, record: Record, label: str) -> Reply:
        """Make a move that leaves the pointer where it is."""
        return self._make(Move(record, self.transcript, label))

    def _make(self, move: Move) -> Reply:
        """Make a move, which can be undone if it changes anything."""
        history, before = self._state.history, self.record
        if before != move.record.but(pointer=len(move.transcript.steps)):
            history = history.after_change(move.label, before)
        return self._commit(move, history, durable=self._save)

    def _commit(self, move: Move, history: History, *, durable: bool) -> Reply:
        """Enter the state after a move, on disk first; nothing changes if that fails.

        Args:
            move: The move.
            history: The history after the move.
            durable: Whether to write the record.
        """
        if durable and self.audit is not None:
            self.audit.check(move.label)
        run = move.transcript
        record = self._live.finished(move.record, run)
        remarks: list[str] = []
        if durable:
            try:
                remarks = self._live.write(record, run)
            except ConflictError:
                self._state = replace(self._state, history=History())
                raise
        self._state = SessionState(record, run, history)
        known = self.warnings if move.warnings is None else list(move.warnings)
        self.warnings = known + [remark for remark in remarks if remark not in known]
        return self.reply()

    def _annotate(self, change: Callable[[Record], Record], label: str) -> Reply:
        """Add a note. In audit mode, if it allows notes, nothing else of the file changes.

        Args:
            change: Gives a record with the note added.
            label: What is done, as `comment on step 3`.
        """
        if self.audit is None:
            return self._change(change(self.record), label)
        self.audit.check(label, "notes")
        annotated = change(self.record)
        self._live.annotate(change)
        self._state = replace(self._state, record=annotated)
        return self.reply()

    def _keep_end(self, at: int | None) -> None:
        """Write the record if no answer can follow and its file has another status than its run.

        So it is with a record made by hand for a script that asks nothing: each answer is refused,
        and nothing else would write it. A file that cannot be written stays as it is, and so does
        one whose script lacks what was allowed before.

        Args:
            at: The step that is to be answered; None for where the run has come to.
        """
        run = self.transcript
        ended = run.status == "success" or (run.status == "error" and not run.steps)
        may_write = self._save and self.audit is None and not self._live.source.withheld
        if at is None and ended and may_write and self._live.lacks_only_status(self.record):
            with suppress(QuizlogError):
                self.save()


def open_record(
    path: str | Path,
    replayer: Replayer | None = None,
    *,
    save: bool = True,
    wait: float = WAIT_SECONDS,
) -> Session:
    """Open a record for a user of the package; see `Session`."""
    return Session(path, replayer, save=save, wait=wait)


def not_given_here(session: Session) -> Record | None:
    """The record, if the user must see its arguments and answers before something is allowed.

    None if they were given or allowed on this machine, or if it has none.

    Raises:
        RecordError: The record cannot be read.
        ScriptError: The script cannot be read.
    """
    record = RecordFile(session.path).read()
    from ..record.given_here import is_given_here

    known = is_given_here(session.path, record, place_of(session.source.path))
    return None if known else record


def allow(session: Session, names: Iterable[str], seen: Record | None) -> Reply:
    """Grant the script something from now on, and run the record with it.

    Args:
        session: The open record.
        names: Some of `replay.script.NAMES`.
        seen: The record whose arguments and answers the user saw; None if that was not needed.

    Raises:
        ConfigError: The grant cannot be stored.
        UsageError: The script's folder is too big to be looked at.
        ScriptError: The script cannot be read.
    """
    grant(session.source, names)
    if seen is not None:
        from ..record.given_here import note_given

        note_given(session.path, seen, place_of(session.source.path))
    return session.reload()
