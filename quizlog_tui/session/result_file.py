"""The result file that a record may name in `output`: transcript and outcome of its run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import RecordError
from ..record.model import Record
from ..record.text.document import error_mapping, to_text
from ..replay.transcript import Step, Transcript


def checked_output(record: Path, output: str, script: Path) -> Path:
    """The path of the result file, which must be in the record's folder.

    Raises:
        RecordError: It is elsewhere, or is the record or the script.
    """
    folder = record.parent.resolve()
    target = (folder / output).resolve()
    hint = "name a file in the record's own folder, as output: result.yaml"
    if not target.is_relative_to(folder) or target.is_dir():
        message = f"output: {output!r} is not a file in the record's folder"
        raise RecordError(message, where=str(record), hint=hint)
    if target in (record.resolve(), script.resolve()):
        message = f"output: {output!r} would overwrite the questionnaire"
        raise RecordError(message, where=str(record), hint=hint)
    return target


def result_file(path: Path, record: Record, transcript: Transcript) -> dict[Path, bytes]:
    """The path and content of the result file of a record at `path`; empty if it names none."""
    if not record.output:
        return {}
    target = path.parent / record.output
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
