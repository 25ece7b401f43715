"""A question of a run as sent through the queue, with all that another machine needs to answer it.

The script is sent with the files next to it that its text mentions, as in a bundle.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path

from ...errors import EpisodeError
from ...proof.bundle.container import ContainerError, from_archive, to_archive
from ...replay.script.needed_files import needed_files
from ...replay.script.source import Source

KIND = "quizlog-answers-1"
"""The kind of task in the queue, with the version of question and answer."""
MAX_BYTES = 1024 * 1024
"""Maximum size of the files that are sent with a question."""


@dataclass(frozen=True)
class RemoteQuestion:
    """The next question of a run, to be answered by one model."""

    script: str
    """The file name of the script."""
    files: str
    """The script and the files it mentions: an archive in base64."""
    seed: int
    start_time: str | None
    """The start of the clocks."""
    inputs: list[str]
    """The answers so far."""
    prompt: str
    """The question."""
    sample: int
    """The number of the run."""
    model: str | None
    """The model that answered so far; None at the first question."""
    hint: str | None
    """The hint, for a teacher."""


@dataclass(frozen=True)
class RemoteAnswer:
    """The answer to a remote question."""

    model: str
    """The model that was asked."""
    answer: str | None = None
    """The answer; None if there is none."""
    code: str | None = None
    explanation: str | None = None
    broken: str | None = None
    """Why there is no answer, if the model is not to blame."""


def packed_script(source: Source) -> str:
    """A script and the files it mentions, as base64 text.

    Raises:
        EpisodeError: They are too big to be sent.
    """
    folder, files = source.path.parent, {source.path.name: source.data}
    for path in needed_files(source):
        files[path.relative_to(folder).as_posix()] = path.read_bytes()
    size = sum(map(len, files.values()))
    if size > MAX_BYTES:
        message = f"the script and the files it mentions have more than {MAX_BYTES // 2**20} MB"
        raise EpisodeError(message, where=str(source.path), hint="request its runs without --queue")
    return b64encode(to_archive(files)).decode()


def unpack(question: RemoteQuestion, folder: Path) -> Path:
    """Write the files of a question into a folder; return the path of the script.

    Raises:
        EpisodeError: The files are damaged.
    """
    try:
        for name, data in from_archive(b64decode(question.files, validate=True)).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except (ContainerError, ValueError, OSError) as error:
        raise EpisodeError(f"its files did not arrive intact: {error}") from None
    return folder / question.script
