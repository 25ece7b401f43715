"""The practice quiz over HTTP, in a separate thread, and the recorded replies of models to it.

The server binds only 127.0.0.1: browsers offer `crypto.subtle`, which pages need, only there and
with HTTPS. The shipped replies allow a whole task without a model, and say themselves how they came
about. They were recorded for `EMAIL`, as many pages are personal, with the server at `HOME`, and
are played for it at any address.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
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
from .grader import (
    MAX_BODY,
    Answer,
    Asset,
    Grader,
    Options,
    all_pages,
    asset,
    email_number,
    late_question,
    orders,
    page_html,
)

_LATE = 1.2
"""Seconds until the question that a page loads is available."""


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
    """The addresses that asked for a page."""
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
    """
    http = _Http(("127.0.0.1", port), _Handler)
    http.quiz = QuizServer(f"http://127.0.0.1:{http.server_port}", Grader(options or Options()))
    thread = Thread(target=http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield http.quiz
    finally:
        http.quiz.closing.set()
        http.shutdown()
        http.server_close()
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
        parts = urlsplit(self.path)
        self._hit(parts.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path in ("/_log", "/_score"):
            self._json(200, self._known(parts.path))
        elif parts.path in ("/submit", "/grade/q06"):
            self._json(405, {"error": "Use POST /submit"})
        else:
            self.server.quiz.seen.add(query.get("email", ""))
            missing = Answer(404, {"error": f"Not found: {parts.path}"})
            found = self._found(parts.path, query) or missing
            if isinstance(found, Asset):
                self._send(200, found.type, found.data)
            else:
                self._answer(found)

    def do_POST(self) -> None:
        """A submission, or a word to the server itself."""
        path = urlsplit(self.path).path
        self._hit(path)
        length = int(self.headers.get("Content-Length") or 0)
        if length > MAX_BODY:
            self.close_connection = True
            self._json(413, {"error": "Payload too large"})
            return
        try:
            body = json.loads(self.rfile.read(length))
        except ValueError as error:
            self._json(400, {"error": f"Body must be valid JSON: {error}"})
            return
        if path in ("/submit", "/grade/q06"):
            self.server.quiz.closing.wait(self.server.quiz.grader.options.latency)
            self._answer(self.server.quiz.grader.submit(path, body, self.server.quiz.url))
        elif path == "/_clock":
            self.server.quiz.grader.advance(float(body["advance"]))
            self._json(200, {"now": self.server.quiz.grader.now()})
        else:
            self._json(404, {"error": f"Not found: {path}"})

    do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = lambda self: self._other()

    def _other(self) -> None:
        self._hit(urlsplit(self.path).path)
        self.close_connection = True
        self._json(405, {"error": "Use POST /submit"})

    def _known(self, path: str) -> dict[str, Any]:
        quiz = self.server.quiz
        if path == "/_score":
            return quiz.grader.score()
        return {"submissions": quiz.grader.log(), "hits": list(quiz.hits)}

    def _found(self, path: str, query: dict[str, str]) -> Asset | Answer | None:
        quiz, email = self.server.quiz, query.get("email", "")
        page = all_pages().get(path)
        if page and page in quiz.grader.pages:
            return Asset("text/html; charset=utf-8", page_html(page, email).encode())
        if path == "/api/q06/question":
            quiz.closing.wait(_LATE)
            return late_question()
        if path == "/api/q07/orders":
            return self._orders(query)
        return asset(path, email)

    def _orders(self, query: dict[str, str]) -> Asset | Answer:
        """A page of orders for clients with the key; each key's first call gets a 429."""
        quiz, key = self.server.quiz, self.headers.get("X-Quiz-Key", "")
        if key not in {str(email_number(email)) for email in quiz.seen}:
            return Answer(401, {"error": "X-Quiz-Key is missing or wrong"})
        if key not in quiz.refused_once:
            quiz.refused_once.add(key)
            return Answer(429, {"error": "slow down"}, "1")
        return orders(int(query.get("page", "1")))

    def _hit(self, path: str) -> None:
        agent = self.headers.get("User-Agent", "")
        hit = {"method": self.command, "path": path, "target": self.path, "time": time.time()}
        self.server.quiz.hits.append(hit | {"agent": agent})

    def _answer(self, answer: Answer) -> None:
        self._json(answer.status, answer.body, retry_after=answer.retry_after)

    def _json(self, status: int, data: Any, retry_after: str | None = None) -> None:
        body = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")
        self._send(status, "application/json; charset=utf-8", body, retry_after)

    def _send(self, status: int, kind: str, data: bytes, retry_after: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(data)


HOME = "http://127.0.0.1:8765"
FOLDER = Path(__file__).parent / "replies"


class AtHome:
    """Adapts requests to the recording: the server's address, and each page as the first one.

    So the replies fit any address of the server and any selection of its pages.

    Args:
        inner: The transport that plays the replies.
        url: The address of the server.
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
    """A panel that plays the recorded replies.

    Args:
        url: The address of the server.
        run: Runs the code in the replies.
    """
    voters, shelf = recorded(FOLDER)
    players = [(voter, AtHome(Player(voter.name, shelf), url)) for voter in voters]
    clients = [ModelClient(voter, player, Redaction()) for voter, player in players]
    return Panel(clients, run, None, f"recorded replies: {shelf.label}")
