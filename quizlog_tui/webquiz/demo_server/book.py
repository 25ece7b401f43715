"""The pages as data: their questions, expected answers and order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...errors import UsageError, did_you_mean
from ...files.paths import quiz_pages

ALWAYS_ON = 2
"""Up to this difficulty, the reply to a wrong answer names the next page too."""


@dataclass(frozen=True)
class Page:
    """A page of the quiz."""

    id: str
    path: str
    difficulty: int
    question: str
    assets: Mapping[str, Any]
    answer: Any
    """The expected answer, or one for each e-mail address."""
    check: Mapping[str, Any]
    """How an answer is checked."""

    def expected(self, email: str) -> Any:
        """The answer expected of an address."""
        personal = isinstance(self.answer, dict) and any("@" in key for key in self.answer)
        return self.answer.get(email) if personal else self.answer


@cache
def all_pages() -> dict[str, Page]:
    """Every page by its path, in order."""
    data = json.loads(quiz_pages().read_text(encoding="utf-8"))
    names = Page.__dataclass_fields__
    pages = [Page(**{key: value for key, value in one.items() if key in names})
             for one in data["pages"]]  # fmt: skip
    return {page.path: page for page in pages}


def chain_of(ids: Sequence[str]) -> list[Page]:
    """The pages of a chain; all of them if none are named.

    Raises:
        UsageError: There is no such page.
    """
    known = {page.id: page for page in all_pages().values()}
    for name in ids:
        if name not in known:
            hint = did_you_mean(name, known) or f"one of {', '.join(known)}"
            raise UsageError(f"there is no page {name!r}", hint=hint)
    return [known[name] for name in ids] or list(known.values())
