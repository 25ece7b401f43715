"""The player of an HTML export: it needs no network, shows the page's own text and follows keys."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import pytest
import pytest_asyncio

from quizlog_tui.cli import main
from quizlog_tui.report.document import build_report
from quizlog_tui.report.html import to_html
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.report_pages import report
from tests.support.sessions import QUIZ
from tests.webquiz.conftest import needs_browser

ADDED = re.compile(
    r' data-parent="\d+"| data-at="\d+"|<script>.*?</script>\n'
    r'|; script-src \'sha256-[^\']+\'|<span class="question">([^<]*)</span>',
    re.S,
)
"""What a player adds to the page, besides its style."""
T = TypeVar("T", bound=Callable[..., Any])
HOSTILE = "<img src=x onerror=document.title='owned'>"


def branched(build: Build) -> Session:
    """A record of three branches: one waits, one ended in an error, one forks from that."""
    session = Session(build.record(QUIZ, "1", "2"), clock=lambda: "now")
    session.fork(1, "bad", "wrong<b>&amp;")
    session.comment(1, f"no number {HOSTILE}")
    session.fork(0, "5", "third")
    session.switch("main")
    return session


def without_player(page: str) -> str:
    """The page without what a player adds."""
    text = ADDED.sub(lambda found: found[1] or "", page)
    return re.sub(r"<style>.*?</style>", "", text, flags=re.S)


def test_only_a_player_changes_the_page_which_the_shell_writes_the_same(build: Build) -> None:
    with branched(build) as session:
        built, record = build_report(session), str(session.path)
    plain, player = to_html(built), to_html(built, player=True)
    assert "<script" not in plain and "script-src" not in plain and "data-" not in plain
    assert without_player(player) == without_player(plain)
    assert to_html(built, player=True) == player
    target = build.folder / "a.html"
    assert main(["export", record, "-o", str(target), "--player"]) == 0
    assert target.read_bytes() == player.encode() and "<script>" in player


def test_the_policy_of_the_page_allows_its_script_and_no_other() -> None:
    page = to_html(report("x"), player=True)
    [script] = re.findall(r"<script>(.*?)</script>", page, re.S)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    expected = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert f'content="{expected}"' in page
    assert not re.search(r"https?:|<link|@import|url\(|src=", page)
    assert not re.search(r"eval|Function\(|innerHTML|outerHTML|insertAdjacent|\.write\(", script)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Any]:
    """The browser of all tests of this module, as starting one takes longer than most of them."""
    from playwright.async_api import async_playwright

    from quizlog_tui.webquiz.page.browser import executable

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable(), chromium_sandbox=False, timeout=240_000
        )
        try:
            yield browser
        finally:
            await browser.close()


EXPORTED: dict[Callable[[Build], Session], str] = {}
"""The page of each record, which the first test that looks at it exports."""


@asynccontextmanager
async def shown(
    chromium: Any, build: Build, make: Callable[[Build], Session] = branched, **options: Any
) -> AsyncIterator[tuple[Any, str, list[str]]]:
    """The exported page in a browser, its address, and all that it asked for or complained of."""
    from playwright.async_api import expect

    if make not in EXPORTED:
        with make(build) as session:
            EXPORTED[make] = to_html(build_report(session), player=True)
    target: Path = build.folder / "x.html"
    target.write_text(EXPORTED[make], encoding="utf-8")
    context = await chromium.new_context(**options)
    try:
        page = await context.new_page()
        page.set_default_timeout(120_000)
        expect.set_options(timeout=60_000)
        seen: list[str] = []
        page.on("request", lambda request: seen.append(request.url))
        page.on("console", lambda message: seen.append(message.text))
        page.on("pageerror", lambda error: seen.append(str(error)))
        await page.goto(target.as_uri())
        yield page, target.as_uri(), seen
    finally:
        await context.close()


def in_browser(test: T) -> T:
    """A test in the loop of the module's browser."""
    return needs_browser()(pytest.mark.asyncio(loop_scope="module")(test))


def soon(shown: Any) -> Any:
    """What is expected of the page before long: it follows a new address only after the click."""
    from playwright.async_api import expect

    return expect(shown)


