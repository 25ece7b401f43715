"""Reads a rendered page: its question, submit URL, kind of answer, and references.

Pure. Everything on a page is untrusted data: nothing is followed as an instruction, no URL outside
the allowed sites is visited, and no answer is sent outside the task's own site.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urldefrag, urljoin, urlsplit

from ..net.address import Allowed, BadAddressError, origin_of, site_of, visible
from .answer_kind import asked_kind
from .sample import sample_of
from .snapshot import Link, PageFrame, Snapshot

SubmitRule = Literal["text", "link", "form", "loaded", "carried", "none"]
"""How the submit URL was found: on the page (in its text, a link, a form, or loaded data), carried
over from an earlier page of the same origin, or not at all."""
MOST_RESOURCES = 24
_MOST_FOREIGN = 10
_MOST_UNREAD = 12
_PLACEHOLDER = re.compile(r"(^|\.)example\.(com|org|net)$|^your[-_.]|(^|\.)invalid$")
_URL = re.compile(r"https?://[^\s\"'<>`)\]}]+", re.I)
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
_NEAR = 200
"""Number of characters around an address that are looked at."""
_SENTENCE_ENDS = re.compile(r"[\"'`”’»)>\]]?\s*(?:$|[.,;:!)]|\n|\(|(?:and|with|as|in|by|using)\b)")
_PATH = re.compile(r"(?<![\w/.:>}-])/[A-Za-z0-9][\w./-]*[\w/-](?:\?[^\s\"'<>]*)?")
_AFTER = ".,;:!"
"""Marks at the end of an address that belong to the sentence."""
_SUBMITS = re.compile(
    r"/(?:submit(?:[-_]\w+)*|submissions?|answers?|grade)(?:\.php|(?:/[^.]*)?)$", re.I
)
"""The end of a path that receives answers; one that is called like a file has some."""
_ATOB = re.compile(r"[\"'`]([A-Za-z0-9+/=\s]{24,})[\"'`]")
_FOOTER = re.compile(r"(?im)^[^\S\n]*(?:POST|submit|send) this JSON to \S+[^\S\n]*$")


@dataclass(frozen=True)
class WebPage:
    """The content of a page that matters for answering it."""

    url: str
    """The page's URL exactly as received, as it is sent back."""
    question: str
    kind: str
    """Kind of answer asked for: number, json, yesno, textarea, text."""
    submit_url: str
    """The URL that answers are sent to; "" if the page names none."""
    submit_rule: SubmitRule
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Further fields in the sample payload."""
    resources: tuple[str, ...] = ()
    """URLs of files and pages that it refers to, on allowed sites."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of files suggested by the page or its server, by URL."""
    foreign: tuple[str, ...] = ()
    """Submit URLs that it names outside the task's own site, which get no answer."""
    encoding: str = ""
    """The encoding of its HTML, which its files may share."""


def read_page(snapshot: Snapshot, allowed: Allowed, carried: str | None = None) -> WebPage:
    """Read a page.

    Args:
        snapshot: The page.
        allowed: The sites that may be referred to.
        carried: The last submit URL that a page of this origin named.
    """
    sample = sample_of([text for frame in snapshot.frames for text in frame.samples])
    texts = [_without(frame.text, sample.texts) for frame in snapshot.frames]
    written = [_without(frame.written or frame.text, sample.texts) for frame in snapshot.frames]
    named = list(_submit_urls(snapshot, written))
    foreign = dict.fromkeys(one for one, _ in named if not allowed.is_home(one))
    url, rule = next((one for one in named if allowed.is_home(one[0])), ("", "none"))
    if not named and carried and origin_of(carried) == origin_of(snapshot.url):
        url, rule = carried, "carried"
    question = question_of(snapshot.frames, texts)
    return WebPage(
        url=snapshot.url,
        question=question,
        kind=asked_kind(question),
        submit_url=url,
        submit_rule=rule,
        constants=sample.constants,
        resources=tuple(_resources(snapshot, written, allowed, url))[:MOST_RESOURCES],
        names={link.url: link.text for link in snapshot.offered},
        foreign=tuple(foreign)[:_MOST_FOREIGN],
        encoding=next((frame.encoding for frame in snapshot.frames), ""),
    )


