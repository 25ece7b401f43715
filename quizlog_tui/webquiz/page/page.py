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
from urllib.parse import urljoin, urlsplit

from ..net.address import Allowed, BadAddressError, origin_of, site_of
from .answer_kind import asked_kind
from .sample import sample_of
from .snapshot import PageFrame, Snapshot

SubmitRule = Literal["text", "link", "form", "loaded", "carried", "derived"]
"""How the submit URL was found: on the page (in its text, a link, a form, or loaded data),
carried over from an earlier page of the same origin, or derived from the origin."""
MOST_RESOURCES = 24
_MOST_FOREIGN = 10
_PLACEHOLDER = re.compile(r"(^|\.)example\.(com|org|net)$|^your[-_.]|(^|\.)invalid$")
_URL = re.compile(r"https?://[^\s\"'<>`)\]}]+")
_VERB = re.compile(r"\b(?:post|submit|send)\b[^\n]{0,120}$", re.I)
_TO_PATH = re.compile(r"\b(?:post|submit|send)\b[^\n]{0,120}?\bto\s+(/[\w./-]*[\w/-])", re.I)
_PATH = re.compile(r"(?<![\w/.:>}-])/[A-Za-z0-9][\w./-]*[\w/-](?:\?[^\s\"'<>]*)?")
_SUBMITS = re.compile(r"/(?:submit|answers?|grade)\b", re.I)
_ATOB = re.compile(r"[\"'`]([A-Za-z0-9+/=\s]{24,})[\"'`]")
_FOOTER = re.compile(r"(?im)^\s*(?:POST|submit|send) this JSON to \S+\s*$")


@dataclass(frozen=True)
class WebPage:
    """The content of a page that matters for answering it."""

    url: str
    """The page's URL exactly as received, as it is sent back."""
    question: str
    kind: str
    """Kind of answer asked for: number, json, yesno, textarea, text."""
    submit_url: str
    submit_rule: SubmitRule
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Further fields in the sample payload."""
    resources: tuple[str, ...] = ()
    """URLs of files and pages that it refers to, on allowed sites."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of files suggested by the page or its server, by URL."""
    foreign: tuple[str, ...] = ()
    """Submit URLs that it names outside the task's own site, which get no answer."""


def read_page(snapshot: Snapshot, allowed: Allowed, carried: str | None = None) -> WebPage:
    """Read a page.

    Args:
        snapshot: The page.
        allowed: The sites that may be referred to.
        carried: The last submit URL that a page of this origin named.
    """
    sample = sample_of([text for frame in snapshot.frames for text in frame.samples])
    texts = [_without(frame.text, sample.texts) for frame in snapshot.frames]
    named = list(_submit_urls(snapshot, texts))
    found = next((one for one in named if allowed.is_home(one[0])), None)
    if found:
        url, rule = found
    elif carried and origin_of(carried) == origin_of(snapshot.url):
        url, rule = carried, "carried"
    else:
        url, rule = f"{_home_of(snapshot, allowed)}/submit", "derived"
    foreign = dict.fromkeys(one for one, _ in named if not allowed.is_home(one))
    question = question_of(snapshot.frames, texts)
    return WebPage(
        url=snapshot.url,
        question=question,
        kind=asked_kind(question),
        submit_url=url,
        submit_rule=rule,
        constants=sample.constants,
        resources=tuple(_resources(snapshot, texts, allowed, url))[:MOST_RESOURCES],
        names={link.url: link.text for link in snapshot.offered},
        foreign=tuple(foreign)[:_MOST_FOREIGN],
    )


def _home_of(snapshot: Snapshot, allowed: Allowed) -> str:
    """The origin for answers if a page names none: its own, if that is the task's site."""
    places = [*(frame.url for frame in snapshot.frames[:1]), snapshot.url]
    return origin_of(next((url for url in places if allowed.is_home(url)), allowed.home))


def _without(text: str, samples: Iterable[str]) -> str:
    """A text without its sample payloads, whose URLs are only examples."""
    for sample in samples:
        text = text.replace(sample.strip(), "")
    return text


def question_of(frames: Iterable[PageFrame], texts: Iterable[str]) -> str:
    """All visible, drawn or shadowed text; text hidden in scripts if there is no other."""
    parts = []
    for frame, text in zip(frames, texts, strict=True):
        parts += [_FOOTER.sub("", text), *frame.shadows, *frame.drawn]
    said = "\n\n".join(part.strip() for part in parts if part.strip())
    if said:
        return re.sub(r"\n{3,}", "\n\n", said)
    return "\n\n".join(text for frame in frames for text in decoded(frame))


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
    urls = []
    for frame, text in zip(frames, texts, strict=True):
        for said in (text, *frame.shadows, *frame.drawn):
            for match in _URL.finditer(said):
                if _VERB.search(said[: match.start()]):
                    urls.append(match[0].rstrip(".,;:"))
            urls += [urljoin(frame.base, match[1]) for match in _TO_PATH.finditer(said)]
    return sorted(urls, key=lambda url: not _SUBMITS.search(urlsplit(url).path))


def _linked(frames: Iterable[PageFrame]) -> list[str]:
    links = [link for frame in frames for link in frame.links]
    return [link.url for link in links if _SUBMITS.search(urlsplit(link.url).path)]


def _forms(frames: Iterable[PageFrame]) -> list[str]:
    forms = [form for frame in frames for form in frame.forms]
    return [form.action for form in forms if form.method == "post" or "answer" in form.names]


def _loaded(snapshot: Snapshot) -> Iterator[str]:
    for loaded in snapshot.loaded:
        try:
            data = json.loads(loaded.text)
        except ValueError:
            continue
        for name in ("submit", "submit_url", "submitUrl", "submitTo"):
            if isinstance(data, dict) and isinstance(data.get(name), str):
                yield urljoin(snapshot.frames[0].base, data[name])


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
    for frame, text in zip(snapshot.frames, texts, strict=True):
        urls += [match[0].rstrip(".,;:") for match in _URL.finditer(text)]
        urls += [urljoin(frame.base, match[0].rstrip(".,;:")) for match in _PATH.finditer(text)]
    own = {_place(snapshot.url), _place(submit_url)}
    for url in dict.fromkeys(url.partition("#")[0] for url in urls):
        if reachable(url, allowed) and _place(url) not in own:
            yield url


def _place(url: str) -> tuple[str, str]:
    return origin_of(url), urlsplit(url).path
