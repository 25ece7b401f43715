"""A record's file with its script and replayer: reads, replays and writes.

Knows neither how records change nor the history of a session. With the record it writes the
metadata of its run and, if the record names one in `output`, a result file with the transcript and
the outcome. A record comes from anywhere, so its word is not enough to make a file: the user makes
it, empty; then it is written at each change.

If the script has changed, the answers that agree stay and the rest becomes a branch: no answer is
dropped, and none is given to another question than its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ConflictError, QuizlogError, RecordError, ScriptError, UsageError
from ..files.durable import FileKind, check_place
from ..files.regular_file import read_regular
from ..record.branches import BranchEnd, replanted
from ..record.document import error_mapping, to_text
from ..record.model import Record, edited_files, with_file_hashes
from ..record.store import RecordFile, is_record
from ..record.who import Giver
from ..record.yaml_text import MAX_BYTES, parse
from ..replay.replayer import Replayer
from ..replay.script.granted import granted_script_of, place_of
from ..replay.script.needed_files import file_hashes
from ..replay.script.source import Source, read_script_of
from ..replay.transcript import Step, Transcript, extended_trail, question_of
from ..replay.world import parse_world, world_entries, world_of
from .audit import Audit, may_read

if TYPE_CHECKING:
    from ..proof.drift import BranchDrift


class SettledRecord(NamedTuple):
    """A record that can be continued with the present text of its script."""

    record: Record
    transcript: Transcript
    """The run up to its pointer."""
    warnings: tuple[str, ...]
    """What a user should know."""


def _settle(
    record: Record, source: Source, replayer: Replayer, clock: Callable[[], str]
) -> SettledRecord:
    """A record just read, with all answers whose questions are still the recorded ones.

    If not all are, the old answers become a branch. For an unchanged script only the questions are
    compared: that it prints something else each time is a warning.
    """
    found = _settled_answers(record, source, replayer, clock)
    edits = tuple(edited_files(record, file_hashes(source)))
    if not edits:
        return found
    from ..proof.drift import describe_files

    return found._replace(warnings=(*found.warnings, *describe_files(edits)))


def _settled_answers(
    record: Record, source: Source, replayer: Replayer, clock: Callable[[], str]
) -> SettledRecord:
    changed = record.is_of_another_script(source.code_hash)
    record = _with_code_hashes(record) if changed else record
    if record.code_hash == source.code_hash or not (record.print or record.trail):
        run = replayer.replay(source, world_of(record), record.used)
        if _same_questions(record, run):  # nearly always so; the rest is imported on demand
            notes = (*_notes(record, source, run), *run.warnings)
            return _settled(record, run, run, notes)
    from ..proof.drift import branch_drift

    drift = branch_drift(record, record.branch, source, replayer)
    if drift.difference is not None:
        stood = _standing(record, clock())
        then = record.code_hash if changed else None
        return _with_old_branch(record, drift, stood._replace(code_hash=then))
    same = "the script has changed since the record was written; all that it shows is the same"
    run = replayer.replay(source, world_of(record), record.used)
    notes = (*((same,) if changed else ()), *run.warnings)
    return _settled(record, run, run, notes)


def _of_older_script(drift: BranchDrift) -> UsageError:
    from ..proof.drift import drift_text

    message = f"cannot switch to {drift.branch}, which is of an older script: {drift_text(drift)}"
    return UsageError(message, hint="its answers stay; undo the edit of the script to run them")


def _with_code_hashes(record: Record) -> Record:
    """The record with the hash of the recorded script in each branch."""
    branches = dict(record.branches)
    for name in {*branches} - {record.branch}:
        then = branches[name].code_hash or record.code_hash
        branches[name] = replace(branches[name], code_hash=then)
    return replace(record, branches=branches)


def _settled(
    record: Record, run: Transcript, whole: Transcript, notes: tuple[str, ...]
) -> SettledRecord:
    trail = extended_trail(record.trail, whole)
    return SettledRecord(replace(record, trail=trail, pointer=len(run.steps)), run, notes)


def _standing(record: Record, time: str) -> BranchEnd:
    """The recorded end of the active branch, as far as it is known."""
    if record.pointer != len(record.inputs):
        return BranchEnd(time=time)
    score = record.last_error.score if record.last_error else None
    return BranchEnd(record.status, 1.0 if record.status == "success" else score, time)


def _same_questions(record: Record, run: Transcript) -> bool:
    stops = (*run.steps, run.last)
    return all(
        question_of(marked) == stop.prompt
        for marked, stop in zip(record.trail, stops, strict=False)
    )


def _with_old_branch(record: Record, drift: BranchDrift, stood: BranchEnd) -> SettledRecord:
    """The record with the agreeing answers up to its pointer, and the old answers on a branch."""
    from ..proof.drift import describe_drift

    continued = replace(record, trail=record.trail.upto(drift.agreed))
    ended = stood.status in ("success", "error")
    if record.inputs and (ended or drift.agreed < drift.answers):
        continued = replanted(record, drift.agreed, stood)
    parked = next((name for name in continued.branches if name not in record.all_names), None)
    run = drift.run.upto(record.pointer)
    return _settled(continued, run, drift.run, (*describe_drift(drift, parked), *run.warnings))


def _notes(record: Record, source: Source, run: Transcript) -> Iterator[str]:
    """Warnings about differences between a record and a run of the same script."""
    if record.is_of_another_script(source.code_hash):
        yield "the script has changed since the record was written, and nothing of it can be judged"
    if len(run.steps) < record.pointer:
        used = len(run.steps)
        yield f"the script ends after {used} of the {record.pointer} answers before the pointer"
    elif record.print and record.print != run.print:
        pairs = enumerate(zip(record.print, run.print, strict=False))
        short = min(len(record.print), len(run.print))
        index = next((i for i, (then, now) in pairs if then != now), short)
        yield f"the script no longer prints what was recorded, from print[{index}] on"
    if record.trail and _end(record) != _end(run):
        yield f"the script no longer ends as recorded: {_end(record)}, now {_end(run)}"


def _end(of: Record | Transcript) -> str:
    """The outcome of a record or a run, as text for a comparison."""
    error = of.last_error
    return f"{of.status}, {error.message!r}, score {error.score:g}" if error else of.status


def utc_now() -> str:
    """The time, ISO 8601 in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())


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
        audit: Audit | None,
    ) -> None:
        self.file = file
        self.replayer = replayer
        self.now = clock
        self.giver = giver
        self._shows_recorded = recorded
        self._audit = audit
        self.awaits_replay = False
        """Whether recorded data are shown because the script was not run yet."""
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

    def read_recorded(self) -> SettledRecord:
        """Read the record and show what is recorded, until `read` runs the script.

        Raises:
            RecordError: The record cannot be read.
        """
        record = self._on_disk = self.file.read()
        self._script = ScriptError("was not run yet", where=record.script)
        self.awaits_replay = True
        return _as_recorded(record)

    def read(self, known: Record | None = None) -> SettledRecord:
        """Read the record and its script, and run it as far as the two agree.

        What is shown meanwhile stays as it is until the script was run, or if it could not be.

        Args:
            known: The record as read before; the script it names must be the same.

        Raises:
            RecordError: The record cannot be read, or its result file is not in its folder.
            ScriptError: The script cannot be read.
            ConflictError: The record names another script now.
        """
        with self.file.reading() as record:
            if known is not None and record.script != known.script and self.missing is None:
                where, hint = str(self.file.path), "open it again"
                raise ConflictError("names another script now", where=where, hint=hint)
            script, given = self._read_script(record), False
            if isinstance(script, ScriptError):
                found = _as_recorded(record)
            else:
                given = bool(script.asked) and _is_given_here(self.file.path, record, script)
                found = self._run(record, script)
        self._on_disk, self._script, self._given_here = record, script, given
        self.awaits_replay = False
        return found

    def on_disk(self) -> tuple[Record, Source]:
        """The record and its script as their files are now; what is shown stays, nothing is run.

        Raises:
            RecordError: The record cannot be read.
            ScriptError: The script cannot be read.
        """
        record = RecordFile(self.file.path).read()
        script = self._read_script(record)
        if isinstance(script, ScriptError):
            raise script
        return record, script

    def _run(self, record: Record, script: Source) -> SettledRecord:
        if record.output:
            _checked_output(self.file.path, record.output, script.path)
        found = _settle(record, script, self.replayer, self.now)
        return found._replace(record=_finished(found.record, found.transcript, script, self.now))

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
        return _finished(record, run, self.source, self.now)

    def replay(self, record: Record, inputs: Sequence[str]) -> Transcript:
        """The run with these answers; the recorded run if the script cannot be read."""
        if self.missing is not None:
            from .recorded_run import recorded_up_to

            known = recorded_up_to(record, inputs)
            if known is not None:
                return known
        return self.replayer.replay(self.source, world_of(record), inputs)

    def settle_switched(self, before: Record, moved: Record) -> SettledRecord:
        """Settle `moved`, whose active branch was just changed and may be of an older script.

        Raises:
            UsageError: Not one of its answers belongs to a question of the script as it is now.
        """
        from ..proof.drift import branch_drift

        drift = branch_drift(before, moved.branch, self.source, self.replayer)
        if drift.difference is None:
            return _settled(moved, drift.run, drift.run, drift.run.warnings)
        if not drift.agreed and drift.answers:
            raise _of_older_script(drift)
        entry = before.branches[moved.branch]
        parked = BranchEnd(entry.status, entry.score, self.now(), entry.code_hash)
        return _with_old_branch(moved, drift, parked)

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
        remarks = self.file.write(record, _result_file(self.file.path, record, run))
        self._on_disk = record
        return [*remarks, *_unmade_output(self.file.path, record), *self._note_given(record)]

    def lacks_only_status(self, record: Record) -> bool:
        """Whether the file has the answers of a record, and another status."""
        known = self._on_disk
        return known.status != record.status and list(known.inputs) == list(record.inputs)

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
        self._note_given(annotated)


