"""Who answers the runs that `quizlog episodes build --runs` asks for."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from .extras import needs

if TYPE_CHECKING:
    from ..episodes.asking import Solver, SolveRun


def models_of(arguments: Namespace) -> Solver:
    """The models that are asked: as recorded in a folder, as told, or as configured.

    Raises:
        UsageError: There are none, or the solver is not installed.
    """
    needs("solver", "httpx", "pydantic")
    from ..sandbox import run_code
    from ..solver.models import default_models, read_models
    from ..solver.panel import live_panel, recorded_panel

    run = partial(run_code, unsafe_local=arguments.unsafe_local)
    file = Path(arguments.models) if arguments.models else default_models()
    if not (arguments.replay or arguments.models or file.exists()):
        hint = f"describe them in {file} as `quizlog models --help` shows"
        raise UsageError("no models are configured", hint=hint)

    @asynccontextmanager
    async def solver() -> AsyncIterator[SolveRun]:
        from ..episodes.model_runs import by_models

        if arguments.replay:
            yield by_models(recorded_panel(Path(arguments.replay), run))
            return
        async with live_panel(read_models(file), run) as panel:
            yield by_models(panel)

    return solver
