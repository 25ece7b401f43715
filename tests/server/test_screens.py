"""The screens in a browser: who may use them, that they only look, and how many there may be."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("textual_serve")

import httpx
from aiohttp import ClientSession, DummyCookieJar, WSCloseCode, WSMsgType, test_utils, web
from fastapi import FastAPI

from quizlog_tui.cli import main
from quizlog_tui.files.paths import user_folder
from quizlog_tui.server.admission import LOOPBACK, AccessRules
from quizlog_tui.server.run import rules_for
from quizlog_tui.server.screens import (
    _MOST_TABS,
    _MOST_WAITING,
    ScreenSettings,
    _is_message,
    _ScreenServer,
    _TextualServer,
)
from quizlog_tui.session.session import Session
from quizlog_tui.tui.state import State
from tests.support.build import Build
from tests.support.long_runs import few
from tests.webquiz.conftest import needs_browser

ABNORMAL = 1006
"""The code by which a browser says that a socket was never opened."""
QUIZ = "name = input('Who are you? ')\nprint('Hello', name)\ninput('Well? ')\n"


@asynccontextmanager
async def client(place: Path, token: str | None = None) -> AsyncIterator[tuple[Any, _ScreenServer]]:
    server = _ScreenServer(ScreenSettings(place, AccessRules(token, LOOPBACK)))
    async with test_utils.TestClient(
        test_utils.TestServer(server.app()), cookie_jar=DummyCookieJar()
    ) as found:
        yield found, server


@asynccontextmanager
async def serving(
    record: Path, *more: str, said: list[str] | None = None, **variables: str
) -> AsyncIterator[str]:
    """The screens as users serve them, and their address; `said` gets the lines on stderr."""
    words = ["-m", "quizlog_tui", "serve", "--json", "--port", "0", "--screens", str(record), *more]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdout=PIPE, stderr=PIPE, env=os.environ | variables
    )
    try:
        assert process.stdout
        yield json.loads(await process.stdout.readline())["url"]
        process.send_signal(signal.SIGTERM)
        out, err = await process.communicate()
        assert (process.returncode, out) == (143, b""), err
        if said is not None:
            said += err.decode().splitlines()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_pages_of_other_sites_are_refused(tmp_path: Path) -> None:
    async with client(tmp_path) as (browser, _):
        for path in ("/", "/static/js/textual.js", "/ws"):
            for name, value in (
                ("Host", "evil.example"),
                ("Origin", "http://evil.example"),
                ("Sec-Fetch-Site", "cross-site"),
            ):
                assert (await browser.get(path, headers={name: value})).status == 403, (path, name)
            if path != "/ws":
                assert (await browser.get(path)).status == 200, path


async def log_in(browser: Any, token: str) -> str:
    """The session that a browser gets for the token."""
    let_in = await browser.get("/", params={"token": token}, allow_redirects=False)
    assert let_in.status == 303 and "Set-Cookie" not in let_in.headers
    page, _, value = let_in.headers["Location"].partition("#")
    assert page == "/"
    return str(value)


@pytest.mark.parametrize("token", ["a token", "hüsh;\"'=", "€"])
async def test_the_token_is_exchanged_for_a_session(token: str, tmp_path: Path) -> None:
    async with client(tmp_path, token) as (browser, _), client(tmp_path, token) as (other, _):
        value = await log_in(browser, token)
        assert len(value) > 40 and value == await log_in(browser, token)
        assert value != await log_in(other, token)
        for wrong in ("no€", "", value):
            refused = await browser.get("/", params={"token": wrong})
            assert refused.status == 401 and "?token=" in await refused.text()


async def test_what_a_browser_is_sent_without_a_session_holds_no_secret(tmp_path: Path) -> None:
    async with client(tmp_path, "hush-hush") as (browser, _):
        value = await log_in(browser, "hush-hush")
        for path in ("/", "/static/js/textual.js", "/?token=no", "/gone"):
            answer = await browser.get(path, headers={"Cookie": f"quizlog_token={value}"})
            sent = repr(answer.raw_headers) + await answer.text()
            assert "hush-hush" not in sent and value not in sent and "Set-Cookie" not in sent


async def test_the_page_has_its_session_before_it_opens_a_socket(tmp_path: Path) -> None:
    async with client(tmp_path) as (browser, _):
        page = await (await browser.get("/")).text()
        assert 0 < page.index("sessionStorage") < page.index("textual.js")


class Started:
    """Takes the place of the programs of tabs, which are only counted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        monkeypatch.setattr(_TextualServer, "run_tab", self._run)

    async def _run(self, *given: Any) -> None:
        self.count += 1


