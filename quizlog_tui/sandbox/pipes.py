"""Reads a run's answer, stdout and stderr, each limited as it is read."""

from __future__ import annotations

import os

from .frame import HEAD
from .result import SandboxLimits

NAMES = ("answer", "stdout", "stderr")
_FLOOD = 64
"""A run is ended if it writes more than this many times the output limit."""
_LEAST_FRAME = 8192
"""Bytes reserved for a frame with an error, even if the limit of an answer is smaller."""
_PART = 1 << 16


class Pipes:
    """The three pipes of a run. Must be closed."""

    def __init__(self, limits: SandboxLimits) -> None:
        self._most = dict.fromkeys(NAMES, limits.output)
        self._most["answer"] = HEAD + max(limits.answer, _LEAST_FRAME)
        self._kept = {name: bytearray() for name in NAMES}
        self._counts = dict.fromkeys(NAMES, 0)
        ends = {name: os.pipe() for name in NAMES}
        self.near = {name: near for name, (near, _) in ends.items()}
        """The descriptors to read from, by name."""
        self.far = [far for _, far in ends.values()]
        """The descriptors for the run, in the order of the names."""
        for fd in self.near.values():
            os.set_blocking(fd, False)

    def give_away(self) -> None:
        """Close the far ends here, as the box has them now."""
        for fd in self.far:
            os.close(fd)
        self.far.clear()

    def close(self) -> None:
        """Close all open ends."""
        self.give_away()
        for fd in self.near.values():
            os.close(fd)
        self.near.clear()

    def read(self, name: str) -> bool:
        """Read the present content of a pipe; return whether more can come."""
        try:
            part = os.read(self.near[name], _PART)
        except BlockingIOError:
            return True
        kept = self._kept[name]
        kept += part[: max(0, self._most[name] - len(kept))]
        self._counts[name] += len(part)
        return bool(part)

    def drain(self) -> None:
        """Read what is left in the pipes after the run has ended."""
        for name in NAMES:
            # A pipe has little room: if there is more than fits, a process is still writing.
            for _ in range(64):
                before = self._counts[name]
                if not self.read(name) or self._counts[name] == before:
                    break

    def flooded(self) -> str | None:
        """The name of a stream with far too much output; None if there is none."""
        for name in ("stdout", "stderr"):
            if self._counts[name] > _FLOOD * self._most[name]:
                return name
        return None

    def answer_too_big(self) -> bool:
        """Whether the answer's pipe delivered more than an answer may have."""
        return self._counts["answer"] > self._most["answer"]

    def answer(self) -> bytes:
        """The bytes from the answer's pipe."""
        return bytes(self._kept["answer"])

    def text(self, name: str) -> str:
        """The kept text of stdout or stderr; bytes that are not UTF-8 are replaced."""
        return self._kept[name].decode("utf-8", "replace")
