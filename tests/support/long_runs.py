"""What a plain run does a little of, and a long one (`tests/run long`) whole: tables and properties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import pytest
from _pytest.mark import ParameterSet
from hypothesis import Phase, example, settings

T = TypeVar("T")
Test = TypeVar("Test", bound=Callable[..., Any])


def few(cases: Iterable[T], *kept: T) -> list[ParameterSet]:
    """The cases of a table, each for one parameter; all but some are for long runs.

    Args:
        cases: All cases.
        kept: Those of every run; by default the first and the last.
    """
    table = list(cases)
    some = kept or (table[0], table[-1])
    return [pytest.param(case, marks=() if case in some else pytest.mark.long) for case in table]


def few_rows(table: Sequence[Sequence[Any]]) -> list[ParameterSet]:
    """As `few`, for a table with several parameters: the first and the last row are kept."""
    return [
        pytest.param(*row, marks=() if row in (table[0], table[-1]) else pytest.mark.long)
        for row in table
    ]


def example_of_long_runs(*values: Any) -> Callable[[Test], Test]:
    """An example of a costly property that only long runs try."""
    if settings.get_current_profile_name() == "long":
        return example(*values)
    return lambda test: test


def phases() -> Sequence[Phase]:
    """The phases of a very costly property: a plain run tries only the examples that it names."""
    return [*Phase] if settings.get_current_profile_name() == "long" else [Phase.explicit]


def examples(plain: int) -> int:
    """How many examples a costly property gets: `plain`, or ten times as many in a long run."""
    return plain * 10 if settings.get_current_profile_name() == "long" else plain
