"""Searching: every hit is gone to once and round the end, wherever one looks; filters keep its lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.replay.transcript import Step, Transcript
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.draw.output import RunOutput
from quizlog_tui.tui.screens.help import HelpScreen
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.widgets.documents import Document, Line, Paragraphs, Table, line, rows
from quizlog_tui.tui.widgets.finding import FilteredDocument, Finding, HitRows, Place
from quizlog_tui.tui.widgets.line_view import LineView
from quizlog_tui.tui.widgets.row_list import MarkedView, RowList
from tests.support.build import Build
from tests.support.comparisons import compare, run
from tests.support.screens import idle, opened, patiently, playing, press, settled, shows

TEXT = st.text("abA é日\n", max_size=25)
TEXTS = st.lists(TEXT, max_size=6)
WORDS = st.sampled_from(["a", "ab", "b a", "é", "AA"])


def counted(words: str, document: Document) -> Finding:
    """A finding that has looked through all."""
    found = Finding(words, document)
    found.count_on(monotonic() + 60)
    assert not found.more
    return found


def measured(kept: FilteredDocument, width: int) -> Sequence[int]:
    """Where all that is left starts: a slow machine measures it in several turns."""
    starts = kept.starts(width)
    while kept.more:
        starts = kept.starts(width)
    return starts


def places(found: Finding, count: int) -> list[Place]:
    """All hits in order."""
    return [Place(item, at) for item in range(count) for at in found.hits(item).places]


# -- the rules


@given(TEXTS, WORDS, st.booleans(), st.booleans(), st.data())
def test_going_on_visits_every_hit_once_and_comes_round_and_back(
    texts: list[str], words: str, cut: bool, known: bool, data: st.DataObject
) -> None:
    document = Paragraphs([line(text, cut=cut) for text in texts])
    found = counted(words, document) if known else Finding(words, document)
    start = Place(data.draw(st.integers(0, len(texts))), data.draw(st.integers(0, 25)))
    wanted = places(found, len(texts))
    if cut:
        assert len(wanted) == sum(words.lower() in text.lower() for text in texts)
    if not wanted:
        assert found.after(start) is None and found.before(start) is None
        return
    first = found.after(start)
    assert first == min((p for p in wanted if p >= start), default=wanted[0])
    assert found.before(start) == max((p for p in wanted if p < start), default=wanted[-1])
    assert first is not None
    here, seen = first, []
    for _ in wanted:
        seen.append(here)
        following = found.after(Place(here.item, here.at + 1))
        assert following is not None and found.before(following) == here
        here = following
    assert here == first and sorted(seen) == wanted


@given(TEXTS, WORDS)
def test_hits_are_numbered_as_they_are_gone_through(texts: list[str], words: str) -> None:
    found = counted(words, Paragraphs([line(text) for text in texts]))
    every = places(found, len(texts))
    assert [found.number(place) for place in every] == [*range(1, len(every) + 1)]
    assert found.describe_place(None) == (f"{len(every)} found" if every else "not found")
    assert not every or found.describe_place(every[0]) == f"1 of {len(every)}"


@given(TEXTS, TEXTS, TEXTS, WORDS)
def test_another_document_is_searched_from_where_it_differs(
    same: list[str], before: list[str], after: list[str], words: str
) -> None:
    found = counted(words, Paragraphs([line(text) for text in (*same, *before)]))
    document = Paragraphs([line(text) for text in (*same, *after)])
    found.follow(document, len(same))
    found.count_on(monotonic() + 60)
    fresh = counted(words, document)
    assert found.items == fresh.items and found.describe_place(None) == fresh.describe_place(None)
    assert places(found, len(document)) == places(fresh, len(document))


def test_hits_that_are_not_counted_yet_are_found_all_the_same() -> None:
    found = Finding("x", Table(10, lambda index: line("x" if index % 2 else "")))
    assert (found.describe_place(None), found.number(Place(5, 0))) == ("…", None)
    assert found.after(Place(4, 0)) == Place(5, 0)


ODD = "abß İſK\t\x1b\x9b\u0301"
"""Characters that are drawn as others, or are one letter with others."""


@given(st.text(f"{ODD}\n", max_size=9), st.text(f"{ODD}␛ \\x9", min_size=1, max_size=3), st.data())
def test_what_is_drawn_is_found_at_an_earlier_step_as_at_the_last(
    written: str, words: str, data: st.DataObject
) -> None:
    run = Transcript(
        AppendOnlyList([Step("", (written,), "", 1, "")]), Step("", (written,), "", 2), "success"
    )
    document = RunOutput(run).at(run)
    drawn = document[0].text
    if drawn and data.draw(st.booleans()):
        start = data.draw(st.integers(0, len(drawn) - 1))
        words = drawn[start : start + len(words)].replace("\n", "a")
    found = counted(words, document)
    wanted = [match.start() for match in re.finditer(re.escape(words), drawn, re.IGNORECASE)]
    assert [*found.hits(0).starts] == [*found.hits(1).starts] == wanted
    assert found.count(written) == len(found.hits(0).starts)


def test_only_items_that_have_the_words_are_made() -> None:
    made: list[int] = []

    class Texts(Paragraphs):
        def __getitem__(self, index: int) -> Line:
            made.append(index)
            return super().__getitem__(index)

    texts = [line(str(number)) for number in range(100)]
    document = Texts(texts)
    document.text = lambda index: texts[index].text  # type: ignore[method-assign]
    found = counted("77", document)
    assert (found.items, made) == ([77], [77])


@given(st.lists(TEXT, max_size=4), st.integers(2, 9), st.booleans(), WORDS)
def test_each_character_of_a_hit_is_marked_in_its_row(
    parts: list[str], width: int, cut: bool, words: str
) -> None:
    item = line(*parts, cut=cut)
    drawn = rows(item, width)
    starts = counted(words, Paragraphs([item])).hits(0).starts
    firsts = [drawn.begin(number) for number in range(len(drawn))]
    hits = HitRows(drawn, starts, starts)
    marked: dict[int, str] = dict.fromkeys(starts, "")
    for number, (row, first) in enumerate(zip(drawn, firsts, strict=True)):
        text = "".join(piece for piece, _ in row)
        assert text == item.text[first : first + len(text)].replace("\n", "⏎")
        for start, end, place in hits.within(number, len(text), len(words)):
            assert 0 <= start < end
            assert hits.row_of(place) == number or marked[place]
            marked[place] += text[start:end]
        following = [start for start in starts if start >= first]
        assert hits.place_from(number) == (following[0] if following else None)
    assert [text.lower() for text in marked.values()] == [words.lower()] * len(starts)


# -- the filter


@given(TEXTS, WORDS, st.booleans(), st.integers(4, 20))
def test_a_filter_leaves_the_lines_with_hits_and_knows_where_they_are(
    texts: list[str], words: str, cut: bool, width: int
) -> None:
    document = Paragraphs([line(text, cut=cut) for text in texts])
    found = counted(words, document)
    kept = FilteredDocument(document, found)
    starts = measured(kept, width)
    wanted = [text for text in texts if words.lower() in text.lower()]
    if not cut:
        wanted = [
            one for text in wanted for one in text.split("\n") if words.lower() in one.lower()
        ]
    left = [kept[index] for index in range(len(kept))]
    assert [
        one for item in left for one in ([item.text] if cut else item.text.split("\n"))
    ] == wanted
    for index, item in enumerate(left):
        assert starts[index + 1] - starts[index] == len(rows(item, width))
        hits = found.hits(kept.whole(index))
        assert len(kept.moved(index)) == len(hits.starts)
        for at in kept.moved(index):
            assert item.text[at : at + len(words)].lower() == words.lower()


def test_lines_of_a_runs_output_stand_there_with_their_step() -> None:
    steps = [Step("q? ", ("one\n", f"two {number}\n"), "", 1, "a") for number in range(3)]
    run = Transcript(AppendOnlyList(steps), Step("two? ", (), "", 2), "in_progress")
    document = RunOutput(run).at(run)
    found = counted("TWO", document)
    kept = FilteredDocument(document, found)
    measured(kept, 40)
    told = [kept[index].text for index in range(len(kept))]
    assert told == ["  0 │ two 0", "  1 │ two 1", "  2 │ two 2", "  3 │ two? ▏"]
    assert kept.moved(0) == [6] and found.describe_place(Place(1, 4)) == "2 of 4"


@pytest.mark.parametrize("width", [60, 100])
def test_rows_of_a_comparison_stand_there_with_both_steps(width: int) -> None:
    long = "\n".join(f"line {number}" for number in range(5)) + "\n"
    found = compare(run((long, "a? ", "1"), ("x", "", "")), run((long, "a? ", "2"), ("x", "", "")))
    found.starts(width)
    kept = FilteredDocument(found, counted("line 3", found))
    starts = measured(kept, width)
    assert starts[-1] == 1 and len(rows(kept[0], width)) == 1
    assert kept[0].text.split()[:3] in (["0", "line", "3"], ["<", "0", "line"])


# -- in panes


class Panes(App[None]):
    """One pane of five rows."""

    CSS = "LineView { height: 7; width: 30; border: round gray; }"

    def __init__(self, pane: LineView) -> None:
        super().__init__()
        self.pane = pane

    def compose(self) -> ComposeResult:
        yield self.pane

    def here(self) -> list[str]:
        """The rows in which the hit where one is stands, by its style on the screen."""
        found = []
        for y in range(self.pane.size.height):
            strip = self.pane.render_line(y)
            if any(
                s.style and s.style.underline and s.style.reverse and s.style.bold for s in strip
            ):
                found.append(strip.text.strip())
        return found


def numbered_lines(count: int) -> str:
    return "\n".join(f"needle {n}" if n % 4 == 0 else f"line {n}" for n in range(count))


async def test_hits_of_one_long_item_are_gone_to_and_round() -> None:
    app = Panes(LineView(id="text"))
    async with app.run_test() as pilot:
        app.pane.show(Paragraphs([line("first"), line(numbered_lines(14))]))
        assert app.pane.find("needle")
        seen = []
        for _ in range(5):
            await pilot.pause()
            seen.append((app.here(), app.pane.border_subtitle))
            app.pane.find_next(1)
        wanted = [([f"needle {4 * n}"], f"{n + 1} of 4") for n in range(4)]
        assert seen == [*wanted, wanted[0]]
        app.pane.find_next(-1)
        app.pane.find_next(-1)
        await pilot.pause()
        assert app.here() == ["needle 12"]


async def test_after_scrolling_one_goes_on_from_what_is_in_sight() -> None:
    app = Panes(LineView(id="text"))
    async with app.run_test() as pilot:
        app.pane.show(Paragraphs([line(numbered_lines(60))]))
        app.pane.find("needle")
        await pilot.press("tab", "G")
        app.pane.find_next(1)
        assert app.pane.border_subtitle == "15 of 15", "the one in the last rows"
        await pilot.press("g")
        app.pane.find_next(-1)
        assert app.pane.border_subtitle == "2 of 15", "the last one in sight"


async def test_the_filter_shows_single_lines_and_one_stays_on_the_hit() -> None:
    app = Panes(LineView(id="text"))
    async with app.run_test() as pilot:
        app.pane.show(Paragraphs([line(numbered_lines(60)), line("other")]))
        await pilot.pause()
        app.pane.find("needle")
        for _ in range(12):
            app.pane.find_next(1)
        assert app.pane.toggle_filter()
        await pilot.pause()
        assert app.pane.document.text(0).split("\n") == [f"needle {4 * n}" for n in range(15)]
        assert app.here() == ["needle 48"]
        assert app.pane.border_subtitle == "13 of 15 · filtered"
        app.pane.find_next(1)
        app.pane.toggle_filter()
        await pilot.pause()
        assert app.here() == ["needle 52"]
        app.pane.find("")
        await pilot.pause()
        assert (app.here(), app.pane.border_subtitle, len(app.pane.document)) == ([], "", 2)


async def test_the_mark_of_a_list_goes_to_the_hit_and_keeps_its_item_in_the_filter() -> None:
    pane = RowList(id="rows")
    app = Panes(pane)
    async with app.run_test() as pilot:
        pane.show(Table(40, lambda n: line(f"needle needle {n}" if n % 4 == 0 else "-", cut=True)))
        pane.find("needle")
        pane.find_next(1)
        assert (pane.index, pane.border_subtitle) == (4, "2 of 10")
        pane.move(9)
        pane.find_next(-1)
        assert pane.index == 8
        pane.toggle_filter()
        assert (pane.index, pane.cursor) == (8, 2)
        pane.mark(20)
        pane.find_next(1)
        assert (pane.index, pane.cursor) == (24, 6)
        pane.find("")
        await pilot.pause()
        assert (pane.index, pane.cursor) == (24, 24)


async def test_a_mark_that_went_elsewhere_is_where_one_goes_on() -> None:
    pane = MarkedView(id="marked")
    app = Panes(pane)
    async with app.run_test() as pilot:
        pane.show(
            Paragraphs([line("needle needle" if n % 2 else "-") for n in range(40)]), cursor=0
        )
        await pilot.pause()
        pane.find("needle")
        pane.find_next(1)
        assert (pane.cursor, pane.border_subtitle) == (1, "2 of 40")
        pane.mark(20)
        pane.find_next(1)
        assert (pane.cursor, pane.border_subtitle) == (21, "21 of 40")
        pane.find("nowhere")
        pane.toggle_filter()
        pane.mark(3)
        assert len(pane.document) == 0 and pane.place(1) == -1
        await shows(pilot, "no line matches; ")


@pytest.mark.parametrize("filtering", [False, True])
async def test_long_texts_are_counted_bit_by_bit(
    monkeypatch: pytest.MonkeyPatch, filtering: bool
) -> None:
    monkeypatch.setattr("quizlog_tui.tui.widgets.finding._SLICE", 0.0001)
    app = Panes(LineView(id="text"))
    async with app.run_test() as pilot:
        app.pane.show(Paragraphs([line(f"- {number}\nneedle") for number in range(500)]))
        app.pane.find("needle")
        if filtering:
            app.pane.toggle_filter()
        assert "500" not in str(app.pane.border_subtitle)
        await shows(pilot, "1 of 500 · filtered" if filtering else "1 of 500 ─")
        for _ in patiently():
            if app.pane.virtual_size.height == (500 if filtering else 1000):
                return
            await pilot.pause()
        raise AssertionError(app.pane.virtual_size)


# -- on screens


async def test_the_output_of_one_step_is_searched_line_by_line(build: Build) -> None:
    script = 'for n in range(300): print("needle" if n % 20 == 0 else "line", n)\ninput("so? ")\n'
    app = QuizlogApp(build.record(script))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "g", "slash", *"needle")
        await shows(pilot, "1 of 15")
        await press(pilot, "enter")
        seen = [output_place(app)]
        for _ in range(15):
            await press(pilot, "n")
            seen.append(output_place(app))
        assert seen == [f"{n} of 15" for n in (*range(1, 16), 1)]
        await press(pilot, "N", "N")
        await shows(pilot, "needle 260")
        await press(pilot, "ampersand")
        await shows(pilot, "14 of 15 · filtered")
        shown = [one for one in screen_text(app).split("\n") if "│ " in one and "line 1" in one]
        assert shown == [] and "0 │ needle 260" in screen_text(app)


async def test_a_search_of_the_output_goes_on_behind_the_step_shown(build: Build) -> None:
    script = 'for n in range(8): print("needle" if n in (2, 5) else "line", n); input(f"{n}? ")\n'
    app = QuizlogApp(build.record(script, *"abc", "needle", *"efgh"))
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        screen = await settled(pilot)
        await press(pilot, "escape", "1", "0", "slash", *"needle", "enter")
        await shows(pilot, "not found up to step 0; n goes on to step 2")
        await press(pilot, "ampersand")
        await shows(pilot, "no line matches; Escape shows all")
        seen = []
        for _ in range(4):
            await press(pilot, "n")
            seen.append((screen.state.step, output_place(app)))
        assert seen == [
            (2, "1 of 1 · filtered"),
            (4, "2 of 2 · filtered"),
            (5, "3 of 3 · filtered"),
            (5, "1 of 3 · filtered"),
        ]
        await press(pilot, "N")
        assert (screen.state.step, output_place(app)) == (5, "3 of 3 · filtered")


def output_place(app: QuizlogApp) -> str | None:
    return app.screen.query_one("#output", LineView).border_subtitle


@pytest.mark.parametrize("kind", [LineView, MarkedView])
async def test_a_search_begins_where_one_scrolled_to(kind: type[LineView]) -> None:
    pane = kind(id="text")
    app = Panes(pane)
    async with app.run_test() as pilot:
        items = [line(numbered_lines(20)) for _ in range(3)]
        pane.show(Paragraphs(items), cursor=0 if kind is MarkedView else None, end=True)
        await pilot.pause()
        await pilot.press("tab")
        pane.scroll_to(y=30, animate=False)
        await pilot.pause()
        pane.styles.height = 6  # as when the line for the words opens
        await pilot.pause()
        await pilot.pause()
        assert pane.scroll_offset.y == 30
        pane.find("needle")
        assert pane.border_subtitle == "9 of 15"


async def test_the_last_page_of_the_help_does_not_hold_a_search(build: Build) -> None:
    async with playing(build.record('input("so? ")'), size=(100, 30)) as pilot:
        await press_help(pilot, "G", "slash", *"find", "enter")
        pane = pilot.app.screen.query_one(LineView)
        total = int(str(pane.border_subtitle).split()[-1])
        seen = []
        for _ in range(total):
            seen.append(pane.border_subtitle)
            await press_help(pilot, "n")
        assert sorted(seen, key=str) == sorted(f"{n} of {total}" for n in range(1, total + 1))
        assert pane.border_subtitle == seen[0]


async def press_help(pilot: Pilot[None], *keys: str) -> None:
    if not isinstance(pilot.app.screen, HelpScreen):
        await pilot.press("escape", "question_mark")
        await opened(pilot, HelpScreen)
    await pilot.press(*keys)
    await idle(pilot)


async def test_stepping_with_a_filter_on_follows_the_step(build: Build) -> None:
    script = "for n in range(6): input(f'needle {n}? ' if n in (2, 3, 5) else f'{n}? ')\n"
    async with playing(build.record(script, *"abcdef"), size=(100, 30)) as pilot:
        screen = await settled(pilot)
        await press(pilot, "escape", "0", "2", "slash", *"needle", "enter", "ampersand")
        assert screen.state.step == 2
        seen = []
        for key in ("j", "j", "h", "h", "escape"):
            await press(pilot, key)
            seen.append(screen.state.step)
        assert seen == [3, 5, 4, 3, 3]
        assert screen.query_one("#timeline", RowList).index == 3
