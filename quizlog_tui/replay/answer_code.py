"""Whether code that a script ran was that of an answer.

The worker tells of code before it runs (`worker.watch.code_watch`); which answers it came from is
decided here, from their text alone. An answer of literals and arithmetic is no code. Pure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from .process.protocol import Code

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
"""What literals and arithmetic are made of."""
_DEEPEST = 10_000
"""Characters of an answer that are parsed; longer ones are judged by their words."""
_WORDS = re.compile(r"\.\s*([^\W\d]\w*)|([^\W\d]\w*)\s*\(")
_SPACE = re.compile(r"\s+")


def answers_run(code: Code, answers: Sequence[str], script: str) -> Iterator[int]:
    """The indexes of answers whose text is, or makes part of, code that ran.

    Args:
        code: What the worker told.
        answers: All that were given; those taken later cannot have been run.
        script: The script's own text, strings of which it may run without any answer's doing.
    """
    constant = code.source.strip() in constants(script)
    names = frozenset(code.names)
    for index, answer in enumerate(answers[: code.used]):
        if is_code(answer) and not constant and _made(code, names, answer):
            yield index


def _made(code: Code, names: frozenset[str], answer: str) -> bool:
    contained = _squeezed(answer) in _squeezed(code.source)
    if code.where == "library":
        return contained and bool(powers(answer))
    if code.where == "script" and contained:
        return True
    return not names.isdisjoint(powers(answer))


@lru_cache(maxsize=4096)
def is_code(answer: str) -> bool:
    """Whether an answer is more than literals and arithmetic, were it run."""
    tree = _parsed(answer)
    if tree is None:
        return bool(_WORDS.search(answer)) or "=" in answer or "import" in answer
    return not all(isinstance(node, _HARMLESS) for node in ast.walk(tree))


@lru_cache(maxsize=4096)
def powers(answer: str) -> frozenset[str]:
    """The names by which an answer would act: what it calls, and whose attributes it takes."""
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
    """The strings that stand in a script, without the space around them."""
    try:
        tree = ast.parse(script)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return frozenset(text.strip() for text in found if isinstance(text, str))


def _parsed(answer: str) -> ast.Expression | None:
    """An answer as an expression; None if it is none."""
    if len(answer) > _DEEPEST:
        return None
    try:
        return ast.parse(answer.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _squeezed(text: str) -> str:
    return _SPACE.sub("", text).casefold()
