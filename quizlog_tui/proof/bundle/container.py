"""The file format of a bundle: a plain zip archive with the same bytes for the same content.

Nothing is compressed, no times are stored and members are sorted, so that any changed byte shows.
Reading trusts nothing: names are checked, sizes bounded, links refused. Knows nothing of records.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence

from ...text import is_whole

MAX_BYTES = 256 * 1024 * 1024
"""Maximum size of a bundle."""
_MAX_MEMBERS = 10_000
_MAX_NAME, _MAX_PART = 1000, 255
"""Maximum bytes of a member's name, and of each part between slashes."""
_END = struct.Struct("<4s4H2LH")
"""The end of an archive without a comment."""
_THE_DATE = (1980, 1, 1, 0, 0, 0)
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,
)


class ContainerError(Exception):
    """The archive is damaged or unsafe.

    Args:
        member: The affected member; None for the archive itself.
        message: The fault.
    """

    def __init__(self, member: str | None, message: str) -> None:
        super().__init__(message)
        self.member = member
        self.message = message


def to_archive(members: Mapping[str, bytes]) -> bytes:
    """The bytes of an archive with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, _THE_DATE)
            info.create_system = 3
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, members[name])
    return buffer.getvalue()


def from_archive(data: bytes) -> dict[str, bytes]:
    """The members of an archive.

    Raises:
        ContainerError: It is damaged, or a member is not one that `to_archive` would write.
    """
    try:
        _check_end(data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            _check(infos, len(data))
            return {info.filename: _content(archive, info) for info in infos}
    except _BROKEN as error:
        raise ContainerError(None, f"the archive is damaged: {error}") from None


def _check_end(data: bytes) -> None:
    """Check the end of the archive, which describes the list of members, before that is read."""
    if len(data) < _END.size:
        raise ContainerError(None, "the archive is damaged: it has no end")
    mark, _, _, _, count, size, start, comment = _END.unpack_from(data, len(data) - _END.size)
    if mark != b"PK\5\6" or comment or start + size + _END.size != len(data):
        raise ContainerError(None, "the archive is damaged: its end is not where it should be")
    if count > _MAX_MEMBERS:
        raise ContainerError(None, f"holds more than {_MAX_MEMBERS} files")
    if size > count * (_ENTRY + _MAX_NAME):
        raise ContainerError(None, "the archive is damaged: its list of files is too long")


_ENTRY = 46
"""Bytes of an entry in the list of members, without its name."""


def _check(infos: list[zipfile.ZipInfo], size: int) -> None:
    check_names([info.orig_filename for info in infos])
    for info in infos:
        name = info.filename
        if name != info.orig_filename:
            raise ContainerError(name, _UNFIT)
        if stat.S_ISLNK(info.external_attr >> 16):
            raise ContainerError(name, "is a link")
        if info.compress_type != zipfile.ZIP_STORED:
            raise ContainerError(name, "is compressed: the bundle was packed anew")
    if sum(info.file_size for info in infos) > size:
        raise ContainerError(None, "its files are bigger than all of it")


_OUTSIDE = "its name would leave the bundle's own folder"
_UNFIT = "has a name that not every system takes"


def check_names(names: Sequence[str]) -> None:
    """Check the names of all members: a bundle that has others could not be read again.

    Raises:
        ContainerError: A name is unfit, or two cannot be in one folder.
    """
    for name in names:
        problem = _problem(name)
        if problem:
            raise ContainerError(name, problem)
    _check_tree(names)


def _problem(name: str) -> str | None:
    """What is wrong with a member's name: it must stay inside its folder on every system."""
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return _OUTSIDE
    if any(char in '\\:*?"<>|' or ord(char) < 32 for char in name) or not is_whole(name):
        return _UNFIT
    long = len(name.encode()) > _MAX_NAME or max(len(part.encode()) for part in parts) > _MAX_PART
    return "has a name that is too long" if long else None


def _check_tree(names: Sequence[str]) -> None:
    """Check that all members can be put into one folder on every system."""
    files: dict[str, str] = {}
    for name in names:
        other = files.setdefault(name.casefold(), name)
        if other != name:
            raise ContainerError(name, f"its name differs from {other} in capitals only")
    if len(files) < len(names):
        raise ContainerError(Counter(names).most_common(1)[0][0], "is there twice")
    for name in names:
        parts = name.casefold().split("/")
        if any("/".join(parts[:count]) in files for count in range(1, len(parts))):
            raise ContainerError(name, "is below a name that is a file and a folder")


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(info)
    except _BROKEN:
        raise ContainerError(info.filename, "its bytes were changed") from None
