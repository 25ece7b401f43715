"""Which characters show nothing, and where those stand that have work to do all the same. Pure.

A name could hold them and look like another one. Joiners and selectors of variants are needed in
some scripts and in emoji, so they count only where none of these surrounds them.
"""

from __future__ import annotations

import re
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
DOUBTFUL = re.compile(f"[{_IN_PLANE}{_AT_TIMES}\U000e0000-\U000e0fff]|[\U00013430-\U0001d17a]")
"""Finds all that may be `idle`, and more: ranges beyond the first plane take time."""
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


@cache
def suspect() -> re.Pattern[str]:
    """Finds what steers a terminal, and what shows nothing, also where it has work to do.

    All patterns but the first are compiled when first needed: most texts need none.
    """
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
