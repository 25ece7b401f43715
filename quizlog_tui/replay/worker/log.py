"""What the script wrote, in order, and the place where it waits for an answer.

All ways to read a line end in `Log.ask`, which blocks on the wire: a place that no script can
catch, skip or see. What happens at the streams themselves is in `streams`.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys
from collections.abc import Callable
from os import getpid, lseek  # the originals, here and below: they are patched later
from time import perf_counter
from types import FrameType

from .fixed.world import World
from .report import Outcome
from .watch.code_watch import CodeWatch
from .watch.taint import Taint
from .wire import Wire, quote

_PROGRESS_SECONDS = 1.0


class Log:
    """What the script did since quizlog last heard, and the answers it may still use.

    Args:
        wire: To quizlog.
        outcome: How the script ended.
        taint: Why the process must not be copied.
        world: Where it runs.
        code: Tells of code that is run from text.
        untold: Bytes that may be written before quizlog must hear of answered questions.
    """

    def __init__(
        self,
        wire: Wire,
        outcome: Outcome,
        taint: Taint,
        world: World,
        code: CodeWatch,
        untold: int,
    ) -> None:
        self.wire = wire
        self.outcome = outcome
        self.taint = taint
        taint.straying = self._straying
        self.world = world
        self.code = code
        self.copy: Callable[[Log, Taint], None]
        self.pause_after = 0.0
        self._asked = False
        self.untouched = False
        """Whether it is known, and no answer came since, that this process can be copied."""
        self.out = os.dup(1)
        self.err = os.dup(2)
        self.known = 0
        self.written = self.told_of = 0
        """Bytes in both streams at the last question, and at the last that quizlog heard of."""
        self._untold = untold
        self.entries: list[str] = []
        self.asked: list[str] = []
        """What was written as the prompt of the question to come, as entries are."""
        self.writing = "null"
        """Encoding and newline of stdout, where the script changed them."""
        self.unfinished = ""
        self.steps: list[str] = []
        self.answers: list[str] = []
        self.lock = _thread.RLock()
        self.home = getpid()
        self.started = self.told = perf_counter()

    def foreign(self) -> None:
        """Log what others (C code, child processes) wrote to stdout since the last look."""
        size = lseek(self.out, 0, os.SEEK_END)
        if size > self.known:
            self.close_entry()
            self.entries.append(f"[{self.known}, {size}]")
        elif size < self.known:  # the descriptor led elsewhere for a while
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
            EOFError: This is a process that the script forked: only the script itself is answered.
        """
        if getpid() != self.home:
            raise EOFError("EOF when reading a line")
        with self.lock:
            if not self._asked:
                # What is there by the first question stays: a collection that visits it all would
                # make every copy hold pages of its own. Done in every run alike, so none differs.
                self._asked = True
                gc.freeze()
            self._close_step(quote(prompt), _asking_line(self.outcome.script))
            if not self.answers:
                self._tell("asking")
                self._wait()
            elif self.pause_after and perf_counter() - self.told > self.pause_after:
                self._tell("paused")
                self._wait()
            elif self._overdue():
                self._tell("working")
            self.started = perf_counter()
            self.code.used += 1
            return self.answers.pop()

    def _overdue(self) -> bool:
        """Whether quizlog has not heard for long, or not of much that was written."""
        much = self.written - self.told_of > self._untold
        return much or perf_counter() - self.told > _PROGRESS_SECONDS

    def _wait(self) -> None:
        """Block until there are answers; meanwhile be copied as often as asked."""
        while True:
            kind, *fields = self.wire.receive()
            if kind == b"copy":
                self.copy(self, self.taint)
                continue
            self.pause_after = int(kind) / 1e6
            fresh = [field.decode("utf-8", "surrogatepass") for field in fields]
            self.answers = fresh[::-1] + self.answers
            self.told = perf_counter()
            if self.answers:
                self.untouched = False
                return

    def end(self, leaving: FrameType | None = None) -> None:
        """Tell the last step and how the script ended (a forked child of the script does not).

        Args:
            leaving: What ends it by `os._exit`.
        """
        if getpid() == self.home:
            with self.lock:
                if self.code.on_stack(leaving):
                    self.outcome.left_by_code()
                self._close_step("null", None)
                self._tell("ended")

    def _straying(self) -> None:
        """Say so at once: this process may be killed before it stops again."""
        if getpid() != self.home:
            return
        if self.lock.acquire(blocking=False):  # else another thread is telling, or at a question
            try:
                self.wire.send('["straying"]')
            finally:
                self.lock.release()

    def _close_step(self, prompt: str, line: int | None) -> None:
        self.foreign()
        self.close_entry()
        seconds = perf_counter() - self.started
        errors = lseek(self.err, 0, os.SEEK_END)
        self.written = self.known + errors
        where = "null" if line is None else str(line)
        entries = ", ".join(self.entries)
        self.steps.append(
            f"[{prompt}, {where}, [{entries}], {self.known}, {errors}, {seconds:.6f}"
            f", [{', '.join(self.asked)}]]"
        )
        self.entries, self.asked = [], []

    def _tell(self, kind: str) -> None:
        steps, self.steps = self.steps, []
        self.told_of = self.written
        self.told = perf_counter()
        taint = self.taint.cheap()
        known = "null" if taint is None else quote(taint)
        if self.taint.strayed:
            self.world.outside.note("strayed")
        observed, told = self.world.outside.json, ", ".join(steps)
        end = self.outcome.json
        self.wire.send(f'["{kind}", [{told}], {end}, {known}, {observed}, {self.writing}]')


def _asking_line(script: str) -> int | None:
    """The line of the script that asks; None where a library's thread asks on its behalf."""
    frame = sys._getframe(2).f_back  # beside ours: looking at each frame is an event to audit
    while frame is not None:
        if frame.f_code.co_filename == script:
            return frame.f_lineno
        frame = frame.f_back
    return None
