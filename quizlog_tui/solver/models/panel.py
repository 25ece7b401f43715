"""Makes a panel: the clients of configured models, or of recorded replies. Keys are read here only.

A key goes from what is set outside into its client's header and into the redaction that all clients
share; nothing else ever holds it.
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
from .env_file import SECRETS
from .local import Ask, Command, Human
from .models import Models, ModelSettings
from .transport import NoReplyError, Prompt, Said, Transport

if TYPE_CHECKING:
    from httpx import AsyncClient


@asynccontextmanager
async def live_panel(
    models: Models,
    run: RunCode,
    *,
    ask: Ask | None = None,
    keep: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> AsyncIterator[Panel]:
    """The clients of configured models.

    Args:
        models: The configuration.
        run: Runs a model's code.
        ask: Asks the person, where one is a voter.
        keep: A folder where each reply is recorded.
        environment: Where keys are looked up.
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
    """The clients of a folder of recorded replies.

    Raises:
        ConfigError: It holds none.
    """
    return recording_of(folder, run).panel


def recording_of(folder: Path, run: RunCode) -> Recording:
    """A folder of recorded replies, and which requests they answer.

    Raises:
        ConfigError: It holds none.
    """
    voters, shelf = recorded(folder)
    clients = [ModelClient(voter, Player(voter.name, shelf), Redaction()) for voter in voters]
    label = f"recorded replies: {shelf.label}" if shelf.label else "recorded replies"

    def has(prompt: Prompt[Any]) -> bool:
        return all(shelf.path(voter.name, prompt).is_file() for voter in voters)

    fetched = folder / FETCHED
    played = fetched if fetched.is_dir() else None
    return Recording(Panel(clients, run, None, label, fetched=played), has)


def _keys(models: Models, environment: Mapping[str, str]) -> dict[str, str]:
    """The keys by the names of their variables; blanks at the ends are a slip of copying."""
    names = {model.api_key_env for model in models.models if model.api_key_env}
    return {name: environment[name].strip() for name in names if environment.get(name, "").strip()}


def missing_keys(models: Models, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The variables that models name and the environment lacks."""
    names = {model.api_key_env for model in models.models if model.api_key_env}
    return sorted(names - _keys(models, environment).keys())


def _seen(own: str | None, keys: Mapping[str, str]) -> dict[str, str]:
    """The environment of a program: with its own key, without those of others or of ours."""
    hidden = SECRETS | keys.keys()
    others = {name: value for name, value in os.environ.items() if name not in hidden}
    return others | {name: key for name, key in keys.items() if name == own}


def _transport(
    model: ModelSettings, keys: Mapping[str, str], http: AsyncClient, ask: Ask | None
) -> Transport:
    if model.human:
        return Human(ask)
    if model.command:
        return Command(model.command, _seen(model.api_key_env, keys))
    if model.api_key_env and model.api_key_env not in keys:
        return Keyless(model.api_key_env)
    return Endpoint(model, keys.get(model.api_key_env or ""), http)


class Keyless:
    """Stands for an endpoint whose key is missing: nothing is sent there without it.

    Args:
        variable: The environment variable that should hold the key.
    """

    def __init__(self, variable: str) -> None:
        self._variable = variable

    async def complete(self, prompt: Prompt[Any]) -> Said:
        """Always fails."""
        raise NoReplyError("error", f"{self._variable} is not set, in the environment or in .env")
