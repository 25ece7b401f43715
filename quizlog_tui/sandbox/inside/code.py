"""Executes the code of a run and writes its answer in one frame to the answer's pipe.

A frame is four bytes of length and one JSON object, `{"answer": ...}` or `{"kind": ..., "error":
...}`. The code could write a frame itself, so a frame is only a claim of the code.

The variable `answer` is converted to JSON in the process of the hostile code, under its limits, as
converting an object may run any code. Accepted are numbers, text, lists and mappings, also those of
numpy and pandas, and no other objects.
"""

from __future__ import annotations

import datetime
import decimal
import errno
import fractions
import io
import json
import linecache
import math
import os
import pathlib
import struct
import sys
import traceback
from types import CodeType, ModuleType, TracebackType
from typing import Any, NoReturn

DEEPEST = 64
_MOST_BITS = 14_000
"""CPython converts no integer of more than 4300 digits to text."""

_MOMENTS = (datetime.date, datetime.time)
_FRAME = json.JSONEncoder(allow_nan=False, ensure_ascii=True, check_circular=False)


class UnfitAnswer(ValueError):
    """The answer cannot be converted to JSON."""


def encode(mapping: dict[str, Any]) -> bytes:
    """A mapping as JSON text, even if the code has changed the module `json`."""
    return _FRAME.encode(mapping).encode("ascii")


def as_json(value: Any, depth: int = 0) -> Any:
    """The JSON data that a value stands for.

    Raises:
        UnfitAnswer: It has no JSON form.
    """
    if depth > DEEPEST:
        raise UnfitAnswer(f"it holds itself, or is more than {DEEPEST} levels deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float | str):
        return _plain(value)
    if isinstance(value, dict):
        return {_key(key): as_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item, depth + 1) for item in value]
    if isinstance(value, set | frozenset):
        return _sorted([as_json(item, depth + 1) for item in value])
    if isinstance(value, decimal.Decimal | fractions.Fraction):
        return _exact(value)
    if isinstance(value, _MOMENTS):
        return _moment(value)
    if isinstance(value, pathlib.PurePath):
        return _plain(str(value))
    return as_json(_unwrapped(value), depth + 1)


def _plain(value: float | str) -> Any:
    if isinstance(value, str):
        text = str.__str__(value)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise UnfitAnswer("it holds half a character (a lone surrogate)") from None
        return text
    if isinstance(value, int):
        number = int.__int__(value)
        if number.bit_length() > _MOST_BITS:
            raise UnfitAnswer("it is an integer of more than 4300 digits")
        return number
    real = float.__float__(value)
    if not math.isfinite(real):
        raise UnfitAnswer(f"it holds {real}, which is not a number")
    return real


def _key(value: Any) -> str:
    plain = as_json(value, DEEPEST - 2)
    if isinstance(plain, str):
        return plain
    if plain is None or isinstance(plain, bool | int | float):
        return _FRAME.encode(plain)
    raise UnfitAnswer("a key of its mapping is neither text nor a number")


def _sorted(items: list[Any]) -> list[Any]:
    return sorted(items, key=_FRAME.encode)


def _exact(value: decimal.Decimal | fractions.Fraction) -> Any:
    if isinstance(value, decimal.Decimal) and not value.is_finite():
        raise UnfitAnswer(f"it holds {value}, which is not a number")
    return _plain(int(value) if value == int(value) else float(value))


def _moment(value: Any) -> str:
    # pandas has a date that is not one.
    if value != value:
        raise UnfitAnswer("it holds an invalid date (NaT)")
    return str(value.isoformat())


def _unwrapped(value: Any) -> Any:
    """The Python value of a value of numpy or pandas."""
    kind = type(value)
    library = kind.__module__.split(".")[0]
    if library == "pandas":
        for method in ("to_dict", "tolist", "to_pydatetime"):
            if kind.__name__ == "Series" and method == "to_dict":
                continue
            if hasattr(value, method):
                return value.to_dict("records") if method == "to_dict" else getattr(value, method)()
    if library == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    raise UnfitAnswer(
        f"a {kind.__name__} is not JSON data: make it a number, text, list or mapping"
    )


NAME = "<code>"
_LONGEST_MESSAGE = 2000
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


def execute(source: str, result: int, most: int) -> NoReturn:
    """Run the code as `__main__`, write the frame to the descriptor `result`, and end."""
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
