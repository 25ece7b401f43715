"""Single visits in a real browser: when they end, and that nothing of them stays."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest

from quizlog_tui.webquiz.page import visit as visit_module
from quizlog_tui.webquiz.page.browser import NotRenderedError
from quizlog_tui.webquiz.page.visit import Visit
from tests.webquiz.conftest import shares_browser
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
