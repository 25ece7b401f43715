"""Chooses the solver of `quizlog episodes build --runs`."""

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
from ..solver.ask_for_programs import ask_for_programs

if TYPE_CHECKING:
    from ...episodes.runs.asking import Solver, SolveRun
    from ...replay.process.process import Limits
    from ...solver.solve import Panel


def solver_of(arguments: Namespace, limits: Limits) -> Solver:
    """Choose who answers runs: the hosts of the task queue, or models asked from here.

    Args:
        arguments: The parsed arguments.
        limits: The limits of a script.

    Raises:
        UsageError: A library is missing, or options contradict each other.
    """
    if not arguments.queue:
        return _models(arguments, limits)
    for word in ("models", "replay", "unsafe_local"):
        if getattr(arguments, word):
            flag = "--" + word.replace("_", "-")
            hint = f"the hosts of the queue ask their own models: leave {flag} out"
            raise UsageError(f"--queue and {flag} cannot be combined", hint=hint)
    return _queue(arguments, limits)


def _queue(arguments: Namespace, limits: Limits) -> Solver:
    needs("tasks", "dotenv", "dbos", "psycopg")
    from ...episodes.runs.asking import Solver, runs_folder
    from ...episodes.runs.queued import CONCURRENT_RUNS, by_queue
    from ...replay.replayer import Replayer
    from ...solver.redaction import Redaction
    from ...webquiz.task.settings import read_settings

    settings = read_settings(Path(arguments.env) if arguments.env else None)
    folder, clean = runs_folder(Path(arguments.output)), Redaction(settings.secrets)

    @asynccontextmanager
    async def open_solver() -> AsyncIterator[SolveRun]:
        from ...queue.client import connected

        with Replayer(limits) as replayer:
            async with connected(settings.database, clean, _idle) as client:
                yield by_queue(client, folder, replayer)

    return Solver(open_solver, CONCURRENT_RUNS)


def _idle() -> None:
    _note("no host takes runs from the queue: is `quizlog serve` running with it?")


def _models(arguments: Namespace, limits: Limits) -> Solver:
    """The models to ask: from the options, the settings or recorded replies."""
    needs("solver", "httpx", "pydantic", "dotenv")
    from ...episodes.runs.asking import Solver
    from ...sandbox import run_code
    from ...solver.models.choice import Choice, chosen_panel

    names = (arguments.models, arguments.replay)
    choice = Choice(*(Path(name) if name else None for name in names))
    ask_for_programs(choice, arguments)
    run = partial(run_code, unsafe_local=arguments.unsafe_local)
    folders = {record_path(name).parent for name in arguments.records}
    beside = folders.pop() if len(folders) == 1 else None

    @asynccontextmanager
    async def open_solver() -> AsyncIterator[SolveRun]:
        from ...episodes.runs.model_runs import by_models

        async with chosen_panel(choice, run, record_folder=beside, note=_note) as panel:
            _check_enough(panel, arguments.runs)
            yield by_models(panel, limits)

    return Solver(open_solver)


def _note(text: str) -> None:
    say(f"note: {text}")


def _check_enough(panel: Panel, runs: int) -> None:
    """Refuse more runs than recorded replies: a reply played twice is not a second run."""
    if not panel.label:
        return
    _note(panel.label)
    count = len(panel.clients)
    if runs > count:
        hint = f"ask for {count} at most, or configure models"
        raise UsageError(f"--runs {runs}: replies of {count} models were recorded", hint=hint)
