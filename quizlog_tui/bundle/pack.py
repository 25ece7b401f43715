"""Packing a record into a bundle, with all that it takes to run it again."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DifferenceError, UsageError
from ..record.store import RecordFile
from ..replay.needs import imported, needed_files
from ..replay.recorded import difference_from_record, known_of
from ..replay.replayer import replay
from ..replay.source import Source, read_source
from ..replay.world import world_of
from .chain import head_of, start_of_chain, step_lines
from .container import MAX_BYTES, is_safe, packed

FORMAT = 1
"""The version of the format, in the manifest as `quizlog_bundle`."""
MANIFEST, STEPS = "manifest.json", "steps.jsonl"


@dataclass(frozen=True)
class Packed:
    """What went into a bundle."""

    data: bytes
    """The bundle."""
    names: tuple[str, ...]
    """Its members."""
    head: str
    """The hash over all steps."""


def pack(path: Path, more: Iterable[Path] = ()) -> Packed:
    """A bundle of a record.

    Args:
        path: The record.
        more: Files of the script's folder that it needs and does not mention.

    Raises:
        RecordError: The record cannot be read.
        ScriptError: Its script cannot be read.
        DifferenceError: The record is not what its script does.
        UsageError: A file lies outside the script's folder, or all of it is too big.
    """
    record = RecordFile(path).read()
    source = read_source(path.parent / record.script)
    world = world_of(record)
    run = replay(source, world, record.used)
    found = difference_from_record(known_of(record, record.branch), run)
    if found is not None:
        message = f"is not what its script does, from step {found.step} on ({found.what})"
        raise DifferenceError(message, where=str(path), hint="see `quizlog verify` and `drift`")
    files = _files(source, more)
    start = start_of_chain(source.code_hash, world.seed, world.start)
    lines = step_lines(run, start)
    name = f"record{path.suffix if path.suffix == '.json' else '.yaml'}"
    members = {name: path.read_bytes(), STEPS: "".join(f"{line}\n" for line in lines).encode()}
    members |= {f"script/{key}": data for key, data in files.items()}
    head = head_of(lines, start)
    about = {
        "quizlog_bundle": FORMAT,
        "record": name,
        "script": f"script/{source.path.name}",
        "steps": len(lines),
        "head": head,
        "versions": _versions(source, files),
        "files": {key: digest(data) for key, data in sorted(members.items())},
    }
    members[MANIFEST] = (json.dumps(about, indent=1) + "\n").encode()
    return Packed(packed(members), tuple(sorted(members)), head)


def _files(source: Source, more: Iterable[Path]) -> dict[str, bytes]:
    """The script and what it needs, by path in its folder."""
    folder = source.path.parent.resolve()
    files = {source.path.name: source.data}
    size = len(source.data)
    for path in [*needed_files(source), *more]:
        where = path.resolve()
        if not where.is_relative_to(folder) or not where.is_file():
            hint = f"name files in {folder}"
            raise UsageError("is not a file in the script's folder", where=str(path), hint=hint)
        name = where.relative_to(folder).as_posix()
        if not is_safe(name):
            hint = "rename it: letters, digits, - _ and . are safe everywhere"
            raise UsageError("has a name that not every system takes", where=name, hint=hint)
        size += where.stat().st_size
        if size > MAX_BYTES // 2:
            limit = f"the script's files are more than {MAX_BYTES // 2**21} MB"
            raise UsageError(limit, where=str(folder), hint="leave out what it does not need")
        files[name] = where.read_bytes()
    return files


def digest(data: bytes) -> str:
    """The hash of a file, as the manifest has it."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _versions(source: Source, files: Mapping[str, bytes]) -> dict[str, Any]:
    scripts = [Source(source.path, data) for name, data in files.items() if name.endswith(".py")]
    return versions(imported(scripts))


def versions(modules: Iterable[str]) -> dict[str, Any]:
    """What this machine runs scripts with, and the installed packages that have these modules."""
    from importlib.metadata import packages_distributions, version

    from .. import __version__

    owners = packages_distributions()
    names = sorted({owner for module in modules for owner in owners.get(module, ())})
    return {
        "quizlog": __version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "implementation": sys.implementation.name,
        "system": platform.system(),
        "machine": platform.machine(),
        "packages": {name: version(name) for name in names},
    }
