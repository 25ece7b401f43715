"""The tree of several lists of answers, in which common beginnings occur once. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace


@dataclass(eq=False)
class Node:
    """A stop at which lists of answers end or diverge."""

    answers: tuple[str, ...] = ()
    """The answers that lead here from the stop above."""
    ends: Sequence[int] = ()
    """Indices of the lists that end here."""
    below: dict[str, Node] = field(default_factory=dict)
    """The next stops, by the first answer that leads there."""
    count: int = 0
    """Number of lists that end here or below."""

    @property
    def by_weight(self) -> list[Node]:
        """The next stops; the one with the most lists comes last."""
        return sorted(self.below.values(), key=lambda node: node.count)

    def copy(self) -> Node:
        """A copy of the stop, from which ends and next stops can be removed when they are done."""
        return replace(self, below=dict(self.below))

    def onward(self, path: tuple[str, ...]) -> tuple[Node | None, tuple[str, ...]]:
        """The only next stop that is left, and the answers that lead there.

        The stop itself without its ends if there are several; None if there is none.
        """
        if len(self.below) == 1:
            (node,) = self.below.values()
            return node.copy(), path + node.answers
        return replace(self, ends=()) if self.below else None, path


def tree_of(lines: Iterable[Sequence[str]]) -> Node:
    """The root of the tree of several lists of answers."""
    root = Node()
    for index, line in enumerate(map(tuple, lines)):
        node, at = root, 0
        while at < len(line):
            node.count += 1
            node = _next(node, line, at)
            at += len(node.answers)
        node.count += 1
        node.ends = (*node.ends, index)
    return root


def _next(node: Node, line: tuple[str, ...], at: int) -> Node:
    """The stop below a node to which a list continues from its answer `at`; made if needed."""
    there = node.below.get(line[at])
    if there is None:
        there = node.below[line[at]] = Node(line[at:])
        return there
    shared = _shared(there.answers, line[at : at + len(there.answers)])
    if shared == len(there.answers):
        return there
    parting = Node(there.answers[:shared], below={there.answers[shared]: there}, count=there.count)
    there.answers = there.answers[shared:]
    node.below[line[at]] = parting
    return parting


def _shared(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """Number of equal answers at the beginning."""
    if a == b:
        return len(a)
    pairs = enumerate(zip(a, b, strict=False))
    return next((i for i, (one, other) in pairs if one != other), min(len(a), len(b)))


def in_order(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The lists that end at a stop or below it, in the order in which a walk reaches their ends.

    Args:
        node: The stop.
        path: The answers that lead to it.

    Yields:
        The index of a list and all its answers.
    """
    left = [(node, path)]
    while left:
        here, path = left.pop()
        yield from ((line, path) for line in here.ends)
        left += [(below, path + below.answers) for below in reversed(here.by_weight)]
