"""The steps of a run as lines of JSON, each with a hash over itself and all before it. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...replay.transcript import Step, Transcript
from ...replay.world import World

MAX_LINE = 64 * 1024 * 1024
"""A longer line is not read."""


def start_of_chain(code_hash: str, world: World) -> str:
    """What the first step's hash builds on: the script, and the world it ran in."""
    about = {"code_hash": code_hash, "seed": world.seed, "start": world.start}
    return _hash("", about | ({"args": list(world.args)} if world.args else {}))


def step_lines(run: Transcript, start: str) -> list[str]:
    """One line for each stop of a run; the last one tells how it stands."""
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
    """What a step showed on stdout; stderr has tracebacks in it, and so the folder's path."""
    return {
        "step": index,
        "written": list(step.written),
        "prompt": step.prompt,
        "input": step.input,
    }


def first_broken(lines: Sequence[str], start: str) -> int | None:
    """Index of the first line that is no step, or has not the hash of itself and all before it."""
    before = start
    for index, line in enumerate(lines):
        try:
            data = json.loads(line if len(line) <= MAX_LINE else "")
            told = data.pop("hash")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            return index
        before = _hash(before, data)
        same = told == before and json.dumps(data | {"hash": before}) == line
        if not same or not _is_step(data, index):
            return index
    return None


def _is_step(data: Mapping[str, Any], index: int) -> bool:
    """Whether plain data is of the shape that `step_lines` gives a step."""
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


def head_of(lines: Sequence[str], start: str) -> str:
    """The hash over all steps: that of the last line."""
    return str(json.loads(lines[-1])["hash"]) if lines else start


def _hash(before: str, data: Any) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{before}\n{text}".encode("ascii")).hexdigest()
