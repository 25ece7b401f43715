"""Start of a quiz process: a guard, and below it the interpreter that runs the script.

The first process becomes the **guard**: it holds nothing but one socket to quizlog. When that
socket closes (quizlog ended, in whatever way) it kills everything the script ever started, then
itself. Its child is the quiz: it becomes what `python script.py` would be and runs the script.
"""

from __future__ import annotations

import builtins
import os
import sys
from types import CodeType, ModuleType

from . import guard, hooks, seeding
from .report import Outcome
from .taint import Taint
from .wire import Wire


def main(control: int, guarded: int) -> None:
    """Run the job that arrives on the descriptor `control`; die with the descriptor `guarded`."""
    os.set_inheritable(control, False)
    os.set_inheritable(guarded, False)
    guard.split(guarded, [control])
    wire = Wire(control)
    wire.send(f'["born", {os.getpid()}]')
    path, argv0, seed, memory, source = wire.receive()
    _limit_memory(int(memory))
    script = path.decode("utf-8", "surrogateescape")
    os.chdir(os.path.dirname(script))
    outcome = Outcome(script)
    taint = Taint()
    hooks.install(wire, outcome, taint)
    seeding.install(int(seed))
    _become_plain(script, argv0.decode("utf-8", "surrogateescape"))
    taint.install()
    _run(script, source, outcome)


def _limit_memory(limit: int) -> None:
    """Bound the data segment (bytes; 0 for none), so that a hog meets `MemoryError`."""
    if limit:
        import resource

        kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
        hard = resource.getrlimit(kind)[1]
        if hard == resource.RLIM_INFINITY or hard > limit:
            resource.setrlimit(kind, (limit, limit))


def _become_plain(script: str, argv0: str) -> None:
    """Put `sys` into the state in which `python script.py` finds it."""
    sys.argv[:] = [argv0]
    del sys.path[0]
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(script)
    for name in [name for name in sys.modules if name.split(".")[0] == "worker"]:
        del sys.modules[name]


def _main_module(script: str) -> ModuleType:
    from importlib.machinery import SourceFileLoader

    module = ModuleType("__main__")
    module.__dict__.update(
        __file__=script,
        __cached__=None,
        __builtins__=builtins,
        __annotations__={},
        __loader__=SourceFileLoader("__main__", script),
    )
    sys.modules["__main__"] = module
    return module


def _run(script: str, source: bytes, outcome: Outcome) -> None:
    """Execute the script as `__main__`, tell how it ended, and leave the way it left."""
    try:
        code: CodeType = compile(source, script, "exec", dont_inherit=True)
        exec(code, _main_module(script).__dict__)
    except SystemExit as error:
        outcome.left(error)
        raise
    except BaseException as error:
        sys.exit(outcome.raised(error))
