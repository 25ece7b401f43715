"""The one gate between foreign text and a terminal.

Text of scripts, records, file names and exceptions may hold anything. Whatever is shown goes
through `visible` or `one_line` first; nothing else may hand such a string to a terminal, a widget
or an export. The text itself, in records and replies, is never changed.

Characters that show nothing could make one name look like another. Joiners and selectors of
variants are needed in some scripts and in emoji, so they count only where they have no work to do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

_IN_PLANE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
)
_ALWAYS = _IN_PLANE + (
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
"""What steers a terminal or shows nothing, wherever it stands."""
_JOINERS, _MONGOLIAN_SELECTORS = "\u200c\u200d", "\u180b-\u180d\u180f"
_AT_TIMES = f"{_JOINERS}{_MONGOLIAN_SELECTORS}\u2800\ufe00-\ufe0f"
"""What shows nothing unless it stands where it has work to do."""
_SELECTORS = "\U000e0100-\U000e01ef"
"""Those of ideographs, which belong to that as well."""
_JOINED = (
    "\u0620-\u077f\u07c0-\u07ff\u0840-\u0dff\u0f00-\u109f\u1700-\u18af\u1900-\u1aaf\u1b00-\u1c7f"
    "\u1cd0-\u1cff\ua800-\ua95f\ua980-\uaaff\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
"""Arabic, Indic, Mongolian, Khmer and Myanmar letters, and those of scripts that are like them."""
_HALVED = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca"
"""The signs after which a joiner asks for half a letter, also at the end of a word."""
_PICTURES = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf"
    "\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
"""Emoji and signs that can be shown as one."""
_IDEOGRAPHS = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


# Each pattern is compiled when it is first needed: most texts need none.


@cache
def doubtful() -> re.Pattern[str]:
    """Finds all that may be `idle`, and more: ranges beyond the first plane take time."""
    return re.compile(f"[{_IN_PLANE}{_AT_TIMES}\U000e0000-\U000e0fff]|[\U00013430-\U0001d17a]")


@cache
def suspect() -> re.Pattern[str]:
    """Finds what steers a terminal, and what shows nothing, also where it has work to do."""
    return re.compile(f"[{_ALWAYS}{_AT_TIMES}{_SELECTORS}]")


@cache
def spaces() -> re.Pattern[str]:
    """Finds what shows as the usual space does, but for its width."""
    return re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")


@cache
def idle() -> re.Pattern[str]:
    """Finds what steers a terminal, and what shows nothing and has no work to do there.

    A lookbehind after a character sees it too, and so has a dot for it.
    """
    kinds = [
        f"[{_ALWAYS}]",
        f"[{_JOINERS}](?!(?<=[{_JOINED}].)[{_JOINED}]|(?<=[{_HALVED}]\u200d))"
        f"(?!(?<=[{_PICTURES}\ufe0f]\u200d)[{_PICTURES}])",
        f"[\ufe0e\ufe0f](?<![{_PICTURES}].)(?!(?<=[0-9#*].)\u20e3)",
        f"[\ufe00-\ufe02{_SELECTORS}](?<![{_IDEOGRAPHS}].)|[\ufe03-\ufe0d]",
        f"[{_MONGOLIAN_SELECTORS}](?<![\u1820-\u18aa].)",
        "(?<![\u2800-\u28ff])\u2800+(?![\u2800-\u28ff])",  # among dots it is the ground of a plot
    ]
    return re.compile("|".join(kinds))


_UNSAFE_ASCII = bytes([*range(9), *range(11, 32), 127])
_HALF = "[\ud800-\udfff]"


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
    and lone surrogates are replaced: ESC becomes `␛`, U+009B becomes `\x9b`. Invisible ones stay
    where they have work to do, as a joiner has between Arabic letters and in emoji.
    """
    if text.isascii():  # of which that is known three times sooner
        data = text.encode()
        if len(data.translate(None, _UNSAFE_ASCII)) == len(data):
            return text
        return doubtful().sub(_stand_in, text)
    return idle().sub(_stand_ins, text) if doubtful().search(text) else text


