"""The job of a quiz process: plain fields, as parsing JSON would need imports."""

from __future__ import annotations

import os


class Job:
    """A script and its world.

    Args:
        fields: In the order in which `quizlog_tui.replay.process.process` sends them.
    """

    def __init__(self, fields: list[bytes]) -> None:
        *fixed, self.source = fields
        """The script's bytes."""
        self.path, self.name, *numbers, self.at, self.files_folder = map(os.fsdecode, fixed[:-8])
        """The script, absolute; its file name; another path at which it shall find its folder, and
        a folder that takes what it writes: both may be empty."""
        self.seed, self.memory, self.start, self.tick, self.max_unreported, waits = map(
            int, numbers
        )
        """Bytes of data it may use, 0 for no bound; nanoseconds since the epoch where the clocks
        start, and by which a reading advances them; bytes it may write before it tells of the
        questions that were answered meanwhile."""
        self.waits = bool(waits)
        """Whether it waits before it begins, so that quizlog can look at it."""
        asked, changed, hidden, private, looked_at, variables, args, libraries = map(
            os.fsdecode, fixed[-8:]
        )
        self.asked = frozenset(_texts(asked))
        """What the script asked for: `real-clock`, `real-network`, `real-files` and so on."""
        self.changed: frozenset[str] = frozenset(_texts(changed))
        """The conditions that shall be other than usual."""
        self.hidden = _texts(hidden)
        """Files that shall not be there, where left over files are such a condition."""
        self.private = _texts(private)
        """Files beside the script that are not for it."""
        words = _texts(looked_at)
        self.looked_at = {words[at]: words[at + 1] for at in range(0, len(words), 2)}
        """What alone the script finds in its folder, each name with what is there, as the user
        looked at it; empty for all that is there."""
        self.environment = _texts(variables)
        """Variables, `NAME=value`, beyond the fixed ones."""
        self.args = args.split("\0")[:-1]
        """The script's arguments, each of which may be empty."""
        self.libraries = libraries
        """The virtual environment with the script's libraries; empty for the interpreter's own."""

    def forget_changes(self) -> None:
        """Forget which conditions are other than usual: the script may find this object."""
        self.path = f"{self.at}/{self.name}" if self.at else self.path
        self.changed, self.hidden, self.at = frozenset(), [], ""


def _texts(packed: str) -> list[str]:
    return packed.split("\0") if packed else []
