"""Reads a rendered page: its question, submit URL, kind of answer, sample payload, and references.

Pure. Everything on a page is untrusted data: nothing is followed as an instruction, no URL outside
the allowed sites is visited, and no answer is sent outside the task's own site. Only the vote
depends on the kind of answer, which is guessed from the words of the question. The submit URL may
be in the text alone, which also says where answers are not sent.
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

from ...replay.script.input_kinds import JSON, NUMBER, TEXT, TEXTAREA, YESNO
from ..net.address import Allowed, BadAddressError, origin_of, site_of, visible
from .snapshot import Link, PageForm, PageFrame, Snapshot

SubmitRule = Literal["text", "link", "form", "loaded", "carried", "none"]
"""How the submit URL was found: on the page (in its text, a link, a form, or loaded data), carried
over from an earlier page of the same origin, or not at all."""
_MOST_RESOURCES = 24
_MOST_FOREIGN = 10
_MOST_UNREAD = 12
_PLACEHOLDER = re.compile(r"(^|\.)example\.(com|org|net)$|^your[-_.]|(^|\.)invalid$")
_PATH = re.compile(r"(?<![\w/.:>})-])/[A-Za-z0-9][\w./-]*[\w/-](?:\?[^\s\"'<>]*)?")
_OF_ANSWERS = re.compile(r"\b(?:answer|solution)s?\b", re.I)
_ANSWERED = re.compile(r"answer|solution|submit|submission|guess|grade|response", re.I)
_OTHER = re.compile(
    r"\b(?:bugs?|issues?|reports?|tickets?|feedback|comments?|reviews?|suggestions?|ideas?|support"
    r"|news|newsletter|(?:un)?subscri\w*|(?:log|sign) ?-?(?:in|on|up|out)|regist\w*|search"
    r"|find|contact|complaints?|password|account|donat\w*|pay(?:ment)?|orders?|cart|votes?|survey)\b",
    re.I,
)
"""What is sent to a site, but is no answer."""
_ATOB = re.compile(r"[\"'`]([A-Za-z0-9+/=\s]{24,})[\"'`]")
_FOOTER = re.compile(r"(?im)^[^\S\n]*(?:POST|submit|send) this JSON to \S+[^\S\n]*$")
_KINDS = (
    (YESNO, re.compile(r"\bboolean\b|\btrue or false\b", re.I)),
    (
        TEXTAREA,
        re.compile(
            r"\bcommand string\b|\b(?:submit|write|craft|give|send)\b[^.\n]{0,40}"
            r"\b(?:commands?|function|code snippet|system prompt|essay|dockerfile|yaml)\b",
            re.I,
        ),
    ),
    (TEXT, re.compile(r"\bdata uri\b|data:image|\bbase64\b", re.I)),
    (JSON, re.compile(r"[\[{]\s*\"|\bjson (?:object|array|list)\b|\bas json\b", re.I)),
    (TEXT, re.compile(r"\bpadded\b|\bleading zero|\bpassphrase\b|\bcode string\b", re.I)),
    (
        NUMBER,
        re.compile(
            r"\bhow (?:many|much|far)\b|\b(?:sum|total|count|average|median|mean|rmse|difference)\b"
            r"|\bnumber only\b|\bdecimals?\b|=\s*\?",
            re.I,
        ),
    ),
)


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
    """Read a page; `carried` is the last submit URL that a page of its origin named."""
    sample = _sample_of([text for frame in snapshot.frames for text in frame.samples])
    texts = [_without(frame.text, sample.texts) for frame in snapshot.frames]
    written = [_without(frame.seen, sample.texts) for frame in snapshot.frames]
    named = list(_submit_urls(snapshot, written))
    foreign = dict.fromkeys(one for one, _ in named if not allowed.is_home(one))
    url, rule = next((one for one in named if allowed.is_home(one[0])), ("", "none"))
    if not named and carried and origin_of(carried) == origin_of(snapshot.url):
        url, rule = carried, "carried"
    question = question_of(snapshot.frames, texts)
    return WebPage(
        url=snapshot.url,
        question=question,
        kind=_asked_kind(question),
        submit_url=url,
        submit_rule=rule,
        constants=sample.constants,
        resources=tuple(_resources(snapshot, written, allowed, url))[:_MOST_RESOURCES],
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


def _asked_kind(question: str) -> str:
    """The kind of answer, as an `input_type`."""
    return next((kind for kind, said in _KINDS if said.search(question)), TEXT)


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

    said = _said_addresses(snapshot.frames, texts)
    for rule, urls in (
        ("text", said),
        ("link", _linked(snapshot.frames)),
        ("form", _forms(snapshot.frames)),
        ("loaded", _loaded(snapshot)),
    ):
        yield from ((url, rule) for url in urls if said.get(url, True) and fit(url))  # type: ignore[misc]


def _linked(frames: Iterable[PageFrame]) -> list[str]:
    """URLs of links to where answers are received; those that say so first."""
    links = [link for frame in frames for link in frame.links]
    fit = [link for link in links if _SUBMITS.search(urlsplit(link.url).path)]
    fit = [link for link in fit if _OF_ANSWERS.search(link.text) or not _OTHER.search(link.text)]
    return [link.url for link in sorted(fit, key=lambda link: not _OF_ANSWERS.search(link.text))]


def _forms(frames: Iterable[PageFrame]) -> list[str]:
    found = []
    for frame in frames:
        found += [form.action for form in frame.forms if _takes_answers(form)]
        found += [one.url for one in frame.targets if not _is_other(one.url, one.text)]
    return found


def _takes_answers(form: PageForm) -> bool:
    """Whether a form is for answers, and not for a search, a login, a newsletter."""
    if form.password:
        return False
    if "answer" in (name.lower() for name in form.names):
        return True
    speaks = _SUBMITS.search(urlsplit(form.action).path)
    speaks = speaks or _ANSWERED.search(f"{form.said} {form.before}")
    return form.method == "post" and bool(speaks) and not _is_other(form.action, form.said)


def _is_other(url: str, text: str) -> bool:
    """Whether what is sent to a URL is no answer, as the text of its control or its path says."""
    return bool(_OTHER.search(f"{text} {urlsplit(url).path}".replace("_", " ")))


def _loaded(snapshot: Snapshot) -> Iterator[str]:
    for loaded in snapshot.loaded:
        try:
            data = json.loads(loaded)
        except ValueError:
            continue
        for name in ("submit", "submit_url", "submitUrl", "submitTo"):
            if isinstance(data, dict) and isinstance(data.get(name), str):
                yield joined(snapshot.frames[0].base, visible(data[name]))


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
        urls += [joined(frame.base, match[0].rstrip(_AFTER)) for match in _PATH.finditer(text)]
    own = {_place(snapshot.url), _place(submit_url)}
    for url in dict.fromkeys(url.partition("#")[0] for url in urls):
        if reachable(url, allowed) and _place(url) not in own:
            yield url


def _place(url: str) -> tuple[str, str]:
    return origin_of(url), urlsplit(url).path


# -- the sample payload, which is seldom valid JSON


_FILLED = ("email", "secret", "url", "answer")
"""The fields every submission has (spec 2.4); never taken from a sample."""
_COMMENT = re.compile(r"(?m)(?<![:\"'\w])//[^\n]*|/\*.*?\*/", re.S)
_BLANK = re.compile(r":\s*(?:\.\.\.|…)")
_TRAILING = re.compile(r",(\s*[}\]])")
_LONGEST = 10_000
"""Maximum number of characters of a sample; a longer object is data."""
_TRIES = 16
"""Maximum number of braces tried as the start of a sample, and of ends tried for each."""
_SAMPLE_PLACEHOLDER = re.compile(r"\byour\b|\.\.\.|…|<[^>]+>|^\s*$|\bthis page\b", re.I)


@dataclass(frozen=True)
class _Sample:
    """The payload samples on a page."""

    texts: tuple[str, ...] = ()
    """The samples as written, without what is said above or below them."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Fields beyond the usual ones whose values are not placeholders."""


