"""`quizlog sandbox run`: runs a Python file in the sandbox for models' code."""

from __future__ import annotations

import json
import os
import re
import sys
import tokenize
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from ..errors import ScriptError, UsageError
from ..sandbox.box import ISOLATED, LABELS, PRELOAD
from ..sandbox.executor import Sandbox
from ..sandbox.result import ExecResult, SandboxLimits, Status
from ..text import one_line, visible
from .grammar import Parser, command
from .streams import FOR_CODE, emit_json

_RAISED: frozenset[Status] = frozenset({"error", "crashed", "no_result", "bad_result"})

_SAFE = {LABELS[level] for level in ISOLATED}


def _run_sandbox(arguments: Namespace) -> int:
    """`quizlog sandbox run FILE.py`; 1 when the code failed, 4 over a limit, 2 when it was not run.

    Raises:
        ScriptError: The file cannot be read.
        UsageError: The workspace is no folder.
    """
    source = _source(arguments.file)
    workspace = Path(arguments.workspace) if arguments.workspace else None
    if workspace and not workspace.is_dir():
        raise UsageError(
            "is not a folder", where=str(workspace), hint="name one with --workspace DIR"
        )
    with Sandbox(preload=()) as sandbox:
        result = sandbox.run(
            source, workspace, SandboxLimits(), unsafe_local=arguments.unsafe_local
        )
    if arguments.json:
        emit_json(asdict(result))
    else:
        _show(result)
    if result.isolation not in _SAFE and result.status != "sandbox_error":
        print(f"quizlog: NOT ISOLATED ({result.isolation})", file=sys.stderr)
    return exit_code(result.status)


def _sandbox() -> Parser:
    parser = command(
        "sandbox",
        _run_sandbox,
        group="machine",
        arguments="run FILE.py",
        about="run any Python file in the sandbox",
        details="Run a Python file in the sandbox. It leaves its answer in the variable `answer`.",
        example="run code.py",
    )
    parser.add_argument("what", metavar="run", choices=["run"], help="the only action")
    parser.add_argument("file", metavar="FILE.py")
    parser.add_argument(
        "--workspace", metavar="DIR", help="give the code a copy of this folder's files"
    )
    parser.add_argument(
        "--unsafe-local",
        action="store_true",
        help="run it even where its files and network cannot be isolated",
    )
    return parser


def _source(name: str) -> str:
    try:
        with tokenize.open(name) as file:
            return file.read()
    except OSError as error:
        raise ScriptError(os.strerror(error.errno or 0), where=name) from None
    except (SyntaxError, UnicodeDecodeError, ValueError) as error:
        hint = "save it as UTF-8, or name its encoding in its first line"
        raise ScriptError(f"is not Python text: {error}", where=name, hint=hint) from None


def _show(result: ExecResult) -> None:
    if result.stdout:
        print(visible(result.stdout), end="" if result.stdout.endswith("\n") else "\n")
    if result.stderr:
        print(visible(result.stderr), end="", file=sys.stderr)
    if result.status == "ok":
        print(f"answer: {one_line(json.dumps(result.answer, ensure_ascii=False))}")
    elif not (result.status == "error" and result.stderr):
        print(f"quizlog: {result.status}: {one_line(result.error or '')}", file=sys.stderr)
    missing = re.search(r"No module named '(\w+)'", result.error or "")
    if missing and missing[1] in PRELOAD:
        print(f"quizlog: {missing[1]} is not installed: {FOR_CODE}", file=sys.stderr)
    said = f"{result.status} in {result.seconds:.2f} s, isolation: {result.isolation}"
    print(f"quizlog: {said}", file=sys.stderr)


def exit_code(status: Status) -> int:
    """The exit code of the command after a run."""
    if status == "ok":
        return 0
    if status == "sandbox_error":
        return 2
    return 1 if status in _RAISED else 4


PARSERS = {"sandbox": _sandbox}
"""The parser function of each command."""
