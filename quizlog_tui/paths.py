"""Where quizlog finds records, what it ships, and keeps what it copies. Starts nothing."""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def shipped(name: str) -> Path:
    """The folder `name` (`records` or `themes`) as installed: from a wheel or beside the source."""
    installed = _PACKAGE / "shipped" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def attack_list() -> Path:
    """The attacks that `quizlog doctor --attacks` runs, as shipped."""
    installed = _PACKAGE / "shipped" / "attacks.json"
    in_source = _PACKAGE.parent / "tests" / "data" / "attacks.json"
    return installed if installed.is_file() else in_source


def quiz_pages() -> Path:
    """The pages of `quizlog demo-server`, as shipped."""
    installed = _PACKAGE / "shipped" / "quiz_pages.json"
    in_source = _PACKAGE.parent / "tests" / "data" / "quiz_pages.json"
    return installed if installed.is_file() else in_source


def example_names() -> list[str]:
    """The names of the shipped example records, sorted."""
    return sorted(folder.parent.name for folder in shipped("records").glob("*/record.yaml"))


def record_path(name: str) -> Path:
    """The record a user means: a file, or else the user's own copy of a shipped example."""
    if name in example_names() and not Path(name).exists():
        return own_examples() / name / "record.yaml"
    return Path(name)


def typed_path(text: str) -> Path:
    """The path that a user typed; `~` is the home folder, if it is known which that is."""
    return Path(os.path.expanduser(text))


def decisions_path(record: Path) -> Path:
    """The file beside a record that holds its decisions: `record.decisions.jsonl`."""
    return record.with_suffix(".decisions.jsonl")


def own_examples() -> Path:
    """The user's own copy of the shipped examples, made on first use so that playing can write.

    Folders that are already there are left as the user left them.
    """
    import shutil

    from platformdirs import user_data_path

    target = user_data_path("quizlog", appauthor=False) / "records"
    for name in example_names():
        if not (target / name).exists():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(shipped("records") / name, target / name, ignore=ignored)
    return target
