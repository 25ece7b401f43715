"""Many inquiries at once: what several of them want to know is found out once.

An inquiry is a generator: it yields what it wants to know, is sent the answer, and returns what
came of it. Pure; what is wanted and how it is found out is the caller's business.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
W = TypeVar("W")

Inquiry = Generator[W, Any, T]
"""Wants to know several `W`, equal if one answer serves both, and comes to a `T`."""


def concluded(
    inquiries: Sequence[Inquiry[W, T]],
    find_out: Callable[[W, list[int]], Iterable[tuple[int, Any]]],
) -> Iterator[T]:
    """What comes of each inquiry, in order.

    None goes further than those before it need, unless it wants to know the same as they do.

    Args:
        inquiries: None of them begun.
        find_out: Gives the answers for all inquiries (by index) that want to know the same.
    """
    wanted = {index: next(inquiry) for index, inquiry in enumerate(inquiries)}
    found: dict[int, T] = {}
    for index in range(len(inquiries)):
        while index not in found:
            asking = [other for other, what in wanted.items() if what == wanted[index]]
            for one, answer in find_out(wanted[index], asking):
                try:
                    wanted[one] = inquiries[one].send(answer)
                except StopIteration as ended:
                    found[one] = ended.value
                    del wanted[one]
        yield found.pop(index)
