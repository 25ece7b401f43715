"""The practice quiz over HTTP, in a separate thread, and the recorded replies of models to it.

`html/` has the pages: as on real ones, text is made by scripts, late, drawn or hidden. `site/` has
the files, by their paths. What depends on an e-mail address or a query is made here. The server
binds only 127.0.0.1: browsers offer `crypto.subtle`, which pages need, only there and with HTTPS.

The shipped replies allow a whole task without a model, and say themselves how they came about. They
were recorded for `EMAIL`, as many pages are personal, with the server at `HOME`, and are played for
it at any address.
"""

from __future__ import annotations

import hashlib
import html
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ...solver.models.cassettes import Player, recorded
from ...solver.models.transport import ModelClient, Prompt, Transport, TransportReply
from ...solver.redaction import Redaction
from ...solver.solve import Panel, RunCode
from ..task.task import without_history
from .grader import Answer, Grader, Options, Page, all_pages

_HERE = Path(__file__).parent
_PERSONAL = frozenset({"q03-audio", "q07-api", "q15-canvas"})
"""The pages that want an address."""
_ORDERS, _PER_PAGE = 47, 20
_LATE = 1.2
"""Seconds until the question that a page loads is available."""
_SUBMITS = frozenset({"/submit", "/grade/q06"})
_MAX_BODY = 1_000_000
"""Maximum size of a submission in bytes."""
_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".opus": "audio/ogg",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".vtt": "text/vtt; charset=utf-8",
    ".wav": "audio/wav",
    ".zip": "application/zip",
}
_File = tuple[str, bytes]
"""Type and content of what is served at a path."""


@dataclass
class QuizServer:
    """A running server."""

    url: str
    grader: Grader
    hits: list[dict[str, Any]] = field(default_factory=list)
    """Every request, in order."""
    refused_once: set[str] = field(default_factory=set)
    """Keys whose first call of the API was answered with 429."""
    seen: set[str] = field(default_factory=set)
    """The addresses that asked for something."""
    closing: Event = field(default_factory=Event)

    def first(self, email: str = "") -> str:
        """The URL of the first page, for an address."""
        query = f"?email={email}" if email else ""
        return f"{self.url}{self.grader.pages[0].path}{query}"


