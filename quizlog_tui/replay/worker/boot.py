"""Starts a quiz process: a guard, and below it the interpreter that runs the script, isolated.

The first process becomes the **guard**, which holds only a socket to quizlog. When that socket
closes, because quizlog ended in whatever way, the guard kills everything that the script started,
and ends. Its child becomes what `python script.py` would be, can reach only the script's folder and
Python, and runs the script. The sandbox provides the function that isolates; see `process.spawn`.
"""

# ruff: noqa: E402
from __future__ import annotations

import gc

gc.disable()  # what is imported here stays: no collection need visit it meanwhile

import builtins
import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from types import CodeType, ModuleType

from . import environment, first_frame, guard, hooks, system
from .code_watch import CodeWatch
from .fixed.fixed_world import FixedWorld
from .folder import SHARED_MEMORY, TEMPORARY, Folder, leftover
from .folder_content import Changed
from .guard import WitnessSocket
from .job import Job
from .log import Log
from .outcome import Outcome, OwnFiles
from .outside import Outside, Starts
from .taint import Taint
from .wire import Wire, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

gc.freeze()
gc.unfreeze()  # which makes all of it old without a visit
gc.enable()

_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/nix/store", "/gnu/store")
_SYSTEM = ("/proc", "/sys/devices/system", "/sys/fs/cgroup")
_SETTINGS = (
    "alternatives", "ca-certificates", "debian_version", "fonts", "gai.conf", "group", "host.conf",
    "hosts", "ld.so.cache", "locale.alias", "localtime", "mime.types", "nsswitch.conf",
    "os-release", "passwd", "pki/ca-trust/extracted", "pki/tls/certs", "protocols", "resolv.conf",
    "services", "ssl/certs", "ssl/openssl.cnf", "timezone",
)  # fmt: skip
"""Parts of `/etc` that libraries read; other parts contain secrets, which root could read."""
_PARTS = ("bin", "lib", "lib64", "libexec", "include", "share", "etc", "pyvenv.cfg")
"""Parts of an interpreter's folder, which may also be somebody's project folder."""
_OF_ENVIRONMENT = ("bin", "lib", "pyvenv.cfg")
"""Parts of a virtual environment, none of which may be a link."""
_DRAWING = (".cache/matplotlib", ".config/matplotlib", ".cache/fontconfig", ".fonts")
"""Caches of fonts in the user's home, which take seconds to make again."""


def main(control: int, guard_end: int, isolate: Callable[..., str], *, network: bool) -> None:
    """Run the job that arrives on the descriptor `control`; die with the descriptor `guard_end`.

    Args:
        control: The socket to quizlog.
        guard_end: The guard's socket to quizlog.
        isolate: Isolates this process: `sandbox.inside.isolation.isolate`.
        network: Whether the script may use the machine's network.
    """
    _close_all_but(0, 1, 2, control, guard_end)
    os.set_inheritable(control, False)
    os.set_inheritable(guard_end, False)
    witness = guard.split(guard_end, [control])
    wire, folder = Wire(control), Folder()
    folder.prepare()
    reach = "real" if network else "own" if folder.named and system.cut_off() else "none"
    guard.process_control(system.PDEATHSIG, 9)  # which new rights may have cleared
    wire.send(f'["born", {os.getpid()}]')
    job = Job(wire.receive())
    _limit_memory(job.memory)
    try:
        folder.enter(job)
    except Changed as error:
        _refuse(wire, error)
    script = job.path if folder.way != "overlay" or not job.at else f"{job.at}/{job.name}"
    code = CodeWatch(wire, script, folder.path)
    outcome = Outcome(OwnFiles(script, folder.path), code)
    taint = Taint(folder)
    outside = Outside(folder, Starts(script, job.source, folder.path), network=reach)
    world = FixedWorld(job, folder, outside)
    log = Log(wire, outcome, taint, world, code, job.max_unreported)
    clocks = world.prepare()
    hooks.install(log, world)
    _become_plain(folder.path, [job.name, *job.args])
    try:
        isolation = _isolate(isolate, witness, folder, job, network=reach, clocks=clocks)
        del clocks  # as the script could find it
    except OSError as error:
        _refuse(wire, error)
    _forget_own_modules()  # not before: another root is built with some of them
    taint.witnessed = bool(isolation) and "witness" not in isolation
    taint.install()
    world.install()
    code.install()
    taint.begin()
    wire.send(f'["place", {quote(folder.way)}, {quote(isolation)}]')
    environment.enter(job.libraries, respelled="home" in job.changed)
    folder.forget_changes()
    if job.waits:
        log.wait_for_looks()
    _run(script, f"{folder.path}/{job.name}", job.source, outcome)


