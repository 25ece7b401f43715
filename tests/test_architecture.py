"""The import rules of the design, read from the source: arrows go down only."""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from http import HTTPMethod
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

import quizlog_tui

PACKAGE = Path(quizlog_tui.__file__).parent
MODULES = sorted(
    path for path in PACKAGE.rglob("*.py") if "shipped" not in path.relative_to(PACKAGE).parts
)
WORKER = sorted((PACKAGE / "replay" / "worker").rglob("*.py"))

GROUND = {
    "errors",
    "text",
    "terminal_text",
    "syntax",
    "files",
    "config",
}
ALLOWED = {
    **{name: GROUND for name in GROUND},
    "record": GROUND,
    "replay": GROUND | {"record", "sandbox"},
    "proof": GROUND | {"record", "replay", ""},
    "debug": GROUND | {"replay"},
    "session": GROUND | {"record", "replay", "proof", "debug"},
    "guides": GROUND,
    "report": GROUND | {"record", "replay", "session"},
    "sandbox": GROUND,
    "solver": GROUND | {"record", "replay", "session", "sandbox"},
    "queue": GROUND | {"record", "solver"},
    "webquiz": GROUND | {"record", "replay", "session", "sandbox", "solver", "queue"},
    "episodes": GROUND | {"record", "replay", "proof", "session", "sandbox", "solver", "queue"},
    "server": GROUND
    | {"record", "replay", "session", "sandbox", "solver", "webquiz", "episodes", "agents", ""},
    "agents": GROUND | {"record", "replay", "proof", "debug", "session", ""},
    "tui": GROUND
    | {
        "debug",
        "record",
        "replay",
        "proof",
        "session",
        "sandbox",
        "solver",
        "episodes",
        "report",
        "guides",
    },
    "testing": GROUND | {"session", "replay", "tui"},
    "__main__": {"cli"},
    "": GROUND | {"replay", "proof", "session", "solver", "webquiz", "server"},
}
ALLOWED["cli"] = set(ALLOWED) - {"__main__"}
ONLY = {
    "textual": {"tui", "testing"},
    "httpx": {"solver", "tui", "webquiz"},
    "mcp": {"agents"},
    "anyio": {"agents"},
    "pydantic": {"solver", "server", "episodes", "agents"},
    "yaml": {"record"},
    "fastapi": {"server"},
    "starlette": {"server", "agents"},
    "uvicorn": {"server"},
    "aiohttp": {"server"},
    "textual_serve": {"server"},
    "playwright": {"webquiz"},
    "dbos": {"queue"},
    "psycopg": {"queue"},
    "sqlalchemy": {"queue"},
}


def part(path: Path) -> str:
    """The top-level part of the package a module belongs to."""
    name = path.relative_to(PACKAGE).with_suffix("").parts[0]
    return "" if name == "__init__" else name


