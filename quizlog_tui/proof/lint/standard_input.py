"""Finds what reads standard input itself: by a descriptor, a stream over it, or an event loop."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from .names import Names
from .structure import parent

_STREAMS = frozenset({"sys.stdin", "sys.__stdin__", "sys.stdin.buffer", "sys.stdin.buffer.raw"})
_OPENING = frozenset({"open", "io.open", "os.fdopen", "io.FileIO", "os.dup", "io.TextIOWrapper"})
"""Calls whose result leads to where their first argument does."""
_READS = frozenset({"readline", "readlines", "read", "read1", "readinto"})
_ASYNC_READS = frozenset({"readline", "read", "readuntil", "readexactly"})
_OF_PROGRAMS = frozenset({"stdout", "stderr"})


class StandardInput:
    """What leads to standard input in a script, as far as its text tells.

    Args:
        nodes: The nodes of the script.
        names: Its names.
    """

    def __init__(self, nodes: Sequence[ast.AST], names: Names) -> None:
        self._names = names
        self._known: set[str] = set()
        for node in nodes:
            if isinstance(node, ast.Assign) and self._leads_here(node.value):
                self._known.update(map(ast.unparse, node.targets))
            elif isinstance(node, ast.withitem) and self._leads_here(node.context_expr):
                self._known.update(map(ast.unparse, filter(None, [node.optional_vars])))
        self._loop_reads = any(map(self._connects, nodes))

    def asks(self, node: ast.AST) -> bool:
        """Whether a node reads standard input."""
        if isinstance(node, ast.AsyncFor):
            return self._loop_reads and not isinstance(node.iter, ast.Call)
        if isinstance(node, ast.For | ast.comprehension):
            return self._leads_here(node.iter)
        if not isinstance(node, ast.Call):
            return False
        if "os.read" in self._names.meanings(node.func):
            return self._leads_here_all(node.args[:1])
        return self.hands_over(node.func) or (self._loop_reads and _reads_stream(node))

    def hands_over(self, node: ast.expr) -> bool:
        """Whether a node is a method that reads standard input, perhaps for others to call."""
        return (
            isinstance(node, ast.Attribute) and node.attr in _READS and self._leads_here(node.value)
        )

    def _leads_here_all(self, nodes: Iterable[ast.expr]) -> bool:
        return any(map(self._leads_here, nodes))

    def _leads_here(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return node.value in (0, "/dev/stdin") and node.value is not False
        if ast.unparse(node) in self._known or _STREAMS & set(self._names.meanings(node)):
            return True
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute) and node.func.attr == "fileno":
            return self._leads_here(node.func.value)
        return bool(_OPENING & set(self._names.meanings(node.func))) and self._leads_here_all(
            node.args[:1]
        )

    def _connects(self, node: ast.AST) -> bool:
        """Whether an event loop is told to read standard input."""
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "connect_read_pipe"
            and self._leads_here_all(node.args[1:2])
        )


def _reads_stream(node: ast.Call) -> bool:
    """Whether a node reads a stream of an event loop, and not one of a program."""
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in _ASYNC_READS
        and getattr(node.func.value, "attr", "") not in _OF_PROGRAMS
        and isinstance(parent(node), ast.Await | ast.Call)
    )
