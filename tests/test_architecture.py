"""The import rules of the design, read from the source: arrows go down only."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import quizlog_tui

PACKAGE = Path(quizlog_tui.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
WORKER = sorted((PACKAGE / "replay" / "worker").rglob("*.py"))

GROUND = {"errors", "text", "files", "config"}
ALLOWED = {
    **{name: GROUND for name in GROUND},
    "record": GROUND,
    "replay": GROUND | {"record"},
    "proof": GROUND | {"record", "replay", ""},
    "session": GROUND | {"record", "replay", "proof"},
    "guides": GROUND,
    "report": GROUND | {"record", "replay", "session"},
    "sandbox": GROUND,
    "solver": GROUND | {"record", "replay", "session", "sandbox"},
    "queue": GROUND | {"record", "solver"},
    "webquiz": GROUND | {"record", "replay", "session", "sandbox", "solver", "queue"},
    "episodes": GROUND | {"record", "replay", "proof", "session", "sandbox", "solver", "queue"},
    "server": GROUND
    | {"record", "replay", "session", "sandbox", "solver", "webquiz", "episodes", ""},
    "tui": GROUND
    | {"record", "replay", "proof", "session", "sandbox", "solver", "episodes", "report", "guides"},
    "testing": GROUND | {"session", "replay", "tui"},
    "__main__": {"cli"},
    "": GROUND | {"replay", "proof", "session"},
}
ALLOWED["cli"] = set(ALLOWED) - {"__main__"}
ONLY = {
    "textual": {"tui", "testing"},
    "httpx": {"solver", "tui", "webquiz"},
    "pydantic": {"solver", "server", "episodes"},
    "yaml": {"record"},
    "fastapi": {"server"},
    "starlette": {"server"},
    "uvicorn": {"server"},
    "playwright": {"webquiz"},
    "dbos": {"queue"},
    "psycopg": {"queue"},
    "sqlalchemy": {"queue"},
}


def part(path: Path) -> str:
    """The top-level part of the package a module belongs to."""
    name = path.relative_to(PACKAGE).with_suffix("").parts[0]
    return "" if name == "__init__" else name


def imports(path: Path) -> set[str]:
    """Absolute names of all that a module imports, wherever in it."""
    package = ("quizlog_tui", *path.relative_to(PACKAGE).with_suffix("").parts[:-1])
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *(node.module or "").split(".")))
            found |= {f"{module}.{alias.name}".replace("..", ".") for alias in node.names}
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    own = part(path)
    for name in imports(path):
        if name.startswith("quizlog_tui"):
            target = name.split(".")[1]
            target = "" if target == "__version__" else target
            assert target == own or target in ALLOWED[own], f"{own} must not import {name}"
        else:
            top = name.split(".")[0]
            assert own in ONLY.get(top, {own}), f"only {ONLY.get(top)} may import {top}"


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


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_modules_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400  # a module may be long if it is one thing
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno <= 50, node.name


def test_no_toast_parses_markup() -> None:
    for path in (PACKAGE / "tui").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "notify":
                plain = {k.arg: getattr(k.value, "value", None) for k in node.keywords}
                assert plain.get("markup") is False, f"{path.name}:{node.lineno}"
