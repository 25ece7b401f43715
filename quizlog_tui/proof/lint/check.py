"""`lint(source)`: the questions, endings and traps of a script, read from its text alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeGuard

from ...replay.script.input_type import input_type
from ...replay.script.source import Source
from ...syntax import UNREADABLE, parse
from .findings import Ending, LintReport, ScriptQuestion, Trap
from .structure import Leaving, Names, calls_by_name, caught, live, parent, reached_from
from .traps import ASKING, PROMPTING, score_of, traps

_Calls = Mapping[str, Sequence[ast.AST]]


def lint(source: Source) -> LintReport:
    """Find the questions, endings and traps of a script. No content of a script raises."""
    return _lint(source, imported=False)


def lint_module(source: Source) -> LintReport:
    """Find those of a file that a script imports, which may use all its functions."""
    return _lint(source, imported=True)


def _lint(source: Source, *, imported: bool) -> LintReport:
    try:
        tree = parse(source.data, source.path.name)
        return _of_tree(tree, source, imported=imported)
    except UNREADABLE as error:
        said = error.msg if isinstance(error, SyntaxError) else str(error) or "too deeply nested"
        line = getattr(error, "lineno", None) or 1
        reason, mend = f"cannot be read as Python: {said}", "mend the script at this line"
        return LintReport(traps=(Trap(line, "syntax", reason, mend),))


def _of_tree(tree: ast.Module, source: Source, *, imported: bool) -> LintReport:
    names, nodes = Names(tree), list(live(tree, imported=imported))
    calls, stdin = calls_by_name(nodes), _StandardInput(nodes, names)
    asked = [
        _question(node, prompt, source, calls)
        for node in nodes
        for prompt in _prompts(node, names, stdin)
    ]
    endings = [_ending(node, source, calls) for node in nodes if _ends(node, names)]
    return LintReport(
        tuple(sorted(asked, key=lambda question: question.line)),
        tuple(sorted(endings, key=lambda ending: ending.line)),
        tuple(sorted((*traps(nodes, names, source), *_requests(source)), key=_line)),
    )


def _line(trap: Trap) -> int:
    return trap.line


def _requests(source: Source) -> Iterator[Trap]:
    """The grants that a script requests, with which it cannot be verified."""
    for line, comment in source.comments.items() if source.asked else ():
        for name in source.asked:
            if name in comment:
                reason = f"asks for {name}: its record cannot be verified"
                mend = f"leave the comment out; else whoever runs it grants it with --allow {name}"
                yield Trap(line, "asks-real", reason, mend)


def _question(node: ast.AST, prompt: str | None, source: Source, calls: _Calls) -> ScriptQuestion:
    line = node.iter.lineno if isinstance(node, ast.comprehension) else getattr(node, "lineno", 1)
    kind = input_type(prompt or "", line, source).name
    tags = tuple(source.tags(line))
    return ScriptQuestion(line, prompt, kind, tags, reached_from(node, calls))


def _prompts(node: ast.AST, names: Names, stdin: _StandardInput) -> Iterator[str | None]:
    """The prompts of the questions that a node asks."""
    if stdin.asks(node):
        yield None
    elif isinstance(node, ast.Call):
        meanings = set(names.meanings(node.func))
        if meanings & set(PROMPTING):
            yield _prompt(node)
        elif meanings & set(ASKING) or getattr(node.func, "attr", "") == "cmdloop":
            yield None
        else:
            yield from _passed_as_argument(node, names, stdin)


def _passed_as_argument(
    node: ast.Call, names: Names, stdin: _StandardInput
) -> Iterator[str | None]:
    """The prompts of what asks and is passed as an argument, with the prompt as the next one."""
    for index, argument in enumerate(node.args):
        if stdin.hands_over(argument):
            yield None
        elif "input" in names.meanings(argument):
            behind = node.args[index + 1] if index + 1 < len(node.args) else None
            yield _text(behind) if behind else None


def _prompt(node: ast.Call) -> str | None:
    """The text of a question as far as it is literal."""
    made = node.func.value if isinstance(node.func, ast.Attribute) else None
    asked = made if isinstance(made, ast.Call) else node  # as `questionary.text("Name").ask()`
    named = (word.value for word in asked.keywords if word.arg in ("prompt", "text", "message"))
    first = asked.args[0] if asked.args else next(named, None)
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


def _ends(node: ast.AST, names: Names) -> TypeGuard[Leaving]:
    if isinstance(node, ast.Call) and not _exits(node, names):
        return False
    return isinstance(node, Leaving) and not caught(node)


def _exits(node: ast.Call, names: Names) -> bool:
    """Whether this exits with a text or a number other than 0."""
    if not {"sys.exit", "exit", "quit"} & set(names.meanings(node.func)) or not node.args:
        return False
    status = node.args[0]
    return (
        status.value not in (0, None)
        if isinstance(status, ast.Constant)
        else _text(status) is not None
    )


def _ending(node: Leaving, source: Source, calls: _Calls) -> Ending:
    found = score_of(node, source)
    value = found[0].value if found else None
    message = ast.unparse(node).removeprefix("raise").strip()
    from_lines = reached_from(node, calls)
    return Ending(node.lineno, message, value or 0.0, value is not None, from_lines)


_STREAMS = frozenset({"sys.stdin", "sys.__stdin__", "sys.stdin.buffer", "sys.stdin.buffer.raw"})
_OPENING = frozenset({"open", "io.open", "os.fdopen", "io.FileIO", "os.dup", "io.TextIOWrapper"})
"""Calls whose result leads to where their first argument does."""
_READS = frozenset({"readline", "readlines", "read", "read1", "readinto"})
_ASYNC_READS = frozenset({"readline", "read", "readuntil", "readexactly"})
_OF_PROGRAMS = frozenset({"stdout", "stderr"})


class _StandardInput:
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
