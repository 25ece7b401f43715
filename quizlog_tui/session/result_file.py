"""The result file that a record may name in `output`: transcript and outcome of its run.

A record comes from anywhere, so its word is not enough to make a file. The user makes it, empty;
then it is written at each change.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..errors import RecordError
from ..files.place import FileKind, check_place
from ..files.regular_file import read_regular
from ..record.model import Record
from ..record.summary import SUFFIXES
from ..record.text.document import error_mapping, to_text
from ..record.text.yaml_text import MAX_BYTES, parse
from ..replay.transcript import Step, Transcript


def checked_output(record: Path, output: str, script: Path) -> Path:
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
    if Path(output).suffix not in SUFFIXES or _is_hidden(Path(output)):
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


RESULT = FileKind("a result file", _is_result, beside=True)


def unmade_output(path: Path, record: Record) -> list[str]:
    """A note for the user if the record at `path` names a result file that is not there."""
    if not record.output or os.path.lexists(path.parent / record.output):
        return []
    made = f"make an empty file {record.output} in its folder if you want it written"
    return [f"the record asks for a result file that does not exist: {made}"]


def result_file(path: Path, record: Record, transcript: Transcript) -> dict[Path, bytes]:
    """The path and content of a record's result file; empty if there is none to be written.

    Args:
        path: The record.
        record: Its content.
        transcript: Its run.

    Raises:
        RecordError: There is something else of that name than a result file.
    """
    if not record.output or unmade_output(path, record):
        return {}
    target = path.parent / record.output
    check_place(target, RESULT)
    return {target: to_text(result(record, transcript), target).encode("utf-8")}


def result(record: Record, transcript: Transcript) -> dict[str, Any]:
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
