"""A site with one question and an interface for programs, which keeps every request it gets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from tests.support.local_http import QuietHandler, local_http


@dataclass
class Seen:
    """A request, but for pages and submissions."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By names in lower case."""
    body: str


@dataclass
class Answer:
    data: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Answers = Callable[[Seen], Answer]


@dataclass
class ApiSite:
    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    sent: list[Any] = field(default_factory=list)
    """The answers submitted."""
    closing: Event = field(default_factory=Event)


def bytes_of(data: Any) -> bytes:
    return data if isinstance(data, bytes) else json.dumps(data).encode()


@contextmanager
def api_site(question: str, right: Any, answers: Answers) -> Iterator[ApiSite]:
    """A site whose page `/q` asks a question; every other path is answered as a function says."""
    site = ApiSite()

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length).decode()
            path = self.path.partition("?")[0]
            if path == "/q":
                self.answer(Answer(question.encode(), headers={"Content-Type": "text/html"}))
            elif path == "/submit":
                site.sent.append(json.loads(body)["answer"])
                self.answer(Answer({"correct": site.sent[-1] == right, "url": None}))
            else:
                headers = {name.lower(): value for name, value in self.headers.items()}
                seen = Seen(self.command, self.path, headers, body)
                site.seen.append(seen)
                self.answer(answers(seen))

        do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET

        def answer(self, answer: Answer) -> None:
            headers = {"Content-Type": "application/json"} | dict(answer.headers)
            self.say(answer.status, headers, bytes_of(answer.data))

    with local_http(Handler, site.closing) as site.url:
        yield site
