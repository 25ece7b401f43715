"""The isolation levels: what each one lacks, and how to start a box of each level."""

from __future__ import annotations

import os
import site
import sys
from pathlib import Path

from ..files.paths import find_program
from .inside.wire import BoxSetup, Level

LABELS: dict[Level, str] = {
    "bwrap": "bwrap",
    "landlock": "landlock",
    "rlimits": "UNSAFE: rlimits only",
}
"""The names of isolation levels in results."""
LACKS: dict[Level, str] = {
    "bwrap": "",
    "landlock": "memory and disk of a run are watched, not enforced",
    "rlimits": "code can read your files, use the network and signal your programs",
}
"""What each level does not guarantee."""
ISOLATED: tuple[Level, ...] = ("bwrap", "landlock")
"""Isolation levels that block file and network access."""

INSIDE = Path(__file__).parent / "inside"
PRELOAD = ["numpy", "pandas"]
NOBODY = 65534
_MOUNTED = "/opt/quizlog/inside"
_ENVIRONMENT_MOUNTED = "/opt/quizlog/environment"
_PARTS = ("bin", "lib", "lib64", "pyvenv.cfg")
"""The parts of an interpreter's folder that belong to it; it may be a project folder too."""
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "USER": "nobody",
    "LOGNAME": "nobody",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "MPLBACKEND": "Agg",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""The whole environment of the code, except HOME and TMPDIR, which each run sets."""


def _readable_folders() -> list[str]:
    """The folders of the interpreter and its libraries, which code may read."""
    found = ["/usr", *_site_folders(), *_parts(sys.base_prefix), *_parts(sys.prefix)]
    return list(dict.fromkeys(found))


def _parts(prefix: str) -> list[str]:
    if Path(prefix).is_relative_to("/usr"):
        return []
    return [path for path in (f"{prefix}/{part}" for part in _PARTS) if os.path.exists(path)]


def _site_folders() -> list[str]:
    """The folders of the user's own packages, which an isolated interpreter would ignore."""
    own = site.getusersitepackages()
    return [own] if site.ENABLE_USER_SITE and own in sys.path else []


def box_setup(level: Level, preload: list[str]) -> BoxSetup:
    """The setup of a box of this level on this machine."""
    etc = ["/etc/ld.so.cache", "/etc/localtime", "/bin", "/lib", "/lib64", str(INSIDE)]
    return BoxSetup(
        level=level,
        preload=preload,
        paths=_site_folders(),
        readable=[*_readable_folders(), *etc],
        drop_to=_drop_to(level),
        mount_proc=level == "bwrap" and os.geteuid() == 0,
    )


def _drop_to(level: Level) -> int | None:
    """The user id to switch to if started by root: that of `nobody`.

    Raises:
        PermissionError: `nobody` cannot read the interpreter. Untrusted code never runs as root,
            who has no limit on processes and may access all files.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    for folder in (sys.base_prefix, sys.prefix, INSIDE):
        if level != "bwrap" and not _open_to_others(folder):
            raise PermissionError(f"started by root, and other users cannot read {folder}")
    return NOBODY


def _open_to_others(path: str | Path) -> bool:
    folder = Path(path).resolve()
    return all(step.stat().st_mode & 0o001 for step in (folder, *folder.parents))


def command(level: Level, control: int) -> list[str]:
    """The command line of a box.

    Args:
        level: The isolation level.
        control: The descriptor of its socket to the parent.

    Raises:
        FileNotFoundError: bubblewrap is not installed.
    """
    if level == "bwrap":
        return [*_bwrap(), *_server(_interpreter(), _MOUNTED, control)]
    return _server(sys.executable, str(INSIDE), control)


def _interpreter() -> str:
    """The interpreter's path in a box, where a virtual environment is mounted elsewhere."""
    path = Path(sys.executable)
    if sys.prefix != sys.base_prefix and path.is_relative_to(sys.prefix):
        return f"{_ENVIRONMENT_MOUNTED}/{path.relative_to(sys.prefix)}"
    return sys.executable


def _server(interpreter: str, inside: str, control: int) -> list[str]:
    folder = os.path.dirname(inside)
    start = f"import sys; sys.path.insert(0, {folder!r}); "
    start += f"from inside.server import main; main({control})"
    return [interpreter, "-I", "-c", start]


def _bwrap() -> list[str]:
    """The bubblewrap command: an empty root with the interpreter in it, and no network."""
    program = find_program("bwrap")
    if program is None:
        raise FileNotFoundError("bubblewrap (bwrap) is not installed")
    return [program, *_namespaces(), *_places(), *_files(), *_environment(), "--chdir", "/", "--"]


def _namespaces() -> list[str]:
    words = ["ipc", "pid", "uts", "net", "cgroup-try"]
    found = [f"--unshare-{word}" for word in words]
    found += ["--die-with-parent", "--new-session", "--hostname", "sandbox", "--clearenv"]
    if os.geteuid() == 0:
        # Root mounts what `nobody` may read, then switches to `nobody` before loading anything.
        kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SYS_ADMIN")
        return [*found, "--cap-drop", "ALL", *(word for c in kept for word in ("--cap-add", c))]
    user = str(NOBODY)
    return [*found, "--unshare-user", "--uid", user, "--gid", user, "--cap-drop", "ALL"]


def _files() -> list[str]:
    words: list[str] = []
    for path in ["/usr", *_site_folders(), *_parts(sys.base_prefix)]:
        words += _show(path, path)
    if sys.prefix != sys.base_prefix:
        for path in _parts(sys.prefix):
            words += _show(path, f"{_ENVIRONMENT_MOUNTED}/{os.path.basename(path)}")
    for name in ("bin", "lib", "lib64", "sbin"):
        if os.path.islink(f"/{name}"):
            words += ["--symlink", f"usr/{name}", f"/{name}"]
        elif os.path.isdir(f"/{name}"):
            words += ["--ro-bind", f"/{name}", f"/{name}"]
    for path in ("/etc/ld.so.cache", "/etc/localtime"):
        words += ["--ro-bind-try", path, path]
    return [*words, *_show(str(INSIDE), _MOUNTED), "--remount-ro", "/dev", "--remount-ro", "/"]


def _show(path: str, target: str) -> list[str]:
    """Mount a file or folder read-only at a path that every user can reach."""
    folder = Path(target).parent
    made = [] if folder == Path("/") else ["--dir", str(folder)]
    return [*made, "--ro-bind", path, target]


def _places() -> list[str]:
    """Writable folders, for runs that have a box to themselves; other runs make their own."""
    proc = "--dir" if os.geteuid() == 0 else "--proc"
    words = [proc, "/proc", "--dev", "/dev", "--dir", "/stage"]
    for path in ("/dev/shm", "/tmp", "/task"):
        words += ["--perms", "1777", "--tmpfs", path]
    return words


def _environment() -> list[str]:
    words: list[str] = []
    for name, value in (ENVIRONMENT | {"HOME": "/task", "TMPDIR": "/tmp"}).items():
        words += ["--setenv", name, value]
    return words
