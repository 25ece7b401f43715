"""An immutable list that is cheap to extend, used for answers, steps and printed strings.

A trace is extended at its end thousands of times, and earlier states stay in use. A tuple would be
copied at each step. An `AppendOnlyList` shares one underlying list with those it was made from; to
its users it is as immutable as a tuple.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class AppendOnlyList(Sequence[T], Generic[T]):
    """An immutable sequence whose longest version is extended in constant time by `then`."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items: list[T] = list(items)
        self._length = len(self._items)

    @classmethod
    def _over(cls, items: list[T], length: int) -> AppendOnlyList[T]:
        made = cls.__new__(cls)
        made._items = items
        made._length = length
        return made

    def then(self, *items: T) -> AppendOnlyList[T]:
        """This list followed by `items`; copies only if it was already extended otherwise."""
        if not items:
            return self
        shared = self._items
        if len(shared) != self._length:
            shared = shared[: self._length]
        shared.extend(items)
        return AppendOnlyList._over(shared, self._length + len(items))

    def upto(self, length: int) -> AppendOnlyList[T]:
        """The first `length` items, without copying."""
        return AppendOnlyList._over(self._items, min(length, self._length))

    def continues(self, other: AppendOnlyList[T]) -> bool:
        """Whether this list starts with `other`, as far as known without comparing items."""
        return self._items is other._items and self._length >= other._length

    def starts_with(self, other: Sequence[T]) -> bool:
        """Whether the first items equal those of `other`."""
        if isinstance(other, AppendOnlyList) and self.continues(other):
            return True
        return len(other) <= self._length and self._items[: len(other)] == list(other)

    def agrees(self, other: Sequence[T]) -> bool:
        """Whether the longer of the two starts with the shorter."""
        count = min(self._length, len(other))
        theirs = getattr(other, "_items", other)
        if not count or self._items is theirs:
            return True
        # The last item usually differs if any does, and comparing it copies nothing.
        same_last = self._items[count - 1] == theirs[count - 1]
        return same_last and _first(self._items, count) == _first(theirs, count)

    def shared(self, other: Sequence[T]) -> int:
        """How many items at the start equal those of `other`."""
        if self.agrees(other):
            return min(self._length, len(other))
        pairs = enumerate(zip(self, other, strict=False))
        return next(index for index, (mine, theirs) in pairs if mine != theirs)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            if step > 0:
                return tuple(self._items[start:stop:step])
            return tuple([self._items[i] for i in range(start, stop, step)])
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._items[index if index >= 0 else index + self._length]

    def __iter__(self) -> Iterator[T]:
        return iter(self._items[: self._length])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, AppendOnlyList) and self._items is other._items:
            return self._length == other._length
        if isinstance(other, (AppendOnlyList, list, tuple)):
            return list(self) == list(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"AppendOnlyList({list(self)!r})"


def _first(items: Sequence[T], count: int) -> list[T]:
    """The first items as a list, copied only where that is needed."""
    if isinstance(items, list):
        return items if len(items) == count else items[:count]
    return list(items[:count])
