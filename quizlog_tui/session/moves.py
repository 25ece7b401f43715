"""The state of a session, and the moves that lead from one to the next. Nothing is written.

A move computes the changed record and its run; `Session` writes it and then enters the new state.
States are values that share common parts, so that a long history of them is cheap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ..errors import UsageError
from ..record import branches as rules
from ..record import who
from ..record.append_only_list import AppendOnlyList
from ..record.branches import restored_state
from ..record.model import Record
from ..record.who import Attribution, Giver
from ..replay.transcript import Step, Transcript, stop_fingerprint
from ..text import plural
from .live_record import LiveRecord

LIMIT = 200
"""Maximum number of changes that can be undone."""


class Change(NamedTuple):
    """A change, and the record that undoing or redoing it leads to."""

    label: str
    """The change in words, such as `answer at step 3`."""
    record: Record
    """The record that undoing or redoing it leads to."""


class History(NamedTuple):
    """The changes that can be undone, and those that can be redone."""

    done: tuple[Change, ...] = ()
    undone: tuple[Change, ...] = ()

    @property
    def last(self) -> Change | None:
        """The change that would be undone."""
        return self.done[-1] if self.done else None

    @property
    def next(self) -> Change | None:
        """The change that would be redone."""
        return self.undone[-1] if self.undone else None

    def after_change(self, label: str, before: Record) -> History:
        """The history after a new change; undone changes can no longer be redone."""
        return History((*self.done[1 - LIMIT :], Change(label, before)))

    def after_undo(self, after: Record) -> History:
        """The history after an undo; `after` is the record before the undo."""
        *done, last = self.done
        return History(tuple(done), (*self.undone, Change(last.label, after)))

    def after_redo(self, before: Record) -> History:
        """The history after a redo; `before` is the record before the redo."""
        *undone, following = self.undone
        return History((*self.done, Change(following.label, before))[-LIMIT:], tuple(undone))


@dataclass(frozen=True)
class SessionState:
    """The record, the run up to its pointer, and the history."""

    record: Record
    transcript: Transcript
    history: History = field(default_factory=History)


class Move(NamedTuple):
    """The result of a move before it is written."""

    record: Record
    """The changed record, without the data of its run."""
    transcript: Transcript
    """The run up to the new pointer."""
    label: str
    """The move in words, such as `answer at step 3`."""
    warnings: tuple[str, ...] | None = None
    """The warnings for the user from now on; None to keep the previous ones."""


def answer(
    live: LiveRecord, state: SessionState, text: str, at: int | None, giver: Giver | None
) -> Move:
    """Answer the question at step `at`, or the pending one."""
    record = state.record
    at = _answer_point(state) if at is None else at
    rules.check_pointer(record, at)
    # The end of the old answers is computed before their run continues with the new answer.
    end = _end_of(live, state) if rules.leaves_tail(record, at, text) else None
    run = _one_more(live, state, at, text)
    _check_asked(run, at)
    moved = rules.parted(record, at, text, end) if end else rules.stepped(record, at, text)
    if moved.inputs is not record.inputs:
        moved = who.added(moved, moved.branch, at, _given(live, giver))
    return Move(moved, run, f"answer at step {at}")


def rewind(live: LiveRecord, state: SessionState, pointer: int) -> Move:
    """Set the pointer."""
    moved = rules.rewound(state.record, pointer)
    return Move(moved, live.replay(moved, moved.used), f"rewind to step {pointer}")


def fork(
    live: LiveRecord,
    state: SessionState,
    at: int,
    text: str,
    name: str | None,
    giver: Giver | None,
) -> Move:
    """Start a branch with another answer, and make it the active one."""
    rules.check_pointer(state.record, at)
    moved = rules.forked(state.record, at, text, name, _end_of(live, state))
    run = live.replay(moved, moved.used)
    _check_asked(run, at)
    moved = who.added(moved, moved.branch, at, _given(live, giver))
    return Move(moved, run, f"fork at step {at}")


def add_branch(
    live: LiveRecord,
    state: SessionState,
    at: int,
    text: str,
    name: str | None,
    later: Sequence[str],
) -> Move:
    """Add a branch with another answer, and later ones; the active one stays."""
    record = state.record
    rules.check_pointer(record, at)
    answers = [*record.inputs.upto(at), text, *later]
    run = live.replay(record, answers)
    _check_asked(run, len(answers) - 1)
    end = rules.BranchEnd(run.status, run.score, live.now())
    stops = [stop_fingerprint(run, stop) for stop in range(at + 1, len(answers) + 1)]
    moved = rules.added_branch(record, at, text, name, end, stops, later)
    (new,) = moved.branches.keys() - record.branches.keys()
    for each in range(at, len(answers)):
        moved = who.added(moved, new, each, _given(live, None))
    return Move(moved, state.transcript, f"branch kept at step {at}")


def amend(live: LiveRecord, state: SessionState, at: int, text: str) -> Move:
    """Change an answer, and keep later ones while their questions stay the same."""
    record = state.record
    whole = live.replay(record, record.inputs)
    if not 0 <= at < len(whole.steps):
        have = plural(len(whole.steps), "answer")
        hint = f"choose one from 0 to {len(whole.steps) - 1}"
        raise UsageError(f"there is no answer {at}: the record has {have}", hint=hint)
    end = rules.BranchEnd(whole.status, whole.score, live.now())
    run = amended_run(live, record, whole.steps, at, text)
    moved = rules.answered(record, at, text, end)
    inputs = moved.inputs if moved.inputs == record.inputs else run.inputs
    moved = replace(moved, inputs=AppendOnlyList(inputs))
    if moved.inputs != record.inputs:
        moved = _with_givers(live, record, moved, at)
    return Move(moved, run, f"change of answer {at}")


def amended_run(
    live: LiveRecord, record: Record, steps: Sequence[Step], at: int, answer: str
) -> Transcript:
    """The run with answer `at` changed, and later ones kept while their questions stay the same.

    Stops at the first differing question, or at the end of the run.

    Args:
        live: The record and where it runs.
        record: Its content.
        steps: The recorded steps.
        at: Index of the answer to change.
        answer: The new answer.
    """
    inputs = [step.input or "" for step in steps[:at]] + [answer]
    run = live.replay(record, inputs)
    for step in steps[at + 1 :]:
        if run.status != "in_progress" or run.next_prompt != step.question:
            break
        inputs.append(step.input or "")
        run = live.replayer.extend(run, inputs[-1]) or live.replay(record, inputs)
    return run


def switch(live: LiveRecord, state: SessionState, name: str) -> Move:
    """Make another branch the active one, at its end."""
    record, label = state.record, f"switch to {name}"
    end = _end_of(live, state) if name != record.branch else rules.BranchEnd()
    moved = rules.switched(record, name, end)
    if moved is record:
        return Move(moved, live.replay(moved, moved.used), label)
    found = live.settle_switched(record, moved)
    return Move(found.record, found.transcript, label, found.warnings)


def go_to(live: LiveRecord, state: SessionState, change: Change) -> Move:
    """Undo or redo a change; later answers stay after the pointer or on a deleted branch."""
    end = rules.BranchEnd(time=live.now())
    if len(state.transcript.steps) == len(state.record.inputs):
        end = end._replace(status=state.transcript.status, score=state.transcript.score)
    moved = restored_state(change.record, state.record, end)
    return Move(moved, live.replay(moved, moved.used), change.label)


def _end_of(live: LiveRecord, state: SessionState) -> rules.BranchEnd:
    """The state at the end of the active branch."""
    record, run = state.record, state.transcript
    if len(record.inputs) != len(run.steps):
        run = live.replay(record, record.inputs)
    return rules.BranchEnd(run.status, run.score, live.now())


def _one_more(live: LiveRecord, state: SessionState, at: int, text: str) -> Transcript:
    """The run with one more answer, in constant time if its process waits for it."""
    if at == len(state.transcript.steps):
        extended = live.replayer.extend(state.transcript, text)
        if extended is not None:
            return extended
    return live.replay(state.record, state.record.inputs.upto(at).then(text))


def _answer_point(state: SessionState) -> int:
    """The step the next answer belongs to."""
    status, pointer = state.transcript.status, len(state.transcript.steps)
    if status == "success":
        hint = "rewind or fork to try other answers"
        raise UsageError("the questionnaire is finished; nothing is asked", hint=hint)
    if status == "error" and pointer == 0:
        hint = "; ".join(state.transcript.warnings) or "mend the script"
        raise UsageError("the script raises before its first question", hint=hint)
    return pointer - 1 if status == "error" else pointer


def _given(live: LiveRecord, giver: Giver | None) -> Attribution:
    """How an answer is given that is given now."""
    giver = giver or live.giver
    return Attribution(giver.by, giver.name, giver.door, live.now())


def _with_givers(live: LiveRecord, before: Record, moved: Record, at: int) -> Record:
    """The record after an answer was changed; the later ones that it keeps stay their givers'."""
    old = who.on_branch(before, before.branch)
    moved = who.added(moved, moved.branch, at, _given(live, None))
    for later in range(at + 1, len(moved.inputs)):
        if later in old:
            moved = who.added(moved, moved.branch, later, old[later])
    return moved


def _check_asked(run: Transcript, at: int) -> None:
    """Raise a `UsageError` unless a run used an answer at step `at`."""
    if len(run.steps) < at + 1:
        hint = "choose an earlier step"
        raise UsageError(f"the script asks nothing at step {at}", hint=hint)
