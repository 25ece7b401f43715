"""A list that never changes but grows cheaply: the shape of answers, steps and printed strings.

A trace is extended at its end thousands of times and looked at from many points. A tuple would copy
all of it at each step. An `AppendOnlyList` shares one underlying list with its ancestors and is as
immutable to its holders as a tuple.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class AppendOnlyList(Sequence[T], Generic[T]):
    """An immutable sequence with `then` in constant time at its tip."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items: list[T] = list(items)
        self._length = len(self._items)

    @classmethod
    def _over(cls, items: list[T], length: int) -> AppendOnlyList[T]:
        series = cls.__new__(cls)
        series._items = items
        series._length = length
        return series

    def then(self, *items: T) -> AppendOnlyList[T]:
        """This series followed by `items`; copies only if another went on from here already."""
        shared = self._items
        if len(shared) != self._length:
            shared = shared[: self._length]
        shared.extend(items)
        return AppendOnlyList._over(shared, self._length + len(items))

    def upto(self, length: int) -> AppendOnlyList[T]:
        """The first `length` items, without copying."""
        return AppendOnlyList._over(self._items, min(length, self._length))

    def continues(self, other: AppendOnlyList[T]) -> bool:
        """Whether this is known, without comparing items, to start with all of `other`."""
        return self._items is other._items and self._length >= other._length

    def starts_with(self, other: Sequence[T]) -> bool:
        """Whether the first items are equal to `other`, item by item."""
        if isinstance(other, AppendOnlyList) and self.continues(other):
            return True
        return len(other) <= self._length and self._items[: len(other)] == list(other)

    def agrees(self, other: Sequence[T]) -> bool:
        """Whether the longer of the two starts with the other."""
        count = min(self._length, len(other))
        theirs = getattr(other, "_items", other)
        if not count or self._items is theirs:
            return True
        # The last item tells most apart, and nothing has to be copied for it.
        last = self._items[count - 1] == theirs[count - 1]
        return last and self._items[:count] == list(theirs[:count])

    def shared(self, other: Sequence[T]) -> int:
        """How many first items are equal to those of `other`."""
        if self.agrees(other):
            return min(self._length, len(other))
        pairs = enumerate(zip(self, other, strict=False))
        return next(index for index, (one, theirs) in pairs if one != theirs)

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
