"""The interpreters that the user chose for single scripts by `--python`.

They belong to the machine, not to a record, and are stored by the script's path in the settings
folder, as TOML that can be read and edited.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from ...config import config_folder
from ...errors import ConfigError
from ...files.durable import write_own_text

_LINE = re.compile(r'^("(?:[^"\\]|\\.)*")\s*=\s*("(?:[^"\\]|\\.)*")\s*$', re.M)
_HEAD = "# Which Python runs which script. Delete a line to leave the choice to quizlog again.\n"


def choices_path() -> Path:
    """The path of the file, which may not exist."""
    return config_folder() / "interpreters.toml"


def chosen_interpreter(script: Path) -> str:
    """The program that the user chose for a script; empty if none."""
    return _choices().get(os.path.realpath(script), "")


def store_choice(script: Path, program: str) -> None:
    """Store the program that runs a script from now on.

    Raises:
        ConfigError: The choice cannot be stored.
    """
    import json

    choices = {**_choices(), os.path.realpath(script): program}
    lines = [f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in choices.items()]
    path = choices_path()
    try:
        write_own_text(path, "".join([_HEAD, *lines]))
    except OSError as error:
        said = error.strerror or "is not a file"
        raise ConfigError(f"cannot store the choice: {said}", where=str(path)) from None


def _choices() -> dict[str, str]:
    try:
        text = choices_path().read_text(encoding="utf-8")
        import json

        return {json.loads(key): json.loads(value) for key, value in _LINE.findall(text)}
    except (OSError, ValueError):
        return {}
