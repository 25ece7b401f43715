"""Seeds every source of randomness with the record's seed.

`random` and `numpy.random` are seeded as `random.seed(seed)` and `numpy.random.seed(seed)` would.
The system's own randomness (`os.urandom`, `/dev/urandom`) becomes a stream that the same seed
starts; from it draw `secrets`, `uuid`, generators made without a seed (`random.Random()`, which
`sympy.randMatrix` uses, and `numpy.random.default_rng()`), and names of temporary files.
(`PYTHONHASHSEED` is set by the parent, before the interpreter starts.)
"""

from __future__ import annotations

import io
import os
from _random import Random

from .onimport import after_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NODE = 0x02_00_00_00_00_01
"""The result of `uuid.getnode`: a locally administered address."""


class Entropy:
    """A stream of bytes in place of the system's randomness."""

    def __init__(self, key: int) -> None:
        self._key = key * 2 if key >= 0 else -key * 2 + 1  # `Random` drops the sign
        self._forks = 0
        self.copying = False
        """Whether a fork is a copy of the run, which continues the same stream."""
        self._draw = Random(self._key)
        os.register_at_fork(before=self._count, after_in_child=self._part_stream)

    def _count(self) -> None:
        self._forks += not self.copying

    def _part_stream(self) -> None:
        """Give a child that the script forked another stream than its parent."""
        if not self.copying:
            self._key = self._key << 32 | self._forks
            self._draw.seed(self._key)

    def urandom(self, size: int, /) -> bytes:
        if size < 0:
            raise ValueError("negative argument not allowed")
        return self._draw.getrandbits(size * 8).to_bytes(size, "little") if size else b""

    def getrandom(self, size: int, flags: int = 0) -> bytes:
        return self.urandom(size)

    def bits(self, count: int) -> int:
        """A whole number with this number of bits."""
        return self._draw.getrandbits(count)

    def opened(self, mode: str) -> Any:
        """The result of `open("/dev/urandom")`."""
        stream = io.BufferedReader(_Device(self))
        return stream if "b" in mode else io.TextIOWrapper(stream)


class _Device(io.RawIOBase):
    """A file that never ends."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        buffer[:] = self._entropy.urandom(len(buffer))
        return len(buffer)


def install(seed: int, entropy: Entropy) -> None:
    """Seed modules that are imported already, and the others when they are imported."""
    os.urandom = entropy.urandom
    if hasattr(os, "getrandom"):
        os.getrandom = entropy.getrandom
    after_import(
        {
            "random": lambda module: _seed_random(module, seed, entropy),
            "numpy.random": lambda module: module.seed(seed % 2**32),  # no more is legal there
            "torch": lambda module: module.manual_seed(seed % 2**64),
            "ssl": lambda module: _fix_ssl(module, entropy),
            "uuid": lambda module: _fix_uuid(module, entropy),
        }
    )


def _seed_random(module: Any, seed: int, entropy: Entropy) -> None:
    """Seed the global generator, and seed unseeded ones from the stream."""
    module._urandom = entropy.urandom
    plain_seed = module.Random.seed

    def seed_method(self: Any, a: Any = None, version: int = 2) -> None:
        plain_seed(self, entropy.bits(256) if a is None else a, version)

    seed_method.__name__ = seed_method.__qualname__ = "seed"
    module.Random.seed = seed_method
    module.seed = module._inst.seed
    module.seed(seed)

    def part() -> None:
        """Reseed a child that the script forked, as the module would do at random."""
        if not entropy.copying:
            module.seed(entropy.bits(256))

    os.register_at_fork(after_in_child=part)


def _fix_ssl(module: Any, entropy: Entropy) -> None:
    module.RAND_bytes = module._ssl.RAND_bytes = entropy.urandom


def _fix_uuid(module: Any, entropy: Entropy) -> None:
    """`uuid1` in pure Python, as the system's library would ask the real clock and card."""
    module._generate_time_safe = module._UuidCreate = None
    module._node, module._last_timestamp = _NODE, None
    plain = module.uuid1

    def uuid1(node: int | None = None, clock_seq: int | None = None) -> Any:
        return plain(node, entropy.bits(14) if clock_seq is None else clock_seq)

    uuid1.__module__, uuid1.__qualname__ = "uuid", "uuid1"
    module.uuid1 = uuid1
