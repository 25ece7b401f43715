"""Calls side by side in threads, of which a Ctrl-C is heard at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(
    function: Callable[[T], R], items: Iterable[T], workers: int, give_up: Callable[[], None]
) -> Iterator[R]:
    """What a function makes of each item, in their order.

    Args:
        function: Called in threads.
        items: Its arguments.
        workers: How many at a time.
        give_up: Called when nobody waits any more; makes what is running end soon.
    """
    pool = ThreadPoolExecutor(workers)
    try:
        for future in [pool.submit(function, item) for item in items]:
            yield result_of(future)
    except (KeyboardInterrupt, GeneratorExit):
        pool.shutdown(wait=False, cancel_futures=True)
        give_up()
        raise
    finally:
        pool.shutdown()


def result_of(future: Future[R]) -> R:
    """What came of a call, waited for in slices: a Ctrl-C just before an endless wait is missed."""
    while not wait([future], timeout=0.2).done:
        pass
    return future.result()
