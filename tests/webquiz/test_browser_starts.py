"""Browsers that a test starts itself, as it is about their start: no other one runs beside them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from quizlog_tui.errors import ConfigError
from quizlog_tui.webquiz.net.address import allowed_for
from quizlog_tui.webquiz.net.gate import gate
from quizlog_tui.webquiz.page.browser import Browser
from tests.webquiz.conftest import needs_browser, open_contexts
from tests.webquiz.small_site import visiting


@needs_browser()
async def test_it_can_be_started_before_the_first_visit(tmp_path: Path) -> None:
    browser = Browser()
    try:
        await browser.start()
        assert open_contexts(browser) == 0
        async with gate(allowed_for("http://quiz.test/")) as way_out:
            running = browser._chromium
            async with browser.tab(way_out, tmp_path, 10**6):
                assert running is not None
                assert (browser._chromium, open_contexts(browser)) == (running, 1)
    finally:
        await browser.close()


async def test_a_whole_browser_reads_pages_as_well_as_one_without_a_window(tmp_path: Path) -> None:
    name = next(filter(shutil.which, ("chromium", "google-chrome")), None)
    if name is None:
        pytest.skip("no whole Chromium on this machine")
    pages = {"/": ("html", "<p>Part 1: amber</p><script>document.title = 'read'</script>")}
    async with visiting(pages, tmp_path, name) as (site, tab):
        snapshot = await tab.visit(site.url)
    (frame,) = snapshot.frames
    assert (frame.title, frame.text) == ("read", "Part 1: amber")


@needs_browser()
async def test_that_there_is_none_is_said_by_the_first_visit(tmp_path: Path) -> None:
    browser = Browser("no-such-browser")
    await browser.start()
    async with gate(allowed_for("http://quiz.test/")) as way_out:
        with pytest.raises(ConfigError, match="no-such-browser"):
            async with browser.tab(way_out, tmp_path, 10**6):
                pass
    await browser.close()
