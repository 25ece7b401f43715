"""How the suite is run: what fails once is repeated alone and told, and one worker has all browsers.

Only what fails twice, or too much of it, is red.
"""

from __future__ import annotations

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

import pytest

from tests.once_more import MOST_FLAKY, Outcomes, verdict
from tests.support.build import Build
from tests.support.one_browser import OneBrowser

ROOT = Path(__file__).parent.parent
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""That of runs whose tests need no plug-ins, which take longer to load than they do."""
FLAKY = """
    import pathlib, pytest
    seen = pathlib.Path(__file__).with_suffix(".seen")
    def fails_once(name):
        before = seen.read_text() if seen.exists() else ""
        with seen.open("a") as file:
            file.write(name)
        assert name in before, "too early"
    """


def run(build: Build, *tests: str, arguments: tuple[str, ...] = ()) -> tuple[int, list[str]]:
    """The exit code, and the lines of a run of a file with these tests, beside one that passes."""
    (build.folder / "pytest.ini").write_text(
        "[pytest]\naddopts = -q -p xdist -m 'not slow'\nmarkers = slow\n"
    )
    (build.folder / "conftest.py").write_text('pytest_plugins = ["tests.support.outcomes"]\n')
    build.script(FLAKY, "test_it.py")
    with (build.folder / "test_it.py").open("a") as file:
        file.write("\n".join(("def test_sound(): pass", *tests)) + "\n")
    command = [sys.executable, str(ROOT / "tests" / "once_more.py"), *arguments]
    done = subprocess.run(
        command,
        cwd=build.folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def once(name: str) -> str:
    return f"def test_{name}(): fails_once('{name} ')"


def test_what_passes_is_run_once(build: Build) -> None:
    code, lines = run(build)
    assert code == 0 and not any("once more" in line for line in lines)


def test_what_fails_once_is_green_and_told_last(build: Build) -> None:
    """Also in its setting up, and though a plain run leaves it out."""
    late = "@pytest.fixture\ndef late(): fails_once('late ')\ndef test_late(late): pass"
    odd = '@pytest.mark.parametrize("x", ["a b::[c]"])\ndef test_odd(x): fails_once(f"<{x}>")'
    slow = "pytestmark = pytest.mark.slow"
    code, lines = run(build, slow, once("a"), late, odd, arguments=("-m", "slow"))
    assert code == 0
    assert lines[-3:] == [
        f"flaky: test_it.py::test_{name} (first failure: AssertionError: too early)"
        for name in ("a", "late", "odd[a b::[c]]")
    ]
    assert "3 passed" in lines[-4]


def test_what_fails_twice_or_is_skipped_then_is_red(build: Build) -> None:
    skips = "def test_skips():\n    if seen.exists(): pytest.skip('now')\n    fails_once('s ')"
    code, lines = run(build, skips, once("a"), "def test_wrong(): assert 1 == 2")
    assert code == 1
    assert "failed twice: test_it.py::test_skips (AssertionError: too early)" in lines
    assert "failed twice: test_it.py::test_wrong (assert 1 == 2)" in lines
    assert lines[-1].startswith("flaky: test_it.py::test_a (")


def test_what_kills_its_worker_is_repeated_and_hides_no_other(build: Build) -> None:
    kills = "import os, signal\ndef test_kills():\n    try: fails_once('k ')\n    except AssertionError: os.kill(os.getpid(), signal.SIGKILL)"
    ends = "def test_ends(): os._exit(7)"
    code, lines = run(build, kills, ends, once("z"), arguments=("-n2",))
    assert code == 1
    assert any(line.startswith("failed twice: test_it.py::test_ends (worker 'gw") for line in lines)
    assert lines[-2].startswith("flaky: test_it.py::test_kills (first failure: worker 'gw")
    assert lines[-1] == "flaky: test_it.py::test_z (first failure: AssertionError: too early)"


@pytest.mark.parametrize(
    ("arguments", "code"), [(("--no-such-option",), 4), (("-k", "nothing_like_it"), 5)]
)
def test_where_nothing_ran_the_exit_code_is_pytests(
    build: Build, arguments: tuple[str, ...], code: int
) -> None:
    assert run(build, arguments=arguments)[0] == code


@pytest.mark.parametrize(("workers", "code"), [("-n0", 1), ("-n2", 2)])
def test_a_run_that_stops_at_the_first_failure_is_red(
    build: Build, workers: str, code: int
) -> None:
    found, lines = run(build, once("a"), once("b"), arguments=(workers, "-x"))
    assert found == code and not any("once more" in line for line in lines)


def test_a_file_that_is_not_there_is_named(build: Build) -> None:
    assert run(build, arguments=("-n2", "tests/test_nothing.py::test_it")) == (4, [])


def test_a_file_that_cannot_be_loaded_is_red(build: Build) -> None:
    assert run(build, "import no_such_module")[0] == 2


def test_the_bound_of_flaky_tests(capsys: pytest.CaptureFixture[str]) -> None:
    for count in (MOST_FLAKY, MOST_FLAKY + 1):
        failed = {f"t.py::test_{index}": "why" for index in range(count)}
        second = Outcomes(0, frozenset(failed), {})
        assert verdict(Outcomes(1, frozenset(), failed), second) == (count > MOST_FLAKY)
    lines = capsys.readouterr().out.splitlines()
    assert "red: 4 tests are flaky, and at most 3 may be" in lines
    assert "flaky: t.py::test_3 (first failure: why)" in lines[-4:]


def test_in_a_terminal_there_is_a_bar_and_what_fails_is_named_at_once(build: Build) -> None:
    (build.folder / "pytest.ini").write_text("[pytest]\naddopts = -q -p xdist\n")
    (build.folder / "conftest.py").write_text(
        'pytest_plugins = ["tests.support.outcomes", "tests.support.progress"]\n'
    )
    build.script("def test_sound(): pass\ndef test_wrong(): assert 1 == 2\n", "test_it.py")
    ours, its = pty.openpty()
    with os.fdopen(ours, "rb") as terminal:
        command = [sys.executable, str(ROOT / "tests" / "once_more.py"), "-n2"]
        process = subprocess.Popen(
            command, cwd=build.folder, env=ENVIRONMENT | {"TERM": "xterm"}, stdout=its
        )
        os.close(its)
        shown = b""
        with contextlib.suppress(OSError):  # so a terminal tells its end
            while part := terminal.read1():
                shown += part
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown.decode())
    assert process.wait() == 1, text
    assert "2/2 tests" in text and "left:" in text and "failed: test_it.py::test_wrong" in text
    assert "failed twice: test_it.py::test_wrong (assert 1 == 2)" in text


def test_signals_that_were_ignored_when_a_run_began_end_what_tests_start(build: Build) -> None:
    (build.folder / "conftest.py").write_text(
        "from tests.support.own_process import reset_signals\nreset_signals()\n"
    )
    build.script(
        """
        import pytest, signal, subprocess
        @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM])
        def test_it(number):
            child = subprocess.Popen(["sleep", "60"])
            child.send_signal(number)
            assert child.wait(30) == -number
        """,
        "test_it.py",
    )
    ignoring = "import os, signal, sys\nfor number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)\nsignal.pthread_sigmask(signal.SIG_BLOCK, {1, 2, 15})\nos.execv(sys.executable, [sys.executable, '-m', 'pytest', '-q', '-p', 'xdist', *sys.argv[1:]])"
    for workers in ("-n0", "-n1"):
        done = subprocess.run(
            [sys.executable, "-c", ignoring, workers],
            cwd=build.folder,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "3 passed" in done.stdout, done.stdout


def test_an_interrupted_run_ends_as_pytest_says(build: Build) -> None:
    (build.folder / "pytest.ini").write_text("[pytest]\naddopts = -p xdist\n")
    (build.folder / "conftest.py").write_text('pytest_plugins = ["tests.support.outcomes"]\n')
    # In one long sleep, a signal that comes just before it begins is heard only when it is over.
    waits = 'import pathlib, time\ndef test_it():\n    pathlib.Path("begun").touch()\n    while True: time.sleep(0.01)'
    build.script(waits, "test_it.py")
    with subprocess.Popen(
        [sys.executable, str(ROOT / "tests" / "once_more.py")],
        cwd=build.folder,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        while not (build.folder / "begun").exists():
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) == 2


@pytest.mark.parametrize(
    ("test", "group"),
    [
        ("tests/webquiz/test_scenarios.py::test_a[b::c]", "browsers"),
        ("tests/report/test_player.py::test_a", "browsers"),
        ("tests/report/test_export.py::test_a", "tests/report/test_export.py"),
    ],
)
def test_files_that_start_a_browser_are_one(test: str, group: str) -> None:
    assert OneBrowser._split_scope(cast(OneBrowser, None), test) == group
