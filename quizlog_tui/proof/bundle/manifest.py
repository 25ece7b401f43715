"""The manifest of a bundle, and the script names that its record may have.

An untrusted manifest must have exactly this form. Knows files only by their names.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from .container import ContainerError

FORMAT = 1
"""The version of the format, in the manifest as `quizlog_bundle`."""
MANIFEST, STEPS = "manifest.json", "steps.jsonl"
RECORDS = ("record.yaml", "record.json")
SCRIPTS = "script/"
"""The folder of the script and the files that it needs."""
MAX_BYTES = 16 * 1024 * 1024
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
            "quizlog_bundle": FORMAT,
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
        manifest = _parsed(json.loads(data)) if len(data) <= MAX_BYTES else None
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
