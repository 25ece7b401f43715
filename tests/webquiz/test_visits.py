"""Single visits in a real browser: when they end, what becomes a file, and that nothing stays."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.webquiz.page import visit as visit_module
from quizlog_tui.webquiz.page.browser import NotRenderedError
from quizlog_tui.webquiz.page.visit import _MOST_OFFERED, Visit, data_of
from tests.webquiz.conftest import lab, shares_browser
from tests.webquiz.graded_site import ASKS, RIGHT, graded_site, says
from tests.webquiz.right import png
from tests.webquiz.small_site import visiting

STILL = "<!doctype html><p>Part 1: amber</p><a rel=next href=/2>next</a>"


@shares_browser
async def test_only_a_page_that_nothing_can_change_is_not_waited_for(tmp_path: Path) -> None:
    pages = {
        "/still": ("html", STILL),
        "/script": ("html", f"{STILL}<script>0</script>"),
        "/handler": ("html", f"{STILL}<img src=x onerror=\"this.alt='late'\">"),
        "/refresh": ("html", f'<meta http-equiv=Refresh content="60">{STILL}'),
        "/frame": ("html", f"{STILL}<iframe src=/still></iframe>"),
    }

    async def reason(path: str) -> str:
        async with visiting(pages, tmp_path) as (site, tab):
            return (await tab.visit(f"{site.url}{path}")).settled

    why = dict(zip(pages, await asyncio.gather(*map(reason, pages)), strict=True))
    assert [path for path in why if why[path] == "nothing in it can change it"] == ["/still"]


@shares_browser
async def test_nothing_of_a_page_runs_on_when_it_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visit_module, "_CAP", 1.0)  # the page is never quiet
    busy = f"{STILL}<script>setInterval(() => fetch('/ping'), 10)</script>"
    pages = {"/busy": ("html", busy), "/still": ("html", STILL), "/ping": ("html", "")}
    async with visiting(pages, tmp_path) as (site, tab):
        await tab.visit(f"{site.url}/busy")
        counts = [site.hits.count("/ping")]
        while len(counts) < 2 or counts[-1] != counts[-2]:  # what was under way may still arrive
            after = await tab.visit(f"{site.url}/still")
            counts.append(site.hits.count("/ping"))
            assert len(counts) < 20, counts
        assert counts[0]
        assert len(tab.context.pages) == 1
        assert (after.loaded, after.frames[0].links[0].url) == ((), f"{site.url}/2")


@shares_browser
async def test_a_page_that_was_long_on_its_way_may_settle(tmp_path: Path) -> None:
    async with visiting({"/still": ("html", STILL)}, tmp_path) as (site, tab):
        now, page = time.monotonic(), await tab.context.new_page()
        visit = Visit(page, f"{site.url}/still", tmp_path, 10**6, now + 60, started=now - 60)
        assert (await visit.snapshot()).settled == "nothing in it can change it"


@shares_browser
async def test_a_page_that_cannot_be_had_does_not_spoil_the_next(tmp_path: Path) -> None:
    pages = {"/hang": ("hang", ""), "/still": ("html", STILL)}
    async with visiting(pages, tmp_path) as (site, tab):
        for url in (f"{site.url}/hang", "http://127.0.0.1:1/"):
            try:
                await replace(tab, seconds=0.5).visit(url)
            except NotRenderedError:
                continue
            raise AssertionError(f"{url} was rendered")
        assert "amber" in (await tab.visit(f"{site.url}/still")).frames[0].text


# -- what becomes a file


PICTURE = png(60, 50, lambda x, y: (x, y, 3 * x))
HELD = "data:image/png;base64," + base64.b64encode(PICTURE).decode()
CLICKS = """<p>Sum it, POST the answer to /submit</p><script>
function offer(url, name) {
  const a = document.createElement("a");
  a.href = url; a.download = name; document.body.append(a); a.click(); a.remove();
}
</script>"""


@shares_browser
async def test_pictures_become_files_whatever_way_they_are_shown(tmp_path: Path) -> None:
    shown = f"""<p>How many red dots? Submit the answer.</p><img src="{HELD}">
    <canvas width=70 height=40></canvas>
    <svg width=90 height=50><circle r=20 cx=25 cy=25 fill=red /></svg>
    <div style="width:200px;height:100px;background:url(/back.png)"></div>
    <div id=shut></div>
    <script>shut.attachShadow({{mode: "closed"}}).innerHTML = "<svg width=80 height=60></svg>"</script>"""
    async with visiting({"/p": ("html", shown)}, tmp_path) as (site, tab):
        snapshot = await tab.visit(f"{site.url}/p")
    assert snapshot.files == ("picture.png", "canvas.png", "svg.png", "svg-2.png")
    assert (tmp_path / "picture.png").read_bytes() == PICTURE
    assert (tmp_path / "svg-2.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert f"{site.url}/back.png" in snapshot.frames[0].media


@shares_browser
async def test_of_many_and_big_pictures_a_few_are_kept_and_dots_are_not(tmp_path: Path) -> None:
    dot = "<svg width=8 height=8></svg><img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>"
    big = "<canvas width=5000 height=5000></canvas>"
    shown = f"<p>Submit it.</p>{dot * 9}{big}{'<svg width=30 height=30></svg>' * 9}"
    async with visiting({"/p": ("html", shown)}, tmp_path) as (site, tab):
        assert len((await tab.visit(f"{site.url}/p")).files) == 6
        tab.room = 10
        assert (await tab.visit(f"{site.url}/p")).files == ()


@shares_browser
async def test_the_browser_writes_no_download_and_what_a_page_made_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visit_module, "_CAP", 2.0)  # the page is never quiet
    offers = """<script>
    const made = URL.createObjectURL(new Blob(["x,y"]));
    offer(made, "../../made.csv"); URL.revokeObjectURL(made);
    offer(URL.createObjectURL(new Blob([new Uint8Array(2e6)])), "big.bin");
    offer("data:text/csv;base64,YSxi", "held.csv");
    offer("/file", "file.csv");
    setInterval(() => offer("/more?" + Math.random(), "more.bin"), 20);
    </script>"""
    pages = {"/p": ("html", CLICKS + offers), "/file": ("html", "a"), "/more": ("hang", "")}
    async with visiting(pages, tmp_path) as (site, tab):
        snapshot = await tab.visit(f"{site.url}/p")
    assert snapshot.seconds < 8.0
    assert snapshot.files == ("_.._made.csv", "held.csv")
    texts = [(tmp_path / name).read_text() for name in snapshot.files]
    assert (texts, len(list(tmp_path.iterdir()))) == (["x,y", "a,b"], 2)
    assert len(snapshot.offered) <= _MOST_OFFERED


@shares_browser
async def test_what_is_offered_and_shown_is_there_for_the_models(tmp_path: Path) -> None:
    page = f"""{CLICKS}<p>{ASKS}</p><img src="{HELD}">
    <script>offer("/data.csv", "table.csv")</script>"""
    with graded_site({"/q": page, "/data.csv": "40,2"}, lambda payload, nth: RIGHT) as site:
        thought = says(42)
        async with lab(None, tmp_path, {"ada": thought}) as running:
            result = await running.work(url=f"{site.url}/q")
            asked: Any = json.loads(running.fake.bodies[0]["messages"][-1]["content"])
    assert result.state == "finished"
    assert {"table.csv", "picture.png"} <= set(asked["files"])


@pytest.mark.parametrize(
    ("url", "kind", "data"),
    [
        ("data:text/csv,a%2Cb", "text/csv", b"a,b"),
        ("data:image/png;charset=x;base64,AAE=", "image/png", b"\0\1"),
        ("data:image/png;base64,A", "image/png", b""),
        ("data:,x", "", b"x"),
        ("data:", "", b""),
    ],
)
def test_what_a_data_url_holds(url: str, kind: str, data: bytes) -> None:
    assert data_of(url) == (kind, data)


@given(st.text(), st.binary())
def test_any_data_url_is_read(text: str, data: bytes) -> None:
    data_of(f"data:{text}")
    held = base64.b64encode(data).decode()
    assert data_of(f"data:a/b;base64,{held}") == ("a/b", data)
