"""Reads the tree of a script: which parts can run, what it handles, what its names stand for.

Runs nothing.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence

_Function = ast.FunctionDef | ast.AsyncFunctionDef
Leaving = ast.Raise | ast.Assert | ast.Call
"""Nodes that may end a run; a call only if it exits."""
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_WIDE = ("Exception", "BaseException")


def live(tree: ast.Module, *, imported: bool = False) -> Iterator[ast.AST]:
    """All nodes that a run can reach, each with its `parent` set.

    Left out: what follows a `return`, `raise`, `break` or `continue` in its block, the bodies of
    `if False` and `while False`, and functions whose name the script never uses.

    Args:
        tree: The script.
        imported: Whether another file imports it, which may use all its functions.
    """
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]
    used = _used_names(tree)
    if imported:
        used |= {node.name for node in ast.walk(tree) if isinstance(node, _Function)}
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed([child for child in _entered(node) if not _unused(child, used)])


def _used_names(tree: ast.Module) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def _unused(node: ast.AST, used: set[str]) -> bool:
    """Whether this is a plain function that is never mentioned. Methods may be called elsewhere."""
    if not isinstance(node, _Function) or node.decorator_list:
        return False
    return node.name not in used and not isinstance(parent(node), ast.ClassDef)


def _entered(node: ast.AST) -> Iterator[ast.AST]:
    """The children of a node that can run."""
    dead = _dead_part(node)
    for name, value in ast.iter_fields(node):
        if name == dead:
            continue
        if isinstance(value, list):
            yield from _until_left([item for item in value if isinstance(item, ast.AST)])
        elif isinstance(value, ast.AST):
            yield value


def _dead_part(node: ast.AST) -> str | None:
    """The block of a statement with a constant condition that never runs."""
    if not (isinstance(node, ast.If | ast.While) and isinstance(node.test, ast.Constant)):
        return None
    return "orelse" if node.test.value else "body"


def _until_left(block: list[ast.AST]) -> Iterator[ast.AST]:
    for node in block:
        yield node
        if isinstance(node, _LEAVING):
            return


def parent(node: ast.AST) -> ast.AST | None:
    """The node around this one; None for the module. Known once `live` has begun."""
    above: ast.AST | None = getattr(node, "parent", None)
    return above


def tries_around(node: ast.AST) -> Iterator[ast.Try]:
    """The `try` statements whose body a node is in, inside its own function, innermost first."""
    inner, outer = node, parent(node)
    while outer is not None and not isinstance(outer, _Function | ast.Lambda):
        if isinstance(outer, ast.Try) and inner in outer.body:
            yield outer
        inner, outer = outer, parent(outer)


def caught(node: Leaving) -> bool:
    """Whether an exception raised here is handled in the same function, and not raised again."""
    name = _raised(node)
    takers = {name, "BaseException"} | (set() if name == "SystemExit" else {"Exception"})
    for attempt in tries_around(node):
        for handler in attempt.handlers:
            if handler.type is None or takers & set(_names(handler.type)):
                if not raises(handler):
                    return True
                break  # the first fitting handler gets it
    return False


def _raised(node: Leaving) -> str:
    """The class of the exception; SystemExit for a call."""
    if isinstance(node, ast.Call):
        return "SystemExit"
    return "AssertionError" if isinstance(node, ast.Assert) else _name(node.exc)


def is_wide(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes every exception."""
    return handler.type is None or bool(set(_WIDE) & set(_names(handler.type)))


def raises(handler: ast.ExceptHandler) -> bool:
    """Whether a handler may itself raise or exit."""
    exits = ("exit", "quit", "_exit", "abort")
    return any(
        isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _name(node) in exits)
        for node in ast.walk(handler)
    )


def _names(node: ast.expr) -> Iterator[str]:
    for one in node.elts if isinstance(node, ast.Tuple) else [node]:
        yield _name(one)


def _name(node: ast.expr | None) -> str:
    """The last part of the name that is raised, caught or called, such as `ValueError`."""
    if isinstance(node, ast.Call):
        return _name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def reached_from(node: ast.AST, calls: Mapping[str, Sequence[ast.AST]]) -> tuple[int, ...]:
    """The lines of the main program through which a run reaches a node.

    Args:
        node: A node that `live` has given.
        calls: All calls by the last part of the name that is called.
    """
    lines: set[int] = set()
    waiting, seen = [node], set()
    while waiting:
        one = waiting.pop()
        around = _function_around(one)
        if around is None:
            lines.add(getattr(one, "lineno", 1))
        elif around not in seen:
            seen.add(around)
            waiting += calls.get(around.name, ())
    return tuple(sorted(lines))


def _function_around(node: ast.AST) -> _Function | None:
    above = parent(node)
    while above is not None and not isinstance(above, _Function):
        above = parent(above)
    return above


def calls_by_name(nodes: Iterable[ast.AST]) -> dict[str, list[ast.AST]]:
    """All calls by the last part of the name that is called."""
    found: dict[str, list[ast.AST]] = {}
    for node in nodes:
        if isinstance(node, ast.Call):
            found.setdefault(_name(node), []).append(node)
    return found


class Names:
    """The names of one module.

    Args:
        tree: The parsed script.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._known: dict[str, str] = {}
        self._starred: list[str] = []
        self._own = set(_defined(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    whole = alias.name if alias.asname else alias.name.partition(".")[0]
                    self._known[alias.asname or whole] = whole
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self._from(node.module, node.names)

    def _from(self, module: str, aliases: list[ast.alias]) -> None:
        for alias in aliases:
            if alias.name == "*":
                self._starred.append(module)
            else:
                self._known[alias.asname or alias.name] = f"{module}.{alias.name}"

    def meanings(self, node: ast.expr) -> Iterator[str]:
        """The dotted names an expression may stand for: `np.random.seed` is `numpy.random.seed`.

        A built-in function is itself, unless the script has one of its own by that name.
        """
        if isinstance(node, ast.Attribute):
            yield from (f"{base}.{node.attr}" for base in self.meanings(node.value))
            if isinstance(node.value, ast.Call):
                yield from (f"{base}().{node.attr}" for base in self.meanings(node.value.func))
        elif isinstance(node, ast.Name):
            if node.id in self._known:
                yield self._known[node.id]
            elif node.id not in self._own:
                yield from (f"{module}.{node.id}" for module in self._starred)
                if hasattr(builtins, node.id):
                    yield node.id


def _defined(tree: ast.Module) -> Iterator[str]:
    """The functions, classes and variables that the script defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
