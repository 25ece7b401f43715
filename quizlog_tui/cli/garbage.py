"""Pauses Python's garbage collection while many lasting objects are created."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def search_paused() -> Iterator[None]:
    """Pause garbage collection, since each pass would go through everything created so far."""
    searched = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searched:
            gc.enable()
