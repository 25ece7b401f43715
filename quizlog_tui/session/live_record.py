"""A record's file with its script and replayer: reads, replays and writes.

Knows neither how records change nor the history of a session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..errors import ConflictError, QuizlogError, ScriptError
from ..proof.settle import SettledRecord, settle, settle_switched
from ..record.file_hashes import with_file_hashes
from ..record.model import Record
from ..record.store import RecordFile
from ..record.who import Giver
from ..replay.replayer import Replayer
from ..replay.script.file_hashes import file_hashes
from ..replay.script.granted import granted_script_of, place_of
from ..replay.script.source import Source, read_script_of
from ..replay.trail import extended_trail
from ..replay.transcript import Transcript
from ..replay.world import world_of
from .audit import Audit, may_read
from .result_file import checked_output, result_file, unmade_output
from .run_metadata import run_metadata


class LiveRecord:
    """A record that can be run; its script is known after `read`.

    Args:
        file: The record's file.
        replayer: Runs the script.
        clock: Returns the present time, ISO 8601.
        giver: Who gives answers, unless an answer names another giver.
        recorded: Show recorded data if the script cannot be read; see `missing`.
        audit: The audit mode, if any. In it the script gets nothing that the user granted it, as
            with real files it could change them.
    """

    def __init__(
        self,
        file: RecordFile,
        replayer: Replayer,
        clock: Callable[[], str],
        giver: Giver,
        *,
        recorded: bool,
        audit: Audit | None = None,
    ) -> None:
        self.file = file
        self.replayer = replayer
        self.now = clock
        self.giver = giver
        self._shows_recorded = recorded
        self._audit = audit
        self._script: Source | ScriptError
        self._on_disk: Record
        self._given_here = False
        """Whether the script requests a grant, and what it is given was given or allowed here."""

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
        """Why the script cannot be read, so that only recorded data are shown; None if it can."""
        return self._script if isinstance(self._script, ScriptError) else None

    def read(self, known: Record | None = None) -> SettledRecord:
        """Read the record and its script, and run it as far as the two agree.

        Args:
            known: The record as read before; the script it names must be the same.

        Raises:
            RecordError: The record cannot be read, or its result file is not in its folder.
            ScriptError: The script cannot be read.
            ConflictError: The record names another script now.
        """
        record = self._on_disk = self.file.read()
        if known is not None and record.script != known.script and self.missing is None:
            where, hint = str(self.file.path), "open it again"
            raise ConflictError("names another script now", where=where, hint=hint)
        self._script = self._read_script(record)
        if self.missing is not None:
            from .recorded_run import recorded_run

            return SettledRecord(
                record, recorded_run(record, record.branch).upto(record.pointer), ()
            )
        self._given_here = bool(self.source.asked) and self._is_given_here(record)
        if record.output:
            checked_output(self.file.path, record.output, self.source.path)
        found = settle(record, self.source, self.replayer, self.now)
        return replace(found, record=self.finished(found.record, found.transcript))

    def _read_script(self, record: Record) -> Source | ScriptError:
        """The script, or why it cannot be read if recorded data are shown instead."""
        try:
            self._check_served(record)
            if self._audit is not None:
                return read_script_of(self.file.path, record.script)
            return granted_script_of(self.file.path, record)
        except ScriptError as error:
            if not self._shows_recorded:
                raise
            return error

    def _check_served(self, record: Record) -> None:
        """Refuse a script that audit mode does not let be read."""
        if not may_read(self._audit, self.file.path.parent / record.script):
            hint = "serve a folder that holds both, with --folder"
            raise ScriptError(
                "the record's script is not in the served folder", where=record.script, hint=hint
            )

    def finished(self, record: Record, run: Transcript) -> Record:
        """The record completed by the data of its run up to the pointer."""
        return record.but(
            pointer=len(run.steps),
            status=run.status,
            print=run.print,
            last_error=run.last_error,
            code_hash=self.source.code_hash,
            trail=extended_trail(record.trail, run),
            extras=with_file_hashes(
                run_metadata(record, run, self.now, self.source.interpreter.version),
                file_hashes(self.source),
            ),
        )

    def replay(self, record: Record, inputs: Sequence[str]) -> Transcript:
        """The run with these answers; the recorded run if the script cannot be read."""
        if self.missing is not None:
            from .recorded_run import recorded_up_to

            known = recorded_up_to(record, inputs)
            if known is not None:
                return known
        return self.replayer.replay(self.source, world_of(record), inputs)

    def settle_switched(self, record: Record, moved: Record) -> SettledRecord:
        """Settle `moved`, which has another active branch, with the present script."""
        return settle_switched(record, moved, self.source, self.replayer, self.now)

    def write(self, record: Record, run: Transcript) -> list[str]:
        """Write a finished record durably, and its result file if it names one.

        Returns:
            Warnings for the user.

        Raises:
            ScriptError: The script cannot be read, so that nothing can be changed.
            ConflictError: Somebody else changed the record since it was read.
            LockedError: Somebody else holds it.
            LimitError: It would be too big to be read again; nothing was written.
            RecordError: It cannot be written, or a foreign file has the name of its result file.
        """
        remarks = self.file.write(record, result_file(self.file.path, record, run))
        self._on_disk = record
        return [*remarks, *unmade_output(self.file.path, record), *self._note_given(record)]

    def lacks_only_status(self, record: Record) -> bool:
        """Whether the file has the answers of a record, and another status."""
        known = self._on_disk
        return known.status != record.status and list(known.inputs) == list(record.inputs)

    def _is_given_here(self, record: Record) -> bool:
        from ..record.given_here import is_given_here

        return is_given_here(self.file.path, record, place_of(self.source.path))

    def _note_given(self, record: Record) -> list[str]:
        """Note that what a written record gives to the script was given here; warnings."""
        if not self._given_here:
            return []
        from ..record.given_here import note_given

        try:
            note_given(self.file.path, record, place_of(self.source.path))
        except QuizlogError as error:  # the record itself is written
            return [str(error)]
        return []

    def annotate(self, change: Callable[[Record], Record]) -> None:
        """Change the record as it is on disk: what its script does now is not written.

        Raises:
            ConflictError: Somebody else changed the record since it was read.
            LockedError: Somebody else holds it.
        """
        annotated = change(self._on_disk)
        self.file.write(annotated)
        self._on_disk = annotated
