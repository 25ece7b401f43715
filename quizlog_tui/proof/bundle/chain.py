"""The steps of a run as JSON lines, each with a hash over itself and all lines before. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...replay.transcript import Step, Transcript
from ...replay.world import World

MAX_LINE = 64 * 1024 * 1024
"""Maximum number of characters of a line that is read."""


def start_of_chain(code_hash: str, world: World) -> str:
    """The hash before the first step: of the script and its world."""
    about = {"code_hash": code_hash, "seed": world.seed, "start": world.start}
    return _hash("", about | ({"args": list(world.args)} if world.args else {}))


def step_lines(run: Transcript, start: str) -> list[str]:
    """One line for each stop of a run; the last one also has the outcome."""
    lines, before = [], start
    for index, step in enumerate((*run.steps, run.last)):
        data = _data(index, step)
        if index == len(run.steps):
            error = run.last_error
            shown = error and error.to_dict()
            data |= {"status": run.status, "score": run.score, "error": shown}
        before = _hash(before, data)
        lines.append(json.dumps(data | {"hash": before}))
    return lines


def _data(index: int, step: Step) -> dict[str, Any]:
    """The data of a step. Without stderr, whose tracebacks contain the folder's path."""
    return {
        "step": index,
        "written": list(step.written),
        "prompt": step.prompt,
        "input": step.input,
    }


def first_invalid_step(lines: Sequence[str], start: str) -> int | None:
    """Index of the first line that is not a step, or has a wrong hash; None if all are valid."""
    before = start
    for index, line in enumerate(lines):
        try:
            data = json.loads(line if len(line) <= MAX_LINE else "")
            stored = data.pop("hash")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            return index
        before = _hash(before, data)
        same = stored == before and json.dumps(data | {"hash": before}) == line
        if not same or not _is_step(data, index):
            return index
    return None


def _is_step(data: Mapping[str, Any], index: int) -> bool:
    """Whether plain data has the form that `step_lines` gives a step."""
    answered = data.keys() == _STEP and isinstance(data["input"], str)
    ends = data.keys() == _STEP | _END and data["input"] is None
    return (
        (answered or ends)
        and type(data["step"]) is int
        and data["step"] == index
        and isinstance(data["written"], list)
        and all(isinstance(text, str) for text in data["written"])
        and isinstance(data["prompt"], str | None)
    )


_STEP, _END = {"step", "written", "prompt", "input"}, {"status", "score", "error"}


def last_hash(lines: Sequence[str], start: str) -> str:
    """The hash of the last line, which covers all steps."""
    return str(json.loads(lines[-1])["hash"]) if lines else start


def _hash(before: str, data: Any) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{before}\n{text}".encode("ascii")).hexdigest()