def _without(text: str, samples: Iterable[str]) -> str:
    """A text without its sample payloads, whose URLs are only examples."""
    for sample in samples:
        text = text.replace(sample.strip(), "")
    return text


def question_of(frames: Iterable[PageFrame], texts: Iterable[str]) -> str:
    """All text that is shown or drawn; text hidden in scripts if there is no other."""
    parts: list[str] = []
    after = ""
    for frame, text in zip(frames, texts, strict=True):
        shown = [part.strip(" \n") for part in (_FOOTER.sub("", text), *frame.drawn)]
        if frame.after != after and any(shown):
            parts.append(f"[after pressing {frame.after}:]")
            after = frame.after
        parts += shown
    said = "\n\n".join(part for part in parts if part)
    if said:
        return re.sub(r"\n{3,}", "\n\n", said)
    return "\n\n".join(text for frame in frames for text in decoded(frame))


def unread_of(snapshot: Snapshot) -> list[str]:
    """What the page shows that was not read, as a note of one line."""
    unread = list(dict.fromkeys(one for frame in snapshot.frames for one in frame.unread))
    more = f" and {len(unread) - _MOST_UNREAD} more" if len(unread) > _MOST_UNREAD else ""
    return [f"not read: {', '.join(unread[:_MOST_UNREAD])}{more}"] if unread else []


