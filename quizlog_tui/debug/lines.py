"""Notes the lines of a script that run, inside its process, and which variables each changed.

Sent to the quiz process as text, between those of `values` and `inside`; imports as told there.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # the text of `values` is run before this one, in the same names
    from collections.abc import Callable, Iterable
    from types import FrameType
    from typing import Any

    from .values import checked, text_of

MOST_EVENTS = 50_000
"""Maximum number of lines that are noted, one after the other."""
_MOST_CHARACTERS = 4_000_000
"""Maximum characters of the names and texts of their variables."""
MOST_DEPTH = 1000
"""Maximum depth that is noted; deeper calls have this one."""
_UNCHANGING = (str, int, float, bool, complex, bytes, type(None))


class LineTrace:
    """The lines that run from `begin` on.

    Args:
        name: The name of one of the script's files; None for files of others.
        names: The variables in a frame that are worth showing.

    Attributes:
        events: File, line, function, depth and changed variables of each line that ran.
        lines: File and line of each, once, in order of their first run.
        truncated: Whether more lines ran than are noted.
    """

    def __init__(
        self, name: Callable[[str], str | None], names: Callable[[FrameType], dict[str, Any]]
    ) -> None:
        self._name = name
        self._names = names
        self._whole = False
        self._room = _MOST_CHARACTERS
        self._calls: dict[FrameType, _Call] = {}
        self.events: list[list[Any]] = []
        self.lines: dict[tuple[str, int], None] = {}
        self.truncated = False

    def begin(self, frames: Iterable[FrameType], *, whole: bool) -> None:
        """Note lines from now on.

        Args:
            frames: The script's calls that are under way, innermost first.
            whole: Whether to note each run of a line with the variables that it changed.
        """
        self._whole = whole
        for depth, frame in enumerate(reversed(list(frames))):
            frame.f_trace = self._line
            if whole:
                call = self._calls[frame] = _Call(min(depth, MOST_DEPTH), {})
                call.texts = self._texts(frame, call.values)
        if self._calls:
            self._note(frame, self._name(frame.f_code.co_filename) or "")
        sys.settrace(self._call)

    def end(self) -> None:
        """Note no more lines."""
        sys.settrace(None)
        for frame, call in self._calls.items():
            if not self.truncated:  # else more has run since its last line
                self._settle(frame, call)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        if self.truncated or self._name(frame.f_code.co_filename) is None:
            return None
        if self._whole:
            above = frame.f_back
            while above is not None and above not in self._calls:
                above = above.f_back
            depth = 0 if above is None else self._calls[above].depth + 1
            self._calls[frame] = _Call(min(depth, MOST_DEPTH), {})
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if self.truncated:
            return None
        if event == "line":
            file = self._name(frame.f_code.co_filename) or ""
            self.lines[file, frame.f_lineno] = None
            if self._whole:
                self._note(frame, file)
        elif event == "return" and self._whole:
            self._settle(frame, self._calls.pop(frame))
            self._return(frame.f_back)
        return self._line

    def _note(self, frame: FrameType, file: str) -> None:
        call = self._calls[frame]
        self._settle(frame, call)
        if len(self.events) >= MOST_EVENTS or self._room < 0:
            self.truncated = True
            return
        call.event = [file, frame.f_lineno, checked(frame.f_code.co_name), call.depth, {}]
        self.events.append(call.event)

    def _return(self, frame: FrameType | None) -> None:
        """Go on with a line that had begun before the trace."""
        while frame is not None and frame not in self._calls:
            frame = frame.f_back
        if frame is not None and self._calls[frame].event is None:
            self._note(frame, self._name(frame.f_code.co_filename) or "")

    def _settle(self, frame: FrameType, call: _Call) -> None:
        """Note what the last line of a call has changed."""
        now = self._texts(frame, call.values)
        if call.event is not None:
            before = call.texts
            changed = {name: text for name, text in now.items() if before.get(name) != text}
            call.event[4] = changed
            self._room -= sum(len(name) + len(text) for name, text in changed.items())
        call.texts = now

    def _texts(self, frame: FrameType, values: dict[str, Any]) -> dict[str, str]:
        """The text of each variable; those of values that cannot change are made only once."""
        names, found = self._names(frame), {}
        for name, value in names.items():
            known = values.get(name)
            if known is None or known[0] is not value or type(value) not in _UNCHANGING:
                known = (value, text_of(value))
            found[checked(name)] = known[1]
            values[name] = known
        return found


class _Call:
    """A call that is under way."""

    def __init__(self, depth: int, texts: dict[str, str]) -> None:
        self.depth = depth
        self.texts = texts
        self.values: dict[str, Any] = {}
        self.event: list[Any] | None = None
        """Its last line."""


class LinesRun:
    """The lines that run from `begin` on, each once, and those that go on then.

    Args:
        name: The name of one of the script's files; None for files of others.
    """

    def __init__(self, name: Callable[[str], str | None]) -> None:
        self._name = name
        self._lines: dict[str, set[int]] = {}
        self._tracers: dict[str, Any] = {}
        """What notes the lines of each path: one call, as loops run very many."""

    def begin(self, frames: list[FrameType]) -> None:
        """Note lines from now on, and the line that the innermost of these calls goes on with."""
        for frame in frames:
            frame.f_trace = self._tracer(frame.f_code.co_filename)
        self._note(frames[0] if frames else None)
        sys.settrace(self._call)

    def end(self) -> list[tuple[str, int]]:
        """Note no more lines; return the file and number of those that ran, and forget them."""
        sys.settrace(None)
        found = [(file, line) for file, lines in self._lines.items() for line in lines]
        for lines in self._lines.values():
            lines.clear()
        return found[:MOST_EVENTS]

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._tracer(frame.f_code.co_filename)

    def _tracer(self, path: str) -> Any:
        """What notes the lines of a file; None for files of others."""
        if path not in self._tracers:
            file = self._name(path)
            own = None if file is None else self._lines.setdefault(file, set())
            self._tracers[path] = None if own is None else self._tracer_into(own)
        return self._tracers[path]

    def _tracer_into(self, lines: set[int]) -> Any:
        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                lines.add(frame.f_lineno)
            elif event == "return":
                self._note(frame.f_back)
            return trace

        return trace

    def _note(self, frame: FrameType | None) -> None:
        """Note the line of a call, or of the first of the script's own around it."""
        while frame is not None:
            file = self._name(frame.f_code.co_filename)
            if file is not None:
                self._lines.setdefault(file, set()).add(frame.f_lineno)
                return
            frame = frame.f_back
