"""Reads and writes decisions as JSON, and the file of a record's decisions.

The reader uses the annotations of the dataclasses, so that the two cannot drift apart. Each error
is one line that names the place. An answer is a JSON value of limited depth and size, with finite
numbers. The file, `<record>.decisions.jsonl`, has one decision per line and is append-only: an
unreadable line is reported with its number; the others stay readable. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from ..errors import DecisionError, RecordError, did_you_mean
from ..files.durable import FileKind, check_place, unwritable
from ..files.paths import decisions_path as decisions_path
from ..files.regular_file import read_regular
from ..record.lock import locked
from ..replay.script.input_kinds import INTEGER, YESNO
from ..text import is_whole
from .decision import SCHEMA_VERSION, Decision, ModelQuestion

_T = TypeVar("_T")
_HINT = "each line must be a decision as JSON"
MAX_DEPTH = 64
"""Maximum depth of nesting."""
_MAX_BITS = 13_000
"""Maximum number of bits in a whole number (about 3,900 digits)."""


def to_data(decision: Decision) -> dict[str, Any]:
    """The decision as plain data for JSON."""
    data = asdict(decision)
    for model in data["models"]:
        if not model["fetched"]:  # usually empty, and older readers do not know the key
            del model["fetched"]
    for found in data["verdict"]["classes"]:
        if not found["rules"]:  # likewise
            del found["rules"]
    return data


def to_line(decision: Decision) -> str:
    """The decision as one line of JSON in ASCII, without a newline."""
    return json.dumps(to_data(decision), allow_nan=False)


def from_line(text: str | bytes, where: str) -> Decision:
    """The decision in a JSON text.

    Raises:
        DecisionError: The text is not JSON or not a decision; the error names the faulty path.
    """
    try:
        data = strict_loads(text)
    except ValueError as error:
        raise DecisionError(f"is not JSON: {error}", where=where, hint=_HINT) from None
    return from_data(data, where)


def from_data(data: Any, where: str) -> Decision:
    """The decision in plain data.

    Raises:
        DecisionError: The data is not a decision; the error names the faulty path.
    """
    version = data.get("schema_version") if isinstance(data, Mapping) else None
    if version not in (None, SCHEMA_VERSION):
        hint = "open it with a newer quizlog"
        raise DecisionError(f"has schema_version {version!r}, not 1", where=where, hint=hint)
    decision = _object(Decision, data, "", where)
    _check_names(decision, where)
    return decision


def _check_names(decision: Decision, where: str) -> None:
    """Check that names are unique and that reconsidered answers belong to models."""
    names = [reply.name for reply in decision.models]
    again = [reply.name for reply in decision.reconciliation]
    for path, found in (("models", names), ("reconciliation", again)):
        if len(set(found)) != len(found):
            twice = next(name for name in found if found.count(name) > 1)
            _fail(path, f"names {twice!r} twice", where)
    for name in again:
        if name not in names:
            _fail("reconciliation", f"{name!r} is not among the models", where)


@cache
def _shape(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Each field's type, and whether it is required."""
    hints = get_type_hints(kind)
    return {
        item.name: (hints[item.name], item.default is MISSING and item.default_factory is MISSING)
        for item in fields(kind)
    }


def _fail(path: str, message: str, where: str, hint: str | None = None) -> Any:
    raise DecisionError(f"{path or 'decision'}: {message}", where=where, hint=hint)


def _object(kind: Callable[..., _T], data: Any, path: str, where: str) -> _T:
    if not isinstance(data, Mapping):
        _fail(path, f"must be an object, not {_name(data)}", where)
    shape = _shape(kind)
    for key in data:
        if key not in shape:
            _fail(path, f"unknown key {key!r}", where, did_you_mean(str(key), shape) or None)
    prefix = f"{path}." if path else ""
    values = {}
    for key, (hint, required) in shape.items():
        if key in data:
            values[key] = _value(hint, data[key], f"{prefix}{key}", where)
        elif required:
            _fail(path, f"the key {key!r} is missing", where)
    return kind(**values)


def _value(hint: Any, data: Any, path: str, where: str) -> Any:
    origin = get_origin(hint)
    if hint is Any:
        return _json(data, path, where)
    if origin is Literal:
        allowed = get_args(hint)
        return data if data in allowed else _fail(path, _one_of(data, allowed), where)
    if origin in (UnionType, Union):
        inner = next(arm for arm in get_args(hint) if arm is not NoneType)
        return None if data is None else _value(inner, data, path, where)
    if origin is tuple:
        if not isinstance(data, (list, tuple)):
            return _fail(path, f"must be a list, not {_name(data)}", where)
        inner = get_args(hint)[0]
        return tuple(_value(inner, item, f"{path}[{i}]", where) for i, item in enumerate(data))
    if is_dataclass(hint):
        return _object(hint, data, path, where)  # type: ignore[arg-type]
    return _scalar(hint, data, path, where)


def _scalar(hint: Any, data: Any, path: str, where: str) -> Any:
    if hint is float and isinstance(data, (int, float)) and not isinstance(data, bool):
        try:
            number = float(data)
        except OverflowError:
            number = math.inf
        if not 0 <= number < math.inf:
            _fail(path, "must be a number that is not negative", where)
        return number
    if type(data) is not hint:
        return _fail(path, f"must be {_WORDS[hint]}, not {_name(data)}", where)
    return data