def _as_recorded(record: Record) -> SettledRecord:
    from .recorded_run import recorded_run

    return SettledRecord(record, recorded_run(record, record.branch).upto(record.pointer), ())


def _is_given_here(path: Path, record: Record, script: Source) -> bool:
    from ..record.given_here import is_given_here

    return is_given_here(path, record, place_of(script.path))


def _finished(record: Record, run: Transcript, script: Source, clock: Callable[[], str]) -> Record:
    """The record completed by the data of a run of a script up to the pointer."""
    return record.but(
        pointer=len(run.steps),
        status=run.status,
        print=run.print,
        last_error=run.last_error,
        code_hash=script.code_hash,
        trail=extended_trail(record.trail, run),
        extras=with_file_hashes(
            _run_metadata(record, run, clock, script.interpreter.version), file_hashes(script)
        ),
    )


def _run_metadata(
    record: Record, run: Transcript, clock: Callable[[], str], python: str
) -> dict[str, Any]:
    """The run metadata (`extras`) of a record after a run.

    Args:
        record: The record before the run.
        run: The run up to its pointer.
        clock: Returns the present time, for `end_time`.
        python: The version of the interpreter that ran the script.
    """
    extras = dict(record.extras)
    outputs = extras.get("outputs")
    if run.stderr and isinstance(outputs, (dict, type(None))):
        extras["outputs"] = {**(outputs or {}), "stderr": run.stderr}
    elif isinstance(outputs, dict):
        extras["outputs"] = {k: v for k, v in outputs.items() if k != "stderr"}
    if extras.get("outputs") == {}:
        del extras["outputs"]
    if "fixed" in parse_world(extras.setdefault("world", ["fixed: "])):
        extras["world"] = world_entries(run.unavailable, run.observed, python)
    if run.status == "in_progress":
        extras.pop("end_time", None)
    elif "start_time" in extras:
        extras.setdefault("end_time", clock())
    return extras


