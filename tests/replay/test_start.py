"""The start of a run: what the script does not inherit, and what it is not blamed for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.errors import LimitError, MachineError
from quizlog_tui.replay.process import spawn
from quizlog_tui.replay.replayer import Replayer, replay
from tests.support.build import Build

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
LISTING = """
import os
print(sorted(int(name) for name in os.listdir("/dev/fd")))
input("go? ")
"""
REPLAY = "import sys, quizlog_tui as q; print(q.replay(sys.argv[1], 7, []).stdout, end='')"


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("import sys; sys.exit('no library')", "no library"),
        ("import os; os.kill(os.getpid(), 9)", "it was killed"),
        (spawn._BOOT.replace("worker.boot\n", "worker.boot; worker.boot.Job = None\n"), "NoneType"),
    ],
    ids=["before the guard", "killed", "before the script"],
)
def test_no_script_is_blamed_for_an_interpreter_that_does_not_start(
    start: str, said: str, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spawn, "_BOOT", start)
    with pytest.raises(MachineError) as failed:
        replay(build.script("print('start')\ninput('go? ')\n"), 7, ["x"])
    assert failed.value.message.startswith("was not run: the interpreter ended at its start: ")
    assert said in failed.value.message


LATER = """import worker.guard as guard; start, tried = guard.{start}, []
def later(*job):
    tried.append(1)
    if len(tried) < 4: raise {error}
    return start(*job)
guard.{start} = later
"""
"""A machine that has room for one more only at the fourth attempt."""


@linux
@pytest.mark.parametrize(
    ("start", "error"),
    [
        ("os.fork", "BlockingIOError(11, 'Resource temporarily unavailable')"),
        ("_thread.start_new_thread", 'RuntimeError("can\'t start new thread")'),
    ],
    ids=["process", "thread"],
)
def test_a_guard_waits_for_a_machine_that_has_no_room(
    start: str, error: str, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = build.script("print(1)\ninput('go? ')\n")
    later = LATER.format(start=start, error=error)
    boot = spawn._BOOT.replace("worker.boot\n", f"worker.boot; {later}")
    monkeypatch.setattr(spawn, "_BOOT", boot)
    assert replay(script, 7, ["x"]).stdout == "1\ngo? "


@linux
def test_a_run_waits_for_a_machine_that_has_no_room_for_a_process(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = build.script("print(id(object()), {'a', 'b', 'c'})\ninput('go? ')\n")
    at_once = replay(script, 7, ["x"])
    spawned, refused = os.posix_spawn, [BlockingIOError(11, "no room")] * 3

    def later(*job: Any, **more: Any) -> int:
        if refused:
            raise refused.pop()
        return spawned(*job, **more)

    monkeypatch.setattr(os, "posix_spawn", later)
    assert replay(script, 7, ["x"]) == at_once
    assert not refused


@pytest.mark.parametrize("name", ["re", "functools", "signal", "worker"])
def test_a_module_where_the_user_stands_is_not_run_outside_the_walls(
    name: str, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted, mark = build.outside / f"{name}.py", build.outside / "mark"
    planted.write_text(f"open({str(mark)!r}, 'w').write('was run')\nraise ImportError('planted')\n")
    script = build.script("import sys\nprint(sys.path[0])\ninput('go? ')\n")
    monkeypatch.chdir(build.outside)
    run = replay(script, 7, ["x"])
    assert run.stdout.splitlines()[0] == str(build.folder)
    assert not mark.exists()


def listed(script: Path, *passed: int) -> str:
    command = [sys.executable, "-c", REPLAY, str(script)]
    return subprocess.run(
        command, pass_fds=passed, stdout=subprocess.PIPE, check=True, text=True
    ).stdout


def test_a_script_finds_no_descriptor_that_the_shell_left_open(build: Build) -> None:
    script = build.script(LISTING)
    secret = build.outside / "secret"
    secret.write_text("secret")
    fds = [os.open(secret, os.O_RDWR) for _ in range(20)]
    fds.append(os.dup2(fds[0], 200))
    assert listed(script, *fds) == listed(script)
    for fd in fds:
        os.close(fd)


def test_descriptors_are_closed_without_a_system_call_for_it_too() -> None:
    code = """if True:
        import os
        from quizlog_tui.replay.worker import boot, system
        def call(name, *arguments):
            raise OSError("there is none")
        system.call = call
        kept = os.dup2(0, 50)
        os.dup2(0, 40), os.dup2(0, 60)
        boot._close_all_but(0, 1, 2, kept)
        print(sorted(int(name) for name in os.listdir("/dev/fd")))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[0, 1, 2, 3, 50]\n"  # 3 is the listing's own


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of this kind")
def test_output_that_the_system_does_not_take_is_no_error_of_the_script(build: Build) -> None:
    import resource

    script = build.script("print('x' * 60_000)\ninput('go? ')\nprint('x' * 60_000)\n")
    code = REPLAY.replace("[]", "sys.argv[2:]")

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    def run(*answers: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, str(script), *answers]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, preexec_fn=small_files
        )

    assert run().stdout == "x" * 60_000 + "\ngo? "
    assert (
        f"{LimitError.__name__}: quiz.py: wrote as much as a file may hold here" in run("y").stderr
    )


