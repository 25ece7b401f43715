"""Sends the HTTP requests that models ask for at a page, and saves the replies as files.

Models read untrusted pages, so that a request may be what a page wants: no request goes to a site
that the task's pages may not reach, or to a submit URL, or contains a secret. The connections go
through the gate. Equal requests of several models are sent once. A reply becomes a file of the
page, where a model's code finds it, and is recorded without secrets, so that a task can be
continued or repeated offline.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import mimetypes
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import httpx

from ...errors import QuizlogError
from ...solver.contract import FetchRequest
from ...solver.decision import Fetched
from ...solver.models.cassettes import read_reply, write_reply
from ...solver.redaction import STAND_IN, Redaction
from ...solver.solve import FetchTool
from ..page.page import reachable
from ..page.page_fetch import TEXTS, folder_size, text_of
from ..task.task_context import TaskContext
from .address import Allowed, name_of, origin_of, safe_name, site_of
from .gate import retry_delay

_MOST_REQUESTS = 60
"""Maximum number of requests at one page, of all models together."""
_MOST_REPLY = 8 * 1024 * 1024
"""Maximum size of a reply in bytes."""
_MOST_BODY = 100_000
"""Maximum size of a request's body in bytes."""
_AT_ONCE = 4
_ATTEMPTS = 4
_SECONDS = 20.0
"""Seconds for one attempt."""
_SHOWN = 2_000
"""Maximum number of characters of a reply that models are shown."""
_BUSY = (429, 503)