@contextmanager
def quiz_server(options: Options | None = None, port: int = 0) -> Iterator[QuizServer]:
    """The server, running; on a free port if none is named.

    Raises:
        OSError: The port is taken.
        UsageError: There is no such page as the options name.
    """
    grader = Grader(options or Options())
    with _Http(("127.0.0.1", port), _Handler) as http:
        http.quiz = QuizServer(f"http://127.0.0.1:{http.server_port}", grader)
        thread = Thread(target=http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield http.quiz
        finally:
            http.quiz.closing.set()
            http.shutdown()
            thread.join()


class _Http(ThreadingHTTPServer):
    quiz: QuizServer
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *_: Any) -> None:
        """Print nothing: requests are counted instead."""

    def do_GET(self) -> None:
        """A page, a file, or what the server knows."""
        path, query = self._hit()
        quiz, email = self.server.quiz, query.get("email", "")
        quiz.seen.add(email)
        if path == "/_log":
            self._json(Answer(200, {"submissions": quiz.grader.log(), "hits": list(quiz.hits)}))
        elif path == "/_score":
            self._json(Answer(200, quiz.grader.score()))
        elif path in _SUBMITS:
            self._json(Answer(405, {"error": "Use POST /submit"}))
        elif path == "/api/q06/question":
            quiz.closing.wait(_LATE)
            text = f"<p>{all_pages()['/q06-fetch'].question}</p>"
            self._json(Answer(200, {"html": text, "submit": "/grade/q06"}))
        elif path == "/api/q07/orders":
            self._json(self._orders(int(query.get("page", "1"))))
        else:
            self._send_file(path, email)

    def do_POST(self) -> None:
        """A submission."""
        path, _ = self._hit()
        quiz, length = self.server.quiz, int(self.headers.get("Content-Length") or 0)
        if length > _MAX_BODY:
            self.close_connection = True
            self._json(Answer(413, {"error": "Payload too large"}))
            return
        try:
            body = json.loads(self.rfile.read(length))
        except ValueError as error:
            self._json(Answer(400, {"error": f"Body must be valid JSON: {error}"}))
            return
        if path in _SUBMITS:
            quiz.closing.wait(quiz.grader.options.latency)
            self._json(quiz.grader.submit(path, body, quiz.url))
        else:
            self._json(Answer(404, {"error": f"Not found: {path}"}))

    def do_PUT(self) -> None:
        """Refuse it."""
        self._hit()
        self.close_connection = True
        self._json(Answer(405, {"error": "Use POST /submit"}))

    do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = do_PUT

    def _hit(self) -> tuple[str, dict[str, str]]:
        """Count the request; its path and query."""
        parts, agent = urlsplit(self.path), self.headers.get("User-Agent", "")
        hit = {"method": self.command, "path": parts.path, "target": self.path, "agent": agent}
        self.server.quiz.hits.append(hit | {"time": time.time()})
        return parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()}

    def _send_file(self, path: str, email: str) -> None:
        page = next((page for page in self.server.quiz.grader.pages if page.path == path), None)
        found = _page_file(page, email) if page else _site_file(path, email)
        if found:
            self._send(200, *found)
        else:
            self._json(Answer(404, {"error": f"Not found: {path}"}))

    def _orders(self, number: int) -> Answer:
        """A page of orders for clients with the key; each key's first call gets a 429."""
        quiz, key = self.server.quiz, self.headers.get("X-Quiz-Key", "")
        if key not in {str(_email_number(email)) for email in quiz.seen}:
            return Answer(401, {"error": "X-Quiz-Key is missing or wrong"})
        if key not in quiz.refused_once:
            quiz.refused_once.add(key)
            return Answer(429, {"error": "slow down"}, "1")
        end = number * _PER_PAGE
        after = f"/api/q07/orders?page={number + 1}" if end < _ORDERS else None
        items = range(end - _PER_PAGE + 1, min(end, _ORDERS) + 1)
        return Answer(200, {"items": [_order(item) for item in items], "next": after})

    def _json(self, answer: Answer) -> None:
        body = json.dumps(answer.body, ensure_ascii=False).encode("utf-8", "replace")
        self._send(answer.status, _TYPES[".json"], body, answer.retry_after)

    def _send(self, status: int, kind: str, data: bytes, retry_after: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(data)


# -- pages and files


def _page_file(page: Page, email: str) -> _File:
    """The HTML of a page for an e-mail address, which is "" if none was given."""
    if page.id in _PERSONAL and not email:
        text = f"<!doctype html><title>{page.id}</title><p>Please provide ?email=</p>"
    else:
        text = (_HERE / "html" / f"{page.id}.html").read_text(encoding="utf-8")
        text = text.replace("{email}", html.escape(email.replace("+", "%2B")))
        text = text.replace("{emailNumber}", str(_email_number(email)))
    return _TYPES[".html"], text.encode()


def _site_file(path: str, email: str) -> _File | None:
    """The file at a path, made for an address; None if there is none."""
    if path == "/q03.csv":
        table = "".join(f"{one},{other}\n" for one, other in _numbers(email))
        return _TYPES[".csv"], table.encode()
    if path == "/files/q32.json":
        return _TYPES[".json"], json.dumps({"email": email}).encode()
    file = _files().get(path)
    return (_TYPES[file.suffix], file.read_bytes()) if file else None


@cache
def _files() -> dict[str, Path]:
    """The files of `site/`, by their paths on the server; pages have no suffix there."""
    site = _HERE / "site"
    found = (file for file in site.rglob("*") if file.suffix in _TYPES)
    return {f"/{file.relative_to(site).as_posix().removesuffix('.html')}": file for file in found}


def _email_number(email: str) -> int:
    """The first four hexadecimal digits of the address's SHA-1."""
    return int(hashlib.sha1(email.encode(), usedforsecurity=False).hexdigest()[:4], 16)


def _numbers(email: str) -> Iterator[tuple[int, int]]:
    """The thousand rows of the audio page's table."""
    one, other = 3, 4
    for row in range(1, 1001):
        one = (1103515245 * one + 12345) % 2**31
        other = (1103515245 * other + 12345) % 2**31
        yield _email_number(email) if row == 500 else one % 100000, other % 100000


def _order(number: int) -> dict[str, Any]:
    amount = 37 * number % 101 + (7 * number % 10) / 10
    return {"id": number, "amount": amount, "status": ("open", "paid", "void")[number % 3]}


# -- recorded replies


HOME = "http://127.0.0.1:8765"
FOLDER = Path(__file__).parent / "replies"


class AtHome:
    """Adapts requests to the recording: the server's address, and each page as the first one.

    So the replies fit any address of the server and any selection of its pages.
    """

    def __init__(self, inner: Transport, url: str) -> None:
        self._inner = inner
        self._url = url

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """The recorded reply with the present address of the server."""
        *before, last = (
            replace(one, content=one.content.replace(self._url, HOME)) for one in prompt.messages
        )
        messages = (*before, replace(last, content=_alone(last.content)))
        said = await self._inner.complete(replace(prompt, messages=messages))
        return replace(said, text=said.text.replace(HOME, self._url))


def _alone(asked: str) -> str:
    """A request without the history of earlier pages."""
    try:
        data = json.loads(asked)
    except ValueError:  # a request to repair a reply
        return asked
    question = data["context"] if isinstance(data["context"], dict) else data
    question["context"] = without_history(question["context"])
    return json.dumps(data, ensure_ascii=False)


def demo_panel(url: str, run: RunCode) -> Panel:
    """A panel that plays the recorded replies to the server at `url`, and runs the code in them."""
    voters, shelf = recorded(FOLDER)
    players = [(voter, AtHome(Player(voter.name, shelf), url)) for voter in voters]
    clients = [ModelClient(voter, player, Redaction()) for voter, player in players]
    return Panel(clients, run, None, f"recorded replies: {shelf.label}")