def _checked_output(record: Path, output: str, script: Path) -> Path:
    """The path of the result file, which must be in the record's folder.

    Raises:
        RecordError: It is elsewhere, hidden, of another kind, or is the record or the script.
    """
    hint = "name a file in the record's own folder, as output: result.yaml"
    try:  # `resolve` raises where links lead in a circle
        folder, target = map(Path, map(os.path.realpath, (record.parent, record.parent / output)))
    except ValueError:
        message = f"output: no file can be named {output!r}"
        raise RecordError(message, where=str(record), hint=hint) from None
    if not is_record(Path(output)) or _is_hidden(Path(output)):
        message = f"output: {output!r} is not the name of a YAML or JSON file, or is hidden"
        raise RecordError(message, where=str(record), hint=hint)
    if not target.is_relative_to(folder) or target.is_dir():
        message = f"output: {output!r} is not a file in the record's folder"
        raise RecordError(message, where=str(record), hint=hint)
    if target in map(Path, map(os.path.realpath, (record, script))):
        message = f"output: {output!r} would overwrite the questionnaire"
        raise RecordError(message, where=str(record), hint=hint)
    return target


def _is_hidden(output: Path) -> bool:
    return any(part.startswith(".") and part != os.pardir for part in output.parts)


def _is_result(path: Path) -> bool:
    try:
        data, _ = parse(read_regular(path, MAX_BYTES).decode("utf-8"), str(path))
    except (OSError, ValueError, RecordError):
        return False
    return isinstance(data, dict) and data.keys() >= {"script", "seed", "status", "steps"}


_RESULT = FileKind("a result file", _is_result, beside=True)


def _unmade_output(path: Path, record: Record) -> list[str]:
    """A note for the user if the record at `path` names a result file that is not there."""
    if not record.output or os.path.lexists(path.parent / record.output):
        return []
    made = f"make an empty file {record.output} in its folder if you want it written"
    return [f"the record asks for a result file that does not exist: {made}"]


def _result_file(path: Path, record: Record, transcript: Transcript) -> dict[Path, bytes]:
    """The path and content of a record's result file; empty if there is none to be written.

    Args:
        path: The record.
        record: Its content.
        transcript: Its run.

    Raises:
        RecordError: There is something else of that name than a result file.
    """
    if not record.output or _unmade_output(path, record):
        return {}
    target = path.parent / record.output
    check_place(target, _RESULT)
    return {target: to_text(_result(record, transcript), target).encode("utf-8")}


def _result(record: Record, transcript: Transcript) -> dict[str, Any]:
    """Transcript and outcome as plain data."""
    error = transcript.last_error
    return {
        "script": record.script,
        "seed": record.seed,
        **({"args": list(record.args)} if record.args else {}),
        "code_hash": record.code_hash,
        "branch": record.branch,
        "status": transcript.status,
        "score": transcript.score,
        "last_error": error and error_mapping(error),
        "next_prompt": transcript.next_prompt,
        "steps": [_step(step) for step in (*transcript.steps, transcript.last)],
    }


def _step(step: Step) -> dict[str, Any]:
    data = {
        "print": step.print,
        "stderr": step.stderr or None,
        "prompt": step.prompt,
        "line": step.line,
        "input_type": step.input_type if step.prompt is not None else None,
        "input": step.input,
    }
    return {key: value for key, value in data.items() if value is not None}
