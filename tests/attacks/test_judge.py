"""Each check of the attacks by quizzes: content with an honest run, and not with one that broke it."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError
from tests.attacks import observe
from tests.attacks.by_quizzes.attempt import LeftFile, QuizAttempt, Shell, attempt
from tests.attacks.by_quizzes.entries import load
from tests.attacks.by_quizzes.judge import CHECKS
from tests.attacks.entries import QUIZ_ATTACKS
from tests.attacks.observe import MachineWatch, adopting
from tests.attacks.scene import Scene

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are seen in /proc")
TRACEBACK = "Traceback (most recent call last):\n"


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with Scene() as made:
        yield made


@pytest.fixture(scope="module")
def honest(scene: Scene) -> QuizAttempt:
    [attack] = [one for one in load(QUIZ_ATTACKS) if one.id == "honest"]
    kept = LeftFile("out/f", 0o644, "x")
    found = attempt(attack, scene)
    return replace(found, made=(*found.made, kept))


def printing(found: QuizAttempt, *texts: str) -> QuizAttempt:
    assert found.transcript is not None
    return replace(found, transcript=replace(found.transcript, print=AppendOnlyList(texts)))


def observed(found: QuizAttempt, **changes: Any) -> QuizAttempt:
    return replace(found, machine=replace(found.machine, **changes))


def grown(found: QuizAttempt, **changes: int) -> QuizAttempt:
    class Seen:
        tasks = memory = resident = disk = 0

    for name, value in changes.items():
        setattr(Seen, name, value)
    return observed(found, seen=Seen)


def shell(found: QuizAttempt, code: int = 0, out: str = "", err: str = "") -> QuizAttempt:
    return replace(found, shells=(Shell(code, out, err),))


def belied(found: QuizAttempt, **changes: Any) -> QuizAttempt:
    assert found.verdict is not None
    return replace(found, verdict=replace(found.verdict, **changes))


def at_zero(found: QuizAttempt) -> QuizAttempt:
    assert found.transcript is not None
    error = LastError("x", 1, 0.0)
    return replace(found, transcript=replace(found.transcript, last_error=error))


def other(found: QuizAttempt, **changes: Any) -> QuizAttempt:
    return replace(found, after=replace(found.after, **changes))


def coded(found: QuizAttempt) -> QuizAttempt:
    assert found.transcript is not None
    return replace(found, transcript=replace(found.transcript, code=((0, 1),)))


Broken = Callable[[QuizAttempt], QuizAttempt]
MEGA = 1 << 20
BROKEN: dict[str, tuple[Any, Broken]] = {
    "status_in": (["success"], lambda a: replace(a, status="ProtocolError")),
    "prints_eq": (["4", "5"], lambda a: printing(a, "4")),
    "prints_have": ("5", lambda a: printing(a, "4")),
    "prints_lack": ("made up", lambda a: printing(a, "it is made up")),
    "code_eq": ([], coded),
    "score_eq": (1.0, at_zero),
    "verdict_in": (["reproducible"], lambda a: belied(a, verdict="unverifiable")),
    "remarks_have": ("reproducible", lambda a: belied(a, verdict="unverifiable", reason="x")),
    "exit_codes_eq": ([0], lambda a: shell(a, 4)),
    "shell_has": ("reproducible", lambda a: shell(a, 0, "diverges")),
    "shell_lacks": ("PWNED", lambda a: shell(a, 0, "PWNED")),
    "made_lacks": ("PWNED", lambda a: replace(a, made=(*a.made, LeftFile("f", 0o644, "PWNED")))),
    "plain_modes": (None, lambda a: replace(a, made=(*a.made, LeftFile("f", 0o104755, "")))),
    "parent_files_max": (8, lambda a: other(a, files=a.after.files + 200)),
    "no_traceback": (None, lambda a: shell(a, 1, "", TRACEBACK)),
    "devices_unchanged": (None, lambda a: other(a, devices=((0o20600, 0),))),
    "victim_unchanged": (None, lambda a: other(a, victim=(5, 5, frozenset({0})))),
    "script_unchanged": (None, lambda a: other(a, script=b"other")),
    "next_run_ok": (None, lambda a: replace(a, next_print="")),
    "wall_max": (1000, lambda a: observed(a, took=1001.0)),
    "no_survivors": (None, lambda a: observed(a, survivors={4})),
    "no_new_host_listener": (None, lambda a: observed(a, listeners={"0100007F:1F90"})),
    "parent_alive": (None, lambda a: observed(a, took=-1.0)),
    "peak_pids_max": (500, lambda a: grown(a, tasks=501)),
    "peak_mem_max_mb": (4000, lambda a: grown(a, memory=4001 * MEGA)),
    "parent_rss_max_mb": (1000, lambda a: grown(a, resident=1001 * MEGA)),
    "host_disk_delta_max_mb": (4000, lambda a: grown(a, disk=4001 * MEGA)),
}
"""A value with which an honest run passes each check, and how a run fails it."""


@pytest.mark.parametrize("name", BROKEN)
def test_a_check_sees_what_it_is_for(honest: QuizAttempt, scene: Scene, name: str) -> None:
    value, broken = BROKEN[name]
    assert CHECKS[name](honest, scene, value) is None
    assert CHECKS[name](broken(honest), scene, value)


def test_checks_of_marks_and_words_see_them(honest: QuizAttempt, scene: Scene) -> None:
    assert honest.transcript is not None
    marked = replace(
        honest, transcript=replace(honest.transcript, observed=("tampered",)), said="over"
    )
    for name, value in (("met_has", "tampered"), ("said_has", "over")):
        assert CHECKS[name](marked, scene, value) is None
        assert CHECKS[name](honest, scene, value)


@pytest.mark.parametrize("place", ["print", "stderr", "error", "file", "shell"])
def test_the_secret_is_seen_wherever_it_comes_out(
    honest: QuizAttempt, scene: Scene, place: str
) -> None:
    secret = scene.canary[::-1]
    assert honest.transcript is not None
    told = {
        "print": printing(honest, secret),
        "stderr": replace(honest, transcript=replace(honest.transcript, stderr=secret)),
        "error": replace(honest, said=secret),
        "file": replace(honest, made=(LeftFile("record.yaml", 0o644, secret),)),
        "shell": shell(honest, 0, "", secret),
    }
    assert CHECKS["canary_absent"](honest, scene, None) is None
    assert CHECKS["canary_absent"](told[place], scene, None)


def test_checks_of_the_scene_see_what_was_done_to_it(honest: QuizAttempt) -> None:
    with Scene() as scene:
        before = replace(honest, machine=MachineWatch(scene).stop())
        new = scene.outside / "new"
        done: dict[str, tuple[str | None, Callable[[], object]]] = {
            "outside_unchanged": (None, lambda: new.write_text("x")),
            "host_tree_unchanged": (str(scene.home), (scene.home / "x").touch),
            "host_path_absent": (str(scene.outside / "made"), (scene.outside / "made").touch),
            "victim_alive": (None, lambda: _end(scene)),
            "no_connection": (None, lambda: _connect(scene)),
        }
        for name, (value, act) in done.items():
            if name != "host_path_absent":
                assert CHECKS[name](before, scene, value) is None, name
            act()
            assert CHECKS[name](before, scene, value), name
        assert done.keys() | BROKEN.keys() | {"met_has", "said_has", "canary_absent"} == {*CHECKS}


def _end(scene: Scene) -> None:
    scene.victim.kill()
    scene.victim.wait()


def _connect(scene: Scene) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(scene.aimed("@@UNIX_SOCK@@"))


def test_a_process_that_outlives_its_attack_is_seen_and_ended() -> None:
    with Scene() as scene, adopting(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(observe, "_SOON", 0.5)
        watch = MachineWatch(scene)
        if os.fork() == 0:  # detached twice: its parent is gone at once
            os.setsid()
            os.fork() or os.execvp("sleep", ["sleep", "60"])
            os._exit(0)
        [left] = watch.stop().survivors
        assert os.waitstatus_to_exitcode(os.waitpid(left, 0)[1]) == -9
