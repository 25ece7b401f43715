"""What a terminal would show of a text: its colours, and lines that were drawn over, as they ended.

Colours and styles (SGR) become the style of the text; text in the colour of its ground is known.
Carriage return, backspace, and the movements of the cursor and erasures are carried out. Of what
draws nothing, as links, titles and modes, only the text is left. Everything else that could steer a
terminal stays visible as `text.visible` shows it. Pure; nothing is hidden that a script only
concealed, or that was on a screen it cleared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from .text import visible

if TYPE_CHECKING:
    from rich.style import Style


MOST = 4 * 1024 * 1024
"""Characters of a text above which it is shown as it is: to settle it would take too long."""
_COLUMNS = 10_000
"""The rightmost column that a movement of the cursor can reach."""
_WORK = 4_000_000
"""Pieces, or 64 characters, that may be copied to draw over lines, so that time stays bounded."""
_ROWS = 50
"""The lowest row of a screen that a movement of the cursor can reach."""
_SEQUENCE = re.compile(
    r"(\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]P_^X][^\x00-\x1f\x7f]*(?:\x07|\x1b\\)"
    r"|\x1b(?:[=>78c]|\(B)|[\r\x08])"
)
"""What may be carried out: a control sequence, a string such as a link's address, and others."""
_DRAWS_NOTHING = re.compile(
    r"\x1b(?:\[[<=>?][0-9;:]*[^\x40-\x5f]|\[[0-9;]*[ -/]?[hlncqrt]|[\]P_^X].*|[=>]|\(B)", re.S
)
"""Links, titles, modes, requests and the like."""
_STEERS = re.compile(r"[\x1b\x08]|\r")


class Piece(NamedTuple):
    """Safe text in one style; may hold newlines."""

    text: str
    style: str = ""
    """Parameters of SGR in one order, as `1;31`; empty for the terminal's own style."""


def settle(text: str) -> tuple[Piece, ...]:
    """The pieces of a text as a terminal would show it, safe to show."""
    if _is_drawn(text):
        return _settled(text)
    return (Piece(visible(text)),) if text else ()


def _is_drawn(text: str) -> bool:
    return len(text) <= MOST and steers(text)


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
    return "".join(piece.text for piece in _settled(text)) if _is_drawn(text) else visible(text)


def plain_lines(text: str) -> list[str]:
    """The lines of `plain`, as a terminal has them; none of an empty text."""
    shown = plain(text)
    return shown.removesuffix("\n").split("\n") if shown else []


_STAYS = re.compile(r"\r(?:\x1b\[[0-9;]*[A-Za-z])*\Z")
_DRAWS_OVER = re.compile(r"(?:\x1b\[[0-9;?]*[A-Za-z])*[\r\x08]")


def with_newlines(printed: Sequence[str]) -> list[str]:
    """Recorded strings of `print`, each with the newline that the record leaves out.

    Strings that draw over one line, as those of a progress bar, had none between them, nor before
    the empty `print()` that ends them.
    """
    pairs = zip_longest(printed, printed[1:], fillvalue="\n")
    return [text if _goes_on(text, after) else f"{text}\n" for text, after in pairs]


