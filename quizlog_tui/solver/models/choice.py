"""Chooses the models to ask: named ones, ones recorded with the record, or configured ones."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import ConfigError
from ..bill import cost_text
from ..solve import Panel, Recording, RunCode
from .allowed_programs import check_allowed
from .env_file import PRIMARY, Variables, read_env
from .local import Ask
from .models import Models, default_models, read_models
from .panel import live_panel, missing_keys, recorded_panel, recording_of


@dataclass(frozen=True)
class Choice:
    """The user's choice of models."""

    models: Path | None = None
    """A models file; None for the one among the user's settings."""
    replay: Path | None = None
    """A folder of recorded replies to play instead of asking models."""
    keep: Path | None = None
    """A folder in which to record each reply."""
    env: Path | None = None
    """A file of variables; if None, `.env` in the settings folder and, for keys, the current."""


def doubts(choice: Choice) -> list[str]:
    """Why some configured models will not answer, as far as known before asking."""
    configured = choice.models or default_models()
    if choice.replay or not os.path.exists(configured):
        return []
    try:
        return _unset(read_models(configured), read_env(choice.env))
    except ConfigError as error:
        return [str(error)]


def cost_note(choice: Choice) -> str | None:
    """What a question costs, in one line, to be shown before asking; None if it costs nothing.

    Local programs, persons and recorded replies count as free.
    """
    configured = choice.models or default_models()
    if choice.replay or not os.path.exists(configured):
        return None
    try:
        names = [model.name for model in read_models(configured).models if model.base_url]
    except ConfigError:
        return None
    return cost_text(names) if names else None


def _unset(models: Models, environment: Variables) -> list[str]:
    names = missing_keys(models, environment)
    return [f"{name} is not set; its models will not answer" for name in names]


@asynccontextmanager
async def chosen_panel(
    choice: Choice,
    run: RunCode,
    *,
    record_folder: Path | None = None,
    ask: Ask | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> AsyncIterator[Panel]:
    """The models to ask: as named by the user, as configured, or as recorded with the record.

    Replies recorded with the record take precedence over the models in the user's settings for the
    questions they answer, but not over a models file or a recording folder that the user has named.

    Args:
        choice: The user's choice.
        run: Runs a model's code.
        record_folder: The record's folder, if a record asks the question.
        ask: Asks the person, if one is a voter.
        note: Called with each note for the user.

    Raises:
        ConfigError: No models are configured, the file or folder cannot be read, or it names a
            program that the user has not allowed.
    """
    cassettes = record_folder / "cassettes" if record_folder else None
    configured = choice.models or default_models()
    has_models = choice.models is not None or configured.exists()
    if choice.replay:
        yield recorded_panel(choice.replay, run)
    elif not has_models and cassettes and cassettes.is_dir():
        yield recorded_panel(cassettes, run)
    elif not has_models:
        hint = f"describe them in {configured} as `quizlog models --help` shows"
        raise ConfigError("no models are configured", hint=hint)
    else:
        environment = read_env(choice.env)
        check_allowed(configured)
        models = read_models(configured).with_primary(environment.setting(PRIMARY).strip())
        for text in _unset(models, environment):
            note(text)
        async with live_panel(
            models, run, ask=ask, keep=choice.keep, environment=environment
        ) as panel:
            is_named = choice.models is not None or choice.keep is not None
            folder = None if is_named else cassettes
            yield replace(panel, recording=_recording(folder, run, configured, note))


def _recording(
    folder: Path | None, run: RunCode, configured: Path, note: Callable[[str], None]
) -> Recording | None:
    """The replies recorded in a record's folder, if there are any."""
    if folder is None or not folder.is_dir():
        return None
    try:
        recording = recording_of(folder, run)
    except ConfigError as error:
        note(str(error))
        return None
    note(f"recorded replies are played where there are any; other questions go to {configured}")
    return recording
