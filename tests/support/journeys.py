"""Pages of a web quiz, and what its server says."""

from __future__ import annotations

from typing import Any

from tests.webquiz.conftest import Thought

ASKS = "What is 40 + 2? POST the answer to {site}/submit"


RIGHT = {"correct": True, "url": None}


def says(*answers: Any) -> Thought:
    return lambda data, nth: {"answer": answers[min(nth, len(answers)) - 1]}
