"""The record's file: read safely, written durably, never overwriting somebody else's change.

A write locks the file, checks that it is still as it was read, and replaces it. A record too big
to be read again is not written. Nothing here knows of scripts.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..errors import ConflictError, LimitError, RecordError
from ..files.durable import Draft, FileKind, asked_before, check_place, sync_folders, write_bytes
from ..files.regular_file import read_regular
from . import WAIT_SECONDS
from .document import Rendering, from_text, to_mapping, to_text
from .lock import Lock, lock_file, locked
from .model import Record
from .yaml_text import MAX_BYTES

SUFFIXES = (".yaml", ".yml", ".json")
"""The suffixes of records' file names."""
_NEW = FileKind("a record", asked_before)
"""A new record: `create` replaces no file."""


def is_record(path: Path) -> bool:
    """Whether a file is named like a record."""
    return path.suffix in SUFFIXES


class RecordFile:
    """One record on disk, as last read or written here.

    Args:
        path: The file; need not exist yet.
        wait: Seconds to wait while another process holds it.
    """

    def __init__(self, path: Path, wait: float = WAIT_SECONDS) -> None:
        self.path = path
        self._wait = wait
        self._lock: Lock | None = None
        self._known: bytes | None = None
        self._read: Record | None = None
        """What was read last, if nothing was written since."""
        self._rendering = Rendering()
        self.written = False
        """Whether `write` has replaced the file."""

    def read(self) -> Record:
        """Read and check the record.

        Raises:
            RecordError: The file is missing, too big, unreadable, or not a record.
        """
        data = _read_bytes(self.path)
        if self._read is None or data != self._known:
            _refuse_other_kinds(self.path, data)
            self._read = from_text(_decode(data, self.path), str(self.path))
            self._known = data
        return self._read

    @contextlib.contextmanager
    def reading(self) -> Iterator[Record]:
        """Read the record; if its use fails, the file counts as changed where it has changed.

        Raises:
            RecordError: As of `read`.
        """
        before = self._known, self._read
        try:
            yield self.read()
        except BaseException:
            self._known, self._read = before
            raise

    def changed(self) -> bool:
        """Whether the file differs from what this object last read or wrote."""
        try:
            return self._differs()
        except RecordError:
            return True

    def _differs(self) -> bool:
        try:
            return read_regular(self.path, MAX_BYTES) != self._known
        except FileNotFoundError:
            return True
        except OSError as error:
            message = f"cannot read: {error.strerror}"
            raise RecordError(message, where=str(self.path)) from None

    def create(self, record: Record) -> list[str]:
        """Write a new record; return warnings for the user.

        Raises:
            RecordError: The file exists already, or cannot be written.
            LimitError: It would be too big to be read again.
        """
        data = self._bytes(record)
        check_place(self.path, _NEW)  # before a lock file is made beside what a link leads to
        with locked(self.path, self._wait):
            if os.path.lexists(self.path):
                hint = "choose another name with -o"
                raise RecordError("exists already", where=str(self.path), hint=hint)
            remark = write_bytes(self.path, data, _NEW)
        self._known = data
        return [remark] if remark else []

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from changing the record. May be nested.

        Raises:
            LockedError: Another process held it for the whole wait.
            ConflictError: The record was removed.
            RecordError: It cannot be locked.
        """
        if self._lock is not None:
            yield
            return
        self._lock = lock_file(self.path, self._wait)
        try:
            yield
        finally:
            self._lock.release()
            self._lock = None

    def write(self, record: Record, more_files: Mapping[Path, bytes] | None = None) -> list[str]:
        """Replace the record durably; return warnings for the user.

        Args:
            record: What to write.
            more_files: Files to replace just before it; if one cannot be, the record is not
                replaced.

        Raises:
            ConflictError: Somebody else changed the file since it was read.
            LockedError: Another process held it for the whole wait.
            LimitError: It would be too big to be read again; the old record is intact.
            RecordError: The file cannot be written, or is a link that leads out of its folder; the
                old record is intact.
        """
        data, target = self._bytes(record), self._real_path()
        with self.locked():
            if self._differs():
                hint = "read it again and repeat; nothing was written"
                raise ConflictError("was changed by somebody else", where=str(self.path), hint=hint)
            remarks = self._replace({**(more_files or {}), target: data})
        self._known, self._read = data, None
        self.written = True
        return remarks

    def _real_path(self) -> Path:
        """Where the record is, if its name is a link.

        Raises:
            RecordError: The link leads out of its folder.
        """
        if not self.path.is_symlink():
            return self.path
        real = Path(os.path.realpath(self.path))
        if not real.is_relative_to(os.path.realpath(self.path.parent)):
            message, hint = f"is a link to {real}", "name that file to change it"
            raise RecordError(message, where=str(self.path), hint=hint)
        return real

    def _replace(self, files: Mapping[Path, bytes]) -> list[str]:
        """Write all new contents to the disk, then put them in place, the record last."""
        remarks = [*_other_names(self.path)]
        with contextlib.ExitStack() as stack:
            drafts = [stack.enter_context(Draft(path, data)) for path, data in files.items()]
            if self._lock is not None:
                self._lock.follow(drafts[-1].fd, self.path)
            for draft in drafts:
                draft.put()
        uncertain = sync_folders(draft.target for draft in drafts)
        return [*remarks, uncertain] if uncertain else remarks

    def _bytes(self, record: Record) -> bytes:
        """The record as the bytes of a file.

        Raises:
            LimitError: They would be too many to be read again.
        """
        data = self._text(record).encode("utf-8")
        if len(data) > MAX_BYTES:
            size = f"{len(data) / 2**20:.0f} MB"
            hint = f"records are at most {MAX_BYTES // 2**20} MB; nothing was written"
            message = f"would be too big for a record ({size})"
            raise LimitError(message, where=str(self.path), hint=hint)
        return data

    def _text(self, record: Record) -> str:
        if self.path.suffix == ".json":
            return to_text(to_mapping(record), self.path)
        return self._rendering.text(record)


def _read_bytes(path: Path) -> bytes:
    where = str(path)
    try:
        info = path.stat()
        if stat.S_ISDIR(info.st_mode):
            hint = "name the record file inside it; `quizlog tui FOLDER` lists its records"
            raise RecordError("is a directory, not a record", where=where, hint=hint)
        if info.st_size > MAX_BYTES:
            size = f"{info.st_size / 2**20:.0f} MB"
            hint = f"records are at most {MAX_BYTES // 2**20} MB"
            raise RecordError(f"is too big for a record ({size})", where=where, hint=hint)
        data = read_regular(path, MAX_BYTES)
    except FileNotFoundError:
        hint = "make one with `quizlog new SCRIPT`"
        raise RecordError("the record does not exist", where=where, hint=hint) from None
    except OSError as error:
        raise RecordError(f"cannot read: {error.strerror}", where=where) from None
    if not data or data.isspace():
        raise RecordError("is empty", where=where, hint="make one with `quizlog new SCRIPT`")
    return data


def _refuse_other_kinds(path: Path, data: bytes) -> None:
    """Raise a `RecordError` for a file of another kind, with the command that opens it."""
    if path.suffix == ".py":
        raise _script_error(path)
    if data.startswith(b"PK\x03\x04"):
        kind = "a ZIP archive, such as a bundle"
        hint = f"`quizlog tui {path}` shows a bundle, `quizlog verify {path}` checks it"
    elif path.name.endswith(".decisions.jsonl"):
        kind, hint = "a file of decisions", "`quizlog decisions RECORD` shows those of a record"
    elif path.suffix == ".jsonl":
        kind = "a file of lines such as episodes"
        hint = f"`quizlog tui {path}` shows episodes, `quizlog episodes check {path}` checks them"
    else:
        return
    raise RecordError(f"is {kind}, not a record", where=str(path), hint=hint)


def _script_error(path: Path) -> RecordError:
    """The error for a script that was named in place of its record."""
    own = path.with_suffix(".yaml")
    hint = f"its record is {own}" if own.is_file() else f"make one with `quizlog new {path}`"
    return RecordError("is a script, not a record", where=str(path), hint=hint)


def _decode(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        where = f"{path}:{line}"
        raise RecordError("is not UTF-8 text", where=where, hint="save it as UTF-8") from None


def _other_names(path: Path) -> Iterator[str]:
    """A warning if the file has other hard links, which keep the old content."""
    try:
        others = path.stat().st_nlink - 1
    except OSError:
        return
    if others > 0:
        keep = "its other hard link keeps" if others == 1 else f"its {others} other hard links keep"
        yield f"{path} is a separate file now: {keep} the old content"
