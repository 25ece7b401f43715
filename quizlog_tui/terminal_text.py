"""What a terminal would show of a text: its colours, and lines that were drawn over, as they ended.

Colours and styles (SGR) become the style of the text. Carriage return, backspace, and the cursor
movements and erasures of progress bars are carried out. Everything else that could steer a terminal
stays visible as `text.visible` shows it. Pure; nothing is hidden that a script only concealed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from .terminal_colors import looks_alike
from .text import visible

if TYPE_CHECKING:
    from rich.style import Style

MOST = 4 * 1024 * 1024
"""Characters of a text above which it is shown as it is: to settle it would take too long."""
_COLUMNS = 10_000
"""The rightmost column that a movement of the cursor can reach."""
_WORK = 4_000_000
"""Pieces, or 64 characters, that may be copied to draw over lines, so that time stays bounded."""
_SEQUENCE = re.compile(r"(\x1b\[(?:[0-9;:]*m|[0-9]*[ABCDEFGKJ])|[\r\x08])")
_STEERS = re.compile(r"[\x1b\x08]|\r")


class Piece(NamedTuple):
    """Safe text in one style; may hold newlines."""

    text: str
    style: str = ""
    """Parameters of SGR in one order, as `1;31`; empty for the terminal's own style."""


def settle(text: str) -> tuple[Piece, ...]:
    """The pieces of a text as a terminal would show it, safe to show."""
    if len(text) <= MOST and steers(text):
        return _settled(text)
    return (Piece(visible(text)),) if text else ()


def steers(text: str) -> bool:
    """Whether a terminal would show a text otherwise than character by character."""
    return _STEERS.search(text) is not None


@lru_cache(maxsize=4)
def _settled(text: str) -> tuple[Piece, ...]:
    """The same for a text that steers; kept, as a pane asks for what it shows several times."""
    try:
        return _merged(_drawn(text))
    except _TooMuchWorkError:
        return (Piece(visible(text)),)


def plain(text: str) -> str:
    """The characters that `settle` finds, without their styles."""
    return "".join(piece.text for piece in settle(text))


def colored(text: str) -> str:
    """A text for a terminal: what `settle` finds, with no escape sequences but our own colours."""
    return "".join(_with_style(*piece) for piece in settle(text))


def _with_style(text: str, style: str) -> str:
    """A text in a style that ends on each line, so that no ground runs on to the right edge."""
    if not style:
        return text
    return "\n".join(one and f"\x1b[{style}m{one}\x1b[0m" for one in text.split("\n"))


@lru_cache(maxsize=1024)
def rich_style(style: str) -> Style:
    """The style of a piece as Rich has it."""
    from rich.ansi import AnsiDecoder
    from rich.style import Style

    spans = AnsiDecoder().decode_line(f"\x1b[{style}m.").spans
    found = spans[0].style if spans else Style.null()
    return found if isinstance(found, Style) else Style.parse(found)


# -- drawing


class _TooMuchWorkError(Exception):
    """A text draws over its lines so often that settling it would take too long."""


class _Screen:
    """Lines without end in both directions, and a cursor."""

    def __init__(self) -> None:
        self.lines: list[list[Piece]] = [[]]
        self._lengths = [0]
        self._row = self._column = 0
        self._work = 0
        self.style = ""

    def write(self, text: str) -> None:
        """Write safe text; a newline begins the next line."""
        first, *others = text.split("\n")
        self._put(first)
        for other in others:
            self._row, self._column = self._row + 1, 0
            if self._row == len(self.lines):
                self.lines.append([])
                self._lengths.append(0)
            self._put(other)

    def _put(self, text: str) -> None:
        if not text:
            return
        length = self._lengths[self._row]
        if self._column < length:
            self._replace(self._column, self._column + len(text), Piece(text, self.style))
        else:
            line = self.lines[self._row]
            if self._column > length:
                line.append(Piece(" " * (self._column - length)))
            line.append(Piece(text, self.style))
        self._column += len(text)
        self._lengths[self._row] = max(length, self._column)

    def _replace(self, start: int, end: int, by: Piece) -> None:
        """Put a piece in the place of some columns of the cursor's line."""
        line = self.lines[self._row]
        self._work += len(line) + self._lengths[self._row] // 64
        if self._work > _WORK:
            raise _TooMuchWorkError
        parts = [*_part(line, 0, start), by, *_part(line, end, self._lengths[self._row])]
        self.lines[self._row] = [piece for piece in parts if piece.text]

    def move(self, final: str, count: int) -> None:
        """Move the cursor as the control sequence with this final letter does."""
        if final in "AF":
            self._row = max(0, self._row - count)
        elif final in "BE":
            self._row = min(len(self.lines) - 1, self._row + count)
        if final in "EF":
            self._column = 0
        elif final == "C":
            self._column = min(max(self._column, _COLUMNS), self._column + count)
        elif final == "D":
            self._column = max(0, self._column - count)
        elif final == "G":
            self._column = min(_COLUMNS, count - 1)

    def erase_line(self, which: int) -> None:
        """Erase from the cursor on (0), up to it (1), or the whole line (2)."""
        length = self._lengths[self._row]
        if which == 1:
            self._replace(0, self._column + 1, Piece(" " * min(self._column + 1, length)))
            return
        start = 0 if which == 2 else min(self._column, length)
        self._replace(start, length, Piece(""))
        self._lengths[self._row] = start

    def erase_below(self) -> None:
        """Erase from the cursor on, and all lines below."""
        self.erase_line(0)
        del self.lines[self._row + 1 :], self._lengths[self._row + 1 :]


