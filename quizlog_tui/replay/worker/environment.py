"""Gives the interpreter the libraries of a virtual environment.

`python` of the environment would do that at its start, and run code that stands there (`.pth`).
Here it is done when the interpreter is isolated, as that code may be a stranger's.
"""

from __future__ import annotations

import os
import site
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PYTHON = ("_frozen_importlib", "_frozen_importlib_external", "worker")


def enter(folder: str, *, respelled: bool) -> None:
    """Become what the environment's own program would be.

    Args:
        folder: The environment; empty for none.
        respelled: Whether the script finds another name of its interpreter.
    """
    if not folder:
        return
    others = (*site.getsitepackages(), site.getusersitepackages())
    sys.path[:] = [path for path in sys.path if path not in others]
    finders = sys.meta_path
    finders[:] = [one for one in finders if _module(one).partition(".")[0] in _PYTHON]
    sys.executable = f"{folder}/bin/python"
    sys.prefix = sys.exec_prefix = folder
    site.main()
    if respelled:
        rename(other_name(sys.executable))


def other_name(program: str) -> str:
    """Another usual name of an interpreter beside it; its own if there is none."""
    folder, name = os.path.split(program)
    for other in ("python3", f"python3.{sys.version_info[1]}", "python"):
        path = f"{folder}/{other}"
        if other != name and os.path.exists(path) and os.path.samefile(path, program):
            return path
    return program


def rename(program: str) -> None:
    """Set the path of the interpreter, wherever it tells it."""
    told: Any = sys
    if getattr(told, "_base_executable", "") == sys.executable:
        told._base_executable = program
    for at, word in enumerate(getattr(told, "orig_argv", ())):
        if word == sys.executable:
            told.orig_argv[at] = program
    sys.executable = program


def _module(finder: object) -> str:
    return str(getattr(finder, "__module__", ""))
