"""What to say where an optional part is not installed."""

from __future__ import annotations

from importlib.util import find_spec

from ..errors import UsageError

FOR_CODE = "pip install 'quizlog-tui[solver]' brings what models' code is told it may use"
"""What to say where a library is missing that the sandbox would load."""


def needs(extra: str, *modules: str) -> None:
    """Make sure that the libraries of an extra are there.

    Raises:
        UsageError: One is missing.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        hint = f"pip install 'quizlog-tui[{extra}]'"
        raise UsageError(f"needs {' and '.join(missing)}", hint=hint)
