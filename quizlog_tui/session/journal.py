"""Makes moves durable: the state of a session is replaced once the move is on disk."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace

from ..errors import ConflictError, QuizlogError, UsageError
from ..record.model import Record
from . import moves
from .audit import Audit
from .history import History
from .live_record import LiveRecord
from .reply import Reply
from .state import Move, SessionState


class Journal:
    """The state of an open record and its history.

    Args:
        live: The record.
        save: Whether to write the record at each move.
        audit: Refuses what would be written; None lets all be written.
    """

    def __init__(self, live: LiveRecord, *, save: bool, audit: Audit | None = None) -> None:
        self.live = live
        self.state: SessionState
        self.warnings: list[str] = []
        self._save = save
        self._audit = audit

    def read(self, known: Record | None = None) -> None:
        """Start with the content of the file, as far as it agrees with the script."""
        found = self.live.read(known)
        self.state = SessionState(found.record, found.transcript)
        self.warnings = list(found.warnings)

    def reply(self) -> Reply:
        """The present state of the questionnaire."""
        state = self.state
        return Reply(state.transcript, state.record.branch, str(self.live.file.path))

    def make(self, move: Move) -> Reply:
        """Make a move, which can be undone if it changes anything."""
        history, before = self.state.history, self.state.record
        if before != move.record.but(pointer=len(move.transcript.steps)):
            history = history.after_change(move.label, before)
        return self._commit(move, history, durable=self._save)

    def look(self, move: Move) -> Reply:
        """Show where a move leads, in this session only; nothing is written."""
        return self._commit(move, self.state.history, durable=False)

    def annotate(self, change: Callable[[Record], Record], label: str) -> Reply:
        """Write a note in audit mode, if notes are allowed; nothing else of the file changes.

        Args:
            change: Gives a record with the note added.
            label: What is done, as `comment on step 3`.
        """
        if self._audit is not None:
            self._audit.check(label, "notes")
        state = self.state
        annotated = change(state.record)
        self.live.annotate(change)
        self.state = replace(state, record=annotated)
        return self.reply()

    def undo(self) -> Reply:
        """Undo the last move."""
        history = self.state.history
        if history.last is None:
            hint = "what was done before the record was opened can be reached by rewind and switch"
            raise UsageError("there is nothing to undo", hint=hint)
        back = moves.go_to(self.live, self.state, history.last)
        return self._commit(back, history.after_undo(self.state.record), durable=self._save)

    def redo(self) -> Reply:
        """Redo the move that was undone last."""
        history = self.state.history
        if history.next is None:
            raise UsageError("there is nothing to redo", hint="a new change ends what was undone")
        again = moves.go_to(self.live, self.state, history.next)
        return self._commit(again, history.after_redo(self.state.record), durable=self._save)

    def save(self) -> None:
        """Write the present record."""
        as_it_stands = Move(self.state.record, self.state.transcript, "the record")
        self._commit(as_it_stands, self.state.history, durable=True)

    def keep_end(self, at: int | None) -> None:
        """Write the record if no answer can follow and its file has another status than its run.

        So it is with a record made by hand for a script that asks nothing: each answer is refused,
        and nothing else would write it. A file that cannot be written stays as it is, and so does
        one whose script lacks what was allowed before.

        Args:
            at: The step that is to be answered; None for where the run has come to.
        """
        run = self.state.transcript
        ended = run.status == "success" or (run.status == "error" and not run.steps)
        may_write = self._save and self._audit is None and not self.live.source.withheld
        if at is None and ended and may_write and self.live.lacks_only_status(self.state.record):
            with contextlib.suppress(QuizlogError):
                self.save()

    def _commit(self, move: Move, history: History, *, durable: bool) -> Reply:
        """Enter the state after a move, on disk first; nothing changes if that fails.

        Args:
            move: The move.
            history: The history after the move.
            durable: Whether to write the record.
        """
        if durable and self._audit is not None:
            self._audit.check(move.label)
        run = move.transcript
        record = self.live.finished(move.record, run)
        remarks: list[str] = []
        if durable:
            try:
                remarks = self.live.write(record, run)
            except ConflictError:
                self.state = replace(self.state, history=History())
                raise
        self.state = SessionState(record, run, history)
        known = self.warnings if move.warnings is None else list(move.warnings)
        self.warnings = known + [remark for remark in remarks if remark not in known]
        return self.reply()
