"""README and guides are true: what they show is run, and what there is, they name."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from quizlog_tui.cli import main
from quizlog_tui.cli.commands import COMMANDS, parse, record_parser
from quizlog_tui.cli.help import commands
from quizlog_tui.config import load_config
from quizlog_tui.record.model import Record
from quizlog_tui.sandbox.executor import advice
from quizlog_tui.sandbox.result import STATUSES, Status
from quizlog_tui.session.session import Session
from quizlog_tui.tui.keys.actions import all_actions
from tests.support.build import Build
from tests.support.documents import (
    DATABASE,
    DOCUMENTS,
    GUIDES,
    README,
    Run,
    agrees,
    blocks,
    filled,
    perform,
)
from tests.support.guide_tables import MARKED, TABLES, with_tables
from tests.support.long_runs import few
from tests.support.postgres import missing_postgres, postgres

TEXTS = {name: path.read_text(encoding="utf-8") for name, path in DOCUMENTS.items()}
ALL = "\n".join(TEXTS.values())
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))
NEEDS = {
    "web-quizzes": ("chromium-headless-shell", "chromium", "google-chrome"),
    "http": ("curl",),
    "agents": ("curl",),
}
"""Documents that need one of these programs."""
SANDBOXED = ("README", "models", "python", "sandbox", "web-quizzes")
"""Documents that run code of models."""
RUN = [name for name, text in TEXTS.items() if re.search("^```(console|python|output)", text, re.M)]


SERVERS = {"web-quizzes", "many-machines"}
"""Documents that start servers and browsers, which other tests do in every run."""


@pytest.mark.parametrize("name", few(RUN, *(set(RUN) - SERVERS)))
def test_what_a_document_shows_is_what_happens(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = NEEDS.get(name, ("bash",))
    if not any(map(shutil.which, programs)):
        pytest.skip(f"needs {' or '.join(programs)}")
    for library in ("httpx", "fastapi", "mcp"):
        pytest.importorskip(library)
    if name in SANDBOXED and advice().level is None:
        pytest.skip("nothing here isolates models' code")
    monkeypatch.setenv("TASK_BASEDIR", str(tmp_path / "tasks"))
    found = _performed(TEXTS[name], tmp_path)
    if UPDATE:
        DOCUMENTS[name].write_text(filled(TEXTS[name], found), encoding="utf-8")
        return
    for run, shown, code in found:
        assert code == run.exit_code, f"{run.command}: exit code {code}\n{shown}"
        assert run.shown is None or agrees(shown, run.shown), f"{run.command}\n{shown}"


def _performed(text: str, folder: Path) -> list[tuple[Run, str, int]]:
    if DATABASE not in text:
        return list(perform(text, folder))
    if why := missing_postgres():
        pytest.skip(why)
    for library in ("dbos", "psycopg"):
        pytest.importorskip(library)
    with postgres() as database:
        return list(perform(text, folder, database))


@pytest.mark.parametrize("name", TEXTS)
def test_calls_that_are_shown_are_understood(name: str) -> None:
    for block in blocks(TEXTS[name]):
        if block.language in ("sh", "console"):
            for call in re.findall(r"(?:^|\$ |bin/)quizlog (.+)$", block.text, re.M):
                call = call.partition(";")[0]
                words = shlex.split(
                    re.split(r" (?:2?>|[|&;#])", call.replace("\\", ""))[0], comments=True
                )
                assert parse(words).run


@pytest.mark.parametrize("name", TEXTS)
def test_examples_of_files_can_be_read(name: str, tmp_path: Path) -> None:
    for block in blocks(TEXTS[name]):
        if block.language == "toml":
            tomllib.loads(block.text)
            (tmp_path / "config.toml").write_text(block.text, encoding="utf-8")
            assert load_config(tmp_path / "config.toml")[1] == []
        elif block.language == "json":
            json.loads(block.text)


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXTS[name]):
        if target.startswith("https://"):
            continue
        file, _, part = target.partition("#")
        path = _linked(DOCUMENTS[name], file)
        assert path.is_file(), target
        heads = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.M)
        assert not part or part in [_anchor(head) for head in heads], target


def _linked(document: Path, file: str) -> Path:
    """The file a link leads to; guides may be installed elsewhere than beside the README."""
    if document == README and file.startswith("quizlog_tui/guides/"):
        return GUIDES / file.removeprefix("quizlog_tui/guides/")
    return document.parent / file if file else document


def _anchor(head: str) -> str:
    return re.sub(r"[^a-z0-9 _-]", "", head.lower()).replace(" ", "-")


def test_the_readme_is_short_and_begins_with_its_two_commands() -> None:
    lines = TEXTS["README"].splitlines()
    assert len(lines) <= 110
    first, second = [block.text for block in blocks(TEXTS["README"])][:2]
    assert first.endswith(".venv/bin/quizlog demo\n") and second == "tests/run\n"


def test_every_guide_is_named_in_the_readme() -> None:
    for name in TEXTS.keys() - {"README"}:
        assert f"quizlog_tui/guides/{name}.md" in TEXTS["README"]


@pytest.mark.parametrize("name", TEXTS)
def test_tables_are_those_of_the_code(name: str) -> None:
    made = with_tables(DOCUMENTS[name].read_text(encoding="utf-8"))
    if UPDATE:
        DOCUMENTS[name].write_text(made, encoding="utf-8")
    else:
        assert TEXTS[name] == made


def test_every_status_that_the_code_gives_has_a_row() -> None:
    assert {*STATUSES} == {*get_args(Status)}
    faults = pytest.importorskip("quizlog_tui.server.app")
    shield = Path(pytest.importorskip("quizlog_tui.server.admission").__file__).read_text()
    refused = {int(code) for code in re.findall(r"(?:_deny|Refusal)\((\d+)", shield)}
    given = {*refused, *faults._STATUS.values(), faults._status_of(faults.BadRequestError("x"))}
    listed = [int(code) for code in re.findall(r"^\| (\d+) ", TABLES["http statuses"](), re.M)]
    assert refused and given <= {*listed} and listed == sorted(listed)


def test_every_table_is_somewhere() -> None:
    assert {match["name"] for match in MARKED.finditer(ALL)} == set(TABLES)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_guides_and_the_help(command: str) -> None:
    assert f"quizlog {command}" in TEXTS["shell"]
    assert f"quizlog {command}" in record_parser().format_help()


def test_every_option_is_in_the_guides() -> None:
    for each in commands():
        for option in [
            *each["options"],
            *(one for verb in each["verbs"] for one in verb["options"]),
        ]:
            assert option["flags"][-1] in ALL or option["flags"][-1] == "--help", option


def test_the_keys_of_a_reply_and_of_a_record_are_in_the_guides(build: Build) -> None:
    with Session(build.record("input('? ')\n")) as session:
        assert list(session.reply().to_dict()) == _first_column("shell", "The reply")
    listed = " ".join(_first_column("record-format", "The record format"))
    for key in (*Record.__dataclass_fields__, "start_time", "end_time", "execution_id"):
        assert key in listed or key in ("trails", "extras"), key


@pytest.mark.parametrize("key", ["script", "seed"])
def test_a_record_needs_what_its_guide_says(
    key: str, build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "needs `script` and `seed`; the rest is optional" in TEXTS["record-format"]
    needed: dict[str, object] = {"script": build.script("input('? ')\n").name, "seed": 3}
    record = build.folder / "by_hand.json"
    record.write_text(json.dumps(needed), encoding="utf-8")
    assert main([str(record)]) == 0
    del needed[key]
    record.write_text(json.dumps(needed), encoding="utf-8")
    assert main([str(record)]) == 2 and f"`{key}` is missing" in capsys.readouterr().err


def _first_column(name: str, head: str) -> list[str]:
    part = re.search(rf"^#+ {head}\n(.*?)(?=^## |\Z)", TEXTS[name], re.M | re.S)
    assert part
    return re.findall(r"`([^`]+)`", "".join(re.findall(r"^\| (`[^|]*) \|", part[1], re.M)))


def test_what_the_screens_do_a_shell_can_do() -> None:
    words = {"grep", "less", "--help"}
    for action in all_actions():
        for call in filter(None, action.shell.split(", ")):
            name = call.split()[1]
            assert name in COMMANDS or name == "RECORD" or name in words, f"{action.id}: {call}"