def _refuse(wire: Wire, error: Exception) -> NoReturn:
    """Tell why the script is not run, and end."""
    wire.send(f'["unshut", {quote(str(error))}]')
    os._exit(1)


def _close_all_but(*spared: int) -> None:
    """Close the descriptors that the shell left open for quizlog, so that no script finds them."""
    after = 0
    for fd in (*sorted(spared), 1 << 31):
        if fd > after:
            _close_range(after, fd - 1)
        after = fd + 1


def _close_range(first: int, last: int) -> None:
    try:
        system.call("close_range", first, last, 0)
    except OSError:  # a system, or a C library, without it
        for name in os.listdir("/dev/fd"):
            if first <= int(name) <= last:
                with contextlib.suppress(OSError):  # the listing itself
                    os.close(int(name))


def _limit_memory(limit: int) -> None:
    """Bound the data segment (bytes; 0 for none): a script that needs more gets `MemoryError`."""
    if limit:
        import resource

        kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
        hard = resource.getrlimit(kind)[1]
        if hard == resource.RLIM_INFINITY or hard > limit:
            resource.setrlimit(kind, (limit, limit))


def _become_plain(folder: str, argv: list[str]) -> None:
    """Put the arguments and the path into the state that `python script.py` has."""
    sys.argv[:] = argv
    sys.path[:2] = [] if getattr(sys.flags, "safe_path", False) else [folder]


def _forget_own_modules() -> None:
    """Take our modules from `sys`, where a script would find them."""
    for name in [name for name in sys.modules if name.split(".")[0] in ("worker", "inside")]:
        del sys.modules[name]


def _isolate(
    isolate: Callable[..., str],
    witness: WitnessSocket,
    folder: Folder,
    job: Job,
    *,
    network: str,
    clocks: Iterable[tuple[int, int]],
) -> str:
    """Isolate this process.

    Args:
        isolate: The function that isolates.
        witness: Leads to the guard's witness, which decides whether a process may be signalled.
        folder: The private folder in which the script runs.
        job: The script and its grants.
        network: The network that it may use: `real`, its `own`, or `none`.
        clocks: Code of ours that reads clocks.

    Returns:
        The kind of isolation, in the words of `isolate`.

    Raises:
        OSError: The isolation could not be completed.
    """
    own = [folder.path, TEMPORARY, leftover(os.getpid())]
    own += [SHARED_MEMORY] if folder.own_memory else []  # else it belongs to everybody
    readable = ["/"] if "real-files" in job.asked else [*_readable(folder, job)]
    starts = "starts" not in job.changed
    isolation = isolate(
        *(own, chain(readable, folder.layers())),
        network=network,
        starts=starts,
        seal=lambda: folder.seal(readable),
        take=witness.hand_over,
        clocks=clocks,
        given=folder.given(),
    )
    witness.close()
    folder.isolated = bool(isolation)
    if isolation:
        system.close_to_others()
    return isolation


def _readable(folder: Folder, job: Job) -> Iterator[str]:
    yield from _PROGRAMS
    yield from () if "system" in job.changed else _SYSTEM
    for name in _SETTINGS:
        yield f"/etc/{name}"
    prefixes = dict.fromkeys((sys.prefix, sys.base_prefix))
    parts = [f"{prefix}/{part}" for prefix in prefixes for part in _PARTS]
    parts += [f"{job.libraries}/{part}" for part in _OF_ENVIRONMENT if job.libraries]
    yield from parts
    libraries = [*sys.path, *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    known = ("/usr/", *(f"{part}/" for part in parts))
    yield from (path for path in libraries if path[:1] == "/" and not path.startswith(known))
    home = os.path.expanduser("~")
    for name in _DRAWING:
        yield f"{home}/{name}"
    if folder.way != "overlay":
        yield job.path  # tracebacks read its lines there


def _main_module(file: str) -> ModuleType:
    module, importing = ModuleType("__main__"), sys.modules["_frozen_importlib_external"]
    module.__dict__.update(
        __loader__=importing.SourceFileLoader("__main__", file),
        __annotations__={},
        __builtins__=builtins,
        __file__=file,
        __cached__=None,
    )
    sys.modules["__main__"] = module
    return module


def _run(script: str, file: str, source: bytes, outcome: Outcome) -> None:
    """Execute the script as `__main__`, note its outcome, and end as it ended.

    Args:
        script: The path of the script in tracebacks.
        file: The path of the script in its private folder.
        source: The bytes of the script.
        outcome: Receives the outcome.
    """
    try:
        code: CodeType = first_frame.compiled(source, script)
        first_frame.run(code, _main_module(file).__dict__)
        return
    except SystemExit as error:
        outcome.left(error)
        raise
    except BaseException as error:
        status = outcome.raised(error)
    sys.exit(status)  # here, as an exit with a context would keep the script's objects
