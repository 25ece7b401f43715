"""Computes the results of moves, with their runs. Nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import UsageError
from ..record import branches as rules
from ..record import who
from ..record.append_only_list import AppendOnlyList
from ..record.model import Record
from ..record.undoing import restored_state
from ..record.who import Attribution, Giver
from ..replay.transcript import Transcript, stop_fingerprint
from ..text import plural
from .history import Change
from .live_record import LiveRecord
from .state import Move, SessionState


def answer(
    live: LiveRecord, state: SessionState, text: str, at: int | None, giver: Giver | None
) -> Move:
    """Answer the question at step `at`, or the pending one."""
    record = state.record
    at = _answer_point(state) if at is None else at
    rules.check_pointer(record, at)
    # The end of the old answers is computed before their run continues with the new answer.
    end = end_of(live, state) if rules.leaves_tail(record, at, text) else None
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
    moved = rules.forked(state.record, at, text, name, end_of(live, state))
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
    later: Sequence[str] = (),
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
    from . import walks

    record = state.record
    whole = live.replay(record, record.inputs)
    if not 0 <= at < len(whole.steps):
        have = plural(len(whole.steps), "answer")
        hint = f"choose one from 0 to {len(whole.steps) - 1}"
        raise UsageError(f"there is no answer {at}: the record has {have}", hint=hint)
    end = rules.BranchEnd(whole.status, whole.score, live.now())
    run = walks.amend(
        lambda inputs: live.replay(record, inputs), live.replayer.extend, whole.steps, at, text
    )
    moved = rules.answered(record, at, text, end)
    inputs = moved.inputs if moved.inputs == record.inputs else run.inputs
    moved = replace(moved, inputs=AppendOnlyList(inputs))
    if moved.inputs != record.inputs:
        moved = _with_givers(live, record, moved, at)
    return Move(moved, run, f"change of answer {at}")


def switch(live: LiveRecord, state: SessionState, name: str) -> Move:
    """Make another branch the active one, at its end."""
    record, label = state.record, f"switch to {name}"
    end = end_of(live, state) if name != record.branch else rules.BranchEnd()
    moved = rules.switched(record, name, end)
    if moved is record:
        return Move(moved, live.replay(moved, moved.used), label)
    found = live.settle_switched(record, moved)
    return Move(found.record, found.transcript, label, found.warnings)


def go_to(live: LiveRecord, state: SessionState, change: Change) -> Move:
    """Undo or redo a change; later answers stay after the pointer or on a deleted branch."""
    end = rules.BranchEnd(time=live.now())
    if len(state.transcript.steps) == len(state.record.inputs):
        end = replace(end, status=state.transcript.status, score=state.transcript.score)
    moved = restored_state(change.record, state.record, end)
    return Move(moved, live.replay(moved, moved.used), change.label)


def end_of(live: LiveRecord, state: SessionState) -> rules.BranchEnd:
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
