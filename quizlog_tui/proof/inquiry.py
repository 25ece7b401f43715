"""Runs several inquiries together, so that equal requests are answered once. Pure.

An inquiry is a generator: it yields a request, is sent the answer, and returns its result. The
caller defines the requests and answers them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
W = TypeVar("W")

Inquiry = Generator[W, Any, T]
"""Yields requests `W`, which are equal if one answer serves both, and returns a `T`."""


def run_inquiries(
    inquiries: Sequence[Inquiry[W, T]],
    find_out: Callable[[W, list[int]], Iterable[tuple[int, Any]]],
) -> Iterator[T]:
    """The results of inquiries, in order.

    An inquiry is only advanced for its own result, or along with an earlier one that has the same
    request.

    Args:
        inquiries: The inquiries, not yet begun.
        find_out: Answers a request for all inquiries (by index) that have made it.
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
