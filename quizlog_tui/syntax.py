"""The one door to Python's parser, for the texts of scripts, answers and models' code."""

from __future__ import annotations

import ast
import threading
import warnings

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What the parser raises for a text that it cannot read."""
# Up to Python 3.12.1 the parser counts the depth of a tree for the whole interpreter. If a thread
# is interrupted in it (by a garbage collection that runs finalizers) and another one parses, both
# may end with `SystemError: AST constructor recursion depth mismatch`. And `catch_warnings` is for
# one thread at a time.
_PARSING = threading.Lock()


def parse(code: str | bytes, name: str = "<unknown>") -> ast.Module:
    """Parse a program; may be called by any thread. Its warnings are the author's, and not shown.

    Args:
        code: Text, or bytes with the encoding that they declare.
        name: What errors call it.

    Raises:
        SyntaxError: It is not Python, or one of `UNREADABLE`.
    """
    with _PARSING, warnings.catch_warnings(action="ignore"):
        return ast.parse(code, name)


def parse_expression(code: str) -> ast.Expression:
    """Parse an expression, as `parse` does a program."""
    with _PARSING, warnings.catch_warnings(action="ignore"):
        return ast.parse(code, mode="eval")