def _part(line: Sequence[Piece], start: int, end: int) -> Iterator[Piece]:
    """The pieces of a line between two columns."""
    at = 0
    for text, style in line:
        cut = text[max(0, start - at) : max(0, end - at)]
        at += len(text)
        if cut:
            yield Piece(cut, style)


def _drawn(text: str) -> list[list[Piece]]:
    screen = _Screen()
    for index, part in enumerate(_SEQUENCE.split(text)):
        if index % 2 == 0 or not _obey(screen, part):
            screen.write(visible(part))
    return screen.lines


def _obey(screen: _Screen, sequence: str) -> bool:
    """Carry out a control sequence; whether that was done."""
    if sequence == "\r":
        screen.move("G", 1)
        return True
    if sequence == "\b":
        screen.move("D", 1)
        return True
    parameters, final = sequence[2:-1], sequence[-1]
    if final == "m":
        screen.style = _changed(screen.style, parameters)
        return True
    if len(parameters) > 6:
        return False
    if final in "KJ":
        return _erase(screen, final, int(parameters or 0))
    screen.move(final, int(parameters or 1) or 1)
    return True


def _erase(screen: _Screen, final: str, which: int) -> bool:
    if final == "K" and which <= 2:
        screen.erase_line(which)
    elif final == "J" and which == 0:
        screen.erase_below()
    else:
        return False  # what was printed before stays readable
    return True


def _merged(lines: Sequence[Sequence[Piece]]) -> tuple[Piece, ...]:
    """The pieces of all lines in few: neighbours of one style are one."""
    found: list[Piece] = []
    texts: list[str] = []
    style = ""
    for index, line in enumerate(lines):
        if index:
            texts.append("\n")
        for piece in line:
            if piece.style != style:
                found.append(Piece("".join(texts), style))
                texts, style = [], piece.style
            texts.append(piece.text)
    found.append(Piece("".join(texts), style))
    return tuple(piece for piece in found if piece.text)


# -- styles

_SWITCHES = {"1": "1", "2": "2", "3": "3", "4": "4", "7": "7", "9": "9", "21": "4"}
"""What switches an attribute on, with the parameter that it is kept as; none conceals text."""
_OFF = {"22": ("1", "2"), "23": ("3",), "24": ("4",), "27": ("7",), "29": ("9",)}
_ORDER = ("1", "2", "3", "4", "7", "9", "fg", "bg")


@lru_cache(maxsize=4096)
def _changed(style: str, parameters: str) -> str:
    """A style after a sequence of SGR."""
    now = _parsed({}, style) if style else {}
    now = _parsed(now, parameters or "0")
    if "fg" in now and "bg" in now and looks_alike(now["fg"], now["bg"]):
        now.pop("bg")  # else the text could not be read
    return ";".join(now[slot] for slot in _ORDER if slot in now)


def _parsed(before: dict[str, str], parameters: str) -> dict[str, str]:
    now = dict(before)
    codes = iter(parameters.replace(":", ";").split(";"))
    for code in (code.lstrip("0") or "0" for code in codes):
        if code == "0":
            now = {}
        elif code in _SWITCHES:
            now[_SWITCHES[code]] = _SWITCHES[code]
        elif code in ("38", "48"):
            color = _color(codes)
            if color:
                now["fg" if code == "38" else "bg"] = f"{code};{color}"
        elif code in ("39", "49"):
            now.pop("fg" if code == "39" else "bg", None)
        elif re.fullmatch("[39][0-7]", code):
            now["fg"] = code
        elif re.fullmatch("4[0-7]|10[0-7]", code):
            now["bg"] = code
        for slot in _OFF.get(code, ()):
            now.pop(slot, None)
    return now


_COLOR_NUMBER = re.compile("0{0,9}([01]?[0-9]?[0-9]|2[0-4][0-9]|25[0-5])")


def _color(codes: Iterator[str]) -> str:
    """The parameters of an indexed or a true colour; empty if they are not that."""
    kind = next(codes, "")
    wanted = {"5": 1, "2": 3}.get(kind.lstrip("0"), 0)
    values = [next(codes, "") for _ in range(wanted)]
    good = values and all(_COLOR_NUMBER.fullmatch(value) for value in values)
    return ";".join([kind.lstrip("0"), *(str(int(value)) for value in values)]) if good else ""
