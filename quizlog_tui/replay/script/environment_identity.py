"""Identifies the environment that the user chose for a script, so that a grant can name it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...files.regular_file import hex_digest
from .interpreter import OWN, chosen_interpreter_of


def environment_identity(script: Path) -> str:
    """What tells a chosen environment from others at its path; empty for quizlog's own Python.

    It is made of the size and time of the program, of `pyvenv.cfg` and of each entry among the
    libraries, so it changes when a library is installed, replaced or removed. Files inside a
    library are not read: whoever chooses an environment trusts it as a whole.

    Raises:
        ConfigError: The interpreter that the user chose cannot be used.
    """
    used = chosen_interpreter_of(script)
    if used == OWN:
        return ""
    known = "\n".join(
        (*_stamps([used.program]), *_stamps(_settings_and_libraries(used.environment)))
    )
    return f"{used.name} {used.version} sha256:{hex_digest(os.fsencode(known))}"


def _settings_and_libraries(environment: str) -> Iterator[str]:
    if not environment:
        return
    yield f"{environment}/pyvenv.cfg"
    for place in sorted(Path(environment).glob("lib*/python*/site-packages")):
        with contextlib.suppress(OSError):
            yield from (f"{place}/{name}" for name in sorted(os.listdir(place)))


def _stamps(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        with contextlib.suppress(OSError):
            info = os.stat(path)
            yield f"{path} {info.st_size} {info.st_mtime_ns}"
