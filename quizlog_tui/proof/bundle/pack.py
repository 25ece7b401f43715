"""Packs a record into a bundle, with everything needed to run it again.

Printed texts, answers and the script are what a bundle proves, and stay as they are; private texts
in the rest of the record can be removed. Files that a script needs but does not name are found by
running it without them.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ...errors import DifferenceError, UsageError
from ...record.document import to_mapping, to_text
from ...record.model import Record
from ...record.private_text import Privacy, PrivateFinding, is_private_file, privacy_of
from ...record.store import RecordFile
from ...replay.replayer import replay
from ...replay.script.granted import granted_script_of
from ...replay.script.needed_files import files_below, imported, needed_files
from ...replay.script.source import Source
from ...replay.transcript import Transcript
from ...replay.world import world_of
from ..recorded import difference_from_record, recorded_branch
from .container import MAX_BYTES, ContainerError, check_names, to_archive
from .manifest import (
    MANIFEST,
    RECORDS,
    SCRIPTS,
    STEPS,
    Manifest,
    digest,
    last_hash,
    start_of_chain,
    step_lines,
)


@dataclass(frozen=True)
class PackedBundle:
    """A bundle and its content."""

    data: bytes
    """The bundle."""
    names: tuple[str, ...]
    """Its members."""
    head: str
    """The hash over all steps."""
    private: tuple[PrivateFinding, ...] = ()
    """Private texts in it: names of this machine, possible secrets."""
    removed: tuple[PrivateFinding, ...] = ()
    """Private texts that were removed."""
    left_out: tuple[str, ...] = ()
    """Files that the script mentions and that may hold keys: packed only if the user names them."""


def pack(path: Path, more: Iterable[Path] = (), *, redact: bool = False) -> PackedBundle:
    """Pack a record.

    Printed texts, answers and the script are evidence and stay as they are: private texts in them
    are only listed.

    Args:
        path: The record.
        more: Files of the script's folder that it needs but does not mention.
        redact: Remove private texts from the record's stderr, remarks and notes.

    Raises:
        RecordError: The record cannot be read.
        ScriptError: Its script cannot be read.
        DifferenceError: A replay differs from the record.
        UsageError: A file is outside the script's folder, or the bundle would be too big.
    """
    record, source, run = _replayed(path)
    privacy = privacy_of(source.path.parent)
    mentioned = needed_files(source)
    doubtful = [one for one in mentioned if is_private_file(one.name)]
    files = _files(source, [*(one for one in mentioned if one not in doubtful), *more])
    _check_names(files, source, path)
    shown = _redacted(record, privacy) if redact else record
    record_data = (
        path.read_bytes() if shown is record else to_text(to_mapping(shown), path).encode()
    )
    start = start_of_chain(source.code_hash, world_of(record))
    lines = step_lines(run, start)
    members = _members(path, record_data, lines, files)
    head = last_hash(lines, start)
    members[MANIFEST] = _manifest(source, files, members, len(lines), head)
    stays = _private_in_record(shown, privacy)
    return PackedBundle(
        to_archive(members),
        tuple(sorted(members)),
        head,
        private=(*stays, *_private_in_files(files, privacy)),
        removed=tuple(one for one in _private_in_record(record, privacy) if one not in stays),
        left_out=tuple(one.name for one in doubtful if one.name not in files),
    )


def _check_names(files: Iterable[str], source: Source, record: Path) -> None:
    try:
        check_names([SCRIPTS + name for name in files])
    except ContainerError as error:
        name = str(error.member).removeprefix(SCRIPTS)
        also = f", and in {record.name}" if name == source.path.name else ""
        hint = f"rename it{also}; letters, digits, - _ and . are safe everywhere"
        raise UsageError(error.message, where=name, hint=hint) from None


def _replayed(path: Path) -> tuple[Record, Source, Transcript]:
    """A record, its script, and a run that agrees with the record."""
    record = RecordFile(path).read()
    source = granted_script_of(path, record)
    run = replay(source, world_of(record), record.used)
    found = difference_from_record(recorded_branch(record, record.branch), run)
    if found is not None:
        message = f"is not what its script does, from step {found.step} on ({found.what})"
        raise DifferenceError(message, where=str(path), hint="see `quizlog verify` and `drift`")
    return record, source, run


def _members(
    path: Path, record_data: bytes, lines: Sequence[str], files: Mapping[str, bytes]
) -> dict[str, bytes]:
    steps = "".join(f"{line}\n" for line in lines).encode()
    return {_name_of(path): record_data, STEPS: steps} | {SCRIPTS + k: d for k, d in files.items()}


def _name_of(path: Path) -> str:
    """The name of a record in a bundle."""
    return RECORDS[path.suffix == ".json"]


def _manifest(
    source: Source,
    files: Mapping[str, bytes],
    members: Mapping[str, bytes],
    steps: int,
    head: str,
) -> bytes:
    scripts = [Source(source.path, data) for name, data in files.items() if name.endswith(".py")]
    return Manifest(
        record=next(name for name in members if name in RECORDS),
        script=f"{SCRIPTS}{source.path.name}",
        steps=steps,
        head=head,
        versions=versions(),
        packages=_packages(imported(scripts)),
        files={key: digest(data) for key, data in sorted(members.items())},
    ).to_bytes()


def _files(source: Source, others: Iterable[Path]) -> dict[str, bytes]:
    """The script and other files, by path in its folder."""
    folder = source.path.parent.resolve()
    files = {source.path.name: source.data}
    size = len(source.data)
    for path in others:
        where = Path(os.path.realpath(path))  # also where links lead to each other
        if not where.is_relative_to(folder) or not where.is_file():
            hint = f"name files in {folder}"
            raise UsageError("is not a file in the script's folder", where=str(path), hint=hint)
        name = where.relative_to(folder).as_posix()
        size += where.stat().st_size
        if size > MAX_BYTES // 2:
            limit = f"the script's files are more than {MAX_BYTES // 2**21} MB"
            raise UsageError(limit, where=str(folder), hint="leave out what it does not need")
        files[name] = where.read_bytes()
    return files


def versions() -> dict[str, str]:
    """Versions of quizlog, Python and the system on this machine."""
    from importlib.metadata import version

    return {
        "quizlog": version("quizlog-tui"),
        "python": ".".join(map(str, sys.version_info[:3])),
        "implementation": sys.implementation.name,
        "system": platform.system(),
        "machine": platform.machine(),
    }


def _packages(modules: Iterable[str]) -> dict[str, str]:
    """The installed packages that provide these modules, with their versions."""
    from importlib.metadata import packages_distributions, version

    owners = packages_distributions()
    names = sorted({owner for module in modules for owner in owners.get(module, ())})
    return {name: version(name) for name in names}


_MOST_FILES = 1000
"""Maximum number of files of a folder that are tried; with more, none is found."""


def missing_files(path: Path, given: Collection[str]) -> list[Path]:
    """Files in the script's folder without which the record's run differs.

    Args:
        path: The record.
        given: Names of the files that the script has.
    """
    record = RecordFile(path).read()
    source = granted_script_of(path, record)
    folder = source.path.parent
    names = [file.relative_to(folder).as_posix() for file in files_below(folder)]
    others = [name for name in names if name not in given]
    if len(others) > _MOST_FILES:
        return []
    world = world_of(record)
    world = replace(world, changed=world.changed | {"leftovers"})

    def lines(hidden: Sequence[str]) -> list[str]:
        run = replay(source, replace(world, hidden=tuple(hidden)), record.used)
        return step_lines(run, "")

    whole = lines([])
    return [folder / name for name in _decisive(others, lambda hidden: lines(hidden) != whole)]


def _decisive(names: Sequence[str], differs: Callable[[Sequence[str]], bool]) -> list[str]:
    """The names that make a difference when they are hidden, found by halving."""
    found: list[str] = []
    rest = list(names)
    while differs(rest):
        part = rest
        while len(part) > 1:
            half = part[: len(part) // 2]
            part = half if differs(half) else part[len(part) // 2 :]
        if not differs(part):  # only several of them together make a difference
            break
        found += part
        rest = [name for name in rest if name not in part]
    return found


def _redacted(record: Record, privacy: Privacy) -> Record:
    """A record with placeholders for private texts in its stderr, remarks and notes."""
    branches = {
        name: replace(
            branch,
            note=privacy.clean_value(branch.note),
            extras=privacy.clean_value(branch.extras),
        )
        for name, branch in record.branches.items()
    }
    return replace(record, branches=branches, extras=privacy.clean_value(record.extras))


def _private_in_record(record: Record, privacy: Privacy) -> list[PrivateFinding]:
    """The private texts in a record."""
    data = to_mapping(record)
    return [
        found
        for key, value in data.items()
        for found in privacy.find_in({key: value}, f"the record's {key}")
    ]


def _private_in_files(files: Mapping[str, bytes], privacy: Privacy) -> Iterator[PrivateFinding]:
    """The private texts in the script and its files."""
    for name, data in files.items():
        if is_private_file(PurePosixPath(name).name):
            yield PrivateFinding("file", name, "the bundle")
        yield from privacy.find(data.decode("utf-8", "replace"), name)
