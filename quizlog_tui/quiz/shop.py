"""Opens a workshop as configured: which models work tasks, and with which keys."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from ..solver.choice import Choice
from ..solver.models import default_models, read_models
from ..solver.panel import live_panel, recorded_panel
from ..solver.solve import RunCode
from .settings import TaskSettings
from .tools import Workshop


@asynccontextmanager
async def workshop(settings: TaskSettings, choice: Choice, run: RunCode) -> AsyncIterator[Workshop]:
    """What tasks share, until the end of the block.

    Args:
        settings: The configuration.
        choice: What the user said of the models.
        run: Runs a model's code.

    Raises:
        ConfigError: The models cannot be read, or there are none.
    """
    async with AsyncExitStack() as stack:
        if choice.replay:
            panel = recorded_panel(choice.replay, run)
        else:
            models = read_models(choice.models or default_models())
            models = models.with_primary(settings.primary_model)
            keys = {**os.environ, "AIPROXY_TOKEN": settings.aiproxy_token}
            panel = await stack.enter_async_context(live_panel(models, run, environment=keys))
        shop = Workshop(settings, panel, (settings.aiproxy_token,))
        stack.push_async_callback(shop.close)
        yield shop
