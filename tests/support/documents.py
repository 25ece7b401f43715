"""Reads the README and the guides, and runs what they show.

A block that names a file (```python file=quiz.py) is written to the folder of its document. A
`console` block is typed into a shell there: `$ ` begins a command, and what follows it is what a
terminal shows; `...` stands for any text, and `# exit code N` behind a command says how it ends
(0 if it does not say). A `python` block is run; an `output` block behind it is what it prints. All
blocks of a document run in one shell, in order. `sh` blocks are for the reader's own machine: they
install, need keys, or go on for ever, so only their calls of quizlog are checked. Some things are
named otherwise than they are: the port of the server, and the folders of the run and the user.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import pty
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import quizlog_tui
from quizlog_tui.files.paths import shipped
from tests.support.processes import bury

README = Path(__file__).parents[2] / "README.md"
GUIDES = Path(quizlog_tui.__file__).parent / "guides"
DOCUMENTS = {"README": README} | {path.stem: path for path in sorted(GUIDES.glob("*.md"))}

_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
_MARK = "\x1e"
_PORT = "8642"
"""The port that documents name; a run takes one that is free."""
_FOLDER = "/home/ann/quizzes"
"""The folder that documents name, for the one that a run has."""
DATABASE = "postgresql://USER:PASSWORD@HOST/NAME"
"""The PostgreSQL database that documents name."""
_DATA = "/home/ann/.local/share"
"""The folder for a user's data that documents name."""
_OVERWRITTEN = re.compile(r"[^\n\x1e]*\r(?:\x1b\[K)?")
"""Progress, which a terminal shows for a moment."""
_VARIES = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d\+00:00)?| +\d+\.\d m?s\b")
"""Times; the dots stand for them in a document."""


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    language: str
    file: str
    """The file that it is written to, or nothing."""
    text: str


@dataclass(frozen=True)
class Run:
    """Something to run, and what it must show."""

    command: str
    shown: str | None
    """None if it is not said."""
    exit_code: int = 0


def blocks(document: str) -> list[Block]:
    found = []
    for info, text in _FENCE.findall(document):
        language, _, rest = info.partition(" ")
        found.append(Block(language, rest.removeprefix("file="), text))
    return found


def runs(document: str, folder: Path) -> list[Run]:
    """What a document runs, in order; the files that it shows are written when it comes to them."""
    found: list[Run] = []
    for number, block in enumerate(blocks(document)):
        if block.file:
            found.append(_written(block, folder / f".block-{number}"))
        elif block.language == "python":
            script = folder / f".block-{number}.py"
            script.write_text(block.text, encoding="utf-8")
            found.append(Run(f"{shlex.quote(sys.executable)} {script.name}", None))
        elif block.language == "output":
            found[-1] = Run(found[-1].command, block.text)
        elif block.language == "console":
            found += _typed(block.text)
    return found


def _written(block: Block, kept: Path) -> Run:
    kept.write_text(block.text, encoding="utf-8")
    return Run(f"mkdir -p $(dirname {block.file}) && cp {kept.name} {block.file}", "")


def _typed(text: str) -> Iterator[Run]:
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, shown = _split_command(part)
        command, _, code = command.partition("  # exit code ")
        yield Run(command, shown, int(code or 0))


def _split_command(part: str) -> tuple[str, str]:
    """The command, which goes on after a backslash or before a `> `, and what it shows."""
    lines = part.splitlines(keepends=True)
    end = 1
    while lines[end - 1].endswith("\\\n") or "".join(lines[end : end + 1]).startswith("> "):
        end += 1
    command = "".join(lines[:end]).rstrip("\n").replace("\n> ", "\n")
    return command, "".join(lines[end:])


def perform(
    document: str, folder: Path, database: str = DATABASE
) -> Iterator[tuple[Run, str, int]]:
    """Run a document in a folder with the shipped records.

    Args:
        document: Its text.
        folder: An empty folder.
        database: The PostgreSQL database that it uses.

    Returns:
        Each run, what it showed, and its exit code.
    """
    shutil.copytree(shipped("records"), folder / "records")
    wanted = runs(document, folder)
    lines = [f"{run.command}\nprintf '{_MARK}%s{_MARK}' $?" for run in wanted]
    port = _free_port()
    script = "\n".join(lines).replace(_PORT, port).replace(DATABASE, database)
    found = _in_terminal(script, folder).replace("\r\n", "\n").replace(port, _PORT)
    for place, named in ((str(folder), _FOLDER), (os.environ["XDG_DATA_HOME"], _DATA)):
        found = found.replace(place, named)
    found = _OVERWRITTEN.sub("", found)
    parts = found.split(_MARK)
    assert len(parts) == 2 * len(wanted) + 1, found
    yield from zip(wanted, parts[0::2], map(int, parts[1::2]), strict=False)


def filled(document: str, results: list[tuple[Run, str, int]]) -> str:
    """A document with the outputs that a run of it showed, where they are others."""
    found = iter(results)

    def block(match: re.Match[str]) -> str:
        info, text = match.groups()
        if info == "console":
            return f"```console\n{''.join(_shown(next(found)) for _ in _typed(text))}```"
        if info == "output":
            return f"```output\n{text if agrees(last[1], text) else _lasting(last[1])}```"
        if "file=" in info or info == "python":
            last[:] = next(found)
        return match[0]

    last: list[Any] = []
    return _FENCE.sub(block, document)


def _shown(result: tuple[Run, str, int]) -> str:
    run, shown, code = result
    told = f"  # exit code {code}" if code else ""
    text = run.shown if run.shown and agrees(shown, run.shown) else _lasting(shown)
    command = re.sub(r"(?<!\\)\n", "\n> ", run.command)
    return f"$ {command}{told}\n{text}"


def _lasting(shown: str) -> str:
    """What a document keeps of an output."""
    return re.sub(
        r"[ \t]+$",
        "",
        _VARIES.sub(lambda m: " ..." if m[0][0] == " " else "...", shown),
        flags=re.M,
    )


def agrees(shown: str, wanted: str) -> bool:
    """Whether a terminal showed what a document says; spaces at the end of a line do not count."""
    want, got = (re.sub(r"[ \t]+$", "", text, flags=re.M) for text in (wanted, shown))
    return doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)


def _free_port() -> str:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return str(sock.getsockname()[1])


def _in_terminal(script: str, folder: Path) -> str:
    """What a shell in a terminal shows; all that it started ends with it."""
    (folder / ".script").write_text(script, encoding="utf-8")
    ours, its = pty.openpty()
    shell = subprocess.Popen(
        ["bash", ".script"], cwd=folder, stdin=subprocess.DEVNULL, stdout=its, stderr=its,
        env=_environment(), start_new_session=True,
    )  # fmt: skip
    os.close(its)
    read: list[bytes] = []
    reader = threading.Thread(target=_read, args=(ours, read), daemon=True)
    reader.start()
    try:
        shell.wait(timeout=600)
    finally:
        _end(shell.pid)
    reader.join()
    os.close(ours)
    return b"".join(read).decode()


def _end(group: int) -> None:
    """End what a shell has left in the background; at first so that it can tidy up."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + 20
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, number)
        while _lives(group) and time.monotonic() < deadline:
            time.sleep(0.01)


def _lives(group: int) -> bool:
    """Whether processes of a group run; those that have ended are taken note of."""
    bury(-group)
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _read(terminal: int, read: list[bytes]) -> None:
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the last one that wrote to it is gone
            return
        if not part:
            return
        read.append(part)


def _environment() -> dict[str, str]:
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    return os.environ | {"PATH": path, "TERM": "dumb", "COLUMNS": "100", "LINES": "40"}
