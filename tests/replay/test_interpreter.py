"""Scripts that run with another interpreter, or with the libraries of an environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from quizlog_tui.errors import ConfigError
from quizlog_tui.proof.verify import verify
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script import interpreter as rules
from quizlog_tui.replay.script.interpreter import OWN, choose
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.replay.world import parse_world
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.interpreters import VERSIONS, make_environment, python_of
from tests.support.isolation import needs_isolation
from tests.support.long_runs import few

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
THIS = ".".join(map(str, sys.version_info[:2]))
TINY = "def double(n):\n    return 2 * n\n"
QUIZ = """
import random, sys, threading, time
import tiny
print(*sys.version_info[:2])
print(sys.prefix, sys.executable, file=sys.stderr)
n = tiny.double(random.randrange(100))
print(n, {"a", "b", "c"}, time.time(), id(object()))
answer = int(input("how much? "))
name = input("who? ")
if answer != n:
    raise Exception("not so")  #score = 0.5
"""


def prefix_in(script: Path) -> str:
    return replay(script, 7, []).stderr


@pytest.mark.parametrize("version", few(VERSIONS, "3.9"))
def test_a_script_runs_alike_in_an_environment_of_each_version(
    version: str, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    python, environment = python_of(version), build.folder / ".venv"
    monkeypatch.setenv("PATH", f"{python.parent}:{os.environ['PATH']}")
    make_environment(python, environment, tiny=TINY)
    record = build.record(QUIZ, "1", "Ann")
    with Replayer() as replayer, Session(record, replayer) as session:
        session.save()
        reply = session.reply()
        assert reply.last_error and reply.last_error.score == 0.5
        assert reply.print[0] == version.replace(".", " ")
        assert f"{environment} {environment}/bin/python\n" in reply.transcript.stderr
        session.rewind(1)
        session.rewind(0)
        assert session.reply().next_prompt == "how much? "
        session.answer("1")
        session.answer("Ann")
    file = RecordFile(record).read()
    assert parse_world(file.extras["world"])["python"].startswith(f"{version}.")
    found = verify(record)
    assert found.verdict == "reproducible", found


def test_the_nearest_environment_above_a_script_has_its_libraries(build: Build) -> None:
    make_environment(python_of(THIS), build.folder / ".venv", tiny=TINY)
    below = build.folder / "a" / "b"
    below.mkdir(parents=True)
    script = build.script(QUIZ).rename(below / "quiz.py")
    assert str(build.folder / ".venv") in prefix_in(script)
    make_environment(python_of(THIS), build.folder / "a" / ".venv", tiny=TINY)
    assert str(build.folder / "a" / ".venv") in prefix_in(script)


def test_where_an_environment_lies_is_no_part_of_what_holds_elsewhere(build: Build) -> None:
    make_environment(python_of(THIS), build.folder / ".venv")
    record = build.record("import sys; print(sys.prefix)")
    with Replayer() as replayer, Session(record, replayer) as session:
        session.save()
    found = verify(record)
    assert (found.verdict, found.cause) == ("fragile", "environment")


HARM = """
import os
try:
    open({canary!r}, "w").close()
except OSError as error:
    print("refused", flush=True)
