"""What comes out of a run: its answer, stdout and stderr, each bounded while it is read."""

from __future__ import annotations

import os

from .frame import HEAD
from .result import Limits

NAMES = ("answer", "stdout", "stderr")
_FLOOD = 64
"""A run that writes this many times more than is kept is ended."""
_LEAST_FRAME = 8192
"""Room for a frame that tells of an error, however small an answer may be."""
_PART = 1 << 16


class Pipes:
    """The three pipes of a run. Close them."""

    def __init__(self, limits: Limits) -> None:
        self._most = dict.fromkeys(NAMES, limits.output)
        self._most["answer"] = HEAD + max(limits.answer, _LEAST_FRAME)
        self._kept = {name: bytearray() for name in NAMES}
        self._counts = dict.fromkeys(NAMES, 0)
        ends = {name: os.pipe() for name in NAMES}
        self.near = {name: near for name, (near, _) in ends.items()}
        """Descriptors to read from, by name."""
        self.far = [far for _, far in ends.values()]
        """Descriptors to give away, in the order of the names."""
        for fd in self.near.values():
            os.set_blocking(fd, False)

    def give_away(self) -> None:
        """Close the far ends, which somebody else holds now."""
        for fd in self.far:
            os.close(fd)
        self.far.clear()

    def close(self) -> None:
        """Close what is still open."""
        self.give_away()
        for fd in self.near.values():
            os.close(fd)
        self.near.clear()

    def read(self, name: str) -> bool:
        """Take in what a pipe holds at the moment; whether more can come."""
        try:
            part = os.read(self.near[name], _PART)
        except BlockingIOError:
            return True
        kept = self._kept[name]
        kept += part[: max(0, self._most[name] - len(kept))]
        self._counts[name] += len(part)
        return bool(part)

    def drain(self) -> None:
        """Take in what was still on its way, when nobody writes any more."""
        for name in NAMES:
            # A pipe holds little: what is beyond one that is full was written by somebody alive.
            for _ in range(64):
                before = self._counts[name]
                if not self.read(name) or self._counts[name] == before:
                    break

    def flooded(self) -> str | None:
        """The name of a stream that holds far too much."""
        for name in ("stdout", "stderr"):
            if self._counts[name] > _FLOOD * self._most[name]:
                return name
        return None

    def answer_too_big(self) -> bool:
        """Whether more came on the answer's pipe than any answer may have."""
        return self._counts["answer"] > self._most["answer"]

    def answer(self) -> bytes:
        """What came on the answer's pipe."""
        return bytes(self._kept["answer"])

    def text(self, name: str) -> str:
        """What was kept of stdout or stderr; bytes that are no text are replaced."""
        return self._kept[name].decode("utf-8", "replace")