def name_of(path: Path) -> str:
    """The dotted name of a module."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree(path: Path) -> ast.Module:
    """A module, read once for all tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All nodes of a module, walked once for all tests."""
    return list(ast.walk(tree(path)))


NAMES = {name_of(path): path for path in MODULES}
BOOT = re.compile(r"import (inside\.\w+), (worker\.\w+)")
"""What the text of `replay/process/spawn.py` loads in the quiz process, from folders it names."""


class Imports(ast.NodeVisitor):
    """Absolute names of all that a module imports, also inside functions and for types alone.

    Args:
        path: The module.
    """

    def __init__(self, path: Path) -> None:
        self.found: set[str] = set()
        self._package = path.relative_to(PACKAGE.parent).parts[:-1]
        self.visit(tree(path))
        for inside, worker in BOOT.findall(path.read_text(encoding="utf-8")):
            self.found |= {f"quizlog_tui.sandbox.{inside}", f"quizlog_tui.replay.{worker}"}

    def visit_Import(self, node: ast.Import) -> None:
        self.found |= {alias.name for alias in node.names}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self._package[: len(self._package) - node.level + 1] if node.level else ()
        module = ".".join((*base, *filter(None, [node.module])))
        self.found |= {f"{module}.{alias.name}" for alias in node.names}


@cache
def imports(path: Path) -> set[str]:
    """Absolute names of all that a module imports, wherever in it."""
    return Imports(path).found


def test_no_modules_import_each_other() -> None:
    """Also for types alone."""
    below = {name: _modules(path) - {name} for name, path in NAMES.items()}
    while leaves := {name for name, others in below.items() if not others & below.keys()}:
        below = {name: others for name, others in below.items() if name not in leaves}
    assert not below, f"a circle goes through some of {sorted(below)}"


def _modules(path: Path) -> set[str]:
    found = imports(path)
    return {name if name in NAMES else name.rpartition(".")[0] for name in found} & NAMES.keys()


@pytest.mark.parametrize("own", sorted(ALLOWED))
def test_imports_go_down(own: str) -> None:
    for path in (path for path in MODULES if part(path) == own):
        for name in imports(path):
            if name.startswith("quizlog_tui"):
                target = name.split(".")[1]
                target = "" if target == "__version__" else target
                assert target == own or target in ALLOWED[own], f"{path} must not import {name}"
            else:
                top = name.split(".")[0]
                assert own in ONLY.get(top, {own}), f"only {ONLY.get(top)} may import {top}"


def test_every_part_has_its_rule() -> None:
    assert {part(path) for path in MODULES} == set(ALLOWED)


TESTS = sorted(Path(__file__).parent.rglob("test_*.py"))


def test_no_test_imports_from_a_test() -> None:
    named = {
        path: node.module or ""
        for path in TESTS
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").rpartition(".")[2].startswith("test_")
    }
    assert not named


@pytest.mark.parametrize("path", WORKER, ids=lambda p: p.name)
def test_the_worker_is_standard_library_only(path: Path) -> None:
    for name in imports(path):
        top = name.split(".")[0]
        inside = name.startswith("quizlog_tui.replay.worker")
        assert inside or top in sys.stdlib_module_names, f"{path.name} imports {name}"


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, quizlog_tui; print([m for m in ('yaml', 'textual', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_functions_stay_small() -> None:
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert (node.end_lineno or 0) - node.lineno <= 50, f"{path}: {node.name}"


FRAGMENT = 60
"""Lines below which a module with a single importer is a piece of that one."""


def test_no_module_is_a_fragment_of_its_only_importer() -> None:
    importers: dict[str, set[str]] = {name: set() for name in NAMES}
    for name, path in NAMES.items():
        for other in _modules(path) - {name}:
            importers[other].add(name)
    short = {
        name
        for name, path in NAMES.items()
        if path.name != "__init__.py" and path.read_text(encoding="utf-8").count("\n") < FRAGMENT
    }
    assert not {name: importers[name] for name in short if len(importers[name]) == 1}


DEEPEST = {"quizlog_tui.replay.worker": 3}
"""Rooms with more than two levels of folders below the package."""


def test_folders_are_two_deep() -> None:
    for name in NAMES:
        if NAMES[name].name != "__init__.py":
            levels = max((n for room, n in DEEPEST.items() if name.startswith(room)), default=2)
            assert name.count(".") - 1 <= levels, name


def test_every_public_name_is_used() -> None:
    """Outside its definition: by the package, or by those who import it."""
    used: Counter[str] = Counter()
    for path in (*MODULES, *Path(__file__).parent.rglob("*.py")):
        used += _names(path)
    # pytest finds those of its plug-in by their names
    own = [path for path in MODULES if path.name != "testing.py"]
    public = {f"{name_of(path)}.{each}" for path in own for each in _defined(path)}
    unused = {name for name in public if used[name.rpartition(".")[2]] == 0}
    assert not unused


def _defined(path: Path) -> Iterator[str]:
    """The public names that a module defines at its top."""
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            inside = (each for target in targets for each in ast.walk(target))
            found = [each.id for each in inside if isinstance(each, ast.Name)]
        else:
            continue
        yield from (name for name in found if not name.startswith("_"))


@cache
def _names(path: Path) -> Counter[str]:
    """How often a module uses each name, also in an import, an annotation or a dotted text."""
    found: Counter[str] = Counter()
    for node in nodes(path):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found[node.id] += 1
        elif isinstance(node, ast.Attribute):
            found[node.attr] += 1
        elif isinstance(node, ast.alias):
            found[node.name.rpartition(".")[2]] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(re.findall(r"\w+", node.value) if len(node.value) < 200 else ())
    return found


def test_no_toast_parses_markup() -> None:
    for path in (PACKAGE / "tui").rglob("*.py"):
        for node in nodes(path):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "notify":
                plain = {k.arg: getattr(k.value, "value", None) for k in node.keywords}
                assert plain.get("markup") is False, f"{path.name}:{node.lineno}"


DEEPER = {
    "quizlog_tui.errors.ProtocolError": "a run that ends by it has met a limit, and is treated so",
}
"""Classes that inherit from more than one other of the package, each with the reason."""


def _bases(path: Path) -> dict[str, list[str]]:
    """The classes of a module, each with the absolute names of what it inherits from."""
    own, found = name_of(path), {name.rpartition(".")[2]: name for name in imports(path)}
    return {
        f"{own}.{node.name}": [
            found.get(base, f"{own}.{base}")
            for base in (ast.unparse(each).split("[")[0] for each in node.bases)
        ]
        for node in nodes(path)
        if isinstance(node, ast.ClassDef)
    }


@cache
def _classes() -> dict[str, list[str]]:
    return {name: each for path in MODULES for name, each in _bases(path).items()}


def test_classes_are_composed_not_inherited_in_chains() -> None:
    bases = _classes()

    def depth(name: str) -> int:
        return 1 + max((depth(base) for base in bases[name] if base in bases), default=0)

    assert {name for name in bases if depth(name) > 2} == DEEPER.keys()


def test_no_public_class_name_has_two_meanings() -> None:
    top_level = [
        node.name
        for path in MODULES
        for node in tree(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    assert not [name for name, count in Counter(top_level).items() if count > 1]


TEXT_ONLY = {"quizlog_tui.debug.inside", "quizlog_tui.debug.plain"}
"""Modules that are sent as text, behind others, and cannot be imported alone."""
STANDS_IN: dict[str, type] = {
    "quizlog_tui.replay.worker.streams.DirectOut": io.BufferedWriter,
    "quizlog_tui.replay.worker.fixed.varying._Entry": os.DirEntry,
}
"""Classes that do not inherit from the class whose methods scripts call on them."""


@cache
def _real_classes() -> list[type]:
    """Every class of the package, also those inside others."""
    found = []
    for name in sorted(NAMES.keys() - TEXT_ONLY - {"quizlog_tui.__main__"}):
        inside = [vars(importlib.import_module(name))]
        for names in inside:
            own = [value for value in names.values() if inspect.isclass(value)]
            own = [kind for kind in own if kind.__module__ == name and kind not in found]
            found += own
            inside += map(vars, own)
    return found


@cache
def _uses(path: Path) -> Counter[str]:
    """How often a module asks an object for each name, or calls it by `getattr`."""
    found: Counter[str] = Counter()
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            found[node.attr] += 1
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr":
            found[str(getattr(node.args[1], "value", ""))] += 1
    return found


def _function(value: object) -> Any:
    """The function that a class holds as a method or property; None for anything else."""
    value = getattr(value, "fget", value)
    value = getattr(value, "__func__", value)
    value = getattr(value, "func", value)
    return value if inspect.isfunction(value) else None


def _own_uses(method: Any, kind: type) -> int:
    """How often a method asks for its own name, as a call of `super()` does."""
    for node in nodes(NAMES[kind.__module__]):
        if isinstance(node, ast.ClassDef) and node.name == kind.__name__:
            for each in node.body:
                if getattr(each, "name", "") == method.__name__:
                    asked = (n.attr for n in ast.walk(each) if isinstance(n, ast.Attribute))
                    return sum(name == method.__name__ for name in asked)
    return 0


def _is_called(name: str, method: Any, kind: type) -> bool:
    """Whether somebody asks for a method: a private one is only for its own family."""
    if name.startswith("_"):
        family = [one for one in _real_classes() if kind in one.__mro__ or one in kind.__mro__]
        paths = {NAMES[one.__module__] for one in family}
    else:
        paths = {*MODULES, *TESTS}
    return sum(_uses(path)[name] for path in paths) > _own_uses(method, kind)


@cache
def _actions() -> dict[str, set[str]]:
    """The names of actions that keys call, by the node they name; "" is the one with the key."""
    from textual.dom import DOMNode

    from quizlog_tui.tui.keys.actions import all_actions

    found: dict[str, set[str]] = {"": set(), "app": set(), "screen": {"own_command"}, "part": set()}
    bound = {
        binding.action
        for kind in _real_classes()
        if issubclass(kind, DOMNode)
        for several in kind._merge_bindings().key_to_bindings.values()
        for binding in several
    }
    for call in bound | {action.call for action in all_actions()}:
        node, _, name = call.partition("(")[0].rpartition(".")
        found[node].add(name)
        found["part"] |= set(re.findall(r"^do\('\w+\.(\w+)'", call))
    return found


def _is_called_by_textual(name: str, method: Any, kind: type) -> bool:
    """Whether Textual finds a method: as the handler of a message, an action, or by a reactive."""
    from textual.app import App
    from textual.dom import DOMNode
    from textual.message import Message

    actions = _actions()
    if not issubclass(kind, DOMNode):
        return name in actions["part"]
    handlers = {one.handler_name for one in _subclasses(Message)}
    before, _, rest = name.partition("_")
    if before == "action":
        nodes = ["", "app" if issubclass(kind, App) else "screen"]
        return any(rest in actions[node] for node in nodes)
    if before in ("watch", "validate", "compute"):
        return rest in kind._reactives
    return name in handlers or hasattr(method, "_textual_on")


def _subclasses(kind: type) -> Iterator[Any]:
    for one in kind.__subclasses__():
        yield one
        yield from _subclasses(one)


def _is_called_by_library(name: str, kind: type) -> bool:
    """Whether a library calls a method by a name made of something else."""
    if issubclass(kind, ast.NodeVisitor):
        return hasattr(ast, name.removeprefix("visit_"))
    if issubclass(kind, BaseHTTPRequestHandler):
        return name.removeprefix("do_") in HTTPMethod.__members__
    checks = getattr(kind, "__pydantic_decorators__", None)
    return checks is not None and name in {**checks.model_validators, **checks.field_validators}


def test_every_method_overrides_one_or_is_called() -> None:
    unused = []
    for kind in _real_classes():
        full = f"{kind.__module__}.{kind.__qualname__}"
        bases = [*kind.__mro__[1:], STANDS_IN.get(full, object)]
        for name, value in vars(kind).items():
            method = _function(value)
            if method is None or method.__module__ != kind.__module__ or name[:2] == "__":
                continue
            if any(hasattr(base, name) for base in bases):
                continue
            if not (
                _is_called(name, method, kind)
                or _is_called_by_textual(name, method, kind)
                or _is_called_by_library(name, kind)
            ):
                unused.append(f"{full}.{name}")
    assert not unused


KINDS = {"textarea", "yesno", "radio", "checkbox", "matrix", "matrixlist"}
"""Kinds of answers whose names mean nothing else."""


def test_each_kind_of_answer_is_spelled_in_one_place() -> None:
    spelled = {
        path.stem
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.Constant) and node.value in KINDS
    }
    assert spelled == {"input_kinds"}


SPLITS_TEXT_OF_OTHERS = {
    "debug/inspection_text.py",  # what an expression printed
    "proof/bundle/sign.py",  # what ssh-keygen says
    "replay/script/interpreter.py",  # pyvenv.cfg
    "replay/script/needed_files.py",  # bytes, which split at newlines only
}
ROOMS_WITH_SOURCE = ("replay/script/", "debug/", "proof/", "session/", "episodes/", "report/")


def test_python_is_parsed_in_one_place() -> None:
    """Threads that parse at once end each other; the worker parses in a process of its own."""
    parses = re.compile(r"ast\.(parse|literal_eval)\((?!parse_expression\()")
    parsing = {
        name_of(path)
        for path in set(MODULES) - set(WORKER)
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in ("parse", "literal_eval") and parses.match(ast.unparse(node))
    }
    assert parsing == {"quizlog_tui.syntax"}


def test_lines_of_scripts_are_counted_as_python_counts_them() -> None:
    """`str.splitlines` also splits at form feeds and separators inside a string."""
    places = {str(path.relative_to(PACKAGE)): path for path in MODULES}
    rooms = (*ROOMS_WITH_SOURCE, "tui/draw/", "cli/moves", "cli/inspect")
    found = {
        place
        for place, path in places.items()
        if place.startswith(rooms) and "splitlines" in path.read_text(encoding="utf-8")
    }
    found.discard("replay/script/source.py")  # says why not
    assert found == SPLITS_TEXT_OF_OTHERS
