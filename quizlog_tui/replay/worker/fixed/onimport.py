"""Changes modules when they are imported, so that unused modules cost nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

Act = Callable[["Any"], None]
"""What is done to a module that has just been imported."""


def after_import(acts: Mapping[str, Act]) -> None:
    """Change modules that are imported already, and the others when they are imported."""
    waiting = dict(acts)
    for name in list(waiting):
        if name in sys.modules:
            waiting.pop(name)(sys.modules[name])
    if waiting:
        sys.meta_path.insert(0, _Finder(waiting))


class _Finder:
    """A finder that finds nothing itself; it adds the act to the loader that does."""

    def __init__(self, waiting: dict[str, Act]) -> None:
        self.waiting = waiting

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in self.waiting:
            return None
        act = self.waiting.pop(name)  # before the others are asked, as one may ask this one again
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find else None
            if spec is not None and spec.loader is not None:
                _act_after(spec, act)
                return spec
        return None


def _act_after(spec: ModuleSpec, act: Act) -> None:
    loader: Any = spec.loader
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        loader.__dict__.pop("exec_module", None)
        execute(module)
        act(module)

    loader.exec_module = exec_module
