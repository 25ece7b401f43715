"""Decides when two answers count as the same: equal by hash, or within a small tolerance.

This is only for comparison; hashed and stored values are never rounded or folded. Standard library
only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from operator import itemgetter


@dataclass(frozen=True)
class Matcher:
    """The tolerance, stored with each episode so that the checker compares in the same way."""

    absolute: float = 1e-9
    """Largest difference between equal numbers."""
    relative: float = 1e-6
    """Largest difference between equal numbers, relative to the larger one."""
    fold_case: bool = False
    """Whether to ignore case in text."""

    def same(self, a: object, b: object) -> bool:
        """Whether two JSON values count as equal. A boolean equals no number, null nothing."""
        if isinstance(a, bool) or isinstance(b, bool):
            return a is b
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            return self._near(a, b)
        if isinstance(a, str) and isinstance(b, str):
            return self._plain(a) == self._plain(b)
        if isinstance(a, list) and isinstance(b, list):
            return len(a) == len(b) and all(map(self.same, a, b))
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(self.same(a[key], b[key]) for key in a)
        return False

    def _near(self, a: int | float, b: int | float) -> bool:
        if a == b:
            return True
        try:
            gap, size = abs(a - b), max(abs(a), abs(b))
            return gap <= self.absolute or gap <= self.relative * size
        except OverflowError:  # integers too large for a float must be equal
            return False

    def _plain(self, text: str) -> str:
        text = unicodedata.normalize("NFC", text).strip()
        return text.casefold() if self.fold_case else text

    def to_dict(self) -> dict[str, object]:
        """The settings as stored with an episode."""
        return asdict(self)


def matcher_from(data: object) -> Matcher:
    """The matcher for the settings stored with an episode; the default one if it has none.

    Raises:
        ValueError: The stored value is not valid.
    """
    if data is None or data == _USUAL:
        return USUAL
    kinds = {"absolute": (int, float), "relative": (int, float), "fold_case": (bool,)}
    if not isinstance(data, dict) or data.keys() - kinds.keys():
        raise ValueError(f"must hold {', '.join(kinds)} and nothing else")
    for key, value in data.items():
        if type(value) not in kinds[key] or (type(value) is not bool and not 0 <= value < 1):
            raise ValueError(f"{key} cannot be {value!r}")
    return Matcher(**data)


USUAL = Matcher()
"""The default tolerance."""
_USUAL = USUAL.to_dict()


def clusters(answers: Sequence[tuple[str, object]], matcher: Matcher) -> list[frozenset[str]]:
    """Groups of hashes whose answers count as the same, directly or through a chain of matches.

    The order of the answers makes no difference.

    Args:
        answers: Pairs of a hash and its value.
        matcher: Decides whether two values match.
    """
    values = dict(sorted(answers, key=itemgetter(0)))
    groups: list[list[str]] = []
    for key, value in values.items():
        near = [group for group in groups if any(matcher.same(value, values[k]) for k in group)]
        groups = [group for group in groups if group not in near]
        groups.append([key, *(k for group in near for k in group)])
    return [frozenset(group) for group in groups]


def matcher_or_usual(data: object) -> Matcher:
    """The matcher for the settings stored with an episode; the default if they are invalid."""
    try:
        return matcher_from(data)
    except ValueError:
        return USUAL


def cluster_of(
    key: str | None, answers: Sequence[tuple[str | None, object]], matcher: Matcher
) -> frozenset[str]:
    """The hashes whose answers count as the same as this one's; empty if `key` is None."""
    answered = [(found, value) for found, value in answers if found is not None]
    groups = clusters(answered, matcher) if key is not None else []
    return next((group for group in groups if key in group), frozenset())
