"""The fixed world, put in place before the first line of the script runs.

What each part fixes, and how, is listed in `quizlog_tui.replay.world`.
"""

from __future__ import annotations

import os

from ..folder import Folder
from ..job import Job
from ..watch.outside import Outside
from . import clock, database, identity, libraries, listing, seeding, varying

_OTHER = 1 << 64
"""Makes another stream of the system's randomness from the same seed."""


class World:
    """All that a script finds beside its answers."""

    def __init__(self, job: Job, folder: Folder, outside: Outside) -> None:
        self._job = job
        self.folder = folder
        self.outside = outside
        varied = "environment" in job.changed
        self.identity = identity.Identity(identity.PID - 1000 * varied)
        self.entropy = seeding.Entropy(job.seed + _OTHER * ("entropy" in job.changed))

    def install(self) -> None:
        """Put everything in place."""
        job = self._job
        for variable in job.environment:
            name, _, value = variable.partition("=")
            os.environ[name] = value
        self._vary()
        listing.install()
        identity.install(self.identity, named=self.folder.named)
        seeding.install(job.seed, self.entropy)
        told = None
        if "real-clock" in job.asked:
            self.outside.note("real-clock")
        else:
            told = clock.VirtualClock(job.start, job.tick)
            clock.install(told)
            libraries.install(told, varied="libraries" in job.changed)
        database.install(self.entropy, told)
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
        """Leave files in the folder, unseen by what watches the script."""
        watching, self.outside.watching = self.outside.watching, False
        varying.leftovers(self._job.hidden)
        self.outside.watching = watching

    def copying(self) -> None:
        """A copy of the run is about to be made: it goes on as this process would."""
        self.entropy.copying = True
        self.folder.share()

    def copied(self) -> None:
        """It has been made; this is the run or its copy."""
        self.entropy.copying = False

    def settle(self, pid: int) -> None:
        """This is the copy, which has another number from the system."""
        self.identity.home = pid