def _goes_on(text: str, after: str) -> bool:
    """Whether a string is drawn over, or goes on, by the one after it."""
    if _STAYS.search(text):
        return True
    ends_or_draws = not after or _DRAWS_OVER.match(after)
    return bool(_DRAWS_OVER.match(text) and ends_or_draws) or after.startswith("\x08")


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
        self._top: int | None = None
        self._saved = (0, 0)
        self._work = 0
        self.style = ""

    def write(self, text: str) -> None:
        """Write safe text; a newline begins the next line."""
        first, *others = text.split("\n")
        self._put(first)
        for other in others:
            self._go_to(self._row + 1, 0)
            self._put(other)

    def _go_to(self, row: int, column: int) -> None:
        added = row + 1 - len(self.lines)
        self._worked(max(0, added - 1))  # a newline costs what it is long
        for _ in range(added):
            self.lines.append([])
            self._lengths.append(0)
        self._row, self._column = row, column

    def _worked(self, much: int) -> None:
        self._work += much
        if self._work > _WORK:
            raise _TooMuchWorkError

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
        self._worked(len(line) + self._lengths[self._row] // 64)
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

    def move_on_screen(self, row: int, column: int) -> None:
        """Move the cursor to a place of the screen, which begins here if none has begun."""
        if self._top is None or len(self.lines) - self._top > _ROWS:  # its first rows scrolled off
            self.clear()
        top = len(self.lines) - 1 if self._top is None else self._top
        self._go_to(top + min(row, _ROWS) - 1, min(column - 1, _COLUMNS))

    def clear(self) -> None:
        """Begin a screen below what was written, which stays readable."""
        last = len(self.lines) - 1
        self._go_to(last + 1 if self._lengths[last] else last, 0)
        self._top = self._row

    def save(self) -> None:
        """Keep the place of the cursor."""
        self._saved = self._row, self._column

    def restore(self) -> None:
        """Put the cursor where it was kept."""
        row, column = self._saved
        self._row, self._column = min(row, len(self.lines) - 1), column

    def erase_line(self, which: int) -> None:
        """Erase from the cursor on (0), up to it (1), or the whole line (2)."""
        length = self._lengths[self._row]
        if which == 1:
            self._replace(0, self._column + 1, Piece(" " * min(self._column + 1, length)))
            return
        start = 0 if which == 2 else min(self._column, length)
        self._replace(start, length, Piece(""))
        self._lengths[self._row] = start

    def erase(self, count: int, *, closes: bool) -> None:
        """Erase some characters from the cursor on; what is behind them closes up if wanted."""
        gone = max(0, min(count, self._lengths[self._row] - self._column))
        if gone:
            by = "" if closes else " " * gone
            self._replace(self._column, self._column + gone, Piece(by))
            self._lengths[self._row] -= gone - len(by)

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
    simple = _SIMPLE.get(sequence)
    if simple:
        simple(screen)
        return True
    if _DRAWS_NOTHING.fullmatch(sequence):
        return True
    parameters, final = sequence[2:-1], sequence[-1]
    if final == "m" and _COLORS.fullmatch(parameters):
        screen.style = _changed(screen.style, parameters)
        return True
    if not _NUMBERS.fullmatch(parameters):
        return False
    return _obey_numbers(screen, final, [int(number or 0) for number in parameters.split(";")])


_SIMPLE: dict[str, Callable[[_Screen], None]] = {
    "\r": lambda screen: screen.move("G", 1),
    "\b": lambda screen: screen.move("D", 1),
    "\x1bc": _Screen.clear,
    "\x1b7": _Screen.save,
    "\x1b[s": _Screen.save,
    "\x1b8": _Screen.restore,
    "\x1b[u": _Screen.restore,
}
_COLORS = re.compile("[0-9;:]*")
_NUMBERS = re.compile("[0-9]{0,6}(;[0-9]{0,6})?")


def _obey_numbers(screen: _Screen, final: str, numbers: Sequence[int]) -> bool:
    first = numbers[0] or 1
    if final in "Hf":
        screen.move_on_screen(first, (numbers[1] if len(numbers) > 1 else 0) or 1)
    elif len(numbers) > 1:
        return False
    elif final in "KJ":
        return _erase(screen, final, numbers[0])
    elif final in "XP":
        screen.erase(first, closes=final == "P")
    elif final in "ABCDEFG":
        screen.move(final, first)
    else:
        return False
    return True


def _erase(screen: _Screen, final: str, which: int) -> bool:
    if final == "K" and which <= 2:
        screen.erase_line(which)
    elif final == "J" and which == 0:
        screen.erase_below()
    elif final == "J" and which == 2:
        screen.clear()
    else:
        return final == "J" and which == 3  # what was scrolled off stays
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
    if "fg" in now and "bg" in now and _looks_alike(now["fg"], now["bg"]):
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


_NEAR = 24
"""Largest difference in each of red, green and blue between colours that look alike."""
_NAMED = (
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0),
    (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
    (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0),
    (92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255),
)  # fmt: skip
"""The first 16 colours as xterm has them; a terminal's theme may have others."""
_SHADES = (0, 95, 135, 175, 215, 255)
"""The steps of red, green and blue in the colours from 16 on."""
_FIRST = {"3": 0, "4": 0, "9": 8, "10": 8}
"""The number of the first colour of each decade of parameters."""


@lru_cache(maxsize=1024)
def _looks_alike(ink: str, ground: str) -> bool:
    """Whether text could not be told from its ground, however the two colours are written.

    Args:
        ink: Parameters of SGR for the text, as `31`, `38;5;1` or `38;2;205;0;0`.
        ground: The same for its ground.
    """
    one, other = _number(ink), _number(ground)
    if one is not None and one == other:
        return True
    pairs = zip(_rgb(ink), _rgb(ground), strict=True)
    return all(abs(a - b) <= _NEAR for a, b in pairs)


def _number(parameters: str) -> int | None:
    """Which of the 256 colours it is; None if it is given as red, green and blue."""
    first, *values = parameters.split(";")
    if values:
        return int(values[1]) if values[0] == "5" else None
    return _FIRST[first[:-1]] + int(first[-1])


def _rgb(parameters: str) -> tuple[int, ...]:
    """Red, green and blue of a colour."""
    number = _number(parameters)
    if number is None:
        return tuple(map(int, parameters.split(";")[2:]))
    if number < 16:
        return _NAMED[number]
    if number >= 232:
        return (8 + 10 * (number - 232),) * 3
    number -= 16
    return tuple(_SHADES[number // place % 6] for place in (36, 6, 1))
