"""Describes how the script ended: its exception with the script's own frames, as in a plain run.

The script's own are the script itself and the modules in its folder. Frames of the worker are
removed from every traceback.
"""

from __future__ import annotations

import os
import sys
from itertools import islice
from types import CodeType, TracebackType

from . import OWN, STANDARD
from .wire import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from .code_watch import CodeWatch

_FOREIGN = frozenset({"site-packages", "dist-packages", "node_modules"})


class Outcome:
    """The outcome of the run, in the JSON form that the parent expects.

    Args:
        files: Knows the files of the script.
        code: Knows the code that was run from text.

    Attributes:
        json: `[kind, type, message, [[first line, last line, file], ...]]`, frames innermost
            last; the file is empty for the script, else a name relative to its folder.
    """

    def __init__(self, files: OwnFiles, code: CodeWatch) -> None:
        self.files = files
        self._code = code
        self.json = '["finished", null, null, []]'
        self.keeps_error = False
        """Whether the exception that ends the script is kept, and the script's objects with it."""
        self.error: BaseException | None = None
        """The exception that ended the script, if it is kept."""

    def left(self, error: SystemExit) -> None:
        """Note that the script raised `SystemExit`, which the interpreter carries out."""
        by_code = self._code.raised_by(error)
        clean(error, set())
        if by_code and error.code in (None, 0):
            self.left_by_code(error.__traceback__)
        if error.code not in (None, 0):
            self._keep(error)
            text = f"exit status {error.code}" if isinstance(error.code, int) else str(error.code)
            self._describe(error, text)

    def left_by_code(self, trace: TracebackType | None = None) -> None:
        """Note that code that was run from text ended the script with exit status 0."""
        self.json = f'["left", null, null, [{self._places(trace)}]]'

    def raised(self, error: BaseException) -> int:
        """Note that the script raised; print the traceback and return the exit code."""
        clean(error, set())
        self._keep(error)
        self._describe(error, _text(error))
        sys.last_type, sys.last_value = type(error), error
        sys.last_traceback = error.__traceback__
        if sys.version_info >= (3, 12):
            sys.last_exc = error
        try:
            sys.excepthook(type(error), error, error.__traceback__)
        except SystemExit:
            self.error = error  # the interpreter keeps it, too
            raise
        except BaseException as failure:
            _show_both(failure, error)
        return 130 if isinstance(error, KeyboardInterrupt) else 1

    def _keep(self, error: BaseException) -> None:
        if self.keeps_error:
            self.error = error

    def _describe(self, error: BaseException, text: str) -> None:
        found = _lines(error.__traceback__, self.files)
        if isinstance(error, SyntaxError) and error.lineno:
            file = self.files.name(str(error.filename))
            found += [] if file is None else [(error.lineno, error.lineno, file)]
        lines = _listed(found)
        name = type(error).__name__
        self.json = f'["raised", {quote(name)}, {quote(text)}, [{lines}]]'

    def _places(self, trace: TracebackType | None) -> str:
        return _listed(_lines(trace, self.files))


def _show_both(failure: BaseException, error: BaseException) -> None:
    """Print what failed in the script's own `sys.excepthook`, and what that was to print."""
    failure.__context__ = None  # it began where no exception was being handled
    clean(failure, set())
    sys.stderr.write("Error in sys.excepthook:\n")
    sys.__excepthook__(type(failure), failure, failure.__traceback__)
    sys.stderr.write("\nOriginal exception was:\n")
    sys.__excepthook__(type(error), error, error.__traceback__)


def _listed(places: list[tuple[int, int, str]]) -> str:
    return ", ".join(f"[{first}, {last}, {quote(file)}]" for first, last, file in places)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return f"<unprintable {type(error).__name__}>"


def _lines(trace: TracebackType | None, files: OwnFiles) -> list[tuple[int, int, str]]:
    """First and last line, and file, of the statement in each frame of the script's own files."""
    found: list[tuple[int, int, str]] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        file = files.name(code.co_filename)
        if file is not None:
            last = _last_line(code, trace.tb_lasti)
            found.append((trace.tb_lineno, max(trace.tb_lineno, last), file))
        trace = trace.tb_next
    return found


def _last_line(code: CodeType, at: int) -> int:
    """The last line of the statement at an instruction; 0 if its code does not tell."""
    if sys.version_info < (3, 11):
        return 0
    position = next(islice(code.co_positions(), at // 2, None), None)
    return position[1] or 0 if position else 0


def clean(error: BaseException | None, seen: set[int]) -> None:
    """Remove the worker's frames from the traceback of `error` and of all chained exceptions."""
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    error.__traceback__ = _without_own(error.__traceback__)
    clean(error.__cause__, seen)
    clean(error.__context__, seen)
    if sys.version_info >= (3, 11) and isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            clean(member, seen)


def _without_own(trace: TracebackType | None) -> TracebackType | None:
    own_traces = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(OWN):
            own_traces.append(trace)
        trace = trace.tb_next
    result = None
    for item in reversed(own_traces):
        result = TracebackType(result, item.tb_frame, item.tb_lasti, item.tb_lineno)
    return result


class OwnFiles:
    """The files of the script.

    Args:
        script: The path of the script in tracebacks.
        folder: The folder in which it runs, which may have another path.
    """

    def __init__(self, script: str, folder: str) -> None:
        self.script = script
        self._folders = tuple(
            f"{path.rstrip(os.sep)}{os.sep}" for path in (folder, os.path.dirname(script))
        )
        self._known: dict[str, str | None] = {script: ""}

    def name(self, path: str) -> str | None:
        """A file's name relative to the script's folder; empty for the script, None for others."""
        if path not in self._known:
            self._known[path] = self._found(path)
        return self._known[path]

    def _found(self, path: str) -> str | None:
        if path.startswith((STANDARD, OWN)):
            return None
        for folder in self._folders:
            if path.startswith(folder):
                name = path[len(folder) :]
                parts = name.split(os.sep)
                hidden = any(part[:1] == "." or part in _FOREIGN for part in parts)
                return None if hidden else name
        return None

    def asking(self, frame: FrameType | None) -> tuple[int | None, str]:
        """Where a question is asked, from the innermost frame on.

        Returns:
            The line of the script (None if a thread of a library asks), and `FILE:LINE` if another
            file of the script asks on its behalf.
        """
        place = ""
        while frame is not None:
            name = self.name(frame.f_code.co_filename)
            if name == "":
                return frame.f_lineno, place
            if name and not place:
                place = f"{name}:{frame.f_lineno}"
            frame = frame.f_back
        return None, place
