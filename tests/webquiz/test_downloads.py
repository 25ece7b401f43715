"""What a page refers to is fetched at once, and comes in order whichever is there first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.webquiz.net.address import allowed_for
from quizlog_tui.webquiz.page.browser import NotRenderedError, Tab
from quizlog_tui.webquiz.page.page import WebPage
from quizlog_tui.webquiz.page.page_fetch import _PageResources, gather, text_of

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
) -> _PageResources:
    urls = tuple(f"{SITE}{path}" for path in paths)
    page = WebPage(f"{SITE}/q", "", "text", f"{SITE}/submit", "text", resources=urls)

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

    found = await fetched(tmp_path, serve, "/slow.csv", "/quick.csv", seconds=1.0)
    assert found.files == ["quick.csv"]
    assert found.notes == ["not all could be fetched within 1 s"]


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


WORDS = "wort;preis\nMaß;1,50 €\n"


@pytest.mark.parametrize(
    ("data", "kind", "page", "encoding"),
    [
        (WORDS.encode(), "text/csv", "windows-1252", "utf-8"),
        (WORDS.encode("utf-8-sig"), "text/csv; charset=latin1", "", "utf-8"),
        (WORDS.encode("cp1252"), "text/csv", "windows-1252", "windows-1252"),
        (WORDS.encode("cp1252"), "text/csv", "utf-8", "windows-1252"),
        (WORDS.encode("cp1252"), "text/csv; charset=ISO-8859-1", "utf-8", "windows-1252"),
        (WORDS.encode("cp1252"), "application/octet-stream", "", "windows-1252"),
        (WORDS.encode("iso-8859-15"), 'text/csv; charset="iso-8859-15"', "", "iso-8859-15"),
        (WORDS.encode("utf-16"), "application/octet-stream", "", "utf-16"),
        (WORDS.encode("utf-16-be"), "text/csv", "", "utf-16-be"),
        (WORDS.encode("utf-32"), "text/csv", "", "utf-32"),
        (WORDS.encode(), "text/csv; charset=utf-16", "", "utf-8"),
        (WORDS.encode(), "text/csv; charset=no-such", "", "utf-8"),
        ("слово".encode("cp1251"), "text/plain", "windows-1251", "windows-1251"),
        ("言葉".encode("cp932"), "text/plain", "Shift_JIS", "cp932"),
        (f"<?xml encoding='cp1252'?>{WORDS}".encode("cp1252"), "text/xml", "", "cp1252"),
        (f"<meta charset=cp1252>{WORDS}".encode("cp1252"), "application/xhtml", "", "cp1252"),
    ],
)
def test_a_text_is_read_in_its_encoding(data: bytes, kind: str, page: str, encoding: str) -> None:
    found = text_of(data, kind, page)
    assert found and found[1] == encoding
    assert found[0] == data.decode(encoding).removeprefix("\ufeff")


@given(st.text(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_any_text_with_a_mark_or_in_utf_8_is_read_as_it_is(text: str, encoding: str) -> None:
    plain = text.replace("\0", "").removeprefix("\ufeff")
    assert text_of(plain.encode(encoding), "text/plain") == (plain, encoding.removesuffix("-sig"))


@given(st.binary(max_size=99), st.text(max_size=9), st.sampled_from(["", "\0", "zlib", "rot13"]))
def test_any_bytes_can_be_read(data: bytes, kind: str, page: str) -> None:
    assert text_of(data, f"text/{kind}", page) is not None
    assert text_of(b"\x89PNG\r\n\x1a\n\0\0" + data, kind) is None


async def test_the_beginning_of_a_file_is_told_with_its_encoding(tmp_path: Path) -> None:
    async def serve(path: str) -> httpx.Response:
        return httpx.Response(
            200, headers={"Content-Type": "text/csv"}, content=WORDS.encode("cp1252")
        )

    found = await fetched(tmp_path, serve, "/data.csv")
    assert found.texts == [f"File data.csv (22 bytes, windows-1252) begins:\n{WORDS}"]
