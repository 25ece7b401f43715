"""`.env`: keys and the primary model count from there, wherever models are asked."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from quizlog_tui.cli import main
from quizlog_tui.errors import ConfigError
from quizlog_tui.server.admission import AccessRules
from quizlog_tui.server.app import ServerSettings, create_app
from quizlog_tui.session.served_folders import served
from quizlog_tui.solver.decision import ModelQuestion
from quizlog_tui.solver.models.choice import Choice, chosen_panel, cost_note, doubts
from quizlog_tui.solver.models.env_file import Variables, own_env, read_env
from quizlog_tui.solver.redaction import STAND_IN
from quizlog_tui.solver.solve import solve
from tests.support.build import Build
from tests.support.fake_models import fake_models

from .panels import run_here

KEY = "sk-in-the-file-0123"
PRINTS = (
    "import os, json; print(json.dumps({'answer': sorted(n for n in os.environ if 'KEY' in n)}))"
)


def models(folder: Path, url: str = "http://127.0.0.1:9/v1") -> Path:
    """Two endpoints with a key each, of which the first is primary, and two programs."""
    path = folder / "models.yaml"
    program = json.dumps([sys.executable, "-c", PRINTS])
    path.write_text(
        "models:\n"
        f"- {{name: one, base_url: '{url}', model: good, api_key_env: ONE_KEY, primary: true}}\n"
        f"- {{name: two, base_url: '{url}', model: good, api_key_env: TWO_KEY}}\n"
        f"- {{name: own, command: {program}, api_key_env: TWO_KEY, weight: 0.1}}\n"
        f"- {{name: none, command: {program}, weight: 0.1}}\n"
    )
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a `.env`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PRIMARY_MODEL", raising=False)
    text = f"ONE_KEY='{KEY}'\nTWO_KEY={KEY}-2\nUSER_SECRET=hush-hush\n"
    (tmp_path / ".env").write_text(text)
    own_env().parent.mkdir(parents=True, exist_ok=True)
    own_env().write_text("PRIMARY_MODEL=two\n")
    return tmp_path


def test_the_environment_goes_first(folder: Path) -> None:
    found = read_env(None, {"ONE_KEY": "outside"})
    assert (found.secret("ONE_KEY"), found.secret("TWO_KEY")) == ("outside", f"{KEY}-2")
    assert "ONE_KEY" not in os.environ


def test_a_file_need_not_be_there_unless_it_is_named(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_env(None, {"A": "b"}) == Variables({"A": "b"})
    with pytest.raises(ConfigError, match="no such file"):
        read_env(Path("keys"))
    (tmp_path / ".env").mkdir()  # some name their virtual environment so
    assert read_env(None, {}) == Variables({})
    (tmp_path / "keys").write_bytes(b"A=\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_env(Path("keys"))


def test_the_current_folder_gives_secrets_and_nothing_else(folder: Path) -> None:
    (folder / ".env").write_text("KEY=theirs\nSECOND=only here\nPLACE=/tmp\nPRIMARY_MODEL=x\n")
    own_env().write_text("KEY=mine\nPLACE=/home\n")
    found = read_env(None, {})
    assert (found.secret("KEY"), found.secret("SECOND")) == ("mine", "only here")
    assert (found.setting("PLACE"), found.setting("NOWHERE")) == ("/home", "")
    with pytest.raises(ConfigError, match="secrets only, and not PRIMARY_MODEL"):
        found.setting("PRIMARY_MODEL")
    assert read_env(None, {"PRIMARY_MODEL": "y"}).setting("PRIMARY_MODEL") == "y"
    assert read_env(folder / ".env", {}).setting("PRIMARY_MODEL") == "x"


@pytest.mark.parametrize("written", ["${OUTSIDE}", "a${OUTSIDE}b", "${NONE:-x}", "$OUTSIDE"])
def test_no_file_gets_at_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.setenv("OUTSIDE", "sk-of-the-environment")
    for path in (folder / ".env", own_env(), folder / "named"):
        path.write_text(f"KEY={written}\n")
        named = path if path.name == "named" else None
        assert read_env(named, {}).secret("KEY") == written


def test_a_line_that_sets_nothing_is_named_in_a_file_of_ones_own(folder: Path) -> None:
    for path in (folder / ".env", own_env(), folder / "named"):
        path.write_text("KEY=x\n= what\n")
        if path.parent == folder and path.name == ".env":
            assert read_env(None, {}).secret("KEY") == "x"
            path.unlink()
            continue
        with pytest.raises(ConfigError, match="sets no variable") as caught:
            read_env(path if path.name == "named" else None, {})
        assert caught.value.where == f"{path}:2"


@pytest.mark.parametrize(
    "make",
    [
        os.mkfifo,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to(path),
        lambda path: path.write_bytes(b"A=b\n" * 20_000),
        lambda path: path.write_text(f"A=b{' ' * 60_000}b"),
    ],
    ids=["pipe", "device", "loop", "big", "long"],
)
def test_only_a_file_of_some_size_is_read(folder: Path, make: Callable[[Path], object]) -> None:
    (folder / ".env").unlink()
    make(folder / ".env")
    with pytest.raises(ConfigError, match=r"cannot be read|has a line of more") as caught:
        read_env(None, {})
    assert caught.value.where == ".env"


async def test_keys_and_the_primary_model_count(folder: Path) -> None:
    async with (
        fake_models() as fake,
        chosen_panel(Choice(models(folder, fake.url)), run_here) as panel,
    ):
        decision = await solve(ModelQuestion("What is the determinant of A? "), panel)
    sent = {headers["authorization"] for headers in fake.headers}
    assert sent == {f"Bearer {KEY}", f"Bearer {KEY}-2"}
    assert [model.name for model in decision.models if model.primary] == ["two"]
    claims = {model.name: model.claimed for model in decision.models}
    assert (claims["own"], claims["none"]) == (["TWO_KEY"], [])
    assert panel.redaction.clean(KEY) == STAND_IN


async def test_another_file_may_be_named(folder: Path) -> None:
    (folder / "other").write_text("ONE_KEY=x\nPRIMARY_MODEL=own\n")
    heard: list[str] = []
    choice = Choice(models(folder), env=folder / "other")
    async with chosen_panel(choice, run_here, note=heard.append) as panel:
        assert [c.voter.name for c in panel.clients if c.voter.primary] == ["own"]
    assert heard == doubts(choice) == ["TWO_KEY is not set; its models will not answer"]


def test_what_is_doubted_before_models_are_asked(folder: Path) -> None:
    assert doubts(Choice(models(folder))) == []
    assert doubts(Choice(folder / "none.yaml")) == []
    (folder / "bad.yaml").write_text("models: 3")
    assert str(folder / "bad.yaml") in doubts(Choice(folder / "bad.yaml"))[0]
    assert doubts(Choice(folder / "bad.yaml", replay=folder)) == []


def test_what_a_question_costs_is_told_of_models_behind_an_endpoint(folder: Path) -> None:
    note = cost_note(Choice(models(folder)))
    assert note == (
        "each question is sent to one, two, again where they differ; their providers may bill it"
    )
    assert cost_note(Choice(models(folder), replay=folder)) is None
    assert cost_note(Choice(folder / "none.yaml")) is None
    (folder / "local.yaml").write_text("models: [{name: own, command: [echo, '1']}]")
    assert cost_note(Choice(folder / "local.yaml")) is None


async def test_a_server_takes_them_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    async with fake_models() as fake:
        choice = Choice(models(folder, fake.url), env=folder / ".env")
        app = create_app(ServerSettings(served([folder]), AccessRules(), choice))
        asgi = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=asgi, base_url="http://localhost") as http:
            asked = {"question": {"text": "What is the determinant of A? "}}
            said = (await http.post("/solve", json=asked)).json()
    assert {h["authorization"] for h in fake.headers} == {f"Bearer {KEY}", f"Bearer {KEY}-2"}
    assert KEY not in json.dumps(said)


async def test_models_check_and_solve(folder: Path, build: Build, capsys: Any) -> None:
    record = build.record('input("What is the determinant of A? ")')
    async with fake_models() as fake:
        path = models(folder, fake.url)
        for words in (["models", "check"], ["solve", str(record)]):
            await in_a_thread([*words, "--models", str(path)])
    assert len(fake.headers) == 4
    assert {h["authorization"] for h in fake.headers} == {f"Bearer {KEY}", f"Bearer {KEY}-2"}
    said = "".join(capsys.readouterr())
    assert "is not set" not in said
    assert KEY not in said


def test_serve_and_task_say_at_their_start_which_keys_are_missing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "env").write_text(
        "USER_EMAIL=a@b.c\nUSER_SECRET=hush-hush\nONE_KEY=x\nPRIMARY_MODEL=nobody\n"
    )
    words = ["--env", str(folder / "env"), "--models", str(models(folder))]
    for begin in (["serve", "--port", "0"], ["task", "https://example.com/quiz"]):
        assert main([*begin, *words]) == 2
        said = capsys.readouterr().err
        assert "note: TWO_KEY is not set; its models will not answer" in said
        assert "PRIMARY_MODEL: no model 'nobody'" in said


async def in_a_thread(words: list[str]) -> None:
    import asyncio

    await asyncio.to_thread(main, words)
