"""Chooses the models to ask, and makes the panel that asks them. Only here are keys read.

The models are the named ones, those recorded with the record, or the configured ones. A key goes
from the variables into its client's header and into the redaction that all clients share, and
nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ConfigError
from ..redaction import Redaction
from ..solve import Bill, Panel, Recording, RunCode, cost_text
from .cassettes import FETCHED, CassetteShelf, Player, Recorder, recorded
from .env_file import ENVIRONMENT, PRIMARY, SECRETS, Variables, read_env
from .models import Models, ModelSettings, check_allowed, default_models, read_models
from .transport import ModelClient, NoReplyError, Prompt, Transport, TransportReply
from .voters import Ask, Command, Endpoint, Human, connections

if TYPE_CHECKING:
    from httpx import AsyncClient


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
        recording = _recording_of(folder, run)
    except ConfigError as error:
        note(str(error))
        return None
    note(f"recorded replies are played where there are any; other questions go to {configured}")
    return recording


def _unset(models: Models, environment: Variables) -> list[str]:
    names = missing_keys(models, environment)
    return [f"{name} is not set; its models will not answer" for name in names]


@asynccontextmanager
async def live_panel(
    models: Models,
    run: RunCode,
    *,
    ask: Ask | None = None,
    keep: Path | None = None,
    environment: Variables = ENVIRONMENT,
) -> AsyncIterator[Panel]:
    """A panel of configured models.

    Args:
        models: The configuration.
        run: Runs a model's code.
        ask: Asks the person, if one is a voter.
        keep: A folder in which to record each reply.
        environment: The variables that hold the keys.
    """
    keys = _keys(models, environment)
    redaction = Redaction(keys.values())
    async with connections() as http:
        clients, bill = [], Bill()
        for model in models.models:
            transport = _transport(model, keys, http, ask)
            if isinstance(transport, Endpoint):
                transport = bill.counting(model.name, transport)
            if keep is not None:
                transport = Recorder(model.voter, transport, CassetteShelf(keep), redaction)
            clients.append(ModelClient(model.voter, transport, redaction))
        yield Panel(clients, run, models.family_cap, redaction=redaction, bill=bill)


def recorded_panel(folder: Path, run: RunCode) -> Panel:
    """A panel that plays a folder of recorded replies.

    Raises:
        ConfigError: The folder has no recorded replies.
    """
    return _recording_of(folder, run).panel


def _recording_of(folder: Path, run: RunCode) -> Recording:
    """A folder of recorded replies, and which requests they answer.

    Raises:
        ConfigError: The folder has no recorded replies.
    """
    voters, shelf = recorded(folder)
    clients = [ModelClient(voter, Player(voter.name, shelf), Redaction()) for voter in voters]
    label = f"recorded replies: {shelf.label}" if shelf.label else "recorded replies"

    def has(prompt: Prompt[Any]) -> bool:
        return all(shelf.path(voter.name, prompt).is_file() for voter in voters)

    fetched = folder / FETCHED
    played = fetched if fetched.is_dir() else None
    return Recording(Panel(clients, run, None, label, fetched=played), has)


def missing_keys(models: Models, environment: Variables = ENVIRONMENT) -> list[str]:
    """The variables that the models name and the environment lacks."""
    names = {model.api_key_env for model in models.models if model.api_key_env}
    return sorted(names - _keys(models, environment).keys())


def _keys(models: Models, environment: Variables) -> dict[str, str]:
    """The keys by variable name, without blanks at the ends, which are errors of copying."""
    names = {model.api_key_env for model in models.models if model.api_key_env}
    keys = {name: environment.secret(name).strip() for name in names}
    return {name: key for name, key in keys.items() if key}


def _transport(
    model: ModelSettings, keys: Mapping[str, str], http: AsyncClient, ask: Ask | None
) -> Transport:
    if model.human:
        return Human(ask)
    if model.command:
        return Command(model.command, _program_environment(model.api_key_env, keys))
    if model.api_key_env and model.api_key_env not in keys:
        return _Keyless(model.api_key_env)
    return Endpoint(model, keys.get(model.api_key_env or ""), http)


def _program_environment(own: str | None, keys: Mapping[str, str]) -> dict[str, str]:
    """The environment of a program: with its own key, without other keys and quizlog's secrets."""
    hidden = SECRETS | keys.keys()
    others = {name: value for name, value in os.environ.items() if name not in hidden}
    return others | {name: key for name, key in keys.items() if name == own}


class _Keyless:
    """Replaces an endpoint whose key is missing: nothing is sent without the key.

    Args:
        variable: The environment variable that should hold the key.
    """

    def __init__(self, variable: str) -> None:
        self._variable = variable

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """Raise, as there is no key."""
        raise NoReplyError("error", f"{self._variable} is not set, in the environment or in .env")
