"""Verdicts are the same where the package is installed, among the libraries, as from its source."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import quizlog_tui
from tests.support.build import Build

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

RACING = {
    "a thread beside the main program": (
        """
        import threading
        seen = []
        def work():
            while True: seen.append(len(seen))
        threading.Thread(target=work, daemon=True).start()
        input("go on? ")
        print(len(seen))
        """,
        "threads",
    ),
    "a program beside the main one": (
        """
        import subprocess
        child = subprocess.Popen(["echo", "child"])
        print("parent", flush=True)
        child.wait()
        input("go on? ")
        """,
        "processes",
    ),
    "a spinner": (
        """
        import threading, time
        done = False
        def spin():
            while not done: print("."); time.sleep(0.01)
        one = threading.Thread(target=spin)
        one.start(); time.sleep(0.05); done = True; one.join()
        input("go on? ")
        """,
        "threads",
    ),
}
"""Scripts and what they meet. Runs of them differ, or happen to be alike."""
WAITED_FOR = """
import threading
from concurrent.futures import ThreadPoolExecutor
one = threading.Thread(target=print, args=("in turn",))
one.start(); one.join()
with ThreadPoolExecutor() as pool: print(pool.submit(abs, -1).result())
input("go on? ")
"""
JUDGES = """
import sys
from pathlib import Path
from quizlog_tui.session.new_record import new_record
from quizlog_tui.session.session import Session
record = Path("record.yaml")
new_record(Path(sys.argv[1]), record, 1)
with Session(record) as session:
    session.answer("yes")
    found = session.verify()
print(found.verdict, *found.observed)
"""


Judge = Callable[[Path], tuple[str, list[str]]]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages that holds ours, as an install leaves it."""
    site = tmp_path_factory.mktemp("lib") / "site-packages"
    unwanted = shutil.ignore_patterns("__pycache__", "tui", "quiz", "episodes")
    shutil.copytree(Path(quizlog_tui.__file__).parent, site / "quizlog_tui", ignore=unwanted)
    return site


@pytest.fixture
def judge(installed: Path, tmp_path: Path) -> Judge:
    """The verdict of the installed package on a script, and what the script met."""

    def run(script: Path) -> tuple[str, list[str]]:
        command = [sys.executable, "-P", "-c", JUDGES, script]
        search = {"PYTHONPATH": str(installed)}
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ | search, stdout=subprocess.PIPE, check=True
        )
        verdict, *observed = done.stdout.decode().split()
        (tmp_path / "record.yaml").unlink()
        return verdict, observed

    return run


@pytest.mark.parametrize("row", RACING)
def test_what_runs_beside_the_script_is_noticed_where_installed(
    row: str, judge: Judge, build: Build
) -> None:
    source, name = RACING[row]
    verdict, observed = judge(build.script(source))
    assert verdict != "reproducible" and name in observed


def test_what_a_script_waits_for_is_no_race_where_installed(judge: Judge, build: Build) -> None:
    assert judge(build.script(WAITED_FOR)) == ("reproducible", ["thread"])


@pytest.mark.parametrize("name", ["site-packages", "my-packages"])
def test_a_script_that_lies_among_packages_is_still_the_script(
    name: str, judge: Judge, build: Build
) -> None:
    (build.folder / name).mkdir()
    build.script("def start(thread): thread.start()\n", f"{name}/helper.py")
    by_itself = """
        import threading
        threading.Thread(target=print, args=("beside",)).start()
        input("go on? ")
        """
    by_another = """
        import helper, threading
        helper.start(threading.Thread(target=print, args=("beside",)))
        input("go on? ")
        """
    for source in (by_itself, by_another):
        assert "threads" in judge(build.script(source, f"{name}/quiz.py"))[1]
