"""Executes the code of a run and writes its answer in one frame to the answer's pipe.

A frame is four bytes of length and one JSON object, `{"answer": ...}` or `{"kind": ..., "error":
...}`. The code could write a frame itself, so a frame is only a claim of the code.
"""

from __future__ import annotations

import errno
import io
import linecache
import os
import struct
import sys
import traceback
from types import CodeType, ModuleType, TracebackType
from typing import Any, NoReturn

from .answer import UnfitAnswer, as_json, encode

NAME = "<code>"
_LONGEST_MESSAGE = 2000
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


def execute(source: str, result: int, most: int) -> NoReturn:
    """Run the code as `__main__`, write the frame to the descriptor `result`, and end.

    Args:
        source: The code.
        result: The descriptor to write the frame to.
        most: Maximum size of the answer in bytes of JSON.
    """
    # Bound to local names because the code may replace them in their modules.
    end, write = os._exit, os.write
    try:
        frame = _frame(_outcome(source), most)
        _flush()
        while frame:
            frame = frame[write(result, frame) :]
    finally:
        end(0)


def _outcome(source: str) -> dict[str, Any]:
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    lines = list(io.StringIO(source, newline=None))  # as Python counts them
    linecache.cache[NAME] = (len(source), None, lines, NAME)
    try:
        program = compile(source, NAME, "exec", dont_inherit=True)
        error = _run(program, main)
        if "answer" not in main.__dict__:
            return error or {"kind": "no_result", "error": "the variable `answer` was not set"}
        return {"answer": as_json(main.__dict__["answer"])}
    except UnfitAnswer as unfit:
        return {"kind": "error", "error": f"answer: {unfit}"}
    except BaseException as raised:
        return _describe_error(raised)


def _run(program: CodeType, main: ModuleType) -> dict[str, Any] | None:
    """Run the code to its end; return an error for a failing `sys.exit` without an answer."""
    try:
        exec(program, main.__dict__)
    except SystemExit as leave:
        if leave.code not in (None, 0):
            return {"kind": "error", "error": f"SystemExit: {leave.code}"[:_LONGEST_MESSAGE]}
    return None


def _describe_error(raised: BaseException) -> dict[str, Any]:
    """An exception as data for the frame; its traceback is written to stderr."""
    kind = "error"
    if isinstance(raised, MemoryError):
        kind = "oom"
    elif isinstance(raised, OSError) and raised.errno in _NO_ROOM:
        kind = "disk_limit"
    steps = _own_steps(raised.__traceback__)
    line = raised.lineno if isinstance(raised, SyntaxError) else steps and steps.tb_lineno
    try:
        text = traceback.format_exception(type(raised), raised, steps)
        os.write(2, "".join(text).encode("utf-8", "backslashreplace"))
        message = raised.msg if isinstance(raised, SyntaxError) else str(raised)[:_LONGEST_MESSAGE]
    except Exception:
        message = ""
    name = type(raised).__name__
    place = f" (line {_last_line(steps) or line})" if line else ""
    return {"kind": kind, "error": f"{name}: {message}{place}" if message else f"{name}{place}"}


def _own_steps(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame of the code on."""
    while trace is not None and trace.tb_frame.f_code.co_filename != NAME:
        trace = trace.tb_next
    return trace


def _last_line(trace: TracebackType | None) -> int | None:
    """The innermost line that lies in the code."""
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _frame(outcome: dict[str, Any], most: int) -> bytes:
    body = encode(outcome)
    if len(body) > most:
        said = f"the answer is {len(body)} bytes of JSON, the limit is {most}"
        body = encode({"kind": "result_too_big", "error": said})
    return struct.pack(">I", len(body)) + body


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            if stream is not None:
                stream.flush()
        except Exception:
            continue
