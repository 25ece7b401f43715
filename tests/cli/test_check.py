"""`quizlog check`, as a shell and a CI see it."""

from __future__ import annotations

import json
import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from quizlog_tui.cli.commands import parse
from quizlog_tui.replay.script.needed_files import is_made_by_quizlog
from quizlog_tui.session.session import Session
from tests.cli.conftest import Run
from tests.support.build import Build
from tests.support.documents import GUIDES, blocks
from tests.support.git import commit_all
from tests.support.processes import IS_UP, below, gone, is_up, wait_for

QUIZ = 'print("hello")\nif int(input("2 + 2 = ")) != 4:\n    raise Exception("no")  #score = 0.5\n'


@pytest.fixture
def path(build: Build) -> Path:
    made = build.record(QUIZ)
    with Session(made) as session:
        session.answer("4")
    return made


def edit(path: Path, old: str = "!= 4", new: str = "!= 5") -> None:
    script = path.with_name("quiz.py")
    script.write_text(script.read_text().replace(old, new))


def test_nothing_differs(run: Run, path: Path) -> None:
    assert run("check", ".") == (0, "", "-- 1 record: 1 same\n")
    edit(path, "print", "# greet\nprint")
    assert run("check", ".") == (0, "", "-- 1 record: 1 same\n")


def test_a_difference_is_a_row_and_exit_code_3(run: Run, path: Path) -> None:
    shutil.copy(path, path.with_name("b.yaml"))
    edit(path)
    assert run("check", ".") == (
        3,
        "record       outcome           score     first difference\n"
        "b.yaml       success -> error  1 -> 0.5  step 1, the outcome: 'success' -> 'error'\n"
        "record.yaml  success -> error  1 -> 0.5  step 1, the outcome: 'success' -> 'error'\n",
        "-- 2 records: 2 diverges\n",
    )
    edit(path, "!= 5", "!= 4")
    edit(path, "hello", "hallo" * 50)
    code, out, _ = run("check", ".")
    assert (
        code == 3
        and f"success  1      step 0, the printed text: 'hello' -> '{'hallo' * 11}hall…'" in out
    )


def test_the_score_of_a_branch_is_named(run: Run, path: Path) -> None:
    with Session(path) as session:
        session.fork(0, "5", name="worse")
        session.switch("main")
    edit(path, "0.5", "0.25")
    _, out, _ = run("check", ".")
    assert out.splitlines()[1] == (
        "record.yaml  error    0.5 -> 0.25  branch worse, step 1, the score: '0.5' -> '0.25'"
    )


def test_what_cannot_be_read_or_judged(run: Run, path: Path, build: Build) -> None:
    clock = path.with_name("z.yaml")
    clock.write_text("script: clock.py\nseed: 1\n")
    build.script("import time  #quizlog: real-clock\ninput(time.time())\n", "clock.py")
    code, out, err = run("check", ".")
    assert (code, err) == (4, "-- 2 records: 1 same, 1 unverifiable\n")
    assert out.endswith(
        "z.yaml  - -> in_progress  -      cannot be judged: it asks for the real clock\n"
    )
    path.with_name("bad.yaml").write_text("script: gone.py\nseed: 1\n")
    code, out, err = run("check", ".")
    assert (code, err) == (2, "-- 3 records: 1 same, 1 unreadable, 1 unverifiable\n")
    assert "bad.yaml  -                 -      unreadable: the script does not exist\n" in out
    edit(path)
    assert run("check", ".")[0] == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "the following arguments are required: FOLDER"),
        (("missing",), "missing: is not a folder"),
        (("record.yaml",), "record.yaml: is not a folder"),
        (("empty",), "empty: holds no records"),
        (("empty", "--changed"), "empty: holds no records"),
        ((".", "--changed"), "not a git repository"),
        ((".", "--junit", "missing/x.xml"), "its folder does not exist"),
        ((".", "--markdown", "record.yaml"), "record.yaml: exists and is not a report"),
    ],
)
def test_wrong_calls_are_one_line(words: tuple[str, ...], said: str, run: Run, path: Path) -> None:
    path.with_name("empty").mkdir()
    code, out, err = run("check", *words)
    assert (code, out, err.count("\n")) == (2, "", 1) and said in err


def test_names_cannot_steer_a_terminal(run: Run, build: Build) -> None:
    build.record("input()\n", name="a\n<b>\x1b[2J [red].yaml").write_text(
        "script: gone.py\nseed: 1\n"
    )
    os.symlink(".", "loop")
    _, out, _ = run("check", "loop")
    assert out.splitlines()[1].startswith("loop/a⏎<b>␛[2J [red].yaml  -  ")


def test_the_object_has_every_record(run: Run, path: Path) -> None:
    path.with_name("bad.yaml").write_text("script: gone.py\nseed: 1\n")
    code, out, err = run("check", ".", "--json")
    data: dict[str, Any] = json.loads(out)
    assert (code, err, data["schema_version"], data["left_out"]) == (
        2,
        "",
        1,
        0,
    )
    bad, same = data["records"]
    assert bad["verdict"] == "unreadable" and "the script does not exist" in bad["reason"]
    assert same["record"] == "record.yaml" and same["verdict"] == "same"
    assert same["outcome"] == {"recorded": "success", "replayed": "success"}
    assert same["score"] == {"recorded": 1.0, "replayed": 1.0}


needs_git = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


