"""Paths of records, of shipped files and of the user's folders."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..errors import UsageError, did_you_mean

_PACKAGE = Path(__file__).resolve().parents[1]
_ON_LINUX = {
    "config": ("XDG_CONFIG_HOME", "~/.config"),
    "data": ("XDG_DATA_HOME", "~/.local/share"),
    "state": ("XDG_STATE_HOME", "~/.local/state"),
}
"""The environment variable and default of each kind of folder, from the XDG specification."""
_NO_HOME = Path(os.devnull, "no-home")
"""The home folder of a user who has none: it holds nothing and cannot be written."""


def user_folder(kind: str) -> Path:
    """The user's own folder for `config`, `data` or `state`, which need not exist."""
    if sys.platform == "linux":  # platformdirs costs a fifth of a shell call, for this one rule
        variable, default = _ON_LINUX[kind]
        base = os.environ.get(variable, "").strip()
        base = base if os.path.isabs(base) else os.path.expanduser(default)
        return (Path(base) if os.path.isabs(base) else _NO_HOME) / "quizlog"
    import platformdirs

    try:
        found: Path = getattr(platformdirs, f"user_{kind}_path")("quizlog", appauthor=False)
    except RuntimeError:
        return _NO_HOME / "quizlog"
    return found


def shipped(name: str) -> Path:
    """The shipped folder `records` or `themes`, in the installed package or next to its source."""
    installed = _PACKAGE / "shipped" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def quiz_pages() -> Path:
    """The path of the shipped pages of `quizlog demo-server`."""
    installed = _PACKAGE / "shipped" / "quiz_pages.json"
    in_source = _PACKAGE.parent / "tests" / "data" / "quiz_pages.json"
    return installed if installed.is_file() else in_source


def example_names() -> list[str]:
    """The names of the shipped example records, sorted."""
    return sorted(folder.parent.name for folder in shipped("records").glob("*/record.yaml"))


def record_path(name: str) -> Path:
    """The file that a user names: as it is, or the user's own copy of a shipped example.

    Raises:
        UsageError: There is neither, and the name is like that of a file there or of an example.
    """
    path = Path(name)
    if os.path.lexists(path):
        return path
    examples = example_names()
    if name in examples:
        return own_examples() / name / "record.yaml"
    if hint := did_you_mean(name, [*examples, *_beside(path)], likeness=0.7):
        raise UsageError("does not exist", where=name, hint=hint)
    return path


def _beside(path: Path) -> list[str]:
    """The files beside a path that are of its kind, as a user would name them."""
    try:
        return [str(each) for each in path.parent.iterdir() if each.suffix == path.suffix != ""]
    except (OSError, ValueError):
        return []


def typed_path(text: str) -> Path:
    """The path that a user typed; `~` stands for the home folder, if there is one."""
    return Path(os.path.expanduser(text))


def decisions_path(record: Path) -> Path:
    """The file of a record's decisions, in the same folder: `record.decisions.jsonl`."""
    return record.with_suffix(".decisions.jsonl")


def own_examples() -> Path:
    """The user's own, writable copy of the shipped examples, made on first use.

    Folders that already exist are not changed.

    Raises:
        UsageError: The copy cannot be written.
    """
    target = user_folder("data") / "records"
    try:
        for name in example_names():
            if not (target / name).exists():
                _copy_whole(shipped("records") / name, target / name)
    except OSError as error:
        message = f"cannot copy the examples: {error.strerror or error}"
        hint = "set XDG_DATA_HOME to a folder that you can write"
        raise UsageError(message, where=str(target), hint=hint) from None
    return target


def _copy_whole(source: Path, target: Path) -> None:
    """Copy a folder so that `target` is either complete or absent."""
    import shutil

    from .scratch import Scratch

    target.parent.mkdir(parents=True, exist_ok=True)
    with Scratch("copy", parent=target.parent.parent) as part:
        whole = part.path / target.name
        try:
            shutil.copytree(source, whole, ignore=shutil.ignore_patterns("__pycache__"))
        except shutil.Error as error:  # it lists every file; the first one is enough
            raise OSError(error.args[0][0][2]) from None
        try:
            whole.rename(target)
        except OSError:
            if not target.exists():  # else another process has just made it
                raise
