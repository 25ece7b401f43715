"""Visits of pages that a test serves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from quizlog_tui.webquiz.net.address import allowed_for
from quizlog_tui.webquiz.net.gate import gate
from quizlog_tui.webquiz.page.browser import Browser, Tab
from tests.webquiz.small_site import Site, small_site


@asynccontextmanager
async def visiting(
    pages: dict[str, tuple[str, str]], folder: Path, browser_name: str | None = None
) -> AsyncIterator[tuple[Site, Tab]]:
    browser = Browser(browser_name)
    try:
        with small_site(pages) as site:
            allowed = allowed_for(site.url, (), ["127.0.0.1"])
            async with gate(allowed) as way_out, browser.tab(way_out, folder, 10**6) as tab:
                yield site, tab
    finally:
        await browser.close()
