"""The manifest of a bundle, and the steps of its run as a chain of hashes. Pure.

An untrusted manifest, and each line of the steps, must have exactly the form that is written here.
A line of the steps is JSON with a hash over itself and all lines before.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from ...replay.transcript import Step, Transcript
from ...replay.world import World
from .container import ContainerError

_FORMAT = 1
"""The version of the format, in the manifest as `quizlog_bundle`."""
MANIFEST, STEPS = "manifest.json", "steps.jsonl"
RECORDS = ("record.yaml", "record.json")
SCRIPTS = "script/"
"""The folder of the script and the files that it needs."""
_MAX_BYTES = 16 * 1024 * 1024
"""Maximum size of a manifest."""


@dataclass(frozen=True)
class Manifest:
    """The manifest of a bundle."""

    record: str
    """Name of the record: one of `RECORDS`."""
    script: str
    """Name of the script, which is in `SCRIPTS`."""
    steps: int
    """Number of stops of the run."""
    head: str
    """The hash over all steps."""
    versions: Mapping[str, str]
    """Versions of quizlog, Python and the system."""
    packages: Mapping[str, str]
    """Versions of the installed packages that the script imports."""
    files: Mapping[str, str]
    """The hashes of all other files, by name."""

    def to_bytes(self) -> bytes:
        """The manifest as it is packed."""
        about = {
            "quizlog_bundle": _FORMAT,
            "record": self.record,
            "script": self.script,
            "steps": self.steps,
            "head": self.head,
            "versions": {**self.versions, "packages": dict(self.packages)},
            "files": dict(self.files),
        }
        return (json.dumps(about, indent=1) + "\n").encode("ascii")


def digest(data: bytes) -> str:
    """The hash of a file, as the manifest has it."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def manifest_of(members: Mapping[str, bytes]) -> Manifest:
    """The manifest among the members of an archive.

    Raises:
        ContainerError: It is missing, or not exactly in the form of `Manifest.to_bytes`.
    """
    data = members.get(MANIFEST, b"")
    try:
        manifest = _parsed(json.loads(data)) if len(data) <= _MAX_BYTES else None
        # An equal result shows that there are no repeated or further keys.
        if manifest is not None and manifest.to_bytes() == data:
            return manifest
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        pass
    raise ContainerError(MANIFEST, "is missing, or not that of a bundle this quizlog knows")


def _parsed(about: Any) -> Manifest | None:
    """The manifest from plain data; None, or an error, if it has another form."""
    versions = {**about["versions"]}
    packages = versions.pop("packages")
    record, script, head = about["record"], about["script"], about["head"]
    files = about["files"]
    inside = isinstance(script, str) and script.removeprefix(SCRIPTS)
    shaped = (
        all(map(_are_texts, (versions, packages, files)))
        and record in RECORDS
        and inside
        and script == SCRIPTS + PurePosixPath(inside).name
        and isinstance(head, str)
        and type(about["steps"]) is int
        and {record, script, STEPS} <= files.keys()
    )
    if not shaped:
        return None
    return Manifest(record, script, about["steps"], head, versions, packages, files)


def _are_texts(data: Any) -> bool:
    return isinstance(data, dict) and all(isinstance(value, str) for value in data.values())


def belongs(name: str, manifest: Manifest) -> bool:
    """Whether a file of this name is part of a bundle."""
    return name in (manifest.record, STEPS, MANIFEST) or name.startswith(SCRIPTS)


def names_the_script(script: str, manifest: Manifest, members: Collection[str]) -> bool:
    """Whether the script that a record names can only be the bundle's script.

    The record has the path from where it was packed, so that the folder may differ. But it must not
    lead to another file of the bundle.
    """
    leads_to = posixpath.normpath(script.replace("\\", "/")).casefold()
    others = {name.casefold() for name in members} - {manifest.script.casefold()}
    same = PureWindowsPath(script).name == PurePosixPath(manifest.script).name
    return same and leads_to not in others


_MAX_LINE = 64 * 1024 * 1024
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
            data = json.loads(line if len(line) <= _MAX_LINE else "")
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
