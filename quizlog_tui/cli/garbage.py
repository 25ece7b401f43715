"""Python's search for garbage, held back while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def search_paused() -> Iterator[None]:
    """Meanwhile nothing is searched for garbage: each search would go through all made so far."""
    searched = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searched:
            gc.enable()