def decoded(frame: PageFrame) -> list[str]:
    """The base64 texts in a frame's scripts, decoded."""
    found = []
    for script in frame.scripts:
        for match in _ATOB.finditer(script) if "atob" in script else ():
            try:
                text = base64.b64decode("".join(match[1].split()), validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                continue
            found.append(re.sub(r"<[^>]+>", " ", text).strip())
    return [text for text in found if text]


# -- the submit URL


def _submit_urls(snapshot: Snapshot, texts: Iterable[str]) -> Iterator[tuple[str, SubmitRule]]:
    """The submit URLs that the page names, the most certain first."""
    own = urlsplit(snapshot.url).hostname or ""

    def fit(url: str) -> bool:
        try:
            host = site_of(url).host
        except BadAddressError:
            return False
        placeholder = _PLACEHOLDER.search(host) and host != own
        return not placeholder and url.startswith("http") and url != snapshot.url

    for rule, urls in (
        ("text", _named(snapshot.frames, texts)),
        ("link", _linked(snapshot.frames)),
        ("form", _forms(snapshot.frames)),
        ("loaded", _loaded(snapshot)),
    ):
        yield from ((url, rule) for url in urls if fit(url))  # type: ignore[misc]


def _named(frames: Iterable[PageFrame], texts: Iterable[str]) -> list[str]:
    """URLs that the text says to post to; those that look like it first."""
    urls: list[str] = []
    for frame, text in zip(frames, texts, strict=True):
        for said in map(visible, (text, *frame.drawn)):
            for match in _URL.finditer(said):
                before = said[max(0, match.start() - _NEAR) : match.start()]
                if _VERB.search(before) and _is_whole(said, *match.span()):
                    urls.append(_joined(frame.base, match[0].rstrip(_AFTER)))
            urls += _relative(said, frame) or _of_verbs(said, frame)
    return sorted(urls, key=lambda url: not _SUBMITS.search(urlsplit(url).path))


def _is_whole(said: str, start: int, end: int) -> bool:
    """Whether an address has no part that its reader must fill in."""
    return not _TEMPLATE.search(said[start : end + 1])


def _relative(said: str, frame: PageFrame) -> list[str]:
    """URLs after words such as "POST it to" that are relative, or behind the text of a link."""
    links = sorted((one for one in frame.links if one.text), key=lambda link: -len(link.text))
    found = []
    for to in _TO.finditer(said):
        before = said[max(0, to.start() - _NEAR) : to.end(1)]
        sends = _VERB.search(before)
        if not sends and not _ANSWERS.search(before):
            continue
        start = _FILLING.match(said, to.end()).end()  # type: ignore[union-attr]
        url = _linked_at(said, (to.end(), start), links) or _word_at(said, start, frame)
        if url and (sends or _SUBMITS.search(urlsplit(url).path)):
            found.append(url)
    return found


def _linked_at(said: str, places: Iterable[int], links: Iterable[Link]) -> str:
    """The URL of the link whose text stands at one of the places."""
    at = tuple(places)
    fit = (one for one in links if any(said.startswith(visible(one.text), start) for start in at))
    return next((link.url for link in fit), "")


def _word_at(said: str, start: int, frame: PageFrame) -> str:
    """The URL that the word at a place stands for; "" if it is no address."""
    match = _RELATIVE.match(said, start)
    if match is None or _URL.match(said, start):
        return ""
    code = (one for one in map(visible, frame.samples) if _SIGNED.match(one) and "\n" not in one)
    fit = (one for one in code if said.startswith(one, start))
    word = max((match[0].rstrip(_AFTER), *fit), key=len)
    end = start + len(word)
    is_one = _is_whole(said, start, end) and _is_address(word, said[end : end + _NEAR], frame.words)
    return _joined(frame.base, word) if is_one else ""


def _of_verbs(said: str, frame: PageFrame) -> Iterator[str]:
    """URLs in lines that speak of sending, where none follows words such as "POST it to"."""
    for line in filter(_SENDS.search, said.split("\n")):
        for match in _RELATIVE.finditer(line):
            word = match[0].rstrip(_AFTER)
            fit = _SIGNED.match(word) or _is_among(word, frame.words)
            if _WORD_OF_SUBMIT.match(word) and fit and _is_whole(line, *match.span()):
                yield _joined(frame.base, word)


def _is_address(word: str, after: str, words: Iterable[str]) -> bool:
    """Whether a word that stands where an address would is one."""
    if _SIGNED.match(word) or _SAYS_RELATIVE.match(after) or _is_among(word, words):
        return True
    return bool(_WORD_OF_SUBMIT.match(word)) and bool("/" in word or _SENTENCE_ENDS.match(after))


def _is_among(word: str, words: Iterable[str]) -> bool:
    """Whether a word is among those set as code, whose letters CSS may have changed."""
    return word.casefold() in (visible(one).casefold() for one in words)


def _joined(base: str, url: str) -> str:
    """A URL as the browser resolves and sends it; "" if it is none."""
    plain = url.strip().replace("\\", "/").replace(" ", "%20")
    try:
        return urldefrag(urlsplit(urljoin(base, plain)).geturl()).url
    except ValueError:
        return ""


def _linked(frames: Iterable[PageFrame]) -> list[str]:
    links = [link for frame in frames for link in frame.links]
    return [link.url for link in links if _SUBMITS.search(urlsplit(link.url).path)]


def _forms(frames: Iterable[PageFrame]) -> list[str]:
    found = []
    for frame in frames:
        fit = [one for one in frame.forms if one.method == "post" or "answer" in one.names]
        found += [form.action for form in fit] + list(frame.targets)
    return found


def _loaded(snapshot: Snapshot) -> Iterator[str]:
    for loaded in snapshot.loaded:
        try:
            data = json.loads(loaded.text)
        except ValueError:
            continue
        for name in ("submit", "submit_url", "submitUrl", "submitTo"):
            if isinstance(data, dict) and isinstance(data.get(name), str):
                yield _joined(snapshot.frames[0].base, visible(data[name]))


# -- references


def reachable(url: str, allowed: Allowed) -> bool:
    """Whether a URL is on an allowed site."""
    try:
        return url.startswith(("http://", "https://")) and allowed.site(site_of(url))
    except BadAddressError:
        return False


def _resources(
    snapshot: Snapshot, texts: Iterable[str], allowed: Allowed, submit_url: str
) -> Iterator[str]:
    """Each reference once: downloads, links, media, then URLs in the text."""
    urls = [link.url for link in snapshot.offered]
    for frame in snapshot.frames:
        urls += [link.url for link in frame.links] + list(frame.media)
    for frame, text in zip(snapshot.frames, map(visible, texts), strict=True):
        urls += [match[0].rstrip(_AFTER) for match in _URL.finditer(text)]
        urls += [_joined(frame.base, match[0].rstrip(_AFTER)) for match in _PATH.finditer(text)]
    own = {_place(snapshot.url), _place(submit_url)}
    for url in dict.fromkeys(url.partition("#")[0] for url in urls):
        if reachable(url, allowed) and _place(url) not in own:
            yield url


def _place(url: str) -> tuple[str, str]:
    return origin_of(url), urlsplit(url).path
