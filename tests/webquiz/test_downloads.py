"""What a page refers to is fetched at once, and comes in order whichever is there first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx

from quizlog_tui.webquiz.net.address import allowed_for
from quizlog_tui.webquiz.net.downloads import PageResources, gather
from quizlog_tui.webquiz.page.browser import NotRenderedError, Tab
from quizlog_tui.webquiz.page.page import WebPage

SITE = "http://quiz.test"
Serve = Callable[[str], Awaitable[httpx.Response]]


def csv(text: str) -> httpx.Response:
    return httpx.Response(200, headers={"Content-Type": "text/csv"}, text=text)


async def fetched(
    folder: Path,
    serve: Serve,
    *paths: str,
    room: int = 10**6,
    seconds: float = 60.0,
    tab: Any = None,
) -> PageResources:
    urls = tuple(f"{SITE}{path}" for path in paths)
    page = WebPage(f"{SITE}/q", "", "text", f"{SITE}/submit", "derived", resources=urls)

    async def handle(request: httpx.Request) -> httpx.Response:
        return await serve(request.url.path)

    tab = tab or Tab(cast(Any, None), folder, room, seconds)
    async with httpx.AsyncClient(transport=httpx.MockTransport(handle)) as http:
        return await gather(page, tab, http, allowed_for(SITE), room, seconds)


async def test_the_first_may_come_last_and_keeps_its_place_and_name(tmp_path: Path) -> None:
    second = asyncio.Event()

    async def serve(path: str) -> httpx.Response:
        if path == "/a/data.csv":
            await second.wait()  # for ever, if they were fetched one by one
        second.set()
        return csv(path)

    found = await fetched(tmp_path, serve, "/a/data.csv", "/b/data.csv")
    assert found.files == ["data.csv", "data-2.csv"]
    assert [(tmp_path / name).read_text() for name in found.files] == ["/a/data.csv", "/b/data.csv"]
    assert [text.split(" ")[1] for text in found.texts] == found.files


async def test_no_more_than_four_at_once(tmp_path: Path) -> None:
    under_way, most = 0, 0

    async def serve(path: str) -> httpx.Response:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(10):
            await asyncio.sleep(0)  # lets the others begin
        under_way -= 1
        return csv(path)

    found = await fetched(tmp_path, serve, *(f"/{n}.csv" for n in range(12)))
    assert (len(found.files), most) == (12, 4)


async def test_what_came_in_time_is_kept(tmp_path: Path) -> None:
    async def serve(path: str) -> httpx.Response:
        if path == "/slow.csv":
            await asyncio.Event().wait()
        return csv(path)

    found = await fetched(tmp_path, serve, "/slow.csv", "/quick.csv", seconds=2.0)
    assert found.files == ["quick.csv"]
    assert found.notes == ["not all could be fetched within 2 s"]


async def test_files_that_come_together_share_the_room(tmp_path: Path) -> None:
    async def serve(path: str) -> httpx.Response:
        return csv("x" * 60)

    found = await fetched(tmp_path, serve, "/a.csv", "/b.csv", room=100)
    assert len(found.files) == 1
    assert [note.endswith("is too big") for note in found.notes] == [True]


async def test_a_file_on_a_chain_of_pages_takes_no_name_that_is_promised(tmp_path: Path) -> None:
    chained = asyncio.Event()

    @dataclass
    class NoTab:
        folder: Path = tmp_path
        room: int = 0

        async def visit(self, url: str) -> None:
            chained.set()
            raise NotRenderedError("no browser here")

    async def serve(path: str) -> httpx.Response:
        if path == "/page":
            return httpx.Response(200, headers={"Content-Type": "text/html"}, text="")
        await chained.wait()
        return csv(path)

    found = await fetched(tmp_path, serve, "/page", "/b/page", tab=NoTab())
    assert found.files == ["page-2"]
    assert found.notes == [f"{SITE}/page: no browser here"]
