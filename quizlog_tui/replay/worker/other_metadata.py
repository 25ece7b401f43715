"""Gives the files of the script's folder other numbers and times, whoever asks for them.

A copy lies over the folder, which shows what is not copied: special files, and what is too much.
"""

from __future__ import annotations

import contextlib
import os
import stat
from _random import Random
from collections.abc import Callable, Iterator, Sequence

from .folder_content import is_left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .job import Job

_MOST_BYTES, _MOST_FILES = 32 * 2**20, 400
_OF_OTHERS = 4 * 2**20, 200
"""What is copied of folders that belong to other programs than the script."""
_SECOND = 10**9
_DAYS = 60 * 86400 * _SECOND
"""By how much files are older at most."""
_OLDEST = 320_000_000 * _SECOND
"""Files are made no older than that, as archives know no times before 1980."""
_OWNER = os.geteuid(), os.getegid()
_Found = tuple[str, os.stat_result]


class OtherMetadata:
    """Copies a job's folder with numbers and times drawn from its seed."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._random = Random(job.seed)

    def copy(self, target: str) -> bool:
        """Copy the current folder to an empty one, as far as it is not too big.

        Returns:
            Whether the times of all its files sort the other way round.
        """
        search = _Search(".", _MOST_BYTES, _MOST_FILES)
        own = [(p, info) for p, info in search.below([""]) if p not in self._job.private]
        aside = _Search(".", *_OF_OTHERS)
        others = aside.below([path for path in search.left_out if not _is_environment(path)])
        copied = [*_copied([*own, *others], target)]
        self._date(target, copied, turned=search.whole)
        return search.whole

    def turn(self, target: str) -> bool:
        """Change the times of a copy that was made already; return whether all were changed."""
        search = _Search(target, _MOST_BYTES, _MOST_FILES)
        self._date(target, [*search.below([""])], turned=search.whole)
        return search.whole

    def _date(self, target: str, copied: Sequence[_Found], *, turned: bool) -> None:
        """Mirror times within the range of all, or else keep their order; all become older."""
        times = [info.st_mtime_ns for _, info in copied]
        earlier = 1 + self._below(_DAYS)
        if min(times, default=0) < _OLDEST:
            earlier = -earlier
        ends = min(times, default=0) + max(times, default=0)
        for (path, _), time in zip(copied, times):
            moment = (ends - time if turned else time) - earlier
            os.utime(f"{target}/{path}", ns=(moment, moment), follow_symlinks=False)

    def _below(self, bound: int) -> int:
        return self._random.getrandbits(64) % bound


class _Search:
    """A search for what can be copied, those that lie less deep first.

    Args:
        base: The folder that is searched.
        most_bytes: Maximum bytes of all files.
        most_files: Maximum number of files, folders and links.
    """

    def __init__(self, base: str, most_bytes: int, most_files: int) -> None:
        self._base = base
        self._bytes, self._files = most_bytes, most_files
        self._device = os.stat(base).st_dev
        self.left_out: list[str] = []
        """Folders in which was not searched."""
        self.whole = True
        """Whether all was found that was sought."""

    def below(self, folders: Sequence[str]) -> Iterator[_Found]:
        """What lies below folders: relative paths, folders before what is in them."""
        waiting = [*folders]
        for folder in waiting:
            for path, info in self._entries(folder):
                if stat.S_ISDIR(info.st_mode):
                    out = is_left_out(f"{self._base}/{path}", os.path.basename(path))
                    (self.left_out if out else waiting).append(path)
                yield path, info

    def _entries(self, folder: str) -> Iterator[_Found]:
        place = f"{self._base}/{folder}"
        with contextlib.suppress(OSError), os.scandir(place) as entries:  # some nobody may read
            for entry in entries if self._files >= 0 else ():
                info = entry.stat(follow_symlinks=False)
                if info.st_dev == self._device and self._has_room(info):
                    yield f"{folder}/{entry.name}".lstrip("/"), info
                if self._files < 0:
                    return

    def _has_room(self, info: os.stat_result) -> bool:
        size = info.st_size if stat.S_ISREG(info.st_mode) else 0
        self._files -= 1
        fits = size <= self._bytes and self._files >= 0
        self._bytes -= size if fits else 0
        self.whole = self.whole and fits
        return fits


def _copied(found: Sequence[_Found], target: str) -> Iterator[_Found]:
    """Copy all that can be copied, the files in reverse order of their numbers."""
    folders = [one for one in found if stat.S_ISDIR(one[1].st_mode)]
    files = [one for one in found if not stat.S_ISDIR(one[1].st_mode)]
    made = [one for one in folders if _is_copied(*one, target)]
    yield from (one for one in sorted(files, key=_number) if _is_copied(*one, target))
    for path, info in made[::-1]:  # the mode of a folder may forbid to put something into it
        os.chmod(f"{target}/{path}", info.st_mode & 0o7777)
        yield path, info


def _number(found: _Found) -> int:
    return -found[1].st_ino


def _is_copied(path: str, info: os.stat_result, target: str) -> bool:
    """Copy one file, link, or folder without its content; return whether that was possible."""
    there, copy = f"{target}/{path}", _HOW.get(stat.S_IFMT(info.st_mode))
    try:
        if copy is None:
            return False
        copy(path, there)
        if (info.st_uid, info.st_gid) != _OWNER:
            os.chown(there, info.st_uid, info.st_gid, follow_symlinks=False)
        if stat.S_ISREG(info.st_mode):
            os.chmod(there, info.st_mode & 0o7777)
    except OSError:  # the folder below shows it as it is
        _remove(there, info)
        return False
    return True


def _remove(there: str, info: os.stat_result) -> None:
    with contextlib.suppress(OSError):
        os.rmdir(there) if stat.S_ISDIR(info.st_mode) else os.unlink(there)


def _copy_file(here: str, there: str) -> None:
    reading = os.open(here, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        writing = os.open(there, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            while os.sendfile(writing, reading, None, _MOST_BYTES):
                pass
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _make_folder(here: str, there: str) -> None:
    os.close(os.open(here, os.O_RDONLY | os.O_NOFOLLOW))  # fails if the script could not list it
    os.mkdir(there)


def _copy_link(here: str, there: str) -> None:
    os.symlink(os.readlink(here), there)


_HOW: dict[int, Callable[[str, str], object]] = {
    stat.S_IFREG: _copy_file,
    stat.S_IFLNK: _copy_link,
    stat.S_IFDIR: _make_folder,
}


def _is_environment(path: str) -> bool:
    """Whether a folder holds libraries, which need their times to be found compiled."""
    return os.path.exists(f"{path}/pyvenv.cfg")
