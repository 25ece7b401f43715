"""Finds traps: what prevents a script from being replayed, judged or scored as meant.

Examines only the syntax tree: no types, values or other modules. Runs nothing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence

from ...replay.script.scores import Score, score_in
from ...replay.script.source import Source
from .findings import Trap
from .names import Names
from .rules import (
    ADDRESS,
    ARGV,
    ASKING,
    BARE_EXCEPT,
    CALLS,
    CONVERTING,
    EVAL,
    NETWORK,
    SCORE,
    SEED,
    Rule,
)
from .structure import Leaving, is_wide, parent, raises, tries_around

_WRITING = frozenset("wax+")


def traps(nodes: Sequence[ast.AST], names: Names, source: Source) -> list[Trap]:
    """All traps among these nodes by line, at most one of each kind per line."""
    answers = _answers(nodes, names)
    found = [trap for node in nodes for trap in _of_node(node, names, answers)]
    found += _scores(nodes, source)
    return sorted(set(found), key=lambda trap: (trap.line, trap.code))


def _of_node(node: ast.AST, names: Names, answers: set[str]) -> Iterator[Trap]:
    if isinstance(node, ast.Call):
        method = [f"*.{node.func.attr}"] if isinstance(node.func, ast.Attribute) else []
        yield from _of_call(node, [*names.meanings(node.func), *method], names, answers)
    elif isinstance(node, ast.Import):
        yield from _network(node, [alias.name for alias in node.names])
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        yield from _network(node, [module, *(f"{module}.{alias.name}" for alias in node.names)])
    elif isinstance(node, ast.Subscript) and "sys.argv" in names.meanings(node.value):
        if _needed_argument(node):
            yield _trap(node.lineno, ARGV)
    elif isinstance(node, ast.Subscript) and "os.environ" in names.meanings(node.value):
        yield _trap(node.lineno, next(rule for rule in CALLS if rule.code == "environment"))


def _of_call(
    node: ast.Call, meanings: Sequence[str], names: Names, answers: set[str]
) -> Iterator[Trap]:
    acting = [name for name in meanings if len(node.args) < CONVERTING.get(name, sys.maxsize)]
    yield from (_trap(node.lineno, rule) for rule in CALLS if _fits(rule, acting))
    if _fits(SEED, meanings) and any(_is_fixed(argument) for argument in _arguments(node)):
        yield _trap(node.lineno, SEED)
    if _fits(EVAL, meanings) and node.args and _uses_answer(node.args[0], names, answers):
        yield _trap(node.lineno, EVAL)
    if _fits(ADDRESS, meanings) and _is_shown(node, names):
        yield _trap(node.lineno, ADDRESS)
    if _opens_for_writing(node, meanings):
        yield _trap(node.lineno, next(rule for rule in CALLS if rule.code == "write"))
    if set(ASKING) & set(meanings):
        yield from _swallowed(node)
    if _required_option(node):
        yield _trap(node.lineno, ARGV)


def _trap(line: int, rule: Rule, said: str = "") -> Trap:
    return Trap(line, rule.code, rule.reason.format(said), rule.mend)


def _fits(rule: Rule, meanings: Iterable[str]) -> bool:
    return any(
        meaning == name or (name.endswith(".") and meaning.startswith(name))
        for meaning in meanings
        for name in rule.names
    )


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def _is_fixed(node: ast.expr) -> bool:
    """Whether an argument is the same in every run. None requests the generator's own seed."""
    return isinstance(node, ast.Constant) and node.value is not None


def _network(node: ast.stmt, modules: Iterable[str]) -> Iterator[Trap]:
    wanted = set(NETWORK.names)
    if any(module in wanted or module.partition(".")[0] in wanted for module in modules):
        yield _trap(node.lineno, NETWORK)


def _needed_argument(node: ast.Subscript) -> bool:
    """Whether an argument is used without checking the number of arguments."""
    index = node.slice
    if not (isinstance(index, ast.Constant) and isinstance(index.value, int) and index.value):
        return False
    above = parent(node)
    while above is not None:
        if isinstance(above, ast.If | ast.IfExp) and "argv" in ast.unparse(above.test):
            return False
        if isinstance(above, ast.Try):
            return False
        above = parent(above)
    return True


def _required_option(node: ast.Call) -> bool:
    """Whether this declares a required argument for argparse."""
    if not (isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument"):
        return False
    said = {keyword.arg: keyword.value for keyword in node.keywords}
    required = said.get("required")
    if isinstance(required, ast.Constant) and required.value:
        return True
    first = node.args[0] if node.args else None
    optional = {"?", "*"} & {getattr(said.get("nargs"), "value", None)} or "default" in said
    named = isinstance(first, ast.Constant) and str(first.value).startswith("-")
    return first is not None and not named and not optional


def _answers(nodes: Iterable[ast.AST], names: Names) -> set[str]:
    """The variables that are given an answer somewhere."""
    found: set[str] = set()
    for node in nodes:
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            continue
        if node.value is not None and _uses_answer(node.value, names, set()):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            inside = (part for target in targets for part in ast.walk(target))
            found |= {part.id for part in inside if isinstance(part, ast.Name)}
    return found


def _uses_answer(node: ast.expr, names: Names, answers: set[str]) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in answers:
            return True
        if isinstance(part, ast.Call) and set(ASKING) & set(names.meanings(part.func)):
            return True
    return False


def _opens_for_writing(node: ast.Call, meanings: Sequence[str]) -> bool:
    """Whether this opens a file with a mode that writes."""
    path_open = any(meaning.endswith("Path().open") for meaning in meanings)
    if not path_open and not {"open", "io.open", "codecs.open"} & set(meanings):
        return False
    file = node.args[0] if node.args and not path_open else None
    if isinstance(file, ast.Constant) and str(file.value).startswith("/dev/"):
        return False  # a stream or a device stores nothing for a later run
    place = 0 if path_open else 1
    modes = [word.value for word in node.keywords if word.arg == "mode"]
    mode = modes[0] if modes else node.args[place] if len(node.args) > place else None
    return isinstance(mode, ast.Constant) and bool(_WRITING & set(str(mode.value)))


def _is_shown(node: ast.AST, names: Names) -> bool:
    """Whether this is part of what is printed or asked."""
    above = parent(node)
    while isinstance(above, ast.expr | ast.keyword):
        if isinstance(above, ast.Call) and {"print", "input"} & set(names.meanings(above.func)):
            return True
        above = parent(above)
    return False


def _swallowed(node: ast.AST) -> Iterator[Trap]:
    """The handlers around a question that catch everything and continue."""
    for attempt in tries_around(node):
        for handler in attempt.handlers:
            if is_wide(handler) and not raises(handler):
                yield _trap(handler.lineno, BARE_EXCEPT)


def _scores(nodes: Iterable[ast.AST], source: Source) -> Iterator[Trap]:
    """What is meant as a score and counts for nothing."""
    every = ((score_in(text, wanted=False), line) for line, text in source.comments.items())
    ending = (score_of(node, source) for node in nodes if isinstance(node, Leaving))
    for score, line in [*every, *filter(None, ending)]:
        if score and score.problem:
            yield Trap(line, SCORE.code, score.problem, score.mend)


def score_of(node: Leaving, source: Source) -> tuple[Score, int] | None:
    """The score that counts where a node ends the run, and the line it is on."""
    raising = node.test if isinstance(node, ast.Assert) else node  # as tracebacks have it
    return source.score(raising.lineno, raising.end_lineno or raising.lineno)
