"""A wheel holds the themes, the examples and the worker, and its commands work."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from quizlog_tui.paths import example_names, shipped

ROOT = Path(__file__).parent.parent


def test_a_wheel_holds_what_is_shipped(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no wheel can be built here: {done.stderr.strip().splitlines()[-1]}")
    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for name in example_names():
        assert f"quizlog_tui/shipped/records/{name}/record.yaml" in names
    assert "quizlog_tui/shipped/records/survey/rainfall.csv" in names
    for theme in shipped("themes").glob("*.yaml"):
        assert f"quizlog_tui/shipped/themes/{theme.name}" in names
    assert "quizlog_tui/replay/worker/boot.py" in names
    assert "quizlog_tui/episodes/episode.schema.json" in names
    assert "quizlog_tui/episodes/templates/verifiers_v1.txt" in names
    assert any("quiz/demo_server/replies/ada-solve-" in name for name in names)
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = "from quizlog_tui.paths import example_names as e; print(e())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "site", capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stdout.strip() == str(example_names())
