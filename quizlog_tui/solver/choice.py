"""Which models are asked: those named, those recorded beside the record, or those configured."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import ConfigError
from .local import Ask
from .models import default_models, read_models
from .panel import live_panel, missing_keys, recorded_panel
from .solve import Panel, RunCode


@dataclass(frozen=True)
class Choice:
    """What the user said of the models."""

    models: Path | None = None
    """A file of models; None for the one in the user's settings."""
    replay: Path | None = None
    """A folder of recorded replies, instead of models."""
    keep: Path | None = None
    """A folder where each reply is recorded."""


@asynccontextmanager
async def chosen_panel(
    choice: Choice,
    run: RunCode,
    *,
    beside: Path | None = None,
    ask: Ask | None = None,
    note: Callable[[str], None] = lambda text: None,
    primary: str = "",
    environment: Mapping[str, str] = os.environ,
) -> AsyncIterator[Panel]:
    """The models that are asked: as told, as configured, or as recorded beside the record.

    Args:
        choice: What the user said.
        run: Runs a model's code.
        beside: The record's folder, if the question is a record's.
        ask: Asks the person, where one is a voter.
        note: Hears what the user should know.
        primary: Which model is the primary one, if not the one its file says.
        environment: Where keys are looked up.

    Raises:
        ConfigError: No models are configured, or the file or folder cannot be read.
    """
    recorded = beside / "cassettes" if beside else None
    configured = choice.models or default_models()
    if choice.replay:
        yield recorded_panel(choice.replay, run)
    elif not choice.models and not configured.exists() and recorded and recorded.is_dir():
        yield recorded_panel(recorded, run)
    elif not choice.models and not configured.exists():
        hint = f"describe them in {configured} as `quizlog models --help` shows"
        raise ConfigError("no models are configured", hint=hint)
    else:
        models = read_models(configured).with_primary(primary)
        for name in missing_keys(models, environment):
            note(f"{name} is not set; its models will not answer")
        async with live_panel(
            models, run, ask=ask, keep=choice.keep, environment=environment
        ) as panel:
            yield panel