@in_browser
async def test_keys_questions_and_branches_lead_through_the_steps(
    chromium: Any, build: Build
) -> None:
    async with shown(chromium, build) as (page, address, seen):
        place = page.locator("output")
        current = page.locator(".player .step[aria-current=step]")
        steps = page.locator(".player .step:visible")

        async def at(step: int, of: int, fragment: str) -> None:
            await soon(place).to_have_text(f"step {step} of {of}")
            await soon(page).to_have_url(address + fragment)
            await soon(current).to_contain_text(f"step {step}")
            await soon(steps).to_have_count(step + 1)

        await at(0, 2, "")
        for key, step in (
            ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowRight", 2), ("ArrowLeft", 1),
            ("Home", 0), ("ArrowLeft", 0), ("End", 2),
        ):  # fmt: skip
            await page.keyboard.press(key)
            await at(step, 2, f"#step-{step}")
        questions = page.get_by_role("navigation", name="Questions").get_by_role("link")
        assert [line.split("\n")[0] for line in await questions.all_inner_texts()] == [
            "0 number 0?", "1 number 1?", "2 number 2?",
        ]  # fmt: skip
        await questions.nth(1).click()
        await at(1, 2, "#step-1")
        await page.locator(".ways a", has_text="wrong").click()
        await at(1, 2, "#branch-2-step-1")
        await soon(current).to_contain_text("no number")
        await page.get_by_role("button", name="step forward").click()
        await soon(current).to_contain_text("bad number")
        await page.get_by_label("branch").select_option(index=2)
        await soon(page).to_have_url(f"{address}#branch-3-step-1")
        await page.get_by_label("branch").press("ArrowLeft")  # the list may take it; no step does
        assert page.url.endswith("step-1")
        await page.go_back()
        await at(1, 2, "#step-1")
        assert await page.title() == "quiz.py: record.yaml"
        assert seen == [address]


@in_browser
async def test_an_address_names_a_step_of_a_branch(chromium: Any, build: Build) -> None:
    async with shown(chromium, build) as (page, address, _):
        for fragment, place, branch in (
            ("#step-1", "step 1 of 2", 0),
            ("#branch-2-step-2", "step 2 of 2", 1),
            ("#step-99", "step 2 of 2", 0),
            ("#branch-9-step-0", "step 0 of 2", 0),
        ):
            await page.goto(address + fragment)
            await soon(page.locator("output")).to_have_text(place)
            await soon(page.get_by_label("branch")).to_have_value(str(branch))


@in_browser
async def test_the_whole_page_is_shown_on_demand(chromium: Any, build: Build) -> None:
    async with shown(chromium, build) as (page, _, _):
        assert await page.locator("body > details:visible").count() == 0
        await page.get_by_role("button", name="show everything").click()
        assert await page.locator("body > details:visible").count() == 3
        assert await page.locator(".player .step:visible").count() == 0


@in_browser
async def test_the_whole_page_is_shown_without_scripts(chromium: Any, build: Build) -> None:
    async with shown(chromium, build, java_script_enabled=False) as (page, _, _):
        assert await page.locator("body > details:visible").count() == 3
        assert await page.locator(".player").count() == 0
        assert await page.locator("details[open] .step:visible").count() == 3


@in_browser
async def test_nothing_moves_for_those_who_want_less_motion(chromium: Any, build: Build) -> None:
    async with shown(chromium, build) as (page, _, _):
        for wish, scrolling in (("reduce", "auto"), ("no-preference", "smooth")):
            await page.emulate_media(reduced_motion=wish)
            style = "getComputedStyle(document.documentElement).scrollBehavior"
            assert await page.evaluate(style) == scrolling


WIDE = """
import sys
for stream in (sys.stdout, sys.stderr):
    for row in range(9):
        print("".join(f"| {row:>4} column{i:02} " for i in range(30)) + "|", file=stream)
    input("Step? ")
"""
MEASURED = """pre => {
    const text = document.createRange();
    text.selectNodeContents(pre.firstChild);
    const tops = new Set([...text.getClientRects()].map(line => line.top));
    return [tops.size, pre.scrollWidth > pre.clientWidth];
}"""
"""In how many rows a text is drawn, and whether it scrolls sideways."""


def wide(build: Build) -> Session:
    """A record whose script prints tables that no page holds, and gets a long answer."""
    return Session(build.record(WIDE, "a long answer " * 40, "2"))


@in_browser
@pytest.mark.parametrize(("width", "scripts"), [(400, True), (1280, False)])
async def test_wide_tables_scroll_inside_the_page(
    width: int, scripts: bool, chromium: Any, build: Build
) -> None:
    options = {"viewport": {"width": width, "height": 800}, "java_script_enabled": scripts}
    async with shown(chromium, build, wide, **options) as (page, _, _):
        if scripts:
            await page.get_by_role("button", name="show everything").click()
        await page.locator("summary:visible", has_text="stderr").first.click()
        tables = await page.locator("pre:visible", has_text="column29").all()
        assert [await table.evaluate(MEASURED) for table in tables] == [[9, True]] * 2
        answer = page.locator("pre .answer:visible").first
        assert await answer.evaluate("it => it.getClientRects().length") > 2
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