async def test_a_tab_starts_once_its_first_message_is_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = Started(monkeypatch)
    async with client(tmp_path, "hush-hush") as (browser, _):
        value = await log_in(browser, "hush-hush")
        others = ("", "no", "hush-hush", '["stdin", "q"]', "x" * 5_000_000, f" {value}")
        for first in (*others, value.encode(), value):
            assert started.count == 0
            async with browser.ws_connect("/ws") as socket:
                with suppress(ConnectionError):  # closed before all of a long message is sent
                    send = socket.send_bytes if isinstance(first, bytes) else socket.send_str
                    await send(first)
                await closed(socket)
    assert started.count == 1


async def test_a_tab_that_shows_no_session_in_time_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = Started(monkeypatch)
    monkeypatch.setattr("quizlog_tui.server.screens.READ_SECONDS", 0.01)
    async with client(tmp_path) as (browser, _), browser.ws_connect("/ws") as socket:
        await closed(socket)
        assert socket.close_code == WSCloseCode.POLICY_VIOLATION
    assert started.count == 0


async def test_only_so_many_tabs_may_still_have_to_show_a_session(tmp_path: Path) -> None:
    async with client(tmp_path) as (browser, server):
        server._waiting = _MOST_WAITING
        assert (await browser.get("/ws")).status == 503


async def closed(socket: Any) -> str:
    """Wait until the server has closed a socket; the reason that it gave."""
    while True:
        message = await socket.receive()
        if message.type in (WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.ERROR):
            return message.extra or ""


async def test_a_session_does_not_open_the_http_api(
    tmp_path: Path, serving: Callable[..., FastAPI]
) -> None:
    rules = AccessRules("hush-hush")
    async with client(tmp_path, "hush-hush") as (browser, _):
        value = await log_in(browser, "hush-hush")
        bearer = {"Authorization": f"Bearer {value}"}
        body: dict[str, Any] = {"script_id": "quiz", "inputs": []}
        here = await browser.post("/quizlog/next", json=body, headers=bearer)
        assert here.status == 404
        there = httpx.ASGITransport(serving(rules=rules))
        async with httpx.AsyncClient(transport=there, base_url="http://127.0.0.1") as api:
            answer = await api.post("/quizlog/next", json=body, headers=bearer)
            assert answer.status_code == 401


def test_other_machines_need_a_token(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    path = build.record(QUIZ)
    assert main(["serve", "--screens", str(path), "--host", "0.0.0.0"]) == 2
    assert "set QUIZLOG_TOKEN" in capsys.readouterr().err
    assert rules_for("0.0.0.0", "secret").token == "secret"


def test_no_process_of_a_tab_gets_the_token(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[ScreenSettings, bool]] = []

    def take(settings: ScreenSettings, *more: Any) -> None:
        given.append((settings, "QUIZLOG_TOKEN" in os.environ))

    monkeypatch.setattr("quizlog_tui.server.screens.serve_screens", take)
    monkeypatch.setenv("QUIZLOG_TOKEN", "hush-hush")
    main(["serve", "--port", "0", "--screens", str(build.record(QUIZ))])
    [(settings, inherited)] = given
    assert settings.rules.token == "hush-hush" and not inherited
    assert "hush-hush" not in settings.command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--write"], "--write is for --screens only"),
        (["--screens", "gone.yaml"], "there is no such file or folder"),
        (["--screens", "--folder", ".", "--folder", ".."], "the screens show one folder"),
    ],
)
def test_a_wrong_call_says_what_to_do(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *words]) == 2
    assert said in capsys.readouterr().err


async def test_only_so_many_tabs_are_open_at_a_time(tmp_path: Path) -> None:
    async with client(tmp_path) as (browser, server):
        server._tabs = _MOST_TABS
        async with browser.ws_connect("/ws") as socket:
            await socket.send_str("")
            assert "tabs are open already" in await closed(socket)