def _json(data: Any, path: str, where: str) -> Any:
    """Any JSON value, unchanged."""
    fault = _json_fault(data)
    return _fail(path, fault, where) if fault else data


_WORDS = {str: "a text", int: "a whole number", bool: "true or false", float: "a number"}


def _name(data: Any) -> str:
    if isinstance(data, bool):
        return "true or false"
    known = {dict: "an object", list: "a list", NoneType: "null"} | _WORDS
    return known.get(type(data), type(data).__name__)


def _one_of(data: Any, allowed: tuple[Any, ...]) -> str:
    return f"is {data!r:.40}, not one of {', '.join(map(str, allowed))}"


# -- answers


def answer_text(answer: Any, question: ModelQuestion) -> str:
    """The text of a raw answer: texts unchanged, other values as the question expects them."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, bool):
        words = ("no", "yes") if question.input_type == YESNO else ("False", "True")
        return words[answer]
    if isinstance(answer, float) and question.input_type == INTEGER and answer.is_integer():
        return str(int(answer))
    if isinstance(answer, (int, float)):
        return repr(answer)
    return json.dumps(answer, ensure_ascii=False)


def answer_fault(value: Any) -> str | None:
    """Why a value cannot be given as an answer; None if it can.

    It must be a JSON value whose texts can be encoded as UTF-8, to be sent and printed.
    """
    fault = _json_fault(value)
    if fault is None and not is_whole(json.dumps(value, ensure_ascii=False)):
        return "holds half a character: a surrogate without its other half"
    return fault


def _json_fault(value: Any, depth: int = MAX_DEPTH) -> str | None:
    """Why a value cannot be part of an answer; None if it can."""
    if depth == 0:
        return f"is nested deeper than {MAX_DEPTH} levels"
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            return "has a key that is not a text"
        return _first_fault(value.values(), depth)
    if isinstance(value, (list, tuple)):
        return _first_fault(value, depth)
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a finite number"
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return "is a number of too many digits"
    if value is None or isinstance(value, (str, int, float)):
        return None
    return f"must be a JSON value, not {type(value).__name__}"


def _first_fault(values: Any, depth: int) -> str | None:
    return next((fault for one in values if (fault := _json_fault(one, depth - 1))), None)


# -- JSON without the extensions that Python accepts


def strict_loads(text: str | bytes) -> Any:
    """The data of a JSON text, without the extensions that Python accepts.

    Raises:
        ValueError: The text is not JSON, contains NaN or Infinity, or is nested too deep.
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


MAX_BYTES = 256 * 1024 * 1024
"""Maximum size of a file; larger ones are refused unread."""
_BEGINNING = b'{"id": "'
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class _DecisionFile(NamedTuple):
    """The content of a file of decisions."""

    decisions: list[Decision]
    """The readable decisions, oldest first."""
    faults: list[DecisionError]
    """One error for each unreadable line."""


def read_decisions(path: Path) -> _DecisionFile:
    """All decisions in a file; none if the file does not exist.

    Raises:
        DecisionError: The file itself cannot be read.
    """
    content = _DecisionFile([], [])
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            try:
                content.decisions.append(from_line(line, f"{path}:{number}"))
            except DecisionError as fault:
                content.faults.append(fault)
    return content


def _lines(path: Path) -> list[bytes]:
    try:
        return read_regular(path, MAX_BYTES).split(b"\n") if path.exists() else []
    except OSError as error:
        raise DecisionError(f"cannot read: {error.strerror}", where=str(path)) from None


def check_decisions_place(path: Path) -> None:
    """Refuse, before a decision is paid for, a place where it could not be stored.

    Raises:
        DecisionError: There is a link, or a file that holds no decisions.
    """
    try:
        check_place(path, DECISIONS)
    except RecordError as error:
        raise DecisionError(error.message, where=error.where, hint=error.hint) from None


def append_decision(path: Path, decision: Decision) -> None:
    """Append a decision as one line, durably. An incomplete last line is left unchanged.

    Raises:
        DecisionError: The file cannot be written.
        LockedError: Another process holds it.
    """
    line = f"{to_line(decision)}\n".encode()
    check_decisions_place(path)
    with locked(path):
        before = path.stat().st_size if path.exists() else None
        try:
            if before and _last_byte(path) != b"\n":
                line = b"\n" + line
            _append(path, line)
        except OSError as error:
            _cut(path, before)
            reason = unwritable(error, path)
            raise DecisionError(reason.message, where=reason.where, hint=reason.hint) from None


def _has_decisions(path: Path) -> bool:
    """Whether a line is a decision, or the first one was broken off."""
    with contextlib.suppress(DecisionError):
        lines = _lines(path)
        if len(lines) == 1 and lines[0].startswith(_BEGINNING):
            return True
        for line in lines:
            with contextlib.suppress(DecisionError):
                from_line(line, str(path))
                return True
    return False


DECISIONS = FileKind("a file of decisions", _has_decisions, beside=True)


def _append(path: Path, line: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | _NO_LINK, 0o666)
    with open(fd, "ab", buffering=0) as file:
        view = memoryview(line)
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())


def _cut(path: Path, size: int | None) -> None:
    """Cut a file back to its former size, or remove it if it did not exist."""
    with contextlib.suppress(OSError):
        if size is None:
            path.unlink()
        else:
            os.truncate(path, size)


def _last_byte(path: Path) -> bytes:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)
