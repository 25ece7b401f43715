"""`lint(source)`: the questions, endings and traps of a script, read from its text alone."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence

from ..input_type import input_type
from ..source import Source
from .found import Ending, LintReport, Question, Trap
from .names import Names
from .rules import SYNTAX
from .structure import caught, live
from .traps import ASKING, traps


def lint(source: Source) -> LintReport:
    """What can be told of a script without running it. Never raises for what the script holds."""
    try:
        return _of_tree(_tree(source), source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = error.msg if isinstance(error, SyntaxError) else str(error) or "too deeply nested"
        line = getattr(error, "lineno", None) or 1
        return LintReport(traps=(Trap(line, SYNTAX.code, SYNTAX.reason.format(said), SYNTAX.mend),))


def _tree(source: Source) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the script's own strings, say
        return ast.parse(source.data, source.path.name)


def _of_tree(tree: ast.Module, source: Source) -> LintReport:
    names, nodes = Names(tree), list(live(tree))
    asked = sorted(_questions(nodes, names, source), key=lambda question: question.line)
    endings = sorted(_endings(nodes, source), key=lambda ending: ending.line)
    return LintReport(tuple(asked), tuple(endings), tuple(traps(nodes, names, source)))


def _questions(nodes: Sequence[ast.AST], names: Names, source: Source) -> Iterator[Question]:
    for node in nodes:
        if isinstance(node, ast.Call):
            meanings = set(names.meanings(node.func))
            if meanings & set(ASKING):
                prompt = _prompt(node) if meanings & {"input", "getpass.getpass"} else None
                yield _question(node.lineno, prompt, source)
            elif isinstance(node.func, ast.Attribute) and node.func.attr == "cmdloop":
                yield _question(node.lineno, None, source)
            else:
                yield from _handed_on(node, names, source)
        elif isinstance(node, ast.For) and "sys.stdin" in names.meanings(node.iter):
            yield _question(node.lineno, None, source)


def _handed_on(node: ast.Call, names: Names, source: Source) -> Iterator[Question]:
    """`input` given to something else to call, with its prompt behind it."""
    for index, argument in enumerate(node.args):
        if "input" in names.meanings(argument):
            behind = node.args[index + 1] if index + 1 < len(node.args) else None
            yield _question(node.lineno, _text(behind) if behind else None, source)


def _question(line: int, prompt: str | None, source: Source) -> Question:
    kind = input_type(prompt or "", line, source).name
    return Question(line, prompt, kind, tuple(source.tags(line)))


def _prompt(node: ast.Call) -> str | None:
    """The text of a question as far as it is written out."""
    first = node.args[0] if node.args else next((word.value for word in node.keywords), None)
    return "" if first is None else _text(first)


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = [_text(value) for value in node.values]
        return "".join(part if part is not None else "{...}" for part in parts)
    if isinstance(node, ast.FormattedValue):
        return f"{{{ast.unparse(node.value)}}}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return None if left is None and right is None else f"{left or '{...}'}{right or '{...}'}"
    return None


def _endings(nodes: Sequence[ast.AST], source: Source) -> Iterator[Ending]:
    for node in nodes:
        if not isinstance(node, ast.Raise | ast.Assert) or caught(node):
            continue
        score, _ = source.score(node.lineno, node.end_lineno or node.lineno)
        message = ast.unparse(node).removeprefix("raise").strip()
        yield Ending(node.lineno, message, score or 0.0, score is not None)
