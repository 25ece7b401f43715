"""Reports code that the script runs from text, before it runs.

`eval`, `exec` and everything that uses them raise an audit event that no script can suppress.
`quizlog_tui.replay.live_run` decides whether the code came from an answer.
"""

from __future__ import annotations

import os
import sys
from os import getpid
from types import CodeType, FrameType

from . import OWN, STANDARD
from .wire import Wire, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


TYPE_CHECKING = False

_MOST_TEXT = 1 << 16
"""Maximum number of reported characters of a source."""
_MOST_NAMES = 500


class CodeWatch:
    """Watches the script from its first answer on.

    Args:
        wire: The connection to quizlog.
        script: The path of the script in tracebacks.
        folder: The folder in which it runs.
    """

    def __init__(self, wire: Wire, script: str, folder: str) -> None:
        self._wire = wire
        self._own = (script, f"{os.path.dirname(script)}/", f"{folder}/")
        self._home = getpid()
        self._source: tuple[Any, Any] = (None, None)
        self._ran: set[CodeType] = set()
        self.used = 0
        """Number of answers that the script has used."""

    def install(self) -> None:
        """Begin to watch."""
        sys.addaudithook(self._audit)

    def settle(self, pid: int) -> None:
        """Note the process number of a copy."""
        self._home = pid

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "compile":
            self._source = arguments[:2]
        elif event == "exec" and self.used:
            self._report(arguments[0])

    def _report(self, code: Any) -> None:
        if type(code) is not CodeType or getpid() != self._home:
            return
        where = self._where(code, sys._getframe(1).f_back)
        if where is None:
            return
        every = list(_nested(code))
        self._ran.update(every)
        names = list(dict.fromkeys(name for one in every for name in one.co_names))[:_MOST_NAMES]
        quoted_names = ", ".join(quote(name) for name in names)
        source = quote(self._text(code))
        self._wire.send(f'["code", {self.used}, {quote(where)}, [{quoted_names}], {source}]')

    def _text(self, code: CodeType) -> str:
        """The source of the code if it was compiled last; else empty."""
        source, name = self._source
        if isinstance(source, (bytes, bytearray)):
            source = bytes(source).decode("utf-8", "replace")
        if isinstance(name, bytes):
            name = os.fsdecode(name)
        return source[:_MOST_TEXT] if isinstance(source, str) and name == code.co_filename else ""

    def _where(self, code: CodeType, frame: FrameType | None) -> str | None:
        """Who runs the code: `script`, `package` or `library`.

        None if a module is imported that is not the script's own.
        """
        while frame is not None:
            path = frame.f_code.co_filename
            if path.startswith("<frozen importlib"):
                return "library" if code.co_filename.startswith(self._own) else None
            if path.startswith(self._own) or frame.f_code in self._ran:
                return "script"
            if not path.startswith(OWN):
                outside = "-packages" in path or not path.startswith((STANDARD, "<frozen"))
                return "package" if outside else "library"
            frame = frame.f_back
        return "library"

    def on_stack(self, frame: FrameType | None) -> bool:
        """Whether reported code is running in a frame or one of its callers."""
        while frame is not None:
            if frame.f_code in self._ran:
                return True
            frame = frame.f_back
        return False

    def raised_by(self, error: BaseException) -> bool:
        """Whether an exception passed through reported code."""
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code in self._ran:
                return True
            trace = trace.tb_next
        return False


def _nested(code: CodeType) -> Any:
    """A code object and all those within it."""
    yield code
    for constant in code.co_consts:
        if type(constant) is CodeType:
            yield from _nested(constant)
