"""What a run with a grant finds in its folder is listed whole, and what is not listed is not there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from quizlog_tui.errors import UsageError
from quizlog_tui.replay.script import surroundings as rules
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.replay.script.surroundings import differences, surroundings
from tests.support.build import Build

RECORD = json.dumps({"script": "quiz.py", "seed": 1, "code": "print('stranger')"})


def listed(build: Build, text: str = "input()\n") -> dict[str, str]:
    return dict(surroundings(read_source(build.script(text))))


def put(folder: Path, name: str, text: str = "x") -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


CODE = (
    "json.py", "sitecustomize.py", "package/__init__.py", "package/inner.py", "json.pyc", "json.so",
    "evil.pth", "data.txt", "a/b/c/deep.json", "quiz.pyi", "noext",
)  # fmt: skip


@pytest.mark.parametrize("name", CODE)
def test_every_module_and_data_file_is_listed_by_its_content(name: str, build: Build) -> None:
    put(build.folder, name, "one")
    first = listed(build)
    put(build.folder, name, "two")
    assert first[name].startswith("sha256:")
    assert first[name] != listed(build)[name]
    assert first["quiz.py"] == read_source(build.folder / "quiz.py").code_hash


NOT_THERE = (
    "__pycache__/json.cpython-311.pyc", "sub/__pycache__/json.pyc", ".git/config", ".env",
    "sub/.hidden.py", ".venv/lib/json.py", "venv/lib/json.py", "node_modules/a.js",
    "quiz.decisions.jsonl",
)  # fmt: skip


@pytest.mark.parametrize("name", NOT_THERE)
def test_caches_hidden_files_and_environments_are_not_there(name: str, build: Build) -> None:
    put(build.folder, name)
    assert name not in listed(build)


def test_an_environment_is_not_there_by_any_name(build: Build) -> None:
    put(build.folder, "env/pyvenv.cfg")
    put(build.folder, "env/lib/json.py")
    assert set(listed(build)) == {"quiz.py"}


@pytest.mark.parametrize("name", ["record.yaml", "record.json", "result.txt", "sub/record.yaml"])
def test_a_record_or_result_is_there_only_if_the_script_names_it(name: str, build: Build) -> None:
    put(build.folder, name, RECORD)
    assert name not in listed(build)
    assert name in listed(build, f"exec(open({name!r}).read())\n")


def test_an_export_is_not_there(build: Build) -> None:
    put(build.folder, "report.html", "<!doctype html>\n<!-- quizlog export -->\n<html>")
    assert set(listed(build)) == {"quiz.py"}


def test_a_module_that_reads_as_a_record_is_there(build: Build) -> None:
    put(build.folder, "json.py", f"x = {RECORD}")
    assert "json.py" in listed(build)


def test_hidden_files_are_there_if_the_script_names_them(build: Build) -> None:
    put(build.folder, ".secrets/key", "k")
    put(build.folder, ".secrets/other", "k")
    put(build.folder, ".env", "k")
    found = listed(build, "open('.env')\nopen('.secrets/key')\n")
    assert {".env", ".secrets", ".secrets/key"} <= set(found)
    assert ".secrets/other" not in found


LINKS: dict[str, tuple[str, bool]] = {
    "to a file": ("sub/data.txt", True),
    "to a folder": ("sub", True),
    "from below": ("../quiz.py", True),
    "out": ("../../elsewhere.py", False),
    "out and back": ("../../{folder}/quiz.py", False),
    "absolute": ("/etc/passwd", False),
    "absolute, inside": ("{path}/quiz.py", False),
    "through a link": ("here/../../elsewhere.py", False),
}


@pytest.mark.parametrize("kind", LINKS)
def test_links_that_lead_out_are_not_there(kind: str, build: Build) -> None:
    text, stays = LINKS[kind]
    put(build.folder, "sub/data.txt")
    target = text.format(path=build.folder, folder=build.folder.name)
    os.symlink(target, build.folder / "sub" / "link.py")
    assert ("sub/link.py" in listed(build)) is stays


def test_what_is_no_file_is_not_there(build: Build) -> None:
    os.mkfifo(build.folder / "pipe")
    with open(os.fsencode(build.folder) + b"/\xff.py", "w") as file:
        file.write("x")
    assert set(listed(build)) == {"quiz.py"}


def many(folder: Path) -> None:
    for number in range(rules._MOST_ENTRIES):
        (folder / f"{number}.txt").touch()


def big(folder: Path) -> None:
    with open(folder / "big.bin", "wb") as file:
        file.truncate(rules._MOST_BYTES + 1)


@pytest.mark.parametrize("fill", [many, big])
def test_a_folder_that_is_too_big_is_not_looked_at(
    fill: Callable[[Path], None], build: Build
) -> None:
    fill(build.folder)
    with pytest.raises(UsageError, match="too much to be looked at"):
        listed(build)


def test_what_is_new_changed_and_gone_is_named() -> None:
    before = {"a": "1", "b": "1", "c": "1"}
    assert differences(before, (("a", "1"), ("b", "2"), ("d", "1"))) == [
        "b changed",
        "d is new",
        "c is gone",
    ]
    assert differences(before, tuple(before.items())) == []


def test_a_folder_does_not_count_but_what_is_in_it() -> None:
    assert differences({"old": "folder"}, (("new", "folder"),)) == []
    assert differences({"a": "1"}, (("a", "folder"), ("a/b", "1"))) == ["a/b is new", "a is gone"]


def test_a_file_is_read_again_when_it_changed(build: Build) -> None:
    put(build.folder, "data.txt", "one")
    path = build.folder / "data.txt"
    first, info = listed(build)["data.txt"], path.stat()
    path.write_text("two")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert listed(build)["data.txt"] != first