@needs_git
def test_only_what_changed(run: Run, path: Path, build: Build) -> None:
    path.with_name("z.yaml").write_text("script: other.py\nseed: 1\n")
    build.script("input()\n", "other.py")
    commit_all(build.folder)
    assert run("check", ".", "--changed") == (0, "", "-- 0 records; 2 left out, as unchanged\n")
    edit(path)
    code, out, err = run("check", ".", "--changed")
    assert (code, err) == (3, "-- 1 record: 1 diverges; 1 left out, as unchanged\n")
    assert "record.yaml" in out and "z.yaml" not in out
    assert json.loads(run("check", ".", "--changed", "--json")[1])["left_out"] == 1
    commit_all(build.folder, init=False)
    assert run("check", ".", "--changed")[0] == 0
    assert run("check", ".", "--changed", "HEAD~1")[0] == 3
    code, _, err = run("check", ".", "--changed=--help")
    assert (code, err.count("\n")) == (2, 1) and "--help: git knows no such commit here" in err


def test_reports_are_renewed_at_each_run(run: Run, path: Path) -> None:
    words = ("check", ".", "--junit", "r.xml", "--markdown", "r.md")
    assert run(*words) == run("check", ".")
    suite = ElementTree.parse("r.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("1", "0")
    edit(path)
    assert run(*words)[:2] == run("check", ".")[:2]
    [[fault]] = ElementTree.parse("r.xml").getroot()
    assert fault.attrib["message"] == "step 1, the outcome"
    assert "1 record: 1 diverges" in Path("r.md").read_text()
    assert all(is_made_by_quizlog(Path(name)) for name in ("r.xml", "r.md"))


def test_another_file_is_replaced_by_force_only(run: Run, path: Path) -> None:
    other = path.with_name("mine.xml")
    other.write_text("<mine/>\n")
    code, out, err = run("check", ".", "--junit", "mine.xml")
    assert (code, out) == (2, "") and "mine.xml: exists and is not a report of quizlog" in err
    assert other.read_text() == "<mine/>\n"
    assert run("check", ".", "--junit", "mine.xml", "--force")[0] == 0
    assert ElementTree.parse(other).getroot().tag == "testsuite"
    path.with_name("link.xml").symlink_to("mine.xml")
    for force in ((), ("--force",)):
        code, _, err = run("check", ".", "--junit", "link.xml", *force)
        assert code == 2 and "link.xml: is a link: it is not followed" in err


@pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")
def test_ctrl_c_ends_it_and_leaves_no_process(build: Build) -> None:
    for name in ("a.yaml", "b.yaml", "c.yaml"):
        build.record(f"{IS_UP}\nwhile True: pass\n", name=name)
    command = [sys.executable, "-m", "quizlog_tui", "check", ".", "--junit", "r.xml"]
    with subprocess.Popen(command, cwd=build.folder, stderr=subprocess.PIPE) as process:
        while not is_up():
            assert process.poll() is None
        started = below(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stderr and process.stderr.read() == b"quizlog: interrupted\n"
    wait_for(lambda: all(map(gone, started)))
    assert started and not (build.folder / "r.xml").exists()


def test_progress_is_for_a_terminal(path: Path) -> None:
    ours, its = pty.openpty()
    command = [sys.executable, "-m", "quizlog_tui", "check", "."]
    done = subprocess.run(command, cwd=path.parent, stderr=its, stdout=-1, check=True)
    os.close(its)
    assert done.stdout == b"" and b"checking: 1 of 1" in os.read(ours, 10_000)
    os.close(ours)


SNIPPETS = {
    block.file: yaml.safe_load(block.text)
    for block in blocks((GUIDES / "proof.md").read_text(encoding="utf-8"))
    if block.language == "yaml"
}
"""The files for a CI in the guide, by their names."""
HOOK = ".pre-commit-config.yaml"
[WORKFLOW] = SNIPPETS.keys() - {HOOK}


def test_the_workflow_of_the_guide_calls_what_there_is(
    run: Run, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [job] = SNIPPETS[WORKFLOW]["jobs"].values()
    steps = {step["name"]: step for step in job["steps"] if "name" in step}
    words = shlex.split(steps["check"]["run"])
    assert words[0] == "quizlog" and parse(words[1:]).folder == "records"
    edit(path)
    path.parent.rename(path.parent.with_name("records"))
    path.parent.mkdir()
    path.parent.with_name("records").rename(path.parent / "records")
    monkeypatch.chdir(path.parent)
    assert run(*words[1:])[0] == 3
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert all(steps[name]["if"] == "always()" for name in ("summary", "report"))
    subprocess.run(["sh", "-ec", steps["summary"]["run"]], check=True)
    assert "1 record: 1 diverges" in Path("summary.md").read_text()
    ElementTree.parse(steps["report"]["with"]["path"])


@needs_git
def test_the_hook_of_the_guide_stops_a_commit(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    [repository] = SNIPPETS[HOOK]["repos"]
    [hook] = repository["hooks"]
    assert (repository["repo"], hook["language"], hook["pass_filenames"]) == (
        "local",
        "system",
        False,
    )
    (build.folder / "records").mkdir()
    inner = Build(build.folder / "records", build.dedent)
    with Session(inner.record(QUIZ)) as session:
        session.answer("4")
    commit_all(build.folder)
    places = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    monkeypatch.setenv("PATH", places)

    def code() -> int:
        return subprocess.run(["sh", "-c", hook["entry"]], cwd=build.folder, check=False).returncode

    assert code() == 0
    edit(inner.folder / "record.yaml")
    assert code() == 3


def test_two_reports_are_two_files(run: Run, path: Path) -> None:
    code, out, err = run("check", ".", "--junit", "r.xml", "--markdown", "./r.xml")
    assert (code, out) == (2, "") and "--junit and --markdown name the same file" in err
