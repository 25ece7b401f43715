"""Runs calls in parallel threads and reacts to Ctrl-C at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def run_parallel(
    function: Callable[[T], R], items: Iterable[T], workers: int, give_up: Callable[[], None]
) -> Iterator[R]:
    """The results of a function for each item, in the order of the items.

    Args:
        function: Called in threads.
        items: Its arguments.
        workers: Maximum number of concurrent calls.
        give_up: Called when the caller stops waiting; must make running calls end soon.
    """
    pool = ThreadPoolExecutor(workers)
    try:
        for future in [pool.submit(function, item) for item in items]:
            yield wait_for_result(future)
    except (KeyboardInterrupt, GeneratorExit):
        pool.shutdown(wait=False, cancel_futures=True)
        give_up()
        raise
    finally:
        pool.shutdown()


def wait_for_result(future: Future[R]) -> R:
    """The result of a call. Waits in slices, as a Ctrl-C just before an endless wait is missed."""
    while not wait([future], timeout=0.2).done:
        pass
    return future.result()
