"""The message that starts a run; `worker.job` reads it."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..script.private_files import private_files
from ..script.source import Source
from ..world import World
from .limits import Limits
from .output import MAX_UNREPORTED


def job_fields(
    source: Source, world: World, limits: Limits, files_folder: str, *, waits: bool = False
) -> list[bytes]:
    """The fields of the message, in the order in which `worker.job.Job` reads them.

    Args:
        source: The script.
        world: The world of the script.
        limits: Bounds on the script.
        files_folder: The folder for the files that it writes; empty to discard them.
        waits: Whether it waits before it begins, so that one can look at it.
    """
    start, tick = world.clock
    variables = []
    if "real-environment" in source.allowed:
        variables = [f"{name}={value}" for name, value in os.environ.items()]
    return [
        os.fsencode(source.path),
        os.fsencode(source.path.name),
        b"%d" % world.seed,
        b"%d" % limits.memory,
        b"%d" % start,
        b"%d" % tick,
        b"%d" % MAX_UNREPORTED,
        b"%d" % waits,
        os.fsencode(world.at),
        os.fsencode(files_folder),
        *map(_packed, (source.allowed, world.changed, world.hidden, private_files(source))),
        _packed(word for each in _looked_at(source) for word in each),
        _packed(variables),
        os.fsencode("".join(f"{text}\0" for text in world.args)),
        os.fsencode(source.interpreter.environment),
        source.data,
    ]


def _looked_at(source: Source) -> tuple[tuple[str, str], ...]:
    """What the run finds in the script's folder if it has a grant; empty for all that is there."""
    return source.surroundings if source.allowed else ()


def _packed(words: Iterable[str]) -> bytes:
    return os.fsencode("\0".join(words))
