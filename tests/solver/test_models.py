"""The file of models: what it may say, and one line for what it may not.

A program beside a models file: found there, and started only if the user allowed it.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from quizlog_tui.errors import ConfigError, QuizlogError
from quizlog_tui.solver.decision import ModelQuestion
from quizlog_tui.solver.models.choice import Choice, Command, chosen_panel, live_panel, missing_keys
from quizlog_tui.solver.models.env_file import SECRETS, Variables
from quizlog_tui.solver.models.models import (
    HUMAN_SECONDS,
    MODEL_SECONDS,
    allow_program,
    allowed_programs_path,
    check_allowed,
    default_models,
    programs_beside,
    programs_to_allow,
    read_models,
)
from quizlog_tui.solver.models.transport import ModelClient, Voter
from quizlog_tui.solver.prompts import solve_prompt
from quizlog_tui.solver.redaction import Redaction
from tests.solver.panels import run_here

GOOD = """\
models:
- name: fast
  base_url: https://example.org/api/v1/
  model: vendor/name
  api_key_env: FAST_KEY
  family: vendor
  weight: 2
  primary: true
  json_mode: schema
  max_output_tokens: 1000
  timeout: 20
- name: local
  command: [./solve.sh, --fast]
- name: me
  human: true
family_cap: 1.5
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "models.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_a_file_says(tmp_path: Path) -> None:
    models = read_models(written(tmp_path, GOOD))
    fast, local, me = models.models
    assert (fast.base_url, fast.voter.weight, fast.voter.seconds) == (
        "https://example.org/api/v1",
        2,
        20,
    )
    program = str(tmp_path / "solve.sh")
    assert (local.command, local.voter.seconds) == ((program, "--fast"), MODEL_SECONDS)
    assert me.voter.seconds == HUMAN_SECONDS
    assert models.family_cap == 1.5
    assert missing_keys(models, Variables({"FAST_KEY": " "})) == ["FAST_KEY"]
    assert missing_keys(models, Variables({"FAST_KEY": "x"})) == []


def test_json_is_read_too(tmp_path: Path) -> None:
    text = '{"models": [{"name": "me", "human": true}]}'
    assert read_models(written(tmp_path, text)).models[0].human


def test_the_file_is_in_the_users_settings() -> None:
    assert default_models().name == "models.yaml"
    assert "quizlog" in default_models().parts


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("  weight: 2", "  wieght: 2", 7, "unknown key 'wieght' (did you mean weight?)"),
        (
            "  weight: 2",
            "  plugin: mine",
            7,
            "a voter of your own is a program: name it by `command`",
        ),
        ("family_cap", "familycap", 16, "unknown key 'familycap' (did you mean family_cap?)"),
        ("  weight: 2", "  weight: heavy", 7, "models.0.weight: must be a number"),
        ("  weight: 2", "  weight: -1", 7, "greater than or equal to 0"),
        ("  weight: 2", "  weight: .inf", 7, "finite number"),
        ("name: fast", "name: ../x", 2, "models.0.name: must be a name of letters, digits"),
        ("- name: local", "- name: fast", None, "two models are named 'fast'"),
        ("  human: true", "  human: true\n  primary: true", None, "more than one model is primary"),
        ("  human: true", "  weight: 1", 14, "give exactly one of base_url, command, human"),
        (
            "  human: true",
            "  command: []",
            15,
            "models.2.command: must be a list of at least one word",
        ),
        (
            "[./solve.sh, --fast]",
            "./solve.sh",
            13,
            "models.1.command: must be a list of words, as [./solve.sh, --fast]",
        ),
        ("max_output_tokens: 1000", "max_output_tokens: 1.5", 10, "must be a whole number"),
        ("  model: vendor/name\n", "", 2, "the key 'model' is missing"),
        ("https://example.org", "ftp://example.org", 3, "must start with http:// or https://"),
        (
            "https://example.org",
            "https://me:sk@example.org",
            3,
            "must not hold a key, user or query",
        ),
        ("v1/", "v1?key=sk-1", 3, "must not hold a key, user or query"),
        (
            "FAST_KEY",
            "sk-abcdefghijkl",
            5,
            "must be the name of an environment variable, not a key",
        ),
        ("FAST_KEY", "sk_or-x y", 5, "must be the name of an environment variable, not a key"),
        ("schema", "yaml", 9, "models.0.json_mode: must be 'schema', 'object' or 'prompt'"),
        ("  timeout: 20", "  timeout: 0", 11, "greater than 0"),
        (GOOD, "", None, "must be a mapping with the key 'models'"),
        (GOOD, "[]", 1, "must be a mapping with the key 'models'"),
        (GOOD, "models: []", 1, "models: must be a list of at least one model"),
        (GOOD, "models: 3", 1, "models: must be a list of models, each with a name"),
        (GOOD, "models: [3]", 1, "models.0: must be a mapping with the key 'name'"),
        (GOOD, "models: [{human: true}]", 1, "models.0.name: is missing"),
        (GOOD, "models: {", None, "not valid YAML"),
        (GOOD, "models: *x", None, "uses the alias *x"),
    ],
)
def test_what_a_file_may_not_say(
    tmp_path: Path, old: str, new: str, line: int | None, said: str
) -> None:
    path = written(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(QuizlogError) as caught:
        read_models(path)
    text = str(caught.value)
    assert said in text
    assert text.startswith(f"{path}:{line}: " if line else str(path))
    assert "\n" not in text
    assert "Input" not in text and "should" not in text


def test_a_key_in_the_file_is_not_shown(tmp_path: Path) -> None:
    for old, new in (("FAST_KEY", "sk-very-secret"), ("v1/", "v1?key=sk-very-secret")):
        with pytest.raises(ConfigError) as caught:
            read_models(written(tmp_path, GOOD.replace(old, new)))
        assert "sk-very" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no models file"):
        read_models(tmp_path / "models.yaml")
    with pytest.raises(ConfigError, match="cannot read"):
        read_models(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_models(tmp_path / "binary")


async def test_programs_see_their_own_key_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("FAST_KEY", "LOCAL_KEY", *sorted(SECRETS))
    for name in names:
        monkeypatch.setenv(name, f"value-of-{name}")
    code = (
        f"import os, json; print(json.dumps({{'answer': [n for n in {names} if n in os.environ]}}))"
    )
    program = json.dumps([sys.executable, "-c", code])
    text = GOOD.replace(
        "command: [./solve.sh, --fast]", f"command: {program}\n  api_key_env: LOCAL_KEY"
    )
    async with live_panel(read_models(written(tmp_path, text)), run_here) as panel:
        found = await panel.clients[1].request(solve_prompt(ModelQuestion("?"), (), ()))
    assert found.parsed
    assert found.parsed.answer == ["LOCAL_KEY"]


async def test_nothing_is_sent_without_the_key(tmp_path: Path) -> None:
    models = read_models(written(tmp_path, GOOD))
    async with live_panel(models, run_here, environment=Variables({})) as panel:
        prompt = solve_prompt(ModelQuestion("?"), (), ())
        found = await panel.clients[0].request(prompt)
    assert (found.status, found.error) == (
        "error",
        "FAST_KEY is not set, in the environment or in .env",
    )


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