def test_the_screens_only_look_unless_they_may_write(tmp_path: Path) -> None:
    place = tmp_path / "a record; touch x"
    looks, writes = (ScreenSettings(place, AccessRules(), write) for write in (False, True))
    assert looks.command == f"{writes.command} --read-only"
    assert f"'{place}'" in writes.command


@pytest.mark.parametrize(
    "text",
    ["{bad", "[]", "5", '["resize"]', '["stdin", 5]', '["stdin", "\\ud800"]', '["what", 1]',
     '["resize", {"width": "x", "height": 1}]', '["resize", {"width": 1, "height": 1000000000}]',
     '[["a"], 1]', "[" * 100_000],
)  # fmt: skip
def test_a_malformed_message_is_known(text: str) -> None:
    assert not _is_message(text)


def test_messages_of_the_page_are_known() -> None:
    size = {"width": 80, "height": 24}
    for message in (["stdin", ""], ["stdin", "é"], ["resize", size], ["ping", 7], ["blur"]):
        assert _is_message(json.dumps(message))


async def test_a_terminal_too_big_for_memory_is_refused(tmp_path: Path) -> None:
    async with client(tmp_path) as (browser, _):
        assert (await browser.get("/ws", params={"width": "1000000000"})).status == 400


async def test_what_a_tab_shows_is_of_the_served_folder(build: Build) -> None:
    seen = b""
    keys = {b"record.yaml": "E", b"Open which file": "/etc/passwd\r"}
    async with (
        asyncio.timeout(120),
        serving(build.record(QUIZ).parent) as url,
        ClientSession() as session,
        session.ws_connect(f"{url}/ws?width=100&height=24") as socket,
    ):
        await socket.send_str("")
        for awaited, then in zip(keys, (*list(keys)[1:], b"is not served"), strict=True):
            while awaited not in seen:
                seen += await _received(socket)
            while then not in seen:  # keys typed before it has painted are ignored
                await socket.send_json(["stdin", keys[awaited]])
                with suppress(TimeoutError):
                    async with asyncio.timeout(15):
                        while then not in seen:
                            seen += await _received(socket)
    assert b"root:" not in seen


async def test_a_tab_leaves_what_the_owner_remembers_and_ends_at_a_malformed_message(
    build: Build,
) -> None:
    State().theme = "quizlog-paper"
    remembered = user_folder("state") / "screens.json"
    before = remembered.read_bytes()
    seen, said = b"", list[str]()
    async with (
        asyncio.timeout(120),
        serving(build.record(QUIZ), said=said) as url,
        ClientSession() as session,
        session.ws_connect(f"{url}/ws") as socket,
        session.ws_connect(f"{url}/ws") as wrong,
    ):
        for one in (socket, wrong):
            await one.send_str("")
        await wrong.send_str("{bad")
        async for _ in wrong:
            pass
        while b"Who are you?" not in seen:
            seen += await _received(socket)
        while not socket.closed:  # leaving keeps the place in the record
            with suppress(TimeoutError, ConnectionError):
                await socket.send_json(["stdin", "q"])
                async with asyncio.timeout(1):
                    while not socket.closed:
                        await socket.receive()
    assert said[1:] == ["quizlog: a tab sent a malformed message; it is closed"]
    assert remembered.read_bytes() == before
    assert list(Path(tempfile.gettempdir()).glob("quizlog.tab.*")) == []


async def _received(socket: Any) -> bytes:
    data = (await socket.receive()).data
    return data if isinstance(data, bytes) else b""


async def test_the_screens_end_when_their_server_is_killed(build: Build) -> None:
    path = build.record(QUIZ)
    words = ["-m", "quizlog_tui", "serve", "--json", "--port", "0", "--screens", str(path)]
    server = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=PIPE, stderr=PIPE)
    assert server.stdout
    url = json.loads(await server.stdout.readline())["url"]
    async with ClientSession() as session, session.ws_connect(f"{url}/ws") as socket:
        await socket.send_str("")
        async for message in socket:
            if isinstance(message.data, bytes) and b"Who are you?" in message.data:
                break
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
        if not children.exists():
            server.kill()
            pytest.skip("no list of a process's children on this system")
        [screens] = children.read_text().split()
        server.kill()
        await server.communicate()
    async with asyncio.timeout(120):
        while _runs(int(screens)):
            await asyncio.sleep(0.1)


