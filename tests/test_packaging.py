"""What is installed holds the themes, the examples and the worker; the lock is of this package."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from quizlog_tui.files.paths import example_names, shipped
from quizlog_tui.guides import topics

ROOT = Path(__file__).parent.parent
Needed = tuple[str, frozenset[str], SpecifierSet, str]
"""A package's name, its extras, its versions, and what needs it."""


def test_what_is_installed_holds_what_is_shipped() -> None:
    names = {str(name) for name in distribution("quizlog-tui").files or ()}
    if "quizlog_tui/__init__.py" not in names:
        pytest.skip("it is installed editable")
    for name in example_names():
        assert f"quizlog_tui/shipped/records/{name}/record.yaml" in names
    assert "quizlog_tui/shipped/records/survey/rainfall.csv" in names
    for theme in shipped("themes").glob("*.yaml"):
        assert f"quizlog_tui/shipped/themes/{theme.name}" in names
    assert "quizlog_tui/shipped/quiz_pages.json" in names
    assert "quizlog_tui/replay/worker/boot.py" in names
    for topic in topics():
        assert f"quizlog_tui/guides/{topic}.md" in names
    assert "quizlog_tui/episodes/episode.schema.json" in names
    assert "quizlog_tui/episodes/templates/verifiers_v1.txt" in names
    assert any("quiz/demo_server/replies/ada-solve-" in name for name in names)


def test_the_lock_is_of_what_the_package_needs() -> None:
    """`uv sync --frozen` does not look: a package that is missing in the lock would be left out."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    [locked] = [one["metadata"] for one in lock["package"] if one["name"] == "quizlog-tui"]
    assert set(_locked(locked)) == set(_needed(project)), "run `uv lock`"


def _needed(project: dict[str, Any]) -> Iterator[Needed]:
    extras = project["project"]["optional-dependencies"]
    for by, texts in {"": project["project"]["dependencies"], **extras}.items():
        for text in texts:
            yield _one(Requirement(text), by)
    for by, texts in project["dependency-groups"].items():
        for text in texts:
            yield _one(Requirement(text), f"group {by}")


def _one(needed: Requirement, by: str) -> Needed:
    return canonicalize_name(needed.name), frozenset(needed.extras), needed.specifier, by


def _locked(metadata: dict[str, Any]) -> Iterator[Needed]:
    for one in metadata["requires-dist"]:
        yield _entry(one, one.get("marker", "").removeprefix("extra == ").strip("'"))
    for by, entries in metadata["requires-dev"].items():
        for one in entries:
            yield _entry(one, f"group {by}")


def _entry(one: dict[str, Any], by: str) -> Needed:
    return one["name"], frozenset(one.get("extras", ())), SpecifierSet(one.get("specifier", "")), by