def _sample_of(texts: Iterable[str]) -> _Sample:
    """The payload samples among preformatted texts."""
    found: list[str] = []
    constants: dict[str, Any] = {}
    for text in texts:
        for written, data in _objects(text):
            if {"answer", "secret"} & data.keys():
                found.append(written)
                constants |= {k: v for k, v in data.items() if k not in _FILLED and _is_constant(v)}
    return _Sample(tuple(found), constants)


def _objects(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The JSON objects in a text, each as written and as read."""
    end = 0
    for start in _places("{", text)[:_TRIES]:
        ends = [one + 1 for one in _places("}", text) if start < one < start + _LONGEST]
        for after in ends[: -_TRIES - 1 : -1] if start >= end else ():
            data = lenient(text[start:after])
            if data is not None:
                yield text[start:after], data
                end = after
                break


def _places(mark: str, text: str) -> list[int]:
    return [place for place, letter in enumerate(text) if letter == mark]


def lenient(text: str) -> dict[str, Any] | None:
    """A JSON object with comments, ellipses and trailing commas allowed; None if it is not one."""
    text = _TRAILING.sub(r"\1", _BLANK.sub(": null", _COMMENT.sub("", text)))
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _is_constant(value: Any) -> bool:
    if isinstance(value, str):
        return not _SAMPLE_PLACEHOLDER.search(value)
    return isinstance(value, (bool, int, float))


# -- addresses in the text


_URL = re.compile(r"https?://[^\s\"'<>`)\]}]+", re.I)
_AFTER = ".,;:!"
"""Marks at the end of an address that belong to the sentence."""
_SUBMITS = re.compile(
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


def _said_addresses(frames: Iterable[PageFrame], texts: Iterable[str]) -> dict[str, bool]:
    """URLs that the text says to post to, or not to; those that look like it first."""
    urls: list[_Said] = []
    for frame, text in zip(frames, texts, strict=True):
        for said in map(visible, (text, *frame.drawn)):
            for match in _URL.finditer(said):
                before = said[max(0, match.start() - _NEAR) : match.start()]
                if _VERB.search(before) and _is_whole(said, *match.span()):
                    url = match[0].rstrip(_AFTER)
                    meant = _is_meant(said, match.start(), match.start() + len(url))
                    urls.append((joined(frame.base, url), meant))
            urls += _relative(said, frame) or _of_verbs(said, frame)
    urls.sort(key=lambda one: (not one[1], not _SUBMITS.search(urlsplit(one[0]).path)))
    return dict(urls) | {url: True for url, meant in urls if meant}


def _is_meant(said: str, at: int, end: int) -> bool:
    """Whether a text says that answers go to the address at `end`, behind the words up to `at`."""
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
        if url and (sends or _SUBMITS.search(urlsplit(url).path)):
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
    if match is None or _URL.match(said, start):
        return "", start
    code = (one for one in map(visible, frame.samples) if _SIGNED.match(one) and "\n" not in one)
    fit = (one for one in code if said.startswith(one, start))
    word = max((match[0].rstrip(_AFTER), *fit), key=len)
    end = start + len(word)
    is_one = _is_whole(said, start, end) and _is_address(word, said[end : end + _NEAR], frame.words)
    return joined(frame.base, word) if is_one else "", end


def _of_verbs(said: str, frame: PageFrame) -> Iterator[_Said]:
    """URLs in lines that speak of sending, where none follows words such as "POST it to"."""
    for line in filter(_SENDS.search, said.split("\n")):
        for match in _RELATIVE.finditer(line):
            word = match[0].rstrip(_AFTER)
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
