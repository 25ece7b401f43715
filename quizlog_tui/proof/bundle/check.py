"""Checks a bundle offline: nothing in it was changed, and the script runs as recorded.

Each part is checked, and the failing one is named: the archive, the manifest, a file, a step, the
record, the signature, the replay. Writes only to its own temporary folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import DifferenceError, QuizlogError, RecordError
from ...files.regular_file import read_regular
from ...files.scratch import scratch_folder
from ...record.model import Record
from ...record.store import RecordFile
from ...replay.replayer import replay
from ...replay.script.source import Source, read_source
from ...replay.uncached_runs import UncachedRuns
from ...replay.world import world_of
from ..verdict import Verdict
from ..verify import verify_branches
from .container import MAX_BYTES, ContainerError, from_archive, to_archive
from .manifest import (
    MANIFEST,
    SCRIPTS,
    STEPS,
    Manifest,
    belongs,
    digest,
    first_invalid_step,
    last_hash,
    manifest_of,
    names_the_script,
    start_of_chain,
    step_lines,
)
from .pack import versions
from .sign import signature


@dataclass(frozen=True)
class BundleProblem:
    """A part of a bundle that was changed, or does not fit the others."""

    part: str
    """archive, manifest, file, step, record, signature or replay."""
    name: str
    """Name of the file, or index of the step."""
    message: str


@dataclass(frozen=True)
class BundleReport:
    """The result of checking a bundle."""

    problems: tuple[BundleProblem, ...] = ()
    verdict: Verdict | None = None
    """The verdict on its record; None if problems prevented the verification."""
    signer: str | None = None
    """The signer as named by ssh-keygen; None without a signature."""
    others: tuple[str, ...] = ()
    """Versions that differ from those it was packed with."""

    @property
    def ok(self) -> bool:
        """Whether the bundle is unchanged, and its record is reproducible."""
        good = self.verdict is not None and self.verdict.verdict == "reproducible"
        return good and not self.problems

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: the verdict, and the problems of the bundle."""
        reason = self.problems[0].message if self.problems else None
        damaged = Verdict("diverges", reason=reason)
        base = damaged if self.problems or self.verdict is None else self.verdict
        steps = [int(one.name) for one in self.problems if one.part in ("step", "replay")]
        data = base.to_dict() | ({"step": min(steps)} if steps else {})
        problems = [asdict(problem) for problem in self.problems]
        return data | {"problems": problems, "signer": self.signer, "versions": list(self.others)}


def verify_bundle(
    path: Path, signers: Path | None = None, *, thorough: bool = False
) -> BundleReport:
    """Check a bundle and verify its record.

    Args:
        path: The bundle.
        signers: Require a signature by somebody in this file (ssh-keygen's ALLOWED SIGNERS).
        thorough: Replay each branch alone, not only some.

    Raises:
        RecordError: The file cannot be read, or is not a bundle.
    """
    found = _content(path)
    signer, problem = signature(path, signers)
    unsigned = [BundleProblem("signature", f"{path.name}.sig", problem)] if problem else []
    if unsigned or not isinstance(found, tuple):
        problems = [] if isinstance(found, tuple) else found
        return BundleReport((*unsigned, *problems), signer=signer)
    members, about = found
    with scratch_folder("bundle") as folder:
        _unpack(members, folder)
        return _run(folder, members, about, signer, thorough)


def unpack_bundle(path: Path, folder: Path) -> Path:
    """Unpack a bundle whose files are those it was packed with; the path of its record.

    The record then names the unpacked script.

    Args:
        path: The bundle.
        folder: An empty folder for its files.

    Raises:
        RecordError: The file cannot be read.
        DifferenceError: It is not a bundle, or was changed since it was packed.
    """
    hint = "`quizlog verify` names all that is wrong"
    found = _content(path)
    if not isinstance(found, tuple):
        first = found[0]
        message = f"{first.part} {first.name}: {first.message}"
        raise DifferenceError(message, where=str(path), hint=hint)
    members, about = found
    _unpack(members, folder)
    file = RecordFile(folder / about.record)
    record = file.read()
    if not names_the_script(record.script, about, members):
        message = f"{about.record}: names another script than the bundle's"
        raise DifferenceError(message, where=str(path), hint=hint)
    file.write(replace(record, script=about.script))  # where it lies now
    return file.path