@pytest.mark.parametrize("most", [20, 60, 102])
def test_a_run_is_the_same_where_few_files_may_be_open(most: int, build: Build) -> None:
    import resource

    script = build.script("class A: pass\nprint(id(A()), 'ready')\ninput('go? ')\n")

    def few_files() -> None:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))

    command = [sys.executable, "-c", REPLAY, str(script)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, check=True, text=True, preexec_fn=few_files
    )
    assert done.stdout == listed(script)


NO_COPIES = """
import os, sys, resource
from pathlib import Path
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script.source import read_source
script = read_source(Path(sys.argv[1]))
with Replayer() as replayer:
    first = replayer.replay(script, 1, ["a"])
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, usual[1]))
    held = []
    try:
        while True: held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError: pass
    before = len(replayer.checkpoints)
    more = [replayer.replay(script, 1, ["a", *"bcd"[:count]]) for count in (1, 2, 3)]
    print(replayer.explain(more[-1]), len(replayer.checkpoints) == before)
    for fd in held: os.close(fd)
    resource.setrlimit(resource.RLIMIT_NOFILE, usual)
    print(more[-1] == replay(script, 1, [*"abcd"]), replayer.explain(more[-1]))
"""
ASKING = "while True: print('said', input('? '), sum(range(500_000)))\n"


@linux
def test_a_run_goes_on_where_too_many_files_are_open_for_a_copy(build: Build) -> None:
    script = build.script(ASKING)
    done = subprocess.run(
        [sys.executable, "-c", NO_COPIES, str(script)],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    assert done.stdout == "too many files are open True\nTrue None\n"


@linux
@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        (
            """
            import os, sys
            def fork(): raise BlockingIOError(11, "no more processes")
            sys.stdout.log.copy.__globals__["_fork_beside"] = os.fork = fork
            """,
            "the system has no room for one more process",
        ),
        (
            """
            import resource
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
            """,
            "the process to copy is gone",
        ),
    ],
    ids=["no process", "no file"],
)
def test_a_script_hears_nothing_of_a_copy_that_cannot_be_made(
    setting: str, reason: str, build: Build
) -> None:
    script = build.script(f"{build.dedent(setting)}\n{ASKING}")
    with Replayer() as replayer:
        runs = [replayer.replay(script, 1, ["a"] * count) for count in range(4)]
        assert replayer.explain(runs[-1]) == reason
        assert [len(run.steps) for run in runs] == [0, 1, 2, 3]
        assert runs[-1] == replay(script, 1, ["a"] * 3)
