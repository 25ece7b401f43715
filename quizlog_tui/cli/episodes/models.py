"""Who answers the runs that `quizlog episodes build --runs` asks for."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...files.paths import record_path
from ..extras import needs
from ..record.show import say

if TYPE_CHECKING:
    from ...episodes.runs.asking import Solver, SolveRun
    from ...replay.process.limits import Limits
    from ...solver.solve import Panel


def solver_of(arguments: Namespace, limits: Limits) -> Solver:
    """Who is asked for runs: the hosts that work the tasks' queue, or models from here.

    Args:
        arguments: What the user said.
        limits: What a script may use.

    Raises:
        UsageError: What is needed is not installed, or words contradict each other.
    """
    if not arguments.queue:
        return _models(arguments, limits)
    for word in ("models", "replay", "unsafe_local"):
        if getattr(arguments, word):
            flag = "--" + word.replace("_", "-")
            hint = f"the hosts that work the queue ask models of their own: leave {flag} out"
            raise UsageError(f"--queue and {flag} go not together", hint=hint)
    return _queue(arguments, limits)


def _queue(arguments: Namespace, limits: Limits) -> Solver:
    needs("tasks", "dotenv", "dbos", "psycopg")
    from ...episodes.runs.asking import Solver, runs_folder
    from ...episodes.runs.queued import ABREAST, by_queue
    from ...replay.replayer import Replayer
    from ...solver.redaction import Redaction
    from ...webquiz.task.settings import read_settings

    settings = read_settings(Path(arguments.env) if arguments.env else None)
    folder, clean = runs_folder(Path(arguments.output)), Redaction(settings.secrets)

    @asynccontextmanager
    async def opened() -> AsyncIterator[SolveRun]:
        from ...queue.client import connected

        with Replayer(limits) as replayer:
            async with connected(settings.database, clean, _idle) as client:
                yield by_queue(client, folder, replayer)

    return Solver(opened, ABREAST)


def _idle() -> None:
    _note("nobody takes what was given to the queue: is `quizlog serve` running with it?")


def _models(arguments: Namespace, limits: Limits) -> Solver:
    """The models that are asked, chosen as everywhere: as told, as configured, or as recorded."""
    needs("solver", "httpx", "pydantic", "dotenv")
    from ...episodes.runs.asking import Solver
    from ...sandbox import run_code
    from ...solver.models.choice import Choice, chosen_panel

    names = (arguments.models, arguments.replay)
    choice = Choice(*(Path(name) if name else None for name in names))
    run = partial(run_code, unsafe_local=arguments.unsafe_local)
    folders = {record_path(name).parent for name in arguments.records}
    beside = folders.pop() if len(folders) == 1 else None

    @asynccontextmanager
    async def opened() -> AsyncIterator[SolveRun]:
        from ...episodes.runs.model_runs import by_models

        async with chosen_panel(choice, run, record_folder=beside, note=_note) as panel:
            _check_enough(panel, arguments.runs)
            yield by_models(panel, limits)

    return Solver(opened)


def _note(text: str) -> None:
    say(f"note: {text}")


def _check_enough(panel: Panel, runs: int) -> None:
    """A recorded reply that is played twice makes no second run."""
    if not panel.label:
        return
    _note(panel.label)
    count = len(panel.clients)
    if runs > count:
        hint = f"ask for {count} at most, or describe models that can be asked"
        raise UsageError(f"--runs {runs}: replies of {count} models were recorded", hint=hint)
