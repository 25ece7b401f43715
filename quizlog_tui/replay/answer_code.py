"""Decides whether code that a script ran came from an answer. Pure.

The worker reports code before it runs (`worker.watch.code_watch`). Which answers it came from is
decided here, from their text alone. An answer of literals and arithmetic is not code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from .process.protocol import CodeRun

_HARMLESS = (
    ast.Expression,
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.UnaryOp,
    ast.BinOp,
    ast.operator,
    ast.unaryop,
    ast.Load,
)
"""Node types of literals and arithmetic."""
_DEEPEST = 10_000
"""Maximum number of characters of an answer that is parsed; longer ones are judged by words."""
_WORDS = re.compile(r"\.\s*([^\W\d]\w*)|([^\W\d]\w*)\s*\(")
_SPACE = re.compile(r"\s+")


def answers_run(code: CodeRun, answers: Sequence[str], script: str) -> Iterator[int]:
    """The indices of answers whose text is, or is part of, code that ran.

    Args:
        code: The worker's report.
        answers: All answers; those used after the code was reported cannot have been run.
        script: The script's text; strings in it may run as code without any answer.
    """
    constant = code.source.strip() in constants(script)
    names = frozenset(code.names)
    for index, answer in enumerate(answers[: code.used]):
        if is_code(answer) and not constant and _came_from(code, names, answer):
            yield index


def _came_from(code: CodeRun, names: frozenset[str], answer: str) -> bool:
    contained = _squeezed(answer) in _squeezed(code.source)
    if code.where == "library":
        return contained and bool(used_names(answer))
    if code.where == "script" and contained:
        return True
    return not names.isdisjoint(used_names(answer))


@lru_cache(maxsize=4096)
def is_code(answer: str) -> bool:
    """Whether an answer contains more than literals and arithmetic."""
    tree = _parsed(answer)
    if tree is None:
        return bool(_WORDS.search(answer)) or "=" in answer or "import" in answer
    return not all(isinstance(node, _HARMLESS) for node in ast.walk(tree))


@lru_cache(maxsize=4096)
def used_names(answer: str) -> frozenset[str]:
    """The names of functions that an answer calls, and of attributes that it uses."""
    tree = _parsed(answer)
    if tree is None:
        return frozenset(found[1] or found[2] for found in _WORDS.finditer(answer))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.add(node.func.id)
    return frozenset(found)


@lru_cache(maxsize=64)
def constants(script: str) -> frozenset[str]:
    """The string literals in a script, stripped."""
    try:
        tree = ast.parse(script)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return frozenset(text.strip() for text in found if isinstance(text, str))


def _parsed(answer: str) -> ast.Expression | None:
    """An answer parsed as an expression; None if it is not one."""
    if len(answer) > _DEEPEST:
        return None
    try:
        return ast.parse(answer.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _squeezed(text: str) -> str:
    return _SPACE.sub("", text).casefold()
