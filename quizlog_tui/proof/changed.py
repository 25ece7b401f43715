"""Finds the records of a folder that differ from a commit of git, or whose script does.

A stranger's folder is data, and git obeys the settings of the repository that it is in: it runs
hooks, monitors, filters and external tools where it looks at the files of a working tree. So git
is asked for the tree of the commit alone, which it reads from its objects; the files are compared
here, by the hash that git gives their bytes. A file counts as changed where that cannot be known:
behind a link, or where git stores it otherwise than it lies in the folder (filters, line ends).
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

from ..errors import QuizlogError, UsageError
from ..files.process import find_program, search_path
from ..files.regular_file import open_regular
from ..record.model import edited_files
from ..record.store import RecordFile
from ..replay.script.needed_files import needed_files
from ..replay.script.source import read_source

_HASHES = {40: "sha1", 64: "sha256"}
"""The hash function of a repository, by the number of digits of its ids."""
_PIECE = 2**20
"""Bytes that are read at a time."""


@dataclass(frozen=True)
class Commit:
    """The files of a commit."""

    top: str
    """The real path of the folder that holds the repository."""
    ids: dict[str, str]
    """The id of the content of each file, by its path relative to `top`."""

    def holds(self, path: Path) -> bool:
        """Whether a file is as in the commit; also if neither has it, never if links lead there."""
        plain = os.path.abspath(path)
        known = self.ids.get(os.path.relpath(plain, self.top))
        if known is None:
            return not os.path.lexists(path)
        try:
            with open_regular(plain) as file:
                same = _id_of(file, _HASHES[len(known)]) == known
        except OSError:
            return False
        return same and os.path.realpath(path) == plain


def commit_of(folder: Path, ref: str) -> Commit:
    """The files of a commit of the repository that a folder is in.

    Args:
        folder: The folder.
        ref: Names the commit as git understands it: a branch, a tag, `HEAD~1`.

    Raises:
        UsageError: There is no git, no repository, or no such commit.
    """
    top = _git(folder, "rev-parse", "--show-toplevel")
    if top.returncode:
        said = os.fsdecode(top.stderr).strip().partition("\n")[0].removeprefix("fatal: ")
        raise UsageError(f"git says: {said}", where=str(folder), hint="leave --changed out")
    # a commit, as the paths of another tree would be relative to that
    wanted = ("--end-of-options", f"{ref}^{{commit}}")
    tree = _git(folder, "ls-tree", "-r", "-z", "--full-tree", *wanted)
    if tree.returncode and ref == HEAD and _is_unborn(folder):
        return Commit(_top(top), {})  # before the first commit everything has changed
    if tree.returncode:
        hint = "fetch it first, or name another one"
        raise UsageError("git knows no such commit here", where=ref, hint=hint)
    entries = (line.partition("\t") for line in os.fsdecode(tree.stdout).split("\0") if line)
    ids = {path: about.split(" ")[2] for about, _, path in entries}
    return Commit(_top(top), ids)


def _is_unborn(folder: Path) -> bool:
    """Whether a repository has no commit yet."""
    return _git(folder, "rev-parse", "--quiet", "--verify", HEAD).returncode != 0


def _top(said: subprocess.CompletedProcess[bytes]) -> str:
    return os.path.realpath(os.fsdecode(said.stdout.removesuffix(b"\n")))


def changed_records(folder: Path, paths: Iterable[Path], commit: Commit) -> list[Path]:
    """The records that differ from a commit, or whose script or a file that it needs does.

    A record that cannot be read is among them.

    Args:
        folder: The folder that they are in; may be a link.
        paths: The records.
        commit: The commit.
    """
    real = Path(os.path.realpath(folder))
    holds, needed = cache(commit.holds), cache(_with_needed)  # many records have one script

    def is_changed(path: Path) -> bool:
        try:
            record = RecordFile(path).read()
            script = path.parent / record.script
            # against no files it names all that were needed when the record was written
            recorded = [script.parent / name for name, _ in edited_files(record, {})]
            return not all(map(holds, (path, *needed(script), *recorded)))
        except QuizlogError:
            return True

    return [path for path in paths if is_changed(real / path.relative_to(folder))]


def _with_needed(script: Path) -> list[Path]:
    return [script, *needed_files(read_source(script))]


def _id_of(file: BinaryIO, name: str) -> str:
    """The id that git gives to the content of a file."""
    size = os.fstat(file.fileno()).st_size
    found = hashlib.new(name, b"blob %d\0" % size, usedforsecurity=False)
    while piece := file.read(_PIECE):
        found.update(piece)
    return found.hexdigest()


HEAD = "HEAD"
"""The name of the commit that is checked out."""
_SECONDS = 60.0
"""Time limit for an answer of git."""
_SETTINGS = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never")


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Ask git about the repository of a folder, so that it runs nothing of that.

    Raises:
        UsageError: There is no git, or it does not answer.
    """
    git = find_program("git")
    if git is None:
        raise UsageError("there is no git here", hint="install it, or leave --changed out")
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    try:
        return subprocess.run(
            [git, "--no-pager", "--no-optional-locks", *settings, *words],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:  # its settings may name a pipe, into which nobody writes
        hint = "leave --changed out"
        raise UsageError("git does not answer", where=str(folder), hint=hint) from None


def _environment() -> dict[str, str]:
    """The user's own settings of git are kept: they say whose repositories are trusted."""
    own = {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in os.environ}
    # a clone without all objects would fetch what it lacks, by programs that it names
    fixed = {"LC_ALL": "C", "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
    fixed["GIT_NO_REPLACE_OBJECTS"] = "1"  # it would show another commit under the same name
    return {"PATH": search_path(), **own, **fixed}
