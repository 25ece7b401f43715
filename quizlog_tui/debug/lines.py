"""Notes the lines of a script that run, inside its process, and which variables each changed.

Sent to the quiz process as text, between those of `marks` and `inside`; imports as told there.
"""

from __future__ import annotations

import _thread
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # the texts of these modules are run before this one, in the same names
    from collections.abc import Callable, Iterable
    from types import CodeType, FrameType
    from typing import Any

    from .marks import changed_inside, mark_at_line
    from .values import checked, is_definition, kind_of, locals_of, text_of

MOST_EVENTS = 50_000
"""Maximum number of lines that are noted, one after the other."""
_MOST_CHARACTERS = 4_000_000
"""Maximum characters of the names and texts of their variables."""
MOST_DEPTH = 1000
"""Maximum depth that is noted; deeper calls have this one."""
_MOST_NAME = 400
"""Maximum characters that are kept of a name."""
_UNCHANGING = frozenset((str, int, float, bool, complex, bytes, type(None)))


class LineTrace:
    """The lines that run from `begin` on.

    Args:
        name: The name of one of the script's files; None for files of others.
        is_held: Whether calls of a code are left out, as to trace them would change them.

    Attributes:
        events: File, line, function, depth and changed variables of each line that ran.
        lines: File and line of each, once, in order of their first run.
        truncated: Whether more lines ran than are noted.
        under_way: The `id` of each frame of `begin` that no later call has.
    """

    def __init__(
        self, name: Callable[[str], str | None], is_held: Callable[[CodeType], bool]
    ) -> None:
        self._name = name
        self._is_held = is_held
        self._whole = False
        self._room = _MOST_CHARACTERS
        self._calls: dict[FrameType, _Call] = {}
        self._watch: _TraceFunction | _Monitor
        self.events: list[list[Any]] = []
        self.lines: dict[tuple[str, int], None] = {}
        self.truncated = False
        self.under_way: set[int] = set()

    def begin(self, frames: list[FrameType], *, whole: bool) -> None:
        """Note lines from now on.

        Args:
            frames: The script's calls that are under way, innermost first.
            whole: Whether to note each run of a line with the variables that it changed.
        """
        tool = _free_tool()
        self._watch = _TraceFunction(self) if tool is None else _Monitor(self, tool)
        self._whole = whole
        self.under_way = set(map(id, frames))
        under_way = [frame for frame in frames if self.is_own(frame.f_code)]
        for frame in reversed(under_way):
            self.enter(frame)
        if whole and under_way:
            for call in self._calls.values():
                call.settle()
            self._note(self._calls[under_way[0]], under_way[0].f_lineno)
        self._watch.begin(under_way)

    def end(self) -> None:
        """Note no more lines."""
        self._watch.end()
        for call in self._calls.values():
            if not self.truncated:  # else more has run since its last line
                call.settle()

    def is_own(self, code: CodeType) -> bool:
        """Whether lines of this code are noted."""
        own = not self.truncated and self._name(code.co_filename) is not None
        return own and not self._is_held(code)

    def start(self, frame: FrameType) -> bool:
        """A call begins; return whether it is one of the script's own."""
        self.under_way.discard(id(frame))
        return self.enter(frame)

    def enter(self, frame: FrameType) -> bool:
        """A call begins or goes on; return whether it is one of the script's own."""
        if not self.is_own(frame.f_code):
            return False
        above = frame.f_back
        while above is not None and above not in self._calls:
            above = above.f_back
        depth = 0 if above is None else self._calls[above].depth + 1
        file = self._name(frame.f_code.co_filename) or ""
        self._calls[frame] = _Call(frame, file, min(depth, MOST_DEPTH))
        return True

    def run(self, frame: FrameType, line: int) -> bool:
        """A line of a call begins; return whether its next run is to be told, too."""
        call = self._calls.get(frame)
        if call is None or self.truncated:
            return True
        if self._whole:
            self._note(call, line)
        else:
            self.lines[call.file, line] = None
        return self._whole

    def leave(self, frame: FrameType) -> None:
        """A call ends or pauses; so a line goes on that had begun before the trace."""
        call = self._calls.pop(frame, None)
        if call is None or not self._whole or self.truncated:
            return
        self._room -= call.settle()
        above = frame.f_back
        while above is not None and above not in self._calls:
            above = above.f_back
        if above is not None and self._calls[above].event is None:
            self._note(self._calls[above], above.f_lineno)

    def _note(self, call: _Call, line: int) -> None:
        self._room -= call.settle()
        if len(self.events) >= MOST_EVENTS or self._room < 0:
            self.truncated = True
            self._watch.end()
            return
        call.event = [call.file, line, call.function, call.depth, _NO_CHANGES]
        self.events.append(call.event)


