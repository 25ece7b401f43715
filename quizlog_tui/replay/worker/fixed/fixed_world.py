"""Installs the fixed world before the first line of the script runs.

`quizlog_tui.replay.world` lists what is fixed, and how.
"""

from __future__ import annotations

import os

from ..folder import Folder
from ..job import Job
from ..outside import Outside
from . import clock, database, identity, libraries, seeding
from .other_machine import OtherMachine
from .varying import Varying

_OTHER = 1 << 64
"""Offset of the seed for another stream of the system's randomness."""


class FixedWorld:
    """Installs everything that a script can observe besides its answers."""

    def __init__(self, job: Job, folder: Folder, outside: Outside) -> None:
        self._job = job
        self.folder = folder
        self.outside = outside
        self._varying = Varying(job, folder) if job.changed else None
        other, home = self._other("environment"), self._other("home")
        self.identity = identity.Identity(other.process if other else identity.PID)
        self._terminal = other.terminal if other else identity.TERMINAL_SIZE
        self._c_library = home.c_library if home else identity.c_library_version()
        self.entropy = seeding.Entropy(job.seed + _OTHER * ("entropy" in job.changed))

    def _other(self, condition: str) -> OtherMachine | None:
        """The machine that the script finds if a condition is changed."""
        return self._varying.machine if self._varying and condition in self._job.changed else None

    def prepare(self) -> tuple[tuple[int, int], ...]:
        """Do what cannot be done any more when this process is isolated.

        Returns:
            Code of ours that reads the system's clocks.
        """
        return self._varying.prepare() if self._varying else ()

    def install(self) -> None:
        """Replace the functions of the interpreter."""
        job = self._job
        for variable in job.environment:
            name, _, value = variable.partition("=")
            os.environ[name] = value
        if self._varying:
            self._varying.install()
            self._varying = None
        identity.install_listing()
        identity.install(self.identity, named=self.folder.named)
        identity.install_terminal(self._terminal)
        identity.install_c_library(self._c_library)
        seeding.install(job.seed, self.entropy)
        virtual = None
        if "real-clock" in job.asked:
            self.outside.note("real-clock")
        else:
            virtual = clock.VirtualClock(job.start, job.tick)
            clock.install(virtual)
            libraries.install(virtual)
        clock.install_in_loops(virtual)
        database.install(self.entropy, virtual)
        if "real-environment" in job.asked:
            self.outside.note("real-environment")
        if "real-files" in job.asked:
            self.outside.note("real-files")
        self.outside.install()

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
