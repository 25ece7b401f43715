"""A site of a few pages that grades as a test says, and keeps what it was sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.local_http import QuietHandler, local_http
from tests.webquiz.conftest import Thought

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

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            text = pages.get(self.path.split("?")[0])
            html = (text or "").replace("{site}", site.url)
            kind = {"Content-Type": "text/html; charset=utf-8"}
            self.say(404 if text is None else 200, kind, html.encode())

        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            site.sent.append((self.path, payload))
            nth = sum(one["url"] == payload["url"] for _, one in site.sent)
            said = grade(payload, nth)
            status, data = said if isinstance(said, tuple) else (200, said)
            self.say(status, {"Content-Type": "application/json"}, json.dumps(data).encode())

    with local_http(Handler) as site.url:
        yield site


ASKS = "What is 40 + 2? POST the answer to {site}/submit"


RIGHT = {"correct": True, "url": None}


def says(*answers: Any) -> Thought:
    return lambda data, nth: {"answer": answers[min(nth, len(answers)) - 1]}