_NO_CHANGES: dict[str, str] = {}


class _Call:
    """A call that is under way.

    Attributes:
        file: The file of its code, as `LineTrace` names it.
        function: The name of its function.
        depth: Number of calls of the script around it.
        event: Its last line.
    """

    def __init__(self, frame: FrameType, file: str, depth: int) -> None:
        self.file = file
        self.function = checked(frame.f_code.co_name)
        self.depth = depth
        self.event: list[Any] | None = None
        self._frame = frame
        self._texts: dict[str, tuple[str, Any] | None] = {}
        """Text and mark of each name; None for what a script defines or imports."""
        self._settled: dict[str, Any] = {}
        """The values whose text is known, as they cannot change."""

    def settle(self) -> int:
        """Note what its last line has changed; return the number of characters of that."""
        changed = self._changes()
        if not changed or self.event is None:
            return 0
        self.event[4] = changed if len(changed) == 1 else self._in_order(changed)
        return sum(map(len, changed)) + sum(map(len, changed.values()))

    def _changes(self) -> dict[str, str]:
        """The variables that are not as they were at the last call of this, with their texts."""
        names, settled, texts = self._names(), self._settled, self._texts
        found = {}
        for name, value in list(names.items()):  # a value's own code may add names
            if settled.get(name, texts) is value:
                continue
            before, kind = texts.get(name), type(value)
            if before and type(kind) is type and kind in _UNCHANGING:
                settled[name], texts[name] = value, (text_of(value), None)
            else:
                texts[name] = self._text(name, value)
            now = texts[name]
            if now != before and now is not None:
                same = before is not None and before[0] == now[0]
                found[name[:_MOST_NAME]] = changed_inside(value) if same else now[0]
        if len(texts) != len(names):
            self._texts = {name: text for name, text in texts.items() if name in names}
            self._settled = {name: one for name, one in settled.items() if name in names}
        return found

    def _names(self) -> dict[str, Any]:
        """The names of a call, and those of its module that its code uses."""
        frame = self._frame
        own, module = locals_of(frame), frame.f_globals
        if own is module:
            return own
        return {name: module[name] for name in frame.f_code.co_names if name in module} | own

    def _text(self, name: str, value: Any) -> tuple[str, Any] | None:
        """Text and mark of a variable; None for what a script defines or imports."""
        defined = is_definition(name, value)
        if defined or kind_of(value) in _UNCHANGING:
            self._settled[name] = value
        else:
            self._settled.pop(name, None)
        return None if defined else (text_of(value), mark_at_line(value))

    def _in_order(self, found: dict[str, str]) -> dict[str, str]:
        """Variables of the module in the order in which code uses them, then others."""
        module, names = self._frame.f_globals, self._frame.f_code.co_names
        return {name: found[name] for name in names if name in found and name in module} | found


_CAN_PAUSE = 0x20 | 0x80 | 0x200
"""Flags of the code of generators and of `async` functions."""


class _TraceFunction:
    """Sees lines by `sys.settrace`, in this thread."""

    def __init__(self, notes: LineTrace) -> None:
        self._notes = notes

    def begin(self, frames: Iterable[FrameType]) -> None:
        for frame in frames:
            frame.f_trace = self._line
        sys.settrace(self._call)

    def end(self) -> None:
        sys.settrace(None)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        pauses = frame.f_code.co_flags & _CAN_PAUSE  # then it may go on
        note = self._notes.enter if pauses else self._notes.start
        return self._line if note(frame) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._notes.run(frame, frame.f_lineno)
        elif event == "return":
            self._notes.leave(frame)
        return self._line


