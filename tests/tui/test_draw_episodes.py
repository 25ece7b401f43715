"""Episodes as they are drawn: the graph of hooks, an episode in full, the rows of a file."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.episodes.read.facts import facts
from quizlog_tui.tui.draw.episodes import MOST, WIDEST, clipped, episode_lines, graph
from tests.episodes.support import episode
from tests.support.gold_episode import ONE

CHAIN = (("a", ()), ("b", ("a",)), ("c", ("b",)))
CASES = {
    "a chain": (CHAIN, ["○", "●", "●"]),
    "two that meet": (
        (("a", ()), ("b", ()), ("c", ("a", "b")), ("d", ("c",))),
        ["○", "│ ○", "●─╯", "●"],
    ),
    "one that many need": (
        (("a", ()), ("b", ("a",)), ("c", ("a",)), ("d", ("a", "b")), ("e", ("c", "d")), ("f", "a")),
        ["○", "├─●", "├─┼─●", "├─● │", "│ ●─╯", "●"],
    ),
    "a line that is crossed": (
        (("a", ()), ("b", ()), ("c", ()), ("d", ("a", "c")), ("e", ("b",))),
        ["○", "│ ○", "│ │ ○", "●─┼─╯", "  ●"],
    ),
    "nothing in common": ((("a", ()), ("b", ()), ("c", ())), ["○", "○", "○"]),
    "what is not there": ((("a", ("ghost", "a")), ("a", ("a",))), ["○", "●"]),
    "none": ((), []),
}


@pytest.mark.parametrize("case", CASES)
def test_the_graph_of_hooks(case: str) -> None:
    hooks, expected = CASES[case]
    assert [row.rstrip() for row in graph(hooks)] == expected


names = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(names, st.lists(names, max_size=4)), max_size=40))
def test_any_graph_can_be_drawn(hooks: Sequence[tuple[str, Sequence[str]]]) -> None:
    drawn = graph(hooks)
    assert len(drawn) == len(hooks) and len({len(row) for row in drawn}) <= 1
    seen: set[str] = set()
    for row, (name, depends_on) in zip(drawn, hooks, strict=True):
        sign = "●" if seen & set(depends_on) else "○"
        assert row.count(sign) == 1 and row.count("●") + row.count("○") == 1
        seen.add(name)


def test_a_graph_that_is_too_wide_is_not_drawn() -> None:
    many = [(str(n), ()) for n in range(WIDEST + 1)]
    last = ("last", [name for name, _ in many])
    assert graph([*many, last]) == [""] * (WIDEST + 2)
    assert graph([(str(n), ()) for n in range(10_000)])[-1] != ""


def drawn(one: dict[str, object]) -> str:
    return "\n".join(item.text for item in episode_lines(facts(one)))


def test_an_episode_in_full() -> None:
    text = drawn(ONE)
    for said in (
        "✓ verified", "✓ 2 of the 3 that answered agree: more than half",
        '★ folder/record.yaml  "end"', '= ada #1  "end"  parts at step 1',
        "≠ ada #3  no answer ✗ not finished, score 0.5  parts at step 0",
        "   0 4  3 of 4 the same", "     ≠ 5  ada #3", "● again = more", "Welcome",
    ):  # fmt: skip
        assert said in text, said
    assert "!" not in text


def test_what_speaks_against_it_and_what_does_not_fit() -> None:
    alone = episode(("4", "end"), [])
    assert "✗ not verified\n  ✓ the script finishes" in drawn(alone)
    assert "✗ there is no consistency run" in drawn(alone)
    assert "! the line says that it is verified, but" in drawn(alone | {"verified": True})
    assert "! the line says that it is not verified, but" in drawn(ONE | {"verified": False})


def test_the_hint_is_told_as_the_teachers() -> None:
    told = ONE | {"question": ONE["question"] | {"hint": "add"}}
    assert "hint, shown only to the teacher: add" in drawn(told)


def test_the_conversation_is_drawn_as_on_a_terminal() -> None:
    said = {"role": "user", "content": "\x1b[31mred\x1b[0m then\n10%\r50%"}
    lines = episode_lines(facts(ONE | {"conversation_for_sft": {"messages": [said]}}))
    assert lines[-1].text == "user red then\n50%"
    assert ("red", "sgr 31") in lines[-1].pieces


def test_an_empty_object_says_what_it_lacks() -> None:
    text = drawn({})
    assert "✗ not verified" in text and "not given" in text and "none" in text


def test_long_texts_are_clipped() -> None:
    assert clipped("x" * MOST) == "x" * MOST
    assert clipped("x" * (MOST + 1234)) == "x" * MOST + "… (1,234 more)"
    one = episode(("4", "e" * 10**6), [("4", "end")])
    assert len(drawn(one)) < 20 * MOST
