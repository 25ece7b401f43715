"""One question of a run as it travels: what a host that has only models needs to answer it.

Asks nobody. The script travels with those files beside it that its text mentions, as in a bundle.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path

from ...errors import EpisodeError
from ...proof.bundle.container import ContainerError, packed, unpacked
from ...replay.script.needed_files import needed_files
from ...replay.script.source import Source

KIND = "quizlog-answers-1"
"""Names the form of an order and of its reply, in the queue."""
MAX_BYTES = 1024 * 1024
"""The most that travels with a question."""


@dataclass(frozen=True)
class Order:
    """The next question of a run, to be answered by one model."""

    script: str
    """The name of its file."""
    files: str
    """It and what it mentions: an archive, as base64."""
    seed: int
    start_time: str | None
    """Where the clocks start."""
    inputs: list[str]
    """The answers so far."""
    prompt: str
    """The question."""
    sample: int
    """Which run it is."""
    model: str | None
    """Who answered so far; None at the first question."""
    hint: str | None
    """What only a teacher is told."""


@dataclass(frozen=True)
class Delivery:
    """What came of an order."""

    model: str
    """Who was asked."""
    answer: str | None = None
    """None if the model has none."""
    code: str | None = None
    explanation: str | None = None
    broken: str | None = None
    """Why there is no answer for no reason of the model's own."""


def packed_script(source: Source) -> str:
    """A script and what it mentions, as text.

    Raises:
        EpisodeError: It is more than may travel.
    """
    folder, files = source.path.parent, {source.path.name: source.data}
    for path in needed_files(source):
        files[path.relative_to(folder).as_posix()] = path.read_bytes()
    size = sum(map(len, files.values()))
    if size > MAX_BYTES:
        message = f"it and the files that it mentions have more than {MAX_BYTES // 2**20} MB"
        raise EpisodeError(message, where=str(source.path), hint="ask for its runs without --queue")
    return b64encode(packed(files)).decode()


def unpack(order: Order, folder: Path) -> Path:
    """Write the files of an order into a folder: the script.

    Raises:
        EpisodeError: They were changed on their way.
    """
    try:
        for name, data in unpacked(b64decode(order.files, validate=True)).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except (ContainerError, ValueError, OSError) as error:
        raise EpisodeError(f"its files did not arrive whole: {error}") from None
    return folder / order.script