def _stand_ins(match: re.Match[str]) -> str:
    blanks = len(match.group())  # there may be more of them than one
    return _stand_in(match) if blanks == 1 else blanks * "\\u2800"


def one_line(text: str) -> str:
    """`visible` text on a single line: newlines become `⏎`, tabs a space."""
    if text.isascii() and text.isprintable():  # as nearly all is
        return text
    return visible(text).replace("\n", "⏎").replace("\t", " ")


def told_apart(names: Iterable[str]) -> dict[str, str]:
    """How each of several names is shown on one line, so that each is shown otherwise.

    Names that differ only in what shows nothing have its code points. Should some still be alike,
    as one with a code point and one that spells it, all are shown as Python writes them.
    """
    every = dict.fromkeys(names)
    if all(map(_is_plain, every)):
        return {name: name for name in every}
    looks = Counter(map(_look, every))
    shown = {name: one_line(name) if looks[_look(name)] == 1 else _exact(name) for name in every}
    differ = len({text.strip() for text in shown.values()}) == len(shown)
    return shown if differ else {name: ascii(name) for name in shown}


def _is_plain(name: str) -> bool:
    return name.isascii() and name.isprintable() and name == name.strip()


def _look(name: str) -> str:
    """What a name looks like, if nothing is shown of what shows nothing."""
    return spaces().sub(" ", suspect().sub("", name)).strip()


def _exact(name: str) -> str:
    """A name on one line with the code points of all that shows nothing."""
    return one_line(spaces().sub(_stand_in, suspect().sub(_stand_in, name)))


def clipped(text: str, most: int) -> str:
    """A text of at most this number of characters; a cut text ends in `…`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def in_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows of a table as lines; each column is as wide as its longest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def is_whole(text: str) -> bool:
    """Whether a text has a form in UTF-8: it holds no half of a surrogate pair."""
    return not re.search(_HALF, text)


def plural(count: int, noun: str) -> str:
    """A count with its noun: `1 answer`, `2 answers`."""
    ending = "" if count == 1 else "es" if noun.endswith("ch") else "s"
    return f"{count} {noun}{ending}"


def duration(seconds: float) -> str:
    """A duration in at most eight characters: `8 ms`, `2.5 s`, `40 min`, `7.5 h`, `2 d 21 h`."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 99.5:
        return f"{seconds:.1f} s"
    if seconds < 99.5 * 60:
        return f"{seconds / 60:.0f} min"
    hours = round(seconds / 3600)
    if hours < 48:
        return f"{seconds / 3600:.1f} h"
    return f"{hours // 24} d {hours % 24} h" if hours < 240 else f"{hours / 24:.0f} d"


_ALIKE, _MOST_LINES = 3, 20
"""As many like findings are told one by one; as many lines are told at all."""


def told_once(findings: Iterable[tuple[str, str]], noun: str) -> Iterator[tuple[str, str]]:
    """Findings, each with its place, of which more than three alike are told as one.

    Args:
        findings: Place and reason of each, such as `branch b1`, `questions are not recorded`.
        noun: What the places are.

    Yields:
        Place and reason in the order given; for many alike their count, and the first places.
    """
    every = list(findings)
    places: dict[str, list[str]] = {}
    for place, reason in every:
        places.setdefault(reason, []).append(place)
    for place, reason in every:
        alike = places.get(reason, [])
        if len(alike) > _ALIKE:
            named = (one.removeprefix(f"{noun} ") for one in alike[:_ALIKE])
            yield f"{plural(len(alike), noun)} ({', '.join(named)}, ...)", reason
            del places[reason]
        elif alike:
            yield place, reason


def first_lines(lines: Sequence[str]) -> Iterator[str]:
    """The lines of a long list of findings that are told; `--json` has the rest."""
    yield from lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        yield f"... and {len(lines) - _MOST_LINES} more; --json lists all"
