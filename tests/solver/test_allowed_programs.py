"""A program beside a models file: found there, and started only if the user allowed it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from quizlog_tui.errors import ConfigError
from quizlog_tui.solver.decisions.decision import ModelQuestion
from quizlog_tui.solver.models.choice import Choice, chosen_panel
from quizlog_tui.solver.models.models import (
    allow_program,
    allowed_programs_path,
    check_allowed,
    default_models,
    programs_beside,
    programs_to_allow,
    read_models,
)
from quizlog_tui.solver.models.transport import ModelClient, Voter
from quizlog_tui.solver.models.voters import Command
from quizlog_tui.solver.prompts import solve_prompt
from quizlog_tui.solver.redaction import Redaction
from tests.solver.panels import run_here

PROMPT = solve_prompt(ModelQuestion("2 + 2 = "), (), ())


def program(path: Path, ran: Path) -> Path:
    """A program that answers, and leaves in a file where it ran."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\npwd >>{ran}\necho '{{\"answer\": 4}}'\n")
    path.chmod(0o755)
    return path


def models_file(path: Path, *commands: list[str]) -> Path:
    """A models file of programs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    models = [{"name": f"m{i}", "command": words} for i, words in enumerate(commands)]
    path.write_text(json.dumps({"models": models}))
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "own-home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def stranger(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with programs in it."""
    folder = tmp_path / "stranger"
    for name in ("solve.sh", "sub/solve.sh", "solver"):
        program(folder / name, tmp_path / "PWNED")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", ".::sub:/usr/bin:/bin")
    return folder


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("./solve.sh", "FOLDER/solve.sh"),
        ("bin/solve.sh", "FOLDER/bin/solve.sh"),
        ("../solve.sh", "FOLDER/../solve.sh"),
        ("~/solve.sh", "FOLDER/~/solve.sh"),
        ("/opt/solve.sh", "/opt/solve.sh"),
        ("solve.sh", "solve.sh"),
    ],
)
@pytest.mark.usefixtures("stranger")
def test_a_program_with_a_slash_is_relative_to_the_models_file(
    written: str, found: str, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    path = models_file(folder / "models.yaml", [written, "./x"], ["ls"])
    full = found.replace("FOLDER", str(folder))
    assert read_models(path).models[0].command == (full, "./x")
    assert programs_beside(path) == ([Path(full)] if full.startswith(str(folder)) else [])


def test_a_models_file_in_the_current_folder_gives_full_paths_too(stranger: Path) -> None:
    models_file(stranger / "models.yaml", ["./solve.sh"])
    assert read_models(Path("models.yaml")).models[0].command == (f"{stranger}/solve.sh",)


async def heard(command: list[str]) -> str:
    client = ModelClient(Voter("a"), Command(command, {"PATH": ".:/usr/bin"}), Redaction())
    return (await client.request(PROMPT)).error or ""


@pytest.mark.parametrize("name", ["./solve.sh", "sub/solve.sh", "solver", "solve.sh"])
@pytest.mark.usefixtures("stranger")
async def test_no_program_of_the_current_folder_is_started(name: str, tmp_path: Path) -> None:
    assert "it is missing or not executable" in await heard([name])
    assert not (tmp_path / "PWNED").exists()


async def asked(models: Path | None) -> list[str]:
    """How each model of a file replied."""
    async with chosen_panel(Choice(models), run_here) as panel:
        return [(await client.request(PROMPT)).status for client in panel.clients]


async def test_the_file_in_the_settings_finds_its_programs_beside_it(
    stranger: Path, home: Path, tmp_path: Path
) -> None:
    models_file(default_models(), ["./solve.sh"], ["solver"], ["sh", "./solve.sh"])
    program(default_models().with_name("solve.sh"), tmp_path / "ran")
    assert await asked(None) == ["ok", "error", "error"]
    assert (tmp_path / "ran").read_text() == f"{home}\n"
    assert not (tmp_path / "PWNED").exists()


async def test_a_program_beside_another_file_is_started_only_if_it_is_allowed(
    stranger: Path, tmp_path: Path
) -> None:
    path, own = models_file(stranger / "models.yaml", ["./solve.sh"]), stranger / "solve.sh"
    with pytest.raises(ConfigError) as refused:
        await asked(path)
    assert f"{path}: names the program {own}, which you have not allowed" in str(refused.value)
    assert not (tmp_path / "PWNED").exists()
    allow_program(path, own)
    assert programs_to_allow(path) == []
    assert await asked(path) == ["ok"]


def test_what_is_allowed_holds_for_both_files_as_they_are(stranger: Path, tmp_path: Path) -> None:
    path, own = models_file(stranger / "models.yaml", ["./solve.sh"]), stranger / "solve.sh"
    allow_program(path, own)
    before = own.read_bytes(), path.read_bytes()
    own.write_bytes(before[0] + b"\n")
    assert programs_to_allow(path) == [own]
    own.write_bytes(before[0])
    models_file(path, ["./solve.sh", "--other"])
    assert programs_to_allow(path) == [own]
    path.write_bytes(before[1])
    check_allowed(path)
    other = tmp_path / "other"
    stranger.rename(other)
    assert programs_to_allow(other / "models.yaml") == [other / "solve.sh"]
    own.parent.symlink_to(other)
    assert programs_to_allow(path) == [own]


def test_a_link_to_the_file_in_the_settings_makes_no_program_the_users(stranger: Path) -> None:
    models_file(default_models(), ["./solve.sh"])
    link = stranger / "models.yaml"
    link.symlink_to(default_models())
    assert programs_to_allow(link) == [stranger / "solve.sh"]
    assert programs_to_allow(default_models()) == []


def test_several_programs_are_kept_as_toml(stranger: Path) -> None:
    odd = program(stranger / 'a"\\\n\x7f.sh', stranger / "ran")
    path = models_file(stranger / "models.yaml", ["./solve.sh"], [f"./{odd.name}"], ["ls"])
    for number, each in enumerate((stranger / "solve.sh", odd)):
        assert len(programs_to_allow(path)) == 2 - number
        allow_program(path, each)
    kept = tomllib.loads(allowed_programs_path().read_text(encoding="utf-8"))
    assert len(kept) == 2 and f"{stranger}/solve.sh, for {path}" in kept.values()
    assert programs_to_allow(path) == []


def test_a_program_that_is_not_there_is_refused(stranger: Path) -> None:
    path = models_file(stranger / "models.yaml", ["./gone.sh"])
    with pytest.raises(ConfigError, match=r"gone\.sh: cannot read: No such file"):
        check_allowed(path)
