"""`quizlog sandbox run` and what doctor says of the sandbox."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.replay.process import spawn
from quizlog_tui.sandbox.box import ISOLATED, PRELOAD
from quizlog_tui.sandbox.executor import Sandbox


@pytest.fixture(scope="module", autouse=True)
def isolated() -> None:
    with Sandbox(preload=(), order=ISOLATED) as sandbox:
        if sandbox.level() is None:
            pytest.skip(f"there is no isolation here: {sandbox.why()}")


def write(folder: Path, code: str) -> str:
    path = folder / "code.py"
    path.write_text(code, encoding="utf-8")
    return str(path)


def test_json_is_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").write_text("7")
    path = write(tmp_path, "print('out')\nanswer = int(open('data').read())")
    assert main(["sandbox", "run", path, "--workspace", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.pop("seconds") >= 0
    assert found.pop("isolation") in ("bwrap", "landlock")
    assert found == {
        "schema_version": 1,
        "status": "ok",
        "answer": 7,
        "stdout": "out\n",
        "stderr": "",
        "error": None,
    }


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [("answer = 1", 0), ("1/0", 1), ("x = 1", 1), ("answer = 'x' * 2_000_000", 4)],
)
def test_exit_codes(tmp_path: Path, code: str, exit_code: int) -> None:
    assert main(["sandbox", "run", write(tmp_path, code)]) == exit_code


def test_for_a_person(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "run", write(tmp_path, "print('a\\x1b[2J')\nanswer = 'b\\x1b'")]) == 0
    said = capsys.readouterr()
    assert said.out == 'a␛[2J\nanswer: "b\\u001b"\n'
    assert "isolation: " in said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sandbox", "run", "/nowhere.py"], "No such file"),
        (["sandbox", "run", "."], "directory"),
        (["sandbox", "run", __file__, "--workspace", "/nowhere"], "is not a folder"),
        (["sandbox"], "arguments are required: run, FILE.py"),
        (["sandbox", "walk", "x.py"], "invalid choice"),
    ],
)
def test_wrong_calls(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "code.py"
    path.write_bytes(b"\xff\xfe")
    assert main(["sandbox", "run", str(path)]) == 2
    assert "is not Python text" in capsys.readouterr().err


def test_doctor_tells_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    found = {item["name"]: item for item in json.loads(capsys.readouterr().out)["findings"]}
    assert found["sandbox"]["ok"]


def test_doctor_tells_what_quiz_scripts_are_kept_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["doctor"])
    said = capsys.readouterr().out
    if "missing  isolation of quiz scripts" not in said:
        assert (
            "ok       isolation of quiz scripts: landlock: scripts reach their own folder" in said
        )
    boot = spawn._BOOT.replace("inside.isolation.isolate", "(lambda *places, **how: '')")
    monkeypatch.setattr(spawn, "_BOOT", boot)
    main(["doctor"])
    assert "missing  isolation of quiz scripts: NOT ISOLATED: " in capsys.readouterr().out


def test_doctor_tells_which_libraries_code_will_miss(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quizlog_tui.sandbox.executor.PRELOAD", ["json", "no_such_library"])
    main(["doctor"])
    said = capsys.readouterr().out
    remedy = "no no_such_library: pip install 'quizlog-tui[solver]'"
    assert f"missing  libraries for models' code: {remedy}" in said


def test_code_that_misses_a_library_is_told_how_to_get_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, told in (("pandas", True), ("no_such_library", False)):
        code = f"raise ModuleNotFoundError(\"No module named '{name}'\", name='{name}')"
        assert main(["sandbox", "run", write(tmp_path, code)]) == 1
        said = capsys.readouterr().err
        assert ("pip install 'quizlog-tui[solver]'" in said) is told


def test_the_solver_brings_what_the_sandbox_loads() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    brought = " ".join(project["project"]["optional-dependencies"]["solver"])
    assert PRELOAD and all(f"{name}>=" in brought for name in PRELOAD)


def test_doctor_names_the_remedy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    main(["doctor"])
    assert "apt install bubblewrap" in capsys.readouterr().out
