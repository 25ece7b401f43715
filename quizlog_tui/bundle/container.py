"""The file format of a bundle: a plain zip archive with the same bytes for the same content.

Nothing is compressed, no time is kept, members are sorted; so any byte that is changed shows.
Reading trusts nothing: names are checked, sizes bounded, links refused. Knows nothing of records.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping

MAX_BYTES = 256 * 1024 * 1024
"""Larger bundles are neither written nor read."""
_MAX_MEMBERS = 10_000
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
        member: The member in question; None for the archive itself.
        message: What is wrong with it.
    """

    def __init__(self, member: str | None, message: str) -> None:
        super().__init__(message)
        self.member = member
        self.message = message


def packed(members: Mapping[str, bytes]) -> bytes:
    """The bytes of an archive with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, _THE_DATE)
            info.create_system = 3
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, members[name])
    return buffer.getvalue()


def unpacked(data: bytes) -> dict[str, bytes]:
    """The members of an archive.

    Raises:
        ContainerError: It is damaged, or a member is not one that `packed` would write.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            _check(infos, len(data))
            return {info.filename: _content(archive, info) for info in infos}
    except _BROKEN as error:
        raise ContainerError(None, f"the archive is damaged: {error}") from None


def _check(infos: list[zipfile.ZipInfo], size: int) -> None:
    if len(infos) > _MAX_MEMBERS:
        raise ContainerError(None, f"holds more than {_MAX_MEMBERS} files")
    seen: set[str] = set()
    for info in infos:
        name = info.filename
        if not is_safe(info.orig_filename) or name != info.orig_filename:
            raise ContainerError(name, "its name would leave the bundle's own folder")
        if name.casefold() in seen:
            raise ContainerError(name, "is there twice")
        seen.add(name.casefold())
        if stat.S_ISLNK(info.external_attr >> 16):
            raise ContainerError(name, "is a link")
        if info.compress_type != zipfile.ZIP_STORED or info.file_size > size:
            raise ContainerError(name, "is compressed: the bundle was packed anew")


def is_safe(name: str) -> bool:
    """Whether a member's name stays inside the folder it is put in, on every system."""
    parts = name.split("/")
    if not name or any(part in ("", ".", "..") for part in parts):
        return False
    return not any(char in '\\:*?"<>|' or ord(char) < 32 for char in name)


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(info)
    except _BROKEN:
        raise ContainerError(info.filename, "its bytes were changed") from None