def _runs(number: int) -> bool:
    """Whether a process runs; one that has ended but is not waited for has no command line."""
    try:
        return bool(Path(f"/proc/{number}/cmdline").read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        return False


class Seen:
    """What the terminal in a page was sent."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._frames: list[bytes] = []
        self._more = asyncio.Event()
        page.on("websocket", lambda socket: socket.on("framereceived", self._take))

    def _take(self, frame: Any) -> None:
        self._frames.append(frame if isinstance(frame, bytes) else frame.encode())
        self._more.set()

    async def until(self, words: str) -> None:
        async with asyncio.timeout(120):
            while words not in self.text:
                await self._more.wait()
                self._more.clear()

    async def press(self, key: str, words: str) -> None:
        """Press a key until it has acted: the program ignores keys typed before it has painted."""
        for _ in range(8):
            await self._page.keyboard.press(key)
            with suppress(TimeoutError):
                async with asyncio.timeout(15):
                    return await self.until(words)
        raise AssertionError(f"{words!r} is never shown:\n{self.text[-4000:]}")

    @property
    def text(self) -> str:
        """The text without what places and colours it."""
        return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", b"".join(self._frames).decode(errors="replace"))


async def secrets_got_by_another_port(page: Any, url: str) -> list[str]:
    """What a browser tells a server at another port of the host, and the page from there."""
    got: list[str] = []

    async def home(request: web.Request) -> web.Response:
        got.extend(request.headers.getall("Cookie", []))
        got.extend(request.headers.getall("Authorization", []))
        return web.Response(text="<p>elsewhere</p>", content_type="text/html")

    app = web.Application()
    app.router.add_get("/", home)
    async with test_utils.TestServer(app, host="127.0.0.1") as other:
        link = await page.context.new_page()
        await link.goto(f"data:text/html,<a href={other.make_url('/')}>x</a>")
        await link.click("a")
        await link.get_by_text("elsewhere").wait_for()
        got += await link.evaluate("[...Object.values({...sessionStorage}), document.cookie]")
        refused = "url => new Promise(end => new WebSocket(url).onclose = ({code}) => end(code))"
        assert await link.evaluate(refused, f"{url.replace('http', 'ws')}/ws") == ABNORMAL
        await link.close()
    return [one for one in got if one]


@needs_browser()
@pytest.mark.parametrize("writes", few([False, True], True))
async def test_a_record_in_a_real_browser(writes: bool, build: Build) -> None:
    from playwright.async_api import async_playwright

    from quizlog_tui.webquiz.page.browser import executable

    path = build.record(QUIZ)
    before = path.read_bytes()
    more = ["--write"] if writes else []
    async with serving(path, *more, QUIZLOG_TOKEN="hush") as url, async_playwright() as play:
        browser = await play.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        page = await (await browser.new_context()).new_page()
        foreign: list[str] = []
        page.on("requestfinished", lambda r: foreign.append(r.url) if url[7:] not in r.url else 0)
        await page.goto(url)
        await page.get_by_text("The token is missing or wrong").wait_for()
        for opening in (page.goto(f"{url}/?token=hush"), page.reload()):
            seen = Seen(page)
            await opening
            await page.wait_for_url(f"{url}/")
            await seen.until("Who are you?")
        assert "hush" not in await page.content() + seen.text
        assert await page.context.cookies() == []
        assert await secrets_got_by_another_port(page, url) == []
        assert ("[locked]" in seen.text) is not writes
        await page.focus(".xterm-helper-textarea")
        if writes:
            await page.keyboard.type("Ada")
            await seen.press("Enter", "Hello Ada")
        else:
            await seen.press("f", "locked; this would write")
        await browser.close()
    assert foreign == []
    if writes:
        with Session(path) as session:
            assert list(session.record.inputs) == ["Ada"]
    else:
        assert path.read_bytes() == before
