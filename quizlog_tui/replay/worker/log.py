"""Logs what the script writes, and waits for its answers.

All ways to read a line end in `Log.ask`, which blocks on the wire, so that no script can catch or
skip it. `streams` implements the streams themselves.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys
from collections.abc import Callable
from os import SEEK_END, getpid, lseek  # the originals, here and below: they are patched later
from time import perf_counter
from types import FrameType

from .code_watch import CodeWatch
from .fixed.fixed_world import FixedWorld
from .outcome import Outcome
from .taint import Taint
from .wire import Wire, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PROGRESS_SECONDS = 1.0
_loaded: Callable[[bytes], Any] = sys.modules["marshal"].loads
_LOOKS_IMPORT = {
    name: sys.modules[name]
    for name in ("__future__", "_json", "_signal", "_thread", "builtins", "os", "sys")
}
"""Modules for the code that looks at the script: these, whatever the script's folder holds."""


class Log:
    """What the script did since the last report, and the answers it may still use.

    Args:
        wire: To quizlog.
        outcome: The outcome of the script.
        taint: Knows why the process must not be copied.
        world: The world of the script.
        code: Reports code that is run from text.
        max_unreported: Maximum bytes of output before answered questions must be reported.
    """

    def __init__(
        self,
        wire: Wire,
        outcome: Outcome,
        taint: Taint,
        world: FixedWorld,
        code: CodeWatch,
        max_unreported: int,
    ) -> None:
        self.wire = wire
        self.outcome = outcome
        self.taint = taint
        taint.on_shared_write = self._report_shared_write
        self.world = world
        self.code = code
        self.copy: Callable[[Log, Taint], None]
        self.pause_after = 0.0
        self._asked = False
        self.untouched = False
        """Whether this process was found untainted, and has had no answer since."""
        self.out = os.dup(1)
        self.err = os.dup(2)
        self.known = 0
        self.written = self.reported = 0
        """Bytes in both streams at the last question, and at the last that quizlog heard of."""
        self._max_unreported = max_unreported
        self.entries: list[str] = []
        self.asked: list[str] = []
        """The prompt of the coming question, in the form of entries."""
        self.writing = "null"
        """Encoding and newline of stdout as JSON; null unless the script changed them."""
        self.unfinished = ""
        self.steps: list[str] = []
        self.answers: list[str] = []
        self.lock = _thread.RLock()
        self.looker: dict[str, Any] = {}
        """What quizlog sent to look at the script with; only in a process that is thrown away."""
        self.home = getpid()
        self.started = self.reported_at = perf_counter()

    def foreign(self) -> None:
        """Log what others (C code, child processes) wrote to stdout since the last call."""
        size = lseek(self.out, 0, SEEK_END)
        if size > self.known:
            self.close_entry()
            self.entries.append(f"[{self.known}, {size}]")
        elif size < self.known:  # the descriptor was redirected for a while
            self.writing = '["elsewhere", ""]'
        self.known = size

    def wrote(self, text: str) -> None:
        """Log text written outside `print()`: pieces of one line make one entry."""
        self.unfinished += text
        if text.endswith("\n"):
            self.close_entry()

    def printed(self, text: str) -> None:
        """Log the text of one `print()` call."""
        self.close_entry()
        self.entries.append(quote(text))

    def close_entry(self) -> None:
        """End the entry of a line that was begun outside `print()`."""
        if self.unfinished:
            self.entries.append(quote(self.unfinished))
            self.unfinished = ""

    def ask(self, prompt: str) -> str:
        """Stop at a question until there is an answer. Blocks.

        Raises:
            EOFError: The script forked this process, or has ended, and what it leaves behind asks.
        """
        if getpid() != self.home:
            raise EOFError("EOF when reading a line")
        with self.lock:
            if not self._asked:
                # Objects that exist at the first question mostly stay. A collection that visits
                # them would give every copy its own pages. Done alike in every run.
                self._asked = True
                gc.freeze()
            asker = sys._getframe(1).f_back  # skips ours: each frame examined raises an audit event
            self._close_step(quote(prompt), *self.outcome.files.asking(asker))
            if not self.answers:
                self._report("asking")
                self._wait()
            elif self.pause_after and perf_counter() - self.reported_at > self.pause_after:
                self._report("paused")
                self._wait()
            elif self._overdue():
                self._report("working")
            self.started = perf_counter()
            self.code.used += 1
            return self.answers.pop()

    def _overdue(self) -> bool:
        """Whether the last report is long ago, or much was written since."""
        much = self.written - self.reported > self._max_unreported
        return much or perf_counter() - self.reported_at > _PROGRESS_SECONDS

    def _wait(self) -> None:
        """Block until there are answers; make copies on request meanwhile."""
        while True:
            kind, *fields = self.wire.receive()
            if kind == b"copy":
                self.copy(self, self.taint)
                continue
            if kind == b"look":
                self._look(*fields)
                continue
            self.pause_after = int(kind) / 1e6
            fresh = [field.decode("utf-8", "surrogatepass") for field in fields]
            self.answers = fresh[::-1] + self.answers
            self.reported_at = perf_counter()
            if self.answers:
                self.untouched = False
                return

    def wait_for_looks(self) -> None:
        """Before the script begins: carry out requests to look, until told to begin."""
        while (message := self.wire.receive())[0] == b"look":
            self._look(*message[1:])

    def _look(self, request: bytes, *code: bytes) -> None:
        """Look at the script with code that quizlog sends; see `quizlog_tui.debug`."""
        if not self.looker:
            own = dict(vars(_LOOKS_IMPORT["builtins"]))
            others = own["__import__"]  # for C code of libraries, which imports in our name
            own["__import__"] = lambda name, *rest: _LOOKS_IMPORT.get(name) or others(name, *rest)
            self.looker.update(log=self, __builtins__=own)
            self.outcome.keeps_error = True
            for text in code:  # or byte code, which no source of ours begins like
                source = text[:1] == b'"'
                found = compile(text, "<look>", "exec") if source else _loaded(text)
                exec(found, self.looker)
        self.looker["carry_out"](request)
        if self.taint.quick_reason() and self.taint.wrote_shared:
            self.wire.send('["straying"]')  # by the script's own code, which a look may run
        self.wire.send(f'["looked", {quote(self.looker["answer"]())}]')

    def end(self, leaving: FrameType | None = None) -> None:
        """Report the last step and the outcome (a forked child of the script does not).

        Args:
            leaving: The frame that calls `os._exit`.
        """
        if getpid() == self.home:
            with self.lock:
                if self.code.on_stack(leaving):
                    self.outcome.left_by_code()
                if self.looker:
                    self.looker["at_end"]()
                    self.wire.send(f'["looked", {quote(self.looker["answer"]())}]')
                self._close_step("null")
                self._report("ended")
                self.home = 0

    def _report_shared_write(self) -> None:
        """Report a write to a shared folder at once: this process may be killed before it stops."""
        if getpid() != self.home:
            return
        if self.lock.acquire(blocking=False):  # else another thread is reporting, or at a question
            try:
                self.wire.send('["straying"]')
            finally:
                self.lock.release()

    def _close_step(self, prompt: str, line: int | None = None, place: str = "") -> None:
        self.foreign()
        self.close_entry()
        seconds = perf_counter() - self.started
        errors = lseek(self.err, 0, SEEK_END)
        self.written = self.known + errors
        where = "null" if line is None else str(line)
        entries = ", ".join(self.entries)
        self.steps.append(
            f"[{prompt}, {where}, [{entries}], {self.known}, {errors}, {seconds:.6f}"
            f", [{', '.join(self.asked)}], {quote(place)}]"
        )
        self.entries, self.asked = [], []

    def _report(self, kind: str) -> None:
        steps, self.steps = self.steps, []
        self.reported = self.written
        self.reported_at = perf_counter()
        taint = self.taint.quick_reason()
        known = "null" if taint is None else quote(taint)
        if self.taint.wrote_shared:
            self.world.outside.note("strayed")
        observed, steps_json = self.world.outside.json, ", ".join(steps)
        end = self.outcome.json
        self.wire.send(f'["{kind}", [{steps_json}], {end}, {known}, {observed}, {self.writing}]')
