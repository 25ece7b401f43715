"""Finds the files that a script needs, as far as its text shows. Runs nothing.

A bundle packs only these, so that no private file of the same folder gets into it. Names that are
put together at run time cannot be found here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from .source import Source, read_source

_LONGEST_NAME = 255


def needed_files(source: Source) -> list[Path]:
    """Modules and data files in the script's folder that it mentions, except itself."""
    folder = source.path.parent
    found: dict[Path, None] = {}
    waiting = [source]
    while waiting:
        for path in _mentioned(_tree(waiting.pop()), folder):
            if path not in found and path.resolve() != source.path.resolve():
                found[path] = None
                waiting += [read_source(path)] if path.suffix == ".py" else []
    return sorted(found)


def imported(sources: Iterable[Source]) -> set[str]:
    """The top-level names of all modules that these scripts import."""
    found: set[str] = set()
    for source in sources:
        for node in ast.walk(_tree(source)):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found


def _tree(source: Source) -> ast.AST:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source.data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _mentioned(tree: ast.AST, folder: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _data(node.value, folder)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _module(alias.name, folder)
        elif isinstance(node, ast.ImportFrom):
            yield from _module(node.module or "", folder)
            for alias in node.names:
                yield from _module(".".join(filter(None, (node.module, alias.name))), folder)


def _data(text: str, folder: Path) -> Iterator[Path]:
    """The file, or all files of the folder, that a string names."""
    if not 0 < len(text) <= _LONGEST_NAME or "\0" in text or text.strip("./") == "":
        return
    try:
        path = folder / text
        inside = path.resolve().is_relative_to(folder.resolve())
        if inside and path.is_file():
            yield folder / path.resolve().relative_to(folder.resolve())
        elif inside and path.is_dir():
            yield from files_below(folder / path.resolve().relative_to(folder.resolve()))
    except (OSError, ValueError, RuntimeError):
        return


def _module(name: str, folder: Path) -> Iterator[Path]:
    """The file or the package in the folder that an import means."""
    if not name:
        return
    first, *rest = name.split(".")
    package = folder / first
    if (folder / f"{first}.py").is_file():
        yield folder / f"{first}.py"
    elif package.is_dir() and (rest or (package / "__init__.py").is_file()):
        yield from files_below(package)


def files_below(folder: Path) -> Iterator[Path]:
    """All files below a folder, without hidden ones, links and caches."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if (
            path.is_file()
            and not path.is_symlink()
            and not hidden
            and "__pycache__" not in path.parts
        ):
            yield path
