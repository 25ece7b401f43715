"""A value that has changed has another mark, whatever its text, and an equal one has the same."""

from __future__ import annotations

import datetime
import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import pytest

from quizlog_tui.debug.inspection import Trace, inside
from quizlog_tui.session.session import Session
from tests.support.build import Build

_names: dict[str, Any] = {}
for _text in inside()[:2]:
    exec(_text, _names)
mark_of, mark_at_line = _names["mark_of"], _names["mark_at_line"]
Pair = namedtuple("Pair", "left right")


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Plain:
    def __init__(self, **names: Any) -> None:
        self.__dict__.update(names)


class Slotted:
    __slots__ = ("inner",)

    def __init__(self, inner: Any) -> None:
        self.inner = inner


class Odd(type):
    def __eq__(cls, other: object) -> bool:
        raise AssertionError("code of the script runs")

    __hash__ = None  # type: ignore[assignment]


class Forbidding(metaclass=Odd):
    """Its code must not run."""

    inner: Any

    def __init__(self, inner: Any) -> None:
        object.__setattr__(self, "inner", inner)

    def _no(self, *_: Any) -> Any:
        raise AssertionError("code of the script runs")

    __eq__ = __hash__ = __getattribute__ = __repr__ = __len__ = __iter__ = __bool__ = _no


def _around(number: int) -> list[Any]:
    found: list[Any] = [number]
    found += [found, (found, number)]
    return found


MAKERS: list[Callable[[int], Any]] = [
    lambda n: [*range(300), n],
    lambda n: [{"number": at, "parts": [n if at == 290 else 0]} for at in range(300)],
    lambda n: {str(at): n if at == 250 else 0 for at in range(300)},
    lambda n: {(at, n if at == 250 else 0): 0 for at in range(300)},
    lambda n: set(range(300 + n)),
    lambda n: ("x" * 5000 + str(n), [b"x" * 5000 + bytes([n])], bytearray([n] * 500)),
    lambda n: [*[0] * 300, -n],
    lambda n: [*[0] * 300, float(n), complex(n)],
    lambda n: Plain(a=Plain(b=[Slotted(n)])),
    lambda n: Forbidding([n]),
    lambda n: [Pair(0, 0)] * 300 + [Pair(0, n)],
    lambda n: [OrderedDict(a=n), defaultdict(list, a=[n]), Counter("a" * n)],
    lambda n: [*[Level.LOW] * 300, Level(n)],
    lambda n: deque([*range(300), n]),
    lambda n: [*[datetime.date(2020, 1, 1)] * 300, datetime.date(2020, 1, n)],
    lambda n: [math.nan * n, *[0] * 300, 10 ** (10_000 + n)],
    _around,
]


@pytest.mark.parametrize("make", MAKERS)
def test_a_mark_tells_what_has_changed_in_depth(make: Callable[[int], Any]) -> None:
    assert mark_of(make(1)) == mark_of(make(1))
    assert mark_of(make(1)) != mark_of(make(2))


def test_minus_one_and_minus_two_differ_and_so_do_types() -> None:
    marks = [mark_of([one]) for one in (-1, -2, 1, 1.0, True, "1", b"1", None, [], (), {})]
    assert len(set(marks)) == len(marks)


def test_a_mark_has_its_bounds() -> None:
    numbers = [0] * 1_000_000
    before = mark_of(numbers)
    numbers[500_000] = 1
    assert mark_of(numbers) == before
    numbers.append(1)
    assert mark_of(numbers) != before


def test_arrays_and_tables_are_compared_by_their_bytes() -> None:
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    grid, things = numpy.zeros((100, 100)), numpy.array([[1], "x"], dtype=object)
    table = pandas.DataFrame({"a": range(300), "b": ["x"] * 300})
    held: list[Any] = [grid, grid.T[3:, ::2], things, table, table["b"], [numpy.int64(3)] * 300]
    before = [mark_of(one) for one in held]
    assert before == [mark_of(one) for one in held]
    grid[50, 51] = -1
    things[0].append(2)
    table.loc[250, "b"] = "y"
    held[4] = table["b"]
    held[5][250] = numpy.int64(4)
    assert all(mark_of(one) != mark for one, mark in zip(held, before, strict=True))
    small = mark_at_line(grid)
    grid[50, 50] = -2
    assert mark_at_line(grid) != small
    assert mark_at_line(table) is None


def test_a_line_is_told_apart_by_sizes_and_outer_items() -> None:
    inner: list[int] = []
    held: list[Any] = [[0] * 300, {at: 0 for at in range(300)}, Plain(a=inner), Slotted(1), [inner]]
    held += [defaultdict(int, {"a": 1}), Forbidding(1)]
    before = [mark_at_line(one) for one in held]
    assert before == [mark_at_line(one) for one in held]
    held[0][-1] = held[1][299] = 1
    inner.append(1)
    held[3].inner = held[5]["a"] = 2
    object.__setattr__(held[6], "inner", 2)
    assert all(mark_at_line(one) != mark for one, mark in zip(held, before, strict=True))


QUIZ = """\
    class Bare:
        def __init__(self):
            self.a = 1
    hist = [{"number": n, "text": "x" * 20} for n in range(50)]
    long, bare, same = list(range(300)), Bare(), [[n] for n in range(300)]
    input("first? ")
    hist.append({"number": 50})
    long[250] = -1
    bare.a = 2
    same = [list(one) for one in same]
    input("second? ")
    """


def test_changes_beyond_the_text_are_found(build: Build) -> None:
    with Session(build.record(QUIZ)) as session:
        session.answer("x")
        found = {one.name: one for one in session.inspect().changed.changed}
    assert list(found) == ["hist", "long", "bare"]
    assert found["long"].before.startswith("[0, 1, 2")
    after = [one.after for one in found.values()]
    assert after[:2] == ["list of 51, changed inside", "list of 300, changed inside"]
    assert after[2].endswith("Bare, changed inside")


def test_a_trace_has_changes_beyond_the_text(build: Build) -> None:
    def traced() -> Trace:
        with Session(build.record(QUIZ.replace("long[250]", "long[-1]"))) as session:
            session.answer("x")
            return session.trace()

    changes = {one.line: list(one.changed) for one in traced().events}
    assert (changes[7], changes[8], changes[9]) == (["hist"], ["long"], ["bare"])
