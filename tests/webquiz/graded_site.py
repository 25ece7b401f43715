"""A site of a few pages that grades as a test says, and keeps what it was sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Grade = Callable[[dict[str, Any], int], Any]
"""What the site replies to the nth submission of a page: an object, or a status and one."""


@dataclass
class Graded:
    url: str = ""
    sent: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Path and payload of each submission."""

    def answers(self) -> list[Any]:
        return [payload["answer"] for _, payload in self.sent]


@contextmanager
def graded_site(pages: Mapping[str, str], grade: Grade) -> Iterator[Graded]:
    """Pages by path, in which `{site}` is the site's own address."""
    site = Graded()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            text = pages.get(self.path.split("?")[0])
            html = (text or "").replace("{site}", site.url)
            self.say(404 if text is None else 200, "text/html; charset=utf-8", html.encode())

        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            site.sent.append((self.path, payload))
            nth = sum(one["url"] == payload["url"] for _, one in site.sent)
            said = grade(payload, nth)
            status, data = said if isinstance(said, tuple) else (200, said)
            self.say(status, "application/json", json.dumps(data).encode())

        def say(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
