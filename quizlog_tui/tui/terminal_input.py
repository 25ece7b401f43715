"""Reads what a terminal sends: pasted text as it is, and also bytes that are no text.

Textual takes escape sequences inside pasted text for keys and drops its null characters, and ends
the program at a byte that is no UTF-8. Here such a byte becomes half a surrogate pair, as in the
arguments of a command.
"""

from __future__ import annotations

import os
import selectors
from codecs import getincrementaldecoder
from collections.abc import Iterable

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

_BEGIN, _END = "\x1b[200~", "\x1b[201~"
_WAIT_SECONDS = 0.1
"""Seconds to wait for input before it is seen whether a lone Escape was a key."""


class PasteParser(XTermParser):
    """Makes events of what a terminal sends."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasting = False
        self._seen = ""
        """The pasted text; else the last characters, which may be the first ones of `_BEGIN`."""

    def feed(self, data: str) -> Iterable[Message]:
        """The events of some text; an empty text ends the input."""
        if not data:
            yield from super().feed(data)
        while data:
            sign = _END if self._pasting else _BEGIN
            known = len(self._seen)
            self._seen += data
            at = self._seen.find(sign, max(0, known - len(sign)))
            end = len(self._seen) if at < 0 else at + len(sign)
            part, data = data[: end - known], data[end - known :]
            if not self._pasting:
                yield from super().feed(part)
                self._seen = self._seen[-len(sign) + 1 :]
            if at >= 0:
                yield from self._turn(self._seen[:at])

    def _turn(self, pasted: str) -> Iterable[Message]:
        """Go from keys to pasted text, or back."""
        if self._pasting:
            for message in super().feed(_END):
                if not isinstance(message, events.Paste):  # of nothing: it was given nothing
                    yield message
            yield events.Paste(pasted)
        self._pasting, self._seen = not self._pasting, ""


class TerminalDriver(LinuxDriver):
    """Textual's driver with another way to read."""

    def run_input_thread(self) -> None:
        """Read until the program ends."""
        parser = PasteParser(self._debug)
        decoder = getincrementaldecoder("utf-8")("surrogateescape")
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(_WAIT_SECONDS):
                    data = decoder.decode(os.read(self.fileno, 1 << 16))
                    for message in parser.feed(data) if data else ():
                        self.process_message(message)
                for message in parser.tick():
                    self.process_message(message)
