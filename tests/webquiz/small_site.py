"""A site of a few pages, for tests of the browser and the gate, and a tab that visits it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from quizlog_tui.webquiz.net.address import allowed_for
from quizlog_tui.webquiz.net.gate import Gate, gate
from quizlog_tui.webquiz.page.browser import Browser, Tab
from tests.support.local_http import QuietHandler, local_http


@dataclass
class Site:
    url: str = ""
    hits: list[str] = field(default_factory=list)
    closing: Event = field(default_factory=Event)
    gate: Gate = field(default_factory=lambda: Gate(allowed_for("http://quiz.test/")))
    """The way to it, where it is visited."""


@contextmanager
def small_site(pages: dict[str, tuple[str, str]]) -> Iterator[Site]:
    """Pages by path: `html` with its text, `redirect` with its target, `hang` for ever.

    `drop` closes the line without a word the first time, and says its text from then on; `once`
    says it on each line once, and closes it when more comes.
    """
    site = Site()

    class Handler(QuietHandler):
        asked = 0

        def do_GET(self) -> None:
            self.asked += 1
            path = self.path.split("?")[0]
            site.hits.append(path)
            kind, text = pages.get(path, ("html", ""))
            if kind == "once":
                self.protocol_version, self.close_connection = "HTTP/1.1", self.asked > 1
                if self.close_connection:
                    return
            if kind == "hang":
                site.closing.wait()
                return
            if kind == "drop" and site.hits.count(path) == 1:
                self.close_connection = True
                return
            headers = {"Content-Type": "text/html; charset=utf-8"}
            if kind == "redirect":
                self.say(302, headers | {"Location": text}, b"")
            else:
                self.say(200, headers, text.encode())

        do_POST = do_GET

    with local_http(Handler, site.closing) as site.url:
        yield site


@asynccontextmanager
async def visiting(
    pages: dict[str, tuple[str, str]], folder: Path, browser_name: str | None = None
) -> AsyncIterator[tuple[Site, Tab]]:
    browser = Browser(browser_name)
    try:
        with small_site(pages) as site:
            allowed = allowed_for(site.url, (), ["127.0.0.1"])
            async with gate(allowed) as site.gate, browser.tab(site.gate, folder, 10**6) as tab:
                yield site, tab
    finally:
        await browser.close()
