"""The one gate between foreign text and a terminal.

Text of scripts, records, file names and exceptions may hold anything. Whatever is shown goes
through `visible` or `one_line` first; nothing else may hand such a string to a terminal, a widget
or an export. The text itself, in records and replies, is never changed.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_UNSAFE_ASCII = bytes([*range(9), *range(11, 32), 127])
_HALF = re.compile("[\ud800-\udfff]")


def _stand_in(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def visible(text: str) -> str:
    r"""Replace all that could steer a terminal by visible stand-ins; newline and tab stay.

    Control characters (C0, DEL, C1), bidirectional and invisible ones, the Unicode line separators
    and lone surrogates are replaced: ESC becomes `␛`, U+009B becomes `\x9b`.
    """
    if text.isascii():  # of which that is known three times sooner
        data = text.encode()
        if len(data.translate(None, _UNSAFE_ASCII)) == len(data):
            return text
    return _UNSAFE.sub(_stand_in, text)


def one_line(text: str) -> str:
    """`visible` text on a single line: newlines become `⏎`, tabs a space."""
    if text.isascii() and text.isprintable():  # as nearly all is
        return text
    return visible(text).replace("\n", "⏎").replace("\t", " ")


def clipped(text: str, most: int) -> str:
    """A text of at most this number of characters; a cut text ends in `…`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def is_whole(text: str) -> bool:
    """Whether a text has a form in UTF-8: it holds no half of a surrogate pair."""
    return not _HALF.search(text)


def plural(count: int, noun: str) -> str:
    """A count with its noun: `1 answer`, `2 answers`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
