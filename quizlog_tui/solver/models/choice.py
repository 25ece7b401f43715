"""Which models are asked: those named, those recorded beside the record, or those configured."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import ConfigError
from ..bill import cost_text
from ..solve import Panel, Recording, RunCode
from .env_file import PRIMARY, read_env
from .local import Ask
from .models import Models, default_models, read_models
from .panel import live_panel, missing_keys, recorded_panel, recording_of


@dataclass(frozen=True)
class Choice:
    """What the user said of the models."""

    models: Path | None = None
    """A file of models; None for the one in the user's settings."""
    replay: Path | None = None
    """A folder of recorded replies, instead of models."""
    keep: Path | None = None
    """A folder where each reply is recorded."""
    env: Path | None = None
    """A file with keys and the primary model; `.env` in the current folder if None."""


def doubts(choice: Choice) -> list[str]:
    """Why configured models will not answer, as far as it can be told beforehand."""
    configured = choice.models or default_models()
    if choice.replay or not os.path.exists(configured):
        return []
    try:
        return _unset(read_models(configured), read_env(choice.env))
    except ConfigError as error:
        return [str(error)]


def cost_note(choice: Choice) -> str | None:
    """What a question costs, in a line to be shown before anybody asks; None if it costs nothing.

    Local programs, persons and recorded replies cost nothing that is known here.
    """
    configured = choice.models or default_models()
    if choice.replay or not os.path.exists(configured):
        return None
    try:
        names = [model.name for model in read_models(configured).models if model.base_url]
    except ConfigError:
        return None
    return cost_text(names) if names else None


def _unset(models: Models, environment: Mapping[str, str]) -> list[str]:
    names = missing_keys(models, environment)
    return [f"{name} is not set; its models will not answer" for name in names]


@asynccontextmanager
async def chosen_panel(
    choice: Choice,
    run: RunCode,
    *,
    beside: Path | None = None,
    ask: Ask | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> AsyncIterator[Panel]:
    """The models that are asked: as told, as configured, or as recorded beside the record.

    A recording beside the record goes before the models in the user's settings for the questions
    that it answers, and behind a file of models or a folder to record in that the user has named.

    Args:
        choice: What the user said.
        run: Runs a model's code.
        beside: The record's folder, if the question is a record's.
        ask: Asks the person, where one is a voter.
        note: Hears what the user should know.

    Raises:
        ConfigError: No models are configured, or the file or folder cannot be read.
    """
    beside_record = beside / "cassettes" if beside else None
    configured = choice.models or default_models()
    has_models = choice.models is not None or configured.exists()
    if choice.replay:
        yield recorded_panel(choice.replay, run)
    elif not has_models and beside_record and beside_record.is_dir():
        yield recorded_panel(beside_record, run)
    elif not has_models:
        hint = f"describe them in {configured} as `quizlog models --help` shows"
        raise ConfigError("no models are configured", hint=hint)
    else:
        environment = read_env(choice.env)
        models = read_models(configured).with_primary(environment.get(PRIMARY, "").strip())
        for text in _unset(models, environment):
            note(text)
        async with live_panel(
            models, run, ask=ask, keep=choice.keep, environment=environment
        ) as panel:
            is_named = choice.models is not None or choice.keep is not None
            folder = None if is_named else beside_record
            yield replace(panel, recording=_recording(folder, run, configured, note))


def _recording(
    folder: Path | None, run: RunCode, configured: Path, note: Callable[[str], None]
) -> Recording | None:
    """The replies recorded beside a record, which go before models that nobody has named."""
    if folder is None or not folder.is_dir():
        return None
    try:
        found = recording_of(folder, run)
    except ConfigError as error:
        note(str(error))
        return None
    note(f"recorded replies are played where there are any; other questions go to {configured}")
    return found
