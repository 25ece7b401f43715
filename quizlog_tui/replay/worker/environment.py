"""Gives the interpreter the libraries of a virtual environment.

`python` of the environment would do that at its start, and run code that stands there (`.pth`).
Here it is done when the interpreter is isolated, as that code may be a stranger's.
"""

from __future__ import annotations

import site
import sys

_PYTHON = ("_frozen_importlib", "_frozen_importlib_external", "worker")


def enter(folder: str, *, respelled: bool) -> None:
    """Become what the environment's own program would be.

    Args:
        folder: The environment; empty for none.
        respelled: Whether the script finds its paths spelled otherwise.
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
        sys.executable = f"{folder}/bin/../bin/python"
        sys.prefix = sys.exec_prefix = f"{folder}/."


def _module(finder: object) -> str:
    return str(getattr(finder, "__module__", ""))
