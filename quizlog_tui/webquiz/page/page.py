"""What a rendered page asks: question, where the answer goes, in which form, what it refers to.

Pure. Everything on a page is data of a stranger: nothing here is followed as an instruction, and
no URL outside the allowed sites is ever visited, none outside the task's own sent an answer.
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
from .snapshot import Frame, Snapshot

SubmitRule = Literal["text", "link", "form", "loaded", "carried", "derived"]
"""How the submit URL was found: on the page (in its text, a link, a form, in what it loaded),
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
    """What a page asks."""

    url: str
    """Exactly as received: this is what is sent back."""
    question: str
    kind: str
    """Kind of answer asked for: number, json, yesno, textarea, text."""
    submit_url: str
    submit_rule: SubmitRule
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Further fields that the sample payload shows."""
    resources: tuple[str, ...] = ()
    """URLs of files and pages it refers to, on allowed sites."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What files should be called, by URL, where the page or its server says so."""
    foreign: tuple[str, ...] = ()
    """URLs it names for answers that are not on the task's own site, and so are sent none."""


def read_page(snapshot: Snapshot, allowed: Allowed, carried: str | None = None) -> WebPage:
    """What a page asks.

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
    """The origin that takes answers of a page that names none: its own, as far as it is home."""
    places = [*(frame.url for frame in snapshot.frames[:1]), snapshot.url]
    return origin_of(next((url for url in places if allowed.is_home(url)), allowed.home))


def _without(text: str, samples: Iterable[str]) -> str:
    """A text without the sample payloads in it, whose URLs are only examples."""
    for sample in samples:
        text = text.replace(sample.strip(), "")
    return text


def question_of(frames: Iterable[Frame], texts: Iterable[str]) -> str:
    """All that is said, drawn or hidden from the DOM; what scripts hide if nothing else is."""
    parts = []
    for frame, text in zip(frames, texts, strict=True):
        parts += [_FOOTER.sub("", text), *frame.shadows, *frame.drawn]
    said = "\n\n".join(part.strip() for part in parts if part.strip())
    if said:
        return re.sub(r"\n{3,}", "\n\n", said)
    return "\n\n".join(text for frame in frames for text in decoded(frame))


def decoded(frame: Frame) -> list[str]:
    """The texts that a frame's scripts hold as base64 (spec 2.2, `atob`)."""
    found = []
    for script in frame.scripts:
        for match in _ATOB.finditer(script) if "atob" in script else ():
            try:
                text = base64.b64decode("".join(match[1].split()), validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                continue
            found.append(re.sub(r"<[^>]+>", " ", text).strip())
    return [text for text in found if text]


# -- where the answer goes


def _submit_urls(snapshot: Snapshot, texts: Iterable[str]) -> Iterator[tuple[str, SubmitRule]]:
    """What the page names, the surest first."""
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


def _named(frames: Iterable[Frame], texts: Iterable[str]) -> list[str]:
    """URLs that the text says to post to; those that look like it first."""
    urls = []
    for frame, text in zip(frames, texts, strict=True):
        for said in (text, *frame.shadows, *frame.drawn):
            for match in _URL.finditer(said):
                if _VERB.search(said[: match.start()]):
                    urls.append(match[0].rstrip(".,;:"))
            urls += [urljoin(frame.base, match[1]) for match in _TO_PATH.finditer(said)]
    return sorted(urls, key=lambda url: not _SUBMITS.search(urlsplit(url).path))


def _linked(frames: Iterable[Frame]) -> list[str]:
    links = [link for frame in frames for link in frame.links]
    return [link.url for link in links if _SUBMITS.search(urlsplit(link.url).path)]


def _forms(frames: Iterable[Frame]) -> list[str]:
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


# -- what it refers to


def reachable(url: str, allowed: Allowed) -> bool:
    """Whether a URL is on an allowed site."""
    try:
        return url.startswith(("http://", "https://")) and allowed.site(site_of(url))
    except BadAddressError:
        return False


def _resources(
    snapshot: Snapshot, texts: Iterable[str], allowed: Allowed, submit_url: str
) -> Iterator[str]:
    """Each once: what it offers, links and media as resolved, then what the text mentions."""
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
