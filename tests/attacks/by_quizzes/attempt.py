"""One attack by a quiz: a live run in a session, then the commands, then the next run."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from quizlog_tui.errors import QuizlogError
from quizlog_tui.files.scratch import scratch_folder
from quizlog_tui.proof.verdict import Verdict
from quizlog_tui.proof.verify import verify
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.uncached_runs import UncachedRuns
from quizlog_tui.replay.world import isolation
from quizlog_tui.session.session import Session
from tests.attacks.by_quizzes.entries import QuizAttack
from tests.attacks.observe import MachineWatch, Observations
from tests.attacks.scene import Scene

_SEED = 7
_NEXT = "print(41 + 1)\ninput('? ')\n"
COPY, _OVERLAY = "a copy", "an overlay"
"""Kinds of private folders, in the name of the isolation."""
_ASKS = "verdict_in"
"""The check that needs a verified record."""
_MOST = 4 << 20
"""Maximum bytes read of a file or a part of a bundle."""


@dataclass(frozen=True)
class LeftFile:
    """A new file, made by the script or by a command."""

    name: str
    mode: int
    text: str
    """Its content; for a bundle, the content of its parts."""


@dataclass(frozen=True)
class Shell:
    """The result of a command."""

    code: int
    """Its exit code; that of a time-out is negative."""
    stdout: str
    stderr: str


@dataclass(frozen=True)
class AttackFacts:
    """Facts about processes and devices that an attack must not change."""

    devices: tuple[tuple[int, int], ...]
    """Mode and owner of devices that every script has open."""
    victim: tuple[int, int, frozenset[int]]
    """Priority, scheduling and processors of a process outside."""
    script: bytes
    files: int
    """How many files this process has open."""

    @classmethod
    def now(cls, scene: Scene, script: Path) -> AttackFacts:
        """The present facts."""
        found = [os.stat(path) for path in ("/dev/null", "/dev/zero", "/dev/urandom")]
        pid = scene.victim.pid
        return cls(
            tuple((one.st_mode, one.st_uid) for one in found),
            (
                os.getpriority(os.PRIO_PROCESS, pid),
                os.sched_getscheduler(pid),
                frozenset(os.sched_getaffinity(pid)),
            ),
            script.read_bytes(),
            len(os.listdir("/dev/fd")),
        )


@dataclass(frozen=True)
class QuizAttempt:
    """A performed attack by a quiz, with all observations."""

    status: str
    """Status of the live run: that of its record, or the name of the error that ended it."""
    said: str
    """The error in words, the script's or ours."""
    transcript: Transcript | None
    """The live run; None if it never reached its first stop."""
    verdict: Verdict | None
    """The verdict on the record, if a check needs it."""
    shells: tuple[Shell, ...]
    made: tuple[LeftFile, ...]
    """The new files in its folder, including its record."""
    before: AttackFacts
    after: AttackFacts
    machine: Observations
    next_print: str
    """First printed text of the next run; must be `42`."""
    sibling_print: str
    """Last printed text of the concurrent run; must be `42`."""

    @property
    def isolation(self) -> str:
        """The isolation of the run."""
        unavailable = self.transcript.unavailable if self.transcript else ()
        return f"{isolation(unavailable)}, {COPY if 'folder' in unavailable else _OVERLAY}"


def attempt(attack: QuizAttack, scene: Scene) -> QuizAttempt:
    """Run an attack."""
    with scratch_folder("quiz-attack") as place:
        folder = place / "quiz"
        record = _staged(attack, scene, folder)
        before, watch = AttackFacts.now(scene, folder / "quiz.py"), MachineWatch(scene)
        try:
            with Replayer(attack.limits) as replayer:
                live = _live(attack, scene, record, replayer)
                sibling = _sibling(attack, scene, folder, replayer, attack.sibling_then)
                watch.over()
                next_print = _next(folder, replayer)
            verdict = _verified(attack, record)
            shells = tuple(_shell(attack, scene, folder, words) for words in attack.commands)
        finally:
            machine = watch.stop()
        after = AttackFacts.now(scene, folder / "quiz.py")
        found = tuple(left_files(folder, [*dict(attack.beside), "quiz.py", "next.py"]))
    return QuizAttempt(*live, verdict, shells, found, before, after, machine, next_print, sibling)


def _staged(attack: QuizAttack, scene: Scene, folder: Path) -> Path:
    """Create the quiz's folder and files; the path of its record."""
    os.mkdir(folder)
    (folder / "quiz.py").write_text(scene.aimed(attack.script), encoding="utf-8")
    for name, text in attack.beside:
        (folder / name).write_text(scene.aimed(text), encoding="utf-8")
    for name, target in attack.links:
        (folder / name).symlink_to(scene.aimed(target))
    for name in attack.pipes:
        os.mkfifo(folder / name)
    record = folder / "record.yaml"
    RecordFile(record).create(Record("quiz.py", _SEED, AppendOnlyList(()), 0))
    return record


def _live(
    attack: QuizAttack, scene: Scene, record: Path, replayer: Replayer
) -> tuple[str, str, Transcript | None]:
    """The live run's status, its error in words, and its transcript."""
    shown: Transcript | None = None
    try:
        _sibling(attack, scene, record.parent, replayer)
        with Session(record, replayer) as session:
            shown = session.transcript
            for answer in attack.answers:
                session.answer(scene.aimed(answer))
                shown = session.transcript
    except QuizlogError as error:
        return type(error).__name__, str(error), shown
    raised = shown.last_error
    return shown.status, raised.message if raised else "", shown


def _sibling(attack: QuizAttack, scene: Scene, folder: Path, replayer: Replayer, *more: str) -> str:
    """Run the same script concurrently up to here; its last printed text."""
    if attack.sibling is None:
        return "42"
    answers = [scene.aimed(answer) for answer in attack.sibling]
    try:
        found = replayer.replay(folder / "quiz.py", _SEED, [*answers, *more])
    except QuizlogError as error:
        return str(error)
    return found.print[-1] if found.print else ""


def _next(folder: Path, replayer: Replayer) -> str:
    script = folder / "next.py"
    script.write_text(_NEXT, encoding="utf-8")
    try:
        return "".join(replayer.replay(script, _SEED, []).print)
    except QuizlogError as error:
        return str(error)


def _verified(attack: QuizAttack, record: Path) -> Verdict | None:
    if all(name != _ASKS for name, _ in attack.expect):
        return None
    return verify(record, UncachedRuns(attack.limits))


def _shell(attack: QuizAttack, scene: Scene, folder: Path, words: tuple[str, ...]) -> Shell:
    """Run a command like a user whose shell has a secret file open."""
    command = [sys.executable, "-m", "quizlog_tui", *map(scene.aimed, words)]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            pass_fds=[scene.leak],
            timeout=attack.wall,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Shell(-1, "", f"not done in {attack.wall:g} seconds")
    out, err = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return Shell(done.returncode, out, err)


def left_files(folder: Path, given: Collection[str]) -> Iterator[LeftFile]:
    """The regular files below a folder.

    Args:
        folder: Where.
        given: Names of files that lay there before.
    """
    for path in sorted(folder.rglob("*")):
        about, name = path.lstat(), str(path.relative_to(folder))
        if stat.S_ISREG(about.st_mode) and name not in given:
            yield LeftFile(name, about.st_mode, _text(path))


def _text(path: Path) -> str:
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            return os.fsdecode(file.read(_MOST))
    with zipfile.ZipFile(path) as bundle:
        parts = [bundle.open(name).read(_MOST) for name in bundle.namelist()]
    return os.fsdecode(b"\n".join(parts))
