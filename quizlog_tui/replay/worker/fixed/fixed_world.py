"""Installs the fixed world before the first line of the script runs.

`quizlog_tui.replay.world` lists what is fixed, and how.
"""

from __future__ import annotations

import os

from ..folder import Folder
from ..job import Job
from ..watch.outside import Outside
from . import clock, database, identity, libraries, listing, seeding, terminal, varying

_OTHER = 1 << 64
"""Offset of the seed for another stream of the system's randomness."""


class FixedWorld:
    """Installs everything that a script can observe besides its answers."""

    def __init__(self, job: Job, folder: Folder, outside: Outside) -> None:
        self._job = job
        self.folder = folder
        self.outside = outside
        varied = "environment" in job.changed
        self.identity = identity.Identity(identity.PID - 1000 * varied)
        self.entropy = seeding.Entropy(job.seed + _OTHER * ("entropy" in job.changed))

    def install(self) -> None:
        """Replace the functions of the interpreter."""
        job = self._job
        for variable in job.environment:
            name, _, value = variable.partition("=")
            os.environ[name] = value
        self._vary()
        listing.install()
        identity.install(self.identity, named=self.folder.named)
        terminal.install()
        seeding.install(job.seed, self.entropy)
        virtual = None
        if "real-clock" in job.asked:
            self.outside.note("real-clock")
        else:
            virtual = clock.VirtualClock(job.start, job.tick)
            clock.install(virtual)
            libraries.install(virtual, varied="libraries" in job.changed)
        database.install(self.entropy, virtual)
        if "real-environment" in job.asked:
            self.outside.note("real-environment")
        if "real-files" in job.asked:
            self.outside.note("real-files")
        self.outside.install()

    def _vary(self) -> None:
        changed = self._job.changed
        if "environment" in changed:
            varying.environment()
        if "home" in changed:
            varying.home()
        if "leftovers" in changed and self.folder.way:
            self.folder.fill(self._leave)
        if "metadata" in changed:
            varying.metadata()
        if "threads" in changed:
            varying.threads()

    def _leave(self) -> None:
        """Change files in the folder without observations being made."""
        watching, self.outside.watching = self.outside.watching, False
        varying.leftovers(self._job.hidden)
        self.outside.watching = watching

    def copying(self) -> None:
        """Prepare for a copy of the run, which continues as this process would."""
        self.entropy.copying = True
        self.folder.share()

    def copied(self) -> None:
        """Note that the copy was made; called in both processes."""
        self.entropy.copying = False

    def settle(self, pid: int) -> None:
        """Note the real process number of a copy."""
        self.identity.home = pid
