"""Resolves names in a script to library functions, by its imports. Runs nothing."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator


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