@dataclass
class Fetcher:
    """The requests of one page.

    Args:
        tools: The task's context.
        page: The page's URL.
        folder: The folder for the replies.
        closed: The URLs that answers are sent to.
        encoding: The encoding of the page's HTML.
    """

    tools: TaskContext
    page: str
    folder: Path
    closed: Sequence[str]
    encoding: str = ""
    known: dict[str, Fetched] = field(default_factory=dict)
    """The results of the requests so far."""

    def __post_init__(self) -> None:
        self._at_once = asyncio.Semaphore(_AT_ONCE)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._tape = _Tape(self.tools.workspace.fetched)

    def tool(self) -> FetchTool:
        """The tool for the models of one decision. What a model asks for again is sent again."""
        asked: Counter[tuple[str, str]] = Counter()

        async def fetch(model: str, request: FetchRequest) -> tuple[Fetched, ...]:
            same = model, request.model_dump_json()
            asked[same] += 1
            return await self._fetch(request, asked[same])

        return FetchTool(self.tools.allowed.origins, fetch)

    async def _fetch(self, request: FetchRequest, nth: int) -> tuple[Fetched, ...]:
        """The results of a request and of those for its next pages."""
        found: list[Fetched] = []
        url: str | None = _address_of(request, self.page)
        while url and url not in {one.url for one in found}:
            sent = Sent(
                self.folder.name, request.method, url, _headers_of(request), _body_of(request), nth
            )
            found.append(self._refused(request, sent) or await self._once(sent))
            url = self._after(found[-1])
        return tuple(found)

    def _refused(self, request: FetchRequest, sent: Sent) -> Fetched | None:
        """The result for a request that may not be sent; None if it may."""
        tools = self.tools
        fault = _fault_of(request, sent.url, tools.allowed, self.closed, tools.redaction)
        if fault is None:
            return None
        cleaned = Sent(**tools.redaction.clean_value(asdict(sent)))
        tools.gate.refuse(f"{cleaned.url[:200]}: a model's request {fault}")
        return _described(cleaned, f"not sent: it {fault}")

    async def _once(self, sent: Sent) -> Fetched:
        """The result of a request, shared by all models that ask for it."""
        key = f"{sent.url} {sent.digest}"
        async with self._turns[key]:
            if key not in self.known:
                if len(self.known) >= _MOST_REQUESTS:
                    return _described(sent, f"not sent: the page had {_MOST_REQUESTS} requests")
                self.known[key] = await self._send_and_note(sent)
            return self.known[key]

    async def _send_and_note(self, sent: Sent) -> Fetched:
        """The result of a request, which is also logged."""
        try:
            fetched = self._saved(sent, await self._received(sent))
        except _NoFetchReplyError as why:
            fetched = _described(sent, self.tools.redaction.clean(str(why)))
        outcome = f"HTTP {fetched.status}, {fetched.size} bytes, {fetched.file or 'no file'}"
        said = f"{sent.method} {sent.url}: {fetched.error or outcome}"
        self.tools.workspace.note(f"fetched for a model: {said}")
        return fetched

    async def _received(self, sent: Sent) -> _Received:
        """The reply, from the recording or else from the server, which is then recorded.

        Raises:
            _NoFetchReplyError: There is none.
        """
        if self.tools.recorded:
            if played := _Tape(self.tools.recorded).play(sent):
                return played
            raise _NoFetchReplyError("no reply to this request was recorded")
        if played := self._tape.play(sent):  # the task was taken up again
            return played
        async with self._at_once:
            received = await _sent(self.tools.http, sent, self._room())
        cleaned = replace(received, data=self.tools.redaction.clean_bytes(received.data))
        if received.status not in _BUSY:
            self._record(sent, cleaned)
        return cleaned

    def _room(self) -> int:
        """Maximum size of a further reply, which is stored as a file and in base64 on the tape."""
        held = folder_size(self.tools.workspace.folder) + folder_size(self._tape.folder)
        return min(_MOST_REPLY, (self.tools.disk - held) // 3)

    def _record(self, sent: Sent, received: _Received) -> None:
        try:
            self._tape.record(sent, received)
        except (OSError, QuizlogError) as error:
            self.tools.workspace.note(f"the reply to {sent.url} could not be recorded: {error}")

    def _saved(self, sent: Sent, received: _Received) -> Fetched:
        """The result for a reply; its content is saved as a file, unless it is an error."""
        text, _ = text_of(received.data, received.type or TEXTS[0], self.encoding) or ("", "")
        file = None
        if received.data and received.status < 300:
            file = _file_name(sent, received.type)
            (self.folder / file).write_bytes(received.data)
        moved = f"leads to {received.location}: not followed" if received.location else None
        return replace(
            _described(sent, moved),
            status=received.status,
            type=received.type,
            size=len(received.data),
            file=file,
            begins=text[:_SHOWN],
        )

    def _after(self, fetched: Fetched) -> str | None:
        """The URL of the page after a reply: the `next` of its JSON, if that is on its origin."""
        if fetched.method != "GET" or fetched.file is None or not fetched.type.endswith("json"):
            return None
        try:
            data = json.loads((self.folder / fetched.file).read_bytes())
            after = data.get("next") if isinstance(data, dict) else None
            url = urljoin(fetched.url, after) if isinstance(after, str) and after else ""
            return url if url and origin_of(url) == origin_of(fetched.url) else None
        except (ValueError, RecursionError):
            return None


def _file_name(sent: Sent, kind: str) -> str:
    """A file name derived from the URL, independent of the order of replies."""
    stem, _, ending = name_of(sent.url).rpartition(".")
    if not stem:
        stem, ending = ending, (mimetypes.guess_extension(kind) or "").lstrip(".")
    return f"{stem}-{sent.digest[:6]}{'.' if ending else ''}{ending}"


def _described(sent: Sent, error: str | None) -> Fetched:
    headers = tuple(f"{name}: {value}" for name, value in sent.headers.items())
    return Fetched(sent.method, sent.url, headers, sent.body, error=error)


# -- what may be sent


_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE = re.compile(r"[ -~]{0,2000}")
_OURS = re.compile(
    r"(?i)host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|proxy-.*"
)
"""Headers about the transfer of a request, which a model may not set."""


def _address_of(request: FetchRequest, page: str) -> str:
    """The absolute URL of a request asked for at a page."""
    try:
        return urljoin(page, request.url.strip())
    except ValueError:
        return request.url  # not a URL: refused later with that reason


def _body_of(request: FetchRequest) -> str | None:
    """The body to send."""
    if request.body is None or isinstance(request.body, str):
        return request.body
    return json.dumps(request.body)


def _headers_of(request: FetchRequest) -> dict[str, str]:
    """The headers to send."""
    named = {name.strip(): value.strip() for name, value in request.headers.items()}
    is_json = request.body is not None and not isinstance(request.body, str)
    if is_json and "content-type" not in {name.lower() for name in named}:
        named["Content-Type"] = "application/json"
    return named


def _fault_of(
    request: FetchRequest, url: str, allowed: Allowed, closed: Sequence[str], secrets: Redaction
) -> str | None:
    """Why a request must not be sent to its absolute URL; None if it may be."""
    body = _body_of(request) or ""
    if not reachable(url, allowed):
        return f"is on none of the sites {', '.join(allowed.origins)}"
    if _place(url) in map(_place, closed):
        return "is where answers are sent: no request of a model goes there"
    texts = (url, request.url, body, *request.headers, *request.headers.values())
    if any(secrets.clean(text) != text or STAND_IN in text for text in texts):
        return "holds a secret"
    if len(body.encode("utf-8", "replace")) > _MOST_BODY:
        return f"has a body of more than {_MOST_BODY} bytes"
    faults = (_header(name, value) for name, value in _headers_of(request).items())
    return next((fault for fault in faults if fault), None)


def _place(url: str) -> tuple[str, str]:
    """Host and path that a URL leads to, in any notation and at any port."""
    path = unquote(urlsplit(url).path).casefold() or "/"
    return site_of(url).host, posixpath.normpath(path).replace("//", "/")


def _header(name: str, value: str) -> str | None:
    if _OURS.fullmatch(name):
        return f"has a header that is not a model's to set: {name}"
    if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        return f"has a header that cannot be sent: {name!r:.60}"
    return None


# -- requests, replies, and their recording


@dataclass(frozen=True)
class Sent:
    """A request to send."""

    page: str
    """The folder name of the page it is for."""
    method: str
    url: str
    headers: Mapping[str, str]
    body: str | None = None
    nth: int = 1
    """How often the same model has asked for it, as a repetition may have another reply."""

    @property
    def digest(self) -> str:
        """A digest of the request, independent of the server's address."""
        parts = urlsplit(self.url)
        place = parts._replace(scheme="", netloc="").geturl()
        said = [self.method, place, sorted(self.headers.items()), self.body, self.nth]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()


@dataclass(frozen=True)
class _Received:
    """A reply."""

    status: int
    type: str
    """Its media type."""
    data: bytes
    location: str = ""
    """The target, if it is a redirect that was not followed."""


@dataclass(frozen=True)
class _Tape:
    """A folder of recorded replies."""

    folder: Path

    def _path(self, sent: Sent) -> Path:
        return self.folder / f"{safe_name(sent.page)}-{sent.digest[:16]}.json"

    def play(self, sent: Sent) -> _Received | None:
        """The reply recorded for an identical request; None if there is none."""
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            path = self._path(sent)
            if path.is_file():
                data = read_reply(path)
                if data["request"] == asdict(sent):
                    return _received(data["reply"])
        return None

    def record(self, sent: Sent, received: _Received) -> None:
        """Record a reply.

        Raises:
            RecordError: It cannot be written.
        """
        reply = asdict(received) | {"data": base64.b64encode(received.data).decode("ascii")}
        data = {"schema_version": 1, "request": asdict(sent), "reply": reply}
        write_reply(self._path(sent), json.dumps(data))


def _received(data: Mapping[str, Any]) -> _Received:
    body = base64.b64decode(data["data"], validate=True)
    return _Received(int(data["status"]), str(data["type"]), body, str(data["location"]))


# -- sending


class _NoFetchReplyError(Exception):
    """There is no reply; the text says why, in one line."""


async def _sent(http: httpx.AsyncClient, sent: Sent, most: int) -> _Received:
    """The server's reply.

    Raises:
        _NoFetchReplyError: There is none in time, or it has more than `most` bytes.
    """
    for left in reversed(range(_ATTEMPTS)):
        try:
            async with asyncio.timeout(_SECONDS):
                received, retry_after = await _once(http, sent, most)
        except TimeoutError:
            raise _NoFetchReplyError(f"no reply within {_SECONDS:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise _NoFetchReplyError(f"{type(error).__name__}: {error}".rstrip(": ")) from None
        if received.status not in _BUSY or not left:
            break
        await asyncio.sleep(retry_delay(retry_after, 1.0))
    return received


async def _once(http: httpx.AsyncClient, sent: Sent, most: int) -> tuple[_Received, str | None]:
    """The reply, and the `Retry-After` of the server.

    Redirects are followed only for requests without a body, which might end up elsewhere.
    """
    body = None if sent.body is None else sent.body.encode()
    asks = sent.method in ("GET", "HEAD") and body is None
    async with http.stream(
        sent.method, sent.url, headers=sent.headers, content=body, follow_redirects=asks
    ) as reply:
        kind = reply.headers.get("content-type", "").split(";")[0].strip().lower()
        location = "" if asks else reply.headers.get("location", "")
        data = bytearray()
        async for chunk in reply.aiter_bytes():
            data += chunk
            if len(data) > most:
                raise _NoFetchReplyError("the reply is too big")
        received = _Received(reply.status_code, kind, bytes(data), location)
        return received, reply.headers.get("Retry-After")
