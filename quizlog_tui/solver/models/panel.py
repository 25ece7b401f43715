"""Makes a panel of clients, for configured models or recorded replies. Only here are keys read.

A key goes from the variables into its client's header and into the redaction that all clients
share, and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..bill import Bill
from ..redaction import Redaction
from ..solve import Panel, Recording, RunCode
from .cassettes import FETCHED, CassetteShelf, Player, Recorder, recorded
from .client import ModelClient
from .endpoint import Endpoint, connections
from .env_file import ENVIRONMENT, SECRETS, Variables
from .local import Ask, Command, Human
from .models import Models, ModelSettings
from .transport import NoReplyError, Prompt, Transport, TransportReply

if TYPE_CHECKING:
    from httpx import AsyncClient


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
    return recording_of(folder, run).panel


def recording_of(folder: Path, run: RunCode) -> Recording:
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


def _keys(models: Models, environment: Variables) -> dict[str, str]:
    """The keys by variable name, without blanks at the ends, which are errors of copying."""
    names = {model.api_key_env for model in models.models if model.api_key_env}
    keys = {name: environment.secret(name).strip() for name in names}
    return {name: key for name, key in keys.items() if key}


def missing_keys(models: Models, environment: Variables = ENVIRONMENT) -> list[str]:
    """The variables that the models name and the environment lacks."""
    names = {model.api_key_env for model in models.models if model.api_key_env}
    return sorted(names - _keys(models, environment).keys())


def _program_environment(own: str | None, keys: Mapping[str, str]) -> dict[str, str]:
    """The environment of a program: with its own key, without other keys and quizlog's secrets."""
    hidden = SECRETS | keys.keys()
    others = {name: value for name, value in os.environ.items() if name not in hidden}
    return others | {name: key for name, key in keys.items() if name == own}


def _transport(
    model: ModelSettings, keys: Mapping[str, str], http: AsyncClient, ask: Ask | None
) -> Transport:
    if model.human:
        return Human(ask)
    if model.command:
        return Command(model.command, _program_environment(model.api_key_env, keys))
    if model.api_key_env and model.api_key_env not in keys:
        return Keyless(model.api_key_env)
    return Endpoint(model, keys.get(model.api_key_env or ""), http)


class Keyless:
    """Replaces an endpoint whose key is missing: nothing is sent without the key.

    Args:
        variable: The environment variable that should hold the key.
    """

    def __init__(self, variable: str) -> None:
        self._variable = variable

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """Raise, as there is no key."""
        raise NoReplyError("error", f"{self._variable} is not set, in the environment or in .env")
