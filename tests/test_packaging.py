"""A wheel holds the themes, the examples and the worker, and its commands work."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from quizlog_tui.files.paths import CODE_ATTACKS, QUIZ_ATTACKS, example_names, shipped
from quizlog_tui.guides import topics

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the source beside these tests."""
    if not (ROOT / "quizlog_tui").is_dir():
        pytest.skip("the source is not beside these tests")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no wheel can be built here: {done.stderr.strip().splitlines()[-1]}")
    [built] = folder.glob("*.whl")
    return built


def test_a_wheel_holds_what_is_shipped(wheel: Path) -> None:
    _holds_what_is_shipped(set(zipfile.ZipFile(wheel).namelist()))


def test_what_is_installed_holds_what_is_shipped() -> None:
    names = {str(name) for name in distribution("quizlog-tui").files or ()}
    if "quizlog_tui/__init__.py" not in names:
        pytest.skip("it is installed editable")
    _holds_what_is_shipped(names)


def _holds_what_is_shipped(names: set[str]) -> None:
    for name in example_names():
        assert f"quizlog_tui/shipped/records/{name}/record.yaml" in names
    assert "quizlog_tui/shipped/records/survey/rainfall.csv" in names
    for theme in shipped("themes").glob("*.yaml"):
        assert f"quizlog_tui/shipped/themes/{theme.name}" in names
    for name in (*CODE_ATTACKS, QUIZ_ATTACKS):
        assert f"quizlog_tui/shipped/{name}" in names
    assert "quizlog_tui/replay/worker/boot.py" in names
    for topic in topics():
        assert f"quizlog_tui/guides/{topic}.md" in names
    assert "quizlog_tui/episodes/episode.schema.json" in names
    assert "quizlog_tui/episodes/templates/verifiers_v1.txt" in names
    assert any("quiz/demo_server/replies/ada-solve-" in name for name in names)


def test_an_unpacked_wheel_finds_what_is_shipped(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = "from quizlog_tui.files.paths import example_names as e; print(e())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(example_names())
