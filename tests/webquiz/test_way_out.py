"""A page tries every way out of the browser that does not lead through the gate."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from quizlog_tui.webquiz.net.address import allowed_for
from quizlog_tui.webquiz.net.gate import Gate, gate
from quizlog_tui.webquiz.page import browser as browser_module
from quizlog_tui.webquiz.page.browser import Browser, Tab
from tests.webquiz.conftest import needs_browser, shares_browser
from tests.webquiz.small_site import Site, small_site

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


@asynccontextmanager
async def visiting(
    page: str, folder: Path, browser: Browser
) -> AsyncIterator[tuple[Site, Tab, Gate]]:
    try:
        with small_site({"/p": ("html", page)}) as site:
            allowed = allowed_for(site.url, (), ["127.0.0.1"])
            async with gate(allowed) as way_out, browser.tab(way_out, folder, 10**6) as tab:
                yield site, tab, way_out
    finally:
        await browser.close()


@shares_browser
async def test_a_page_finds_no_webrtc_in_any_window(
    shared_browser: Browser, tmp_path: Path
) -> None:
    with listeners() as ways:
        async with visiting(ways.fill(WEBRTC), tmp_path, shared_browser) as (site, tab, _):
            snapshot = await tab.visit(f"{site.url}/p")
        assert snapshot.frames[0].text.startswith("Question: 0 ways found")
        assert ways.reached() == []


@shares_browser
async def test_webrtc_sends_nothing_past_the_gate_though_a_page_has_it(
    shared_browser: Browser, tmp_path: Path
) -> None:
    """The browser's own settings hold it back: the script that removes it is not run here."""
    with listeners() as ways:
        page = ways.fill(WEBRTC)
        async with visiting(page, tmp_path, shared_browser) as (site, tab, way_out):
            assert tab.context.browser
            bare = await tab.context.browser.new_context(
                proxy={"server": way_out.url, "bypass": "<-loopback>"}
            )
            shown = await bare.new_page()
            await shown.goto(f"{site.url}/p")
            await shown.wait_for_function("/[1-9][0-9]* ways found/.test(said.textContent)")
            await bare.close()
        assert ways.reached() == []


@shares_browser
async def test_nor_do_other_ways_to_connect_pass_the_gate(
    shared_browser: Browser, tmp_path: Path
) -> None:
    with listeners() as ways:
        async with visiting(ways.fill(OTHERS), tmp_path, shared_browser) as (site, tab, _):
            snapshot = await tab.visit(f"{site.url}/p")
        assert snapshot.frames[0].text.startswith("Question: 2 attempts")
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
    async with visiting(FORM, tmp_path, Browser()) as (site, tab, way_out):
        for _ in range(3):
            await tab.visit(f"{site.url}/p")
    assert way_out.refused == []
    gate_address = way_out.url.removeprefix("http://")
    events = network_events(log)
    assert ("TCP_CONNECT_ATTEMPT", gate_address) in events
    assert {event for event in events if event[1] != gate_address} == set()