def _content(path: Path) -> tuple[Mapping[str, bytes], Manifest] | list[BundleProblem]:
    """The files of a bundle and its manifest, or what is wrong with it.

    Raises:
        RecordError: The file cannot be read.
    """
    data = _read(path)
    try:
        members = from_archive(data)
        about = manifest_of(members)
    except ContainerError as error:
        part = "archive" if error.member is None else "file"
        part = "manifest" if error.member == MANIFEST else part
        return [BundleProblem(part, error.member or path.name, error.message)]
    found = list(_changed_files(members, about))
    if not found and to_archive(members) != data:
        message = "bytes between its files were changed, or it was packed by another program"
        found.append(BundleProblem("archive", path.name, message))
    return found or (members, about)


def _unpack(members: Mapping[str, bytes], folder: Path) -> None:
    for name, data in members.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_BYTES)
    except OSError as error:
        raise RecordError(f"cannot read: {error.strerror}", where=str(path)) from None


def _changed_files(members: Mapping[str, bytes], about: Manifest) -> Iterator[BundleProblem]:
    listed = about.files
    for name in sorted({*members, *listed} - {MANIFEST}):
        if name not in members:
            yield BundleProblem("file", name, "is missing")
        elif name not in listed:
            yield BundleProblem("file", name, "is not in the manifest")
        elif digest(members[name]) != listed[name]:
            yield BundleProblem("file", name, "its bytes are not those in the manifest")
        elif not belongs(name, about):
            yield BundleProblem("file", name, "is not part of a bundle")


def _run(
    folder: Path,
    members: Mapping[str, bytes],
    about: Manifest,
    signer: str | None,
    thorough: bool,
) -> BundleReport:
    """Check the unpacked parts against each other, and run the script again."""
    try:
        record = RecordFile(folder / about.record).read()
        source = read_source(folder / about.script)
    except QuizlogError as error:
        return BundleReport((BundleProblem("record", about.record, error.message),), signer=signer)
    lines = members[STEPS].decode("ascii", "replace").split("\n")[:-1]
    problems = list(_inconsistent(record, source, lines, about))
    if not names_the_script(record.script, about, members):
        problems.append(
            BundleProblem("record", about.record, "names another script than the bundle's")
        )
    if problems:
        return BundleReport(tuple(problems), signer=signer)
    own = {name.removeprefix(SCRIPTS) for name in members if name.startswith(SCRIPTS)}
    verdict = verify_branches(record, source, UncachedRuns(), own, thorough=thorough)
    others = (*_other_versions(about.versions), *_other_packages(about.packages))
    return BundleReport(tuple(_replayed(record, source, lines)), verdict, signer, others)


def _inconsistent(
    record: Record, source: Source, lines: Sequence[str], about: Manifest
) -> Iterator[BundleProblem]:
    """The contradictions between parts of a bundle."""
    world = world_of(record)
    start = start_of_chain(source.code_hash, world)
    broken = first_invalid_step(lines, start)
    if broken is not None:
        yield BundleProblem(
            "step", str(broken), "its hash is not that of its content and all before it"
        )
    elif last_hash(lines, start) != about.head or len(lines) != about.steps:
        yield BundleProblem("manifest", MANIFEST, "its hash over the steps is another")
    elif [json.loads(line)["input"] for line in lines[:-1]] != list(record.used):
        yield BundleProblem("record", about.record, "its answers are not those of the steps")
    if (record.code_hash or source.code_hash) != source.code_hash:
        yield BundleProblem("record", about.record, "was written with another script")


def _replayed(record: Record, source: Source, lines: Sequence[str]) -> Iterator[BundleProblem]:
    """The first step that differs in a replay here."""
    world = world_of(record)
    run = replay(source, world, record.used)
    now = step_lines(run, start_of_chain(source.code_hash, world))
    pairs = enumerate(zip(now, lines, strict=False))
    index = next((i for i, (one, other) in pairs if one != other), min(len(now), len(lines)))
    if now != list(lines):
        yield BundleProblem("replay", str(index), "the script does something else here")


def _other_versions(then: Mapping[str, str]) -> Iterator[str]:
    now = versions()
    for key, value in then.items():
        if now.get(key) != value:
            yield f"{key} {value} (here {now.get(key)})"


def _other_packages(packages: Mapping[str, str]) -> Iterator[str]:
    from importlib.metadata import PackageNotFoundError, version

    for name, wanted in packages.items():
        try:
            here = version(name)
        except (PackageNotFoundError, ValueError):
            here = "missing"
        if here != wanted:
            yield f"{name} {wanted} (here {here})"
