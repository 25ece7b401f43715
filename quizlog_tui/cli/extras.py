"""Errors for optional parts that are not installed."""

from __future__ import annotations

from importlib.util import find_spec

from ..errors import UsageError

FOR_CODE = "pip install 'quizlog-tui[solver]' installs the libraries that models' code may use"
"""The hint for a missing library that the sandbox would load."""


def needs(extra: str, *modules: str) -> None:
    """Make sure that the libraries of an extra are installed.

    Raises:
        UsageError: One is missing.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        hint = f"pip install 'quizlog-tui[{extra}]'"
        raise UsageError(f"needs {' and '.join(missing)}", hint=hint)
