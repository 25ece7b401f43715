"""Finds where the text of a page says that answers are sent, and where not. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import urldefrag, urljoin, urlsplit

from ..net.address import visible
from .snapshot import Link, PageFrame

URL = re.compile(r"https?://[^\s\"'<>`)\]}]+", re.I)
AFTER = ".,;:!"
"""Marks at the end of an address that belong to the sentence."""
SUBMITS = re.compile(
    r"/(?:submit(?:[-_]\w+)*|submissions?|answers?|grade)(?:\.php|(?:/[^.]*)?)$", re.I
)
"""The end of a path that receives answers; one that is called like a file has some."""
_VERB = re.compile(
    r"\b(?:post(?:ed)?|submit|submission|send)\b(?:(?!\b(?-i:GET)\b)[^\n]){0,120}$", re.I
)
_ANSWERS = re.compile(r"\banswers?\b[^\n]{0,120}$", re.I)
_TO = re.compile(
    r"(\b(?:to|at|is|url|uri|address|endpoint|path)\b|\b(?:post|submit|send)\b(?=\s*[:→])"
    r"|\b(?-i:POST)\b)[\s:=→]*",
    re.I,
)
"""What stands before an address, after a verb in the same line."""
_FILLING = re.compile(
    r"(?:(?:the|this|its|relative|following|address|url|uri|endpoint|path|route|post|is)\b[\s:=→]*)*"
    r"[\"'`“‘«(<\[]?",
    re.I,
)
"""What may stand between that and the address."""
_RELATIVE = re.compile(r"[^\s\"'`<>()\[\]{}“”‘’«»,;]+")
_SIGNED = re.compile(r"//[\w\[]|\.{0,2}/|\?\w+=")
"""How an address begins that cannot be a word."""
_SAYS_RELATIVE = re.compile(r"[\"'`”’»)>\]]?,?\s*\(?(?:which is |it is |is )?relative\b", re.I)
_TEMPLATE = re.compile(r"[{}<]|\$\w|/:\w")
_SENDS = re.compile(r"\b(?:post|submit|send)\b", re.I)
_WORD_OF_SUBMIT = re.compile(
    r"(?:\.{0,2}/)*(?:[\w.~%-]+/)*(?:submit|submissions?|answers?|grade)(?:[./?]\S*)?$", re.I
)
_ENDS = re.compile(
    r"[.!?;]\s|(?<![:\n])\n|\b(?:but|instead(?! of),?)\s"
    r"|\b(?:and|then)\s+(?=(?:post|submit|send)\b)",
    re.I,
)
"""What ends a statement; a line that ends in a colon goes on."""
_AFTER_ADDRESS = re.compile(r"/\S*,\s+(?=(?:please\s+)?(?:post|submit|send|use)\b)", re.I)
"""Where a statement about one address gives way to the next."""
_REFUSES = re.compile(
    r"(?:\b(?:not|never|cannot|stop)|n['’]t)\b,?\s+"
    r"(?:(?!(?:and|forget|hesitate|fail|GET)\b)[\w'’]+,?\s+){0,4}?"
    r"(?:post|submit|send|use|sent|posted|submitted|sending|posting)\b(?!\s+GET\b)"
    r"|\b(?:not|never)(?:\s+(?:to|at|via))?$"
    r"|\b(?:instead of|rather than|avoid|forbidden|no longer(?! than))\b"
    r"|\b(?:old|older|former|previous|outdated|obsolete|deprecated|wrong|bad|fake|another|other|last)"
    r"\s+(?:\w+\s+){0,2}(?:address(?:es)?|urls?|endpoints?|quiz(?:zes)?|links?|servers?|sites?|pages?"
    r"|versions?|year|tasks?)\b"
    r"|\b(?:previously|formerly|used to|in the past)\b|^\W*(?:for |an )?example\s*[:,]"
    r"|\b(?:was|were)\s*(?::|(?:to|at|sent|posted|submitted)\b)"
    r"|\b(?:send|submit|post|report)\s+(?:\w+\s+)?(?:bugs?|feedback|complaints?|suggestions?)\b",
    re.I,
)
"""What is said before an address that is no longer, or was never, the one for answers."""
_REFUSED = re.compile(
    r"[\"'`”’»)>\]]?,?\s*(?:(?:\.\s+it|\(?which|that|\()\s*)?"
    r"(?:(?:is|are|was|were|has been|have been)\s+(?:now\s+)?)?"
    r"(?:an?\s+|the\s+)?"
    r"(?:closed|gone|dead|wrong|old|outdated|obsolete|deprecated|no longer|not (?:used|valid|the)\b"
    r"|forbidden|a trap|a decoy)",
    re.I,
)
"""What is said after such an address."""
_NEAR = 200
"""Number of characters around an address that are looked at."""
_SENTENCE_ENDS = re.compile(r"[\"'`”’»)>\]]?\s*(?:$|[.,;:!)]|\n|\(|(?:and|with|as|in|by|using)\b)")
_Said = tuple[str, bool]
"""A URL, and whether answers are meant to be sent to it."""


def said_addresses(frames: Iterable[PageFrame], texts: Iterable[str]) -> dict[str, bool]:
    """URLs that the text says to post to, or not to; those that look like it first."""
    urls: list[_Said] = []
    for frame, text in zip(frames, texts, strict=True):
        for said in map(visible, (text, *frame.drawn)):
            for match in URL.finditer(said):
                before = said[max(0, match.start() - _NEAR) : match.start()]
                if _VERB.search(before) and _is_whole(said, *match.span()):
                    url = match[0].rstrip(AFTER)
                    meant = _is_meant(said, match.start(), match.start() + len(url))
                    urls.append((joined(frame.base, url), meant))
            urls += _relative(said, frame) or _of_verbs(said, frame)
    urls.sort(key=lambda one: (not one[1], not SUBMITS.search(urlsplit(one[0]).path)))
    return dict(urls) | {url: True for url, meant in urls if meant}


def _is_meant(said: str, at: int, end: int) -> bool:
    """Whether what a text says of an address is that answers go there.

    Args:
        said: The text.
        at: Where the words end that lead to the address.
        end: Where the address ends.
    """
    before = said[max(0, at - 2 * _NEAR) : at].rstrip()
    for ends in (_ENDS, _AFTER_ADDRESS):
        before = ends.split(before)[-1]
    before = re.sub(r"\([^()]*\)", "", before)
    struck = said.count("~~", 0, at) % 2
    return not (struck or _REFUSES.search(before) or _REFUSED.match(said, end))


def _is_whole(said: str, start: int, end: int) -> bool:
    """Whether an address has no part that its reader must fill in."""
    return not _TEMPLATE.search(said[start : end + 1])


def _relative(said: str, frame: PageFrame) -> list[_Said]:
    """URLs after words such as "POST it to" that are relative, or behind the text of a link."""
    links = sorted((one for one in frame.links if one.text), key=lambda link: -len(link.text))
    found = []
    for to in _TO.finditer(said):
        before = said[max(0, to.start() - _NEAR) : to.end(1)]
        sends = _VERB.search(before)
        if not sends and not _ANSWERS.search(before):
            continue
        start = _FILLING.match(said, to.end()).end()  # type: ignore[union-attr]
        url, end = _linked_at(said, (to.end(), start), links) or _word_at(said, start, frame)
        if url and (sends or SUBMITS.search(urlsplit(url).path)):
            found.append((url, _is_meant(said, to.end(1), end)))
    return found


def _linked_at(said: str, places: Iterable[int], links: Iterable[Link]) -> tuple[str, int] | None:
    """The URL of the link whose text stands at one of the places, and where that text ends."""
    texts = [(link.url, visible(link.text)) for link in links]
    at = tuple(places)
    fit = (
        (url, start + len(text))
        for url, text in texts
        for start in at
        if said.startswith(text, start)
    )
    return next(fit, None)


def _word_at(said: str, start: int, frame: PageFrame) -> tuple[str, int]:
    """The URL that the word at a place stands for, "" if it is no address, and its end."""
    match = _RELATIVE.match(said, start)
    if match is None or URL.match(said, start):
        return "", start
    code = (one for one in map(visible, frame.samples) if _SIGNED.match(one) and "\n" not in one)
    fit = (one for one in code if said.startswith(one, start))
    word = max((match[0].rstrip(AFTER), *fit), key=len)
    end = start + len(word)
    is_one = _is_whole(said, start, end) and _is_address(word, said[end : end + _NEAR], frame.words)
    return joined(frame.base, word) if is_one else "", end


def _of_verbs(said: str, frame: PageFrame) -> Iterator[_Said]:
    """URLs in lines that speak of sending, where none follows words such as "POST it to"."""
    for line in filter(_SENDS.search, said.split("\n")):
        for match in _RELATIVE.finditer(line):
            word = match[0].rstrip(AFTER)
            fit = _SIGNED.match(word) or _is_among(word, frame.words)
            if _WORD_OF_SUBMIT.match(word) and fit and _is_whole(line, *match.span()):
                end = match.start() + len(word)
                yield joined(frame.base, word), _is_meant(line, match.start(), end)


def _is_address(word: str, after: str, words: Iterable[str]) -> bool:
    """Whether a word that stands where an address would is one."""
    if _SIGNED.match(word) or _SAYS_RELATIVE.match(after) or _is_among(word, words):
        return True
    return bool(_WORD_OF_SUBMIT.match(word)) and bool("/" in word or _SENTENCE_ENDS.match(after))


def _is_among(word: str, words: Iterable[str]) -> bool:
    """Whether a word is among those set as code, whose letters CSS may have changed."""
    return word.casefold() in (visible(one).casefold() for one in words)


def joined(base: str, url: str) -> str:
    """A URL as the browser resolves and sends it; "" if it is none."""
    plain = url.strip().replace("\\", "/").replace(" ", "%20")
    try:
        return urldefrag(urlsplit(urljoin(base, plain)).geturl()).url
    except ValueError:
        return ""