class _Monitor:
    """Sees lines by `sys.monitoring` (Python 3.12), which costs nothing in code of others.

    Args:
        notes: Is told of calls and lines.
        tool: A free number for a tool.
    """

    def __init__(self, notes: LineTrace, tool: int) -> None:
        self._notes = notes
        self._tool = tool
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        self._thread = _thread.get_ident()
        self._codes: list[CodeType] = []
        self._lines: dict[CodeType, list[int | None]] = {}
        """The line of each unit of code."""
        self._ended = False
        events = self._monitoring.events
        self._everywhere = events.PY_START | events.PY_RESUME | events.PY_THROW | events.PY_UNWIND
        self._in_own = events.LINE | events.JUMP | events.PY_RETURN | events.PY_YIELD
        self._callbacks: dict[int, Callable[..., Any]] = {
            events.PY_START: self._start,
            events.PY_RESUME: self._resume,
            events.PY_THROW: self._throw,
            events.PY_UNWIND: self._leave,
            events.LINE: self._line,
            events.JUMP: self._jump,
            events.PY_RETURN: self._leave,
            events.PY_YIELD: self._leave,
        }

    def begin(self, frames: Iterable[FrameType]) -> None:
        self._monitoring.use_tool_id(self._tool, "quizlog")
        for event, callback in self._callbacks.items():
            self._monitoring.register_callback(self._tool, event, callback)
        self._monitoring.set_events(self._tool, self._everywhere)
        for frame in frames:
            self._watch(frame.f_code)

    def end(self) -> None:
        if self._ended:
            return
        self._ended = True
        self._monitoring.set_events(self._tool, 0)
        for code in self._codes:
            self._monitoring.set_local_events(self._tool, code, 0)
        for event in self._callbacks:
            self._monitoring.register_callback(self._tool, event, None)
        self._monitoring.free_tool_id(self._tool)

    def _watch(self, code: CodeType) -> None:
        self._codes.append(code)
        spans = code.co_lines()
        self._lines[code] = [line for at, end, line in spans for _ in range(at, end, 2)]
        self._monitoring.set_local_events(self._tool, code, self._in_own)

    def _start(self, code: CodeType, offset: int) -> Any:
        if not self._notes.is_own(code):
            return self._monitoring.DISABLE
        self._enter(code, _frame_above(), self._notes.start)
        return None

    def _resume(self, code: CodeType, offset: int) -> Any:
        if not self._notes.is_own(code):
            return self._monitoring.DISABLE
        self._enter(code, _frame_above(), self._notes.enter)
        return None

    def _throw(self, code: CodeType, offset: int, error: BaseException) -> None:
        self._enter(code, _frame_above(), self._notes.enter)

    def _enter(self, code: CodeType, frame: FrameType, note: Callable[[FrameType], bool]) -> None:
        entered = _thread.get_ident() == self._thread and note(frame)
        if entered and not self._monitoring.get_local_events(self._tool, code):
            self._watch(code)

    def _leave(self, code: CodeType, offset: int, value: object) -> None:
        self._notes.leave(_frame_above())

    def _line(self, code: CodeType, line: int) -> Any:
        again = self._notes.run(_frame_above(), line)
        return None if again else self._monitoring.DISABLE

    def _jump(self, code: CodeType, offset: int, target: int) -> Any:
        """A jump back to the same line runs it again, which is no event of a line."""
        lines = self._lines[code]
        line = lines[target // 2]
        if target >= offset or line is None or line != lines[offset // 2]:
            return self._monitoring.DISABLE
        return None if self._notes.run(_frame_above(), line) else self._monitoring.DISABLE


def _free_tool() -> int | None:
    """A number that no tool of the script has; None if there is none, or no `sys.monitoring`."""
    monitoring: Any = getattr(sys, "monitoring", None)
    numbers = range(6) if type(monitoring) is type(sys) else ()
    return next((one for one in numbers if monitoring.get_tool(one) is None), None)


def _frame_above() -> FrameType:
    """The frame that called the caller; `sys._getframe` would tell the script's audit hooks."""
    try:
        raise _Here
    except _Here as here:
        return here.__traceback__.tb_frame.f_back.f_back  # type: ignore[union-attr,return-value]


class _Here(Exception):
    """Raised to get a frame."""


class LinesRun:
    """The lines that run from `begin` on, each once, and those that go on then.

    Args:
        name: The name of one of the script's files; None for files of others.
        is_held: Whether calls of a code are left out, as to trace them would change them.
    """

    def __init__(
        self, name: Callable[[str], str | None], is_held: Callable[[CodeType], bool]
    ) -> None:
        self._name = name
        self._is_held = is_held
        self._lines: dict[str, set[int]] = {}
        self._tracers: dict[str, Any] = {}
        """What notes the lines of each path: one call, as loops run very many."""

    def begin(self, frames: list[FrameType]) -> None:
        """Note lines from now on, and the line that the innermost of these calls goes on with."""
        for frame in frames:
            frame.f_trace = self._tracer(frame.f_code)
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
        return self._tracer(frame.f_code)

    def _tracer(self, code: CodeType) -> Any:
        """What notes the lines of a code; None for that of others."""
        path = code.co_filename
        if self._is_held(code):
            return None
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
            if file is not None and not self._is_held(frame.f_code):
                self._lines.setdefault(file, set()).add(frame.f_lineno)
                return
            frame = frame.f_back
