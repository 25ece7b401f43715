"""The yardstick: a script run by a plain interpreter, its answers on a pipe."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quizlog_tui.replay.process.spawn import environment
from quizlog_tui.replay.replayer import replay


@dataclass(frozen=True)
class Plain:
    stdout: bytes
    stderr: bytes
    exit_code: int


def run_plain(
    script: Path, answers: Sequence[str], args: Sequence[str] = (), python: str = sys.executable
) -> Plain:
    """`python script.py ARG...` in the script's folder, in the usual environment, no terminal in reach."""
    done = subprocess.run(
        [python, script.name, *args],
        input="".join(f"{answer}\n" for answer in answers).encode("utf-8", "surrogateescape"),
        capture_output=True,
        cwd=script.parent,
        env=environment(1) | {"TMPDIR": "/tmp"},
        start_new_session=True,
        check=False,
    )
    return Plain(done.stdout, done.stderr, done.returncode)


def equals_a_plain_run(script: Path, answers: list[str], python: str = sys.executable) -> None:
    plain = run_plain(script, answers, python=python)
    transcript = replay(script, 1, answers)
    assert transcript.stdout_bytes == plain.stdout
    assert transcript.stderr == plain.stderr.decode("utf-8", "replace")
    expected = 130 if plain.exit_code == -2 else plain.exit_code
    assert transcript.exit_code == expected
    assert transcript.status == ("success" if plain.exit_code == 0 else "error")