"""


def test_what_an_environment_runs_at_the_start_is_isolated_like_the_script(build: Build) -> None:
    canary = build.outside / "canary"
    packages = make_environment(python_of(THIS), build.folder / ".venv", tiny=TINY)
    (packages / "harm.py").write_text(HARM.format(canary=str(canary)))
    (packages / "harm.pth").write_text("import harm\n")
    (packages / "sitecustomize.py").write_text("import harm\n")
    run = replay(build.script(QUIZ), 7, [])
    needs_isolation(*run.unavailable)
    assert run.print[0] == "refused"
    assert not canary.exists()


def _planted(path: Path, canary: Path) -> None:
    path.unlink(missing_ok=True)
    path.write_text(f'#!/bin/sh\ntouch "{canary}"\nexec "{sys.executable}" "$@"\n')
    path.chmod(0o755)


def test_a_program_that_came_with_a_script_is_never_started(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = build.outside / "canary"
    make_environment(python_of(THIS), build.folder / ".venv", tiny=TINY)
    for name in ("python", "python3", f"python{THIS}"):
        _planted(build.folder / ".venv" / "bin" / name, canary)
    script = build.script(QUIZ)
    assert str(build.folder / ".venv") in prefix_in(script)
    settings = build.folder / ".venv" / "pyvenv.cfg"
    settings.write_text(f"home = {build.folder}/.venv/bin\nversion = {THIS}.1\n")
    assert "tiny" in str(replay(script, 7, []).last_error)
    monkeypatch.setattr(rules, "_INSTALLED", (f"{build.folder.parent}/",))
    assert "tiny" in str(replay(script, 7, []).last_error)
    assert not canary.exists()


def _base_beside(script: Path, library: Path, name: str, target: str) -> Path:
    """An environment whose base is a link to a program, with a library of its own beside it."""
    environment, base = script.parent / ".venv", script.parent / ".venv" / "base"
    (library / "encodings").mkdir(parents=True)
    base.mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text(f"home = {base}\nversion = {THIS}.1\n")
    (base / name).symlink_to(target)
    paths = [library, *(path for path in sys.path if path.startswith(sys.base_prefix))]
    (base / f"{name}._pth").write_text("".join(f"{path}\n" for path in paths))
    return base


@pytest.mark.parametrize("name", [f"python{THIS}", "python3"])
@pytest.mark.parametrize("activated", [False, True])
def test_nothing_beside_a_link_to_an_interpreter_is_run(
    name: str, activated: bool, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary, library = build.outside / "canary", build.folder / "library"
    script = build.script(QUIZ)
    base = _base_beside(script, library, name, os.fspath(python_of(THIS)))
    text = f"import posix\nposix.mkdir({str(canary)!r})\n"
    (library / "encodings" / "__init__.py").write_text(text)
    if activated:
        monkeypatch.setenv("PATH", f"{base}:{base.parent / 'bin'}:{os.environ['PATH']}")
    used = read_source(script).interpreter
    assert "tiny" in str(replay(script, 7, []).last_error)
    assert not canary.exists()
    assert os.path.realpath(used.program) == used.program or used == OWN


def test_a_link_to_another_program_is_no_interpreter(build: Build) -> None:
    environment, other = build.folder / ".venv", shutil.which("env")
    assert other
    environment.mkdir()
    (environment / "python3").symlink_to(other)
    (environment / "pyvenv.cfg").write_text(f"home = {environment}\nversion = {THIS}.1\n")
    script = build.script(QUIZ)
    assert read_source(script).interpreter == OWN


@pytest.mark.parametrize(
    "data",
    [
        b"home = /a\0b\nversion = 3\n",
        b"\xff",
        b"home = /" + b"a" * 10**5,
        b"home=a" + b" " * 65_000 + b"a",  # which an expression for blanks at the end took 15 s for
    ],
)
def test_an_environment_with_unusable_settings_is_passed_over(data: bytes, build: Build) -> None:
    (build.folder / ".venv").mkdir()
    (build.folder / ".venv" / "pyvenv.cfg").write_bytes(data)
    assert read_source(build.script(QUIZ)).interpreter == OWN


@pytest.mark.parametrize(
    ("folder", "near", "wanted"),
    [
        ("/opt/python/bin", "/home/me/quiz", True),
        ("/opt/python/bin", "/opt/clone/quizzes", True),
        ("/opt/clone/tools", "/opt/clone/quizzes", False),
        ("/opt/clone/quizzes/tools", "/opt/clone/quizzes", False),
        ("/opt/tools", "/opt", False),
        ("/usr/bin", "/usr/src/app", True),
        ("/usr/src/tools", "/usr/src/app", False),
        ("/home/me/tools", "/home/me/quiz", False),
    ],
)
def test_a_program_beside_a_copy_among_those_of_the_machine_came_along(
    folder: str, near: str, wanted: bool
) -> None:
    assert any(rules._is_of_the_machine(folder, each, near) for each in rules._INSTALLED) is wanted


def test_a_base_is_started_by_its_path_without_links(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    python, environment = python_of(THIS), build.folder / ".venv"
    links, folder_link = build.outside / "links", build.outside / "folder-link"
    links.mkdir()
    (links / f"python{THIS}").symlink_to(python)
    folder_link.symlink_to(links)
    monkeypatch.setenv("PATH", f"{links}:{os.environ['PATH']}")
    make_environment(python, environment, tiny=TINY)
    (environment / "pyvenv.cfg").write_text(f"home = {folder_link}\nversion = {THIS}.1\n")
    used = read_source(build.script(QUIZ)).interpreter
    assert (used.program, used.environment) == (os.path.realpath(python), str(environment))


@pytest.mark.parametrize("part", ["lib", "bin", ""])
def test_no_link_shows_the_script_another_folder(part: str, build: Build) -> None:
    secret = build.outside / "secret"
    secret.write_text("secret")
    environment = build.folder / ".venv"
    environment.mkdir()
    (build.outside / "pyvenv.cfg").write_text("")
    shutil.copy(build.outside / "pyvenv.cfg", environment)
    shutil.rmtree(environment) if not part else None
    (environment / part if part else environment).symlink_to(build.outside)
    script = build.script(f"print(open({str(secret)!r}).read())")
    run = replay(script, 7, [])
    needs_isolation(*run.unavailable)
    assert "ermission" in str(run.last_error)


INLINE = '# /// script\n# dependencies = []\n# requires-python = ">=3.9"\n# ///\n'


@pytest.mark.skipif(not shutil.which("uv"), reason="needs uv")
def test_the_environment_that_uv_made_for_a_script_has_its_libraries(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(build.outside / "cache"))
    script = build.script(QUIZ)
    script.write_text(INLINE + script.read_text())
    assert f"uv sync --script {script.name}" in read_source(script).missing_module_hint
    words = ["uv", "sync", "--offline", "--no-python-downloads", "--script", str(script)]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"uv makes no environment here: {made.stderr}")
    (packages,) = (build.outside / "cache").glob("environments*/*/lib/python*/site-packages")
    (packages / "tiny.py").write_text(TINY)
    copy = script.with_name("other.py")
    assert "tiny" in str(replay(shutil.copy(script, copy), 7, []).last_error)
    canary = build.outside / "canary"
    _planted(build.folder / "planted", canary)
    (build.folder / ".python-version").write_text(str(build.folder / "planted"))
    assert str(packages.parents[2]) in prefix_in(script)
    assert not canary.exists()


def test_a_chosen_interpreter_belongs_to_the_script_on_this_machine(build: Build) -> None:
    environment = build.outside / "libraries"
    make_environment(python_of(THIS), environment, tiny=TINY)
    script = build.script(QUIZ)
    choose(script, str(environment / "bin" / "python"))
    assert str(environment) in prefix_in(script)
    script.write_text(script.read_text() + "\n# edited\n")
    assert str(environment) in prefix_in(script)
    shutil.rmtree(environment)
    with pytest.raises(ConfigError, match="is not a Python interpreter that runs") as gone:
        replay(read_source(script), 7, [])
    assert "--python" in str(gone.value.hint)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#!/bin/sh\nexit 1\n", "is not a Python interpreter that runs"),
        ("#!/bin/sh\nprintf '3.8.1\\n/x\\n'\n", "is Python 3.8.1; scripts run with 3.9 or newer"),
    ],
)
def test_what_cannot_run_scripts_is_not_chosen(text: str, said: str, build: Build) -> None:
    program = build.folder / "program"
    program.write_text(text)
    program.chmod(0o755)
    with pytest.raises(ConfigError) as refused:
        choose(build.script(QUIZ), str(program))
    assert said in refused.value.message
    assert os.fspath(program) in str(refused.value.where)
