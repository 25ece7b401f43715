"""The least that the machine allows: a message and back, a fork, a durable write."""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


def median_seconds(call: Callable[[], object], repeats: int) -> float:
    """The median time of one call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Echo:
    """A process that answers each JSON message with another."""

    def __init__(self) -> None:
        self.mine, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            self.mine.close()
            while data := theirs.recv(65536):
                answer = json.loads(data)["answer"]
                reply = {"prompt": "question 1? ", "print": [f"answer {answer}"]}
                theirs.sendall(json.dumps(reply).encode())
            os._exit(0)
        theirs.close()

    def step(self) -> None:
        self.mine.sendall(json.dumps({"answer": "4"}).encode())
        json.loads(self.mine.recv(65536))

    def close(self) -> None:
        self.mine.close()
        os.waitpid(self.pid, 0)


_TO_THE_QUESTION = """
import json, os, socket, statistics, time
source = open({script!r}).read()
class Stop(BaseException): pass
def stop(*_): raise Stop
try: exec(compile(source, 'script', 'exec'), {{'input': stop, '__name__': '__main__'}})
except Stop as e: keep = e
"""
_FORKS = """
times = []
for _ in range({repeats}):
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
    times.append(time.perf_counter() - start)
print(statistics.median(times))
"""
_ANSWERING = """
control = socket.socket(fileno={control})
while data := control.recv(65536):
    pid = os.fork()
    if pid == 0:
        answer = json.loads(data)["answer"]
        reply = {{"prompt": "question 1? ", "print": ["answer " + answer]}}
        control.sendall(json.dumps(reply).encode())
        os._exit(0)
    os.waitpid(pid, 0)
"""
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}


def fork_seconds(script: Path, repeats: int = 100) -> float:
    """`fork`, exit and wait in a process that has run the script up to its first question."""
    code = (_TO_THE_QUESTION + _FORKS).format(script=str(script), repeats=repeats)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | _ONE_THREAD,
    )
    return float(done.stdout)


def answering_fork_seconds(script: Path, repeats: int = 100) -> float:
    """A message to such a process, which forks, and an answer from the new process.

    Most of that is the new process's own pages: all that Python touches, it writes to.
    """
    mine, theirs = socket.socketpair()
    control = theirs.fileno()
    code = (_TO_THE_QUESTION + _ANSWERING).format(script=str(script), control=control)
    command, env = [sys.executable, "-c", code], os.environ | _ONE_THREAD
    with mine, theirs, subprocess.Popen(command, env=env, pass_fds=[control]):
        theirs.close()

        def step() -> None:
            mine.sendall(json.dumps({"answer": "4"}).encode())
            json.loads(mine.recv(65536))

        step()
        seconds = median_seconds(step, repeats)
        mine.shutdown(socket.SHUT_RDWR)
    return seconds


def write_seconds(folder: Path, data: bytes, repeats: int = 60) -> float:
    """Write, fsync and rename of the same bytes."""

    def write() -> None:
        fd = os.open(folder / ".floor", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(fd, data)
        os.fsync(fd)
        os.close(fd)
        os.replace(folder / ".floor", folder / "floor")

    return median_seconds(write, repeats)
