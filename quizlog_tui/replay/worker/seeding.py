"""The record's seed, given to every generator the moment its module is imported.

`random` and `numpy.random` are seeded as `random.seed(seed)` and `numpy.random.seed(seed)` would.
Generators made without a seed (`random.Random()`, which `sympy.randMatrix` uses, and
`numpy.random.default_rng()`) draw from a stream of their own that the same seed starts. Modules are
not imported for this: a script that needs none pays for none. (`PYTHONHASHSEED` is set by the
parent, before the interpreter starts.)
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def install(seed: int) -> None:
    """Seed what is imported already, and the rest when it is."""
    finder = _SeedOnImport({"random": _seed_random, "numpy.random": _seed_numpy}, seed)
    for name in list(finder.waiting):
        if name in sys.modules:
            finder.waiting.pop(name)(sys.modules[name], seed)
    sys.meta_path.insert(0, finder)


class _SeedOnImport:
    """A finder that finds nothing itself; it adds the seeding to the loader that does."""

    def __init__(self, waiting: dict[str, Any], seed: int) -> None:
        self.waiting = waiting
        self.seed = seed

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in self.waiting:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find else None
            if spec is not None and spec.loader is not None:
                self._seed_after(spec, self.waiting.pop(name))
                return spec
        return None

    def _seed_after(self, spec: ModuleSpec, give_seed: Any) -> None:
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            loader.__dict__.pop("exec_module", None)
            execute(module)
            give_seed(module, self.seed)

        loader.exec_module = exec_module


def _seed_random(module: Any, seed: int) -> None:
    """Seed the global generator, and give unseeded ones seeds of their own."""
    draws = module.Random(f"quizlog {seed}")
    module._urandom = draws.randbytes
    plain_seed = module.Random.seed

    def seed_method(self: Any, a: Any = None, version: int = 2) -> None:
        plain_seed(self, draws.getrandbits(256) if a is None else a, version)

    seed_method.__name__ = seed_method.__qualname__ = "seed"
    module.Random.seed = seed_method
    module.seed = module._inst.seed
    module.seed(seed)


def _seed_numpy(module: Any, seed: int) -> None:
    """Seed the legacy global state; only 32 bits are legal there."""
    module.seed(seed % 2**32)
