"""Sends the HTTP requests that models ask for at a page, and saves the replies as files.

Equal requests of several models are sent once. A reply becomes a file of the page, where a model's
code finds it. `fetch_rules` decides what is sent.
"""

from __future__ import annotations

import asyncio
import json
import mimetypes
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from urllib.parse import urljoin

from ...errors import QuizlogError
from ...solver.contract import FetchRequest
from ...solver.decisions.decision import Fetched
from ...solver.solve import FetchTool
from ..task.task_context import TaskContext
from .address import origin_of
from .downloads import TEXTS, folder_size, text_of
from .fetch_rules import address_of, body_of, fault_of, headers_of
from .fetch_sending import BUSY, NoFetchReplyError, send
from .fetch_tape import Received, Sent, Tape
from .file_names import name_of

MOST_REQUESTS = 60
"""Maximum number of requests at one page, of all models together."""
MOST_REPLY = 8 * 1024 * 1024
"""Maximum size of a reply in bytes."""
_AT_ONCE = 4
_SHOWN = 2_000
"""Maximum number of characters of a reply that models are shown."""


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
        self._tape = Tape(self.tools.workspace.fetched)

    def tool(self) -> FetchTool:
        """The tool for the models of one decision.

        If a model asks for the same again, the request is sent again, as its reply may have
        changed.
        """
        asked: Counter[tuple[str, str]] = Counter()

        async def fetch(model: str, request: FetchRequest) -> tuple[Fetched, ...]:
            same = model, request.model_dump_json()
            asked[same] += 1
            return await self._fetch(request, asked[same])

        return FetchTool(self.tools.allowed.origins, fetch)

    async def _fetch(self, request: FetchRequest, nth: int) -> tuple[Fetched, ...]:
        """The results of a request and of those for its next pages."""
        found: list[Fetched] = []
        url: str | None = address_of(request, self.page)
        while url and url not in {one.url for one in found}:
            sent = Sent(
                self.folder.name, request.method, url, headers_of(request), body_of(request), nth
            )
            found.append(self._refused(request, sent) or await self._once(sent))
            url = self._after(found[-1])
        return tuple(found)

    def _refused(self, request: FetchRequest, sent: Sent) -> Fetched | None:
        """The result for a request that may not be sent; None if it may."""
        tools = self.tools
        fault = fault_of(request, sent.url, tools.allowed, self.closed, tools.redaction)
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
                if len(self.known) >= MOST_REQUESTS:
                    return _described(sent, f"not sent: the page had {MOST_REQUESTS} requests")
                self.known[key] = await self._send_and_note(sent)
            return self.known[key]

    async def _send_and_note(self, sent: Sent) -> Fetched:
        """The result of a request, which is also logged."""
        try:
            fetched = self._saved(sent, await self._received(sent))
        except NoFetchReplyError as why:
            fetched = _described(sent, self.tools.redaction.clean(str(why)))
        outcome = f"HTTP {fetched.status}, {fetched.size} bytes, {fetched.file or 'no file'}"
        said = f"{sent.method} {sent.url}: {fetched.error or outcome}"
        self.tools.workspace.note(f"fetched for a model: {said}")
        return fetched

    async def _received(self, sent: Sent) -> Received:
        """The reply, from the recording or else from the server, which is then recorded.

        Raises:
            NoFetchReplyError: There is none.
        """
        if self.tools.recorded:
            if played := Tape(self.tools.recorded).play(sent):
                return played
            raise NoFetchReplyError("no reply to this request was recorded")
        if played := self._tape.play(sent):  # the task was taken up again
            return played
        async with self._at_once:
            received = await send(self.tools.http, sent, self._room())
        cleaned = replace(received, data=self.tools.redaction.clean_bytes(received.data))
        if received.status not in BUSY:
            self._record(sent, cleaned)
        return cleaned

    def _room(self) -> int:
        """Maximum size of a further reply, which is stored as a file and in base64 on the tape."""
        held = folder_size(self.tools.workspace.folder) + folder_size(self._tape.folder)
        return min(MOST_REPLY, (self.tools.disk - held) // 3)

    def _record(self, sent: Sent, received: Received) -> None:
        try:
            self._tape.record(sent, received)
        except (OSError, QuizlogError) as error:
            self.tools.workspace.note(f"the reply to {sent.url} could not be recorded: {error}")

    def _saved(self, sent: Sent, received: Received) -> Fetched:
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
