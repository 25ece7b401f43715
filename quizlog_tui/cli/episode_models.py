"""Who answers the runs that `quizlog episodes build --runs` asks for."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..paths import record_path
from .extras import needs
from .show import say

if TYPE_CHECKING:
    from ..episodes.asking import Solver, SolveRun
    from ..solver.solve import Panel


def models_of(arguments: Namespace) -> Solver:
    """The models that are asked, chosen as everywhere: as told, as configured, or as recorded.

    Raises:
        UsageError: The solver is not installed.
    """
    needs("solver", "httpx", "pydantic")
    from ..sandbox import run_code
    from ..solver.choice import Choice, chosen_panel

    names = (arguments.models, arguments.replay)
    choice = Choice(*(Path(name) if name else None for name in names))
    run = partial(run_code, unsafe_local=arguments.unsafe_local)
    folders = {record_path(name).parent for name in arguments.records}
    beside = folders.pop() if len(folders) == 1 else None

    @asynccontextmanager
    async def solver() -> AsyncIterator[SolveRun]:
        from ..episodes.model_runs import by_models

        async with chosen_panel(choice, run, beside=beside, note=_note) as panel:
            _check_enough(panel, arguments.runs)
            yield by_models(panel)

    return solver


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
