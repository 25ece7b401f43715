"""Chooses the models to ask, makes the panel that asks them, and carries questions to live ones.

The models are the named ones, those recorded with the record, or the configured ones: chat
endpoints over HTTP, local programs, or the person at the screen. Keys are read only here. A key
goes from the variables into one header, or into its own program's environment, and into the
redaction that all clients share, and nowhere else. Redirects of an endpoint are not followed, as
they would carry the key along. The size of replies is limited as they arrive.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from ...errors import ConfigError
from ...files.process import find_program, home_folder
from ..redaction import Redaction
from ..solve import Bill, Panel, Recording, RunCode, cost_text
from .cassettes import FETCHED, CassetteShelf, Player, Recorder, recorded
from .env_file import ENVIRONMENT, PRIMARY, SECRETS, Variables, read_env
from .models import Models, ModelSettings, check_allowed, default_models, read_models
from .transport import ModelClient, NoReplyError, Prompt, Transport, TransportReply

if TYPE_CHECKING:
    from httpx import AsyncClient


_MAX_REPLY = 2_000_000
"""Maximum size of a reply, of an endpoint or a program, in bytes."""
ATTEMPTS = 3
"""Maximum number of times a request is sent if the server is busy or the connection fails."""
_BUSY = frozenset({408, 429, 500, 502, 503, 504, 529})
_MAX_STDERR = 65_536
"""Number of bytes at the end of a program's stderr that are kept."""
Ask = Callable[[Prompt[Any]], Awaitable[str | None]]
"""Asks a person; returns the typed answer, or None for no answer."""


# -- endpoints


def connections() -> httpx.AsyncClient:
    """The HTTP client that endpoints share; use it as a context manager."""
    return httpx.AsyncClient(timeout=None, follow_redirects=False)


class Endpoint:
    """An OpenAI-compatible chat endpoint, reached by the shared `connections`."""

    def __init__(self, settings: ModelSettings, key: str | None, http: httpx.AsyncClient) -> None:
        self._settings = settings
        self._http = http
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """The reply's text, after a few attempts if the server is busy or the connection fails."""
        attempt = 1
        while True:
            try:
                status, headers, body = await self._post(prompt)
            except _UNREACHED as error:
                failure = NoReplyError("error", f"{type(error).__name__}: {error}")
                again, retry_after = isinstance(error, httpx.TransportError), None
            else:
                if status == 200:
                    return TransportReply(_content(body), "live")
                failure = _refused(status, body)
                again, retry_after = status in _BUSY, headers.get("retry-after")
            pause = _pause(attempt, retry_after)
            if not again or attempt == ATTEMPTS or time.monotonic() + pause >= prompt.deadline:
                raise failure
            await asyncio.sleep(pause)
            attempt += 1

    async def _post(self, prompt: Prompt[Any]) -> tuple[int, httpx.Headers, bytes]:
        url = f"{self._settings.base_url}/chat/completions"
        body = json.dumps(self._body(prompt)).encode()
        async with self._http.stream("POST", url, content=body, headers=self._headers) as reply:
            return reply.status_code, reply.headers, await _bounded(reply.aiter_raw())

    def _body(self, prompt: Prompt[Any]) -> dict[str, Any]:
        messages = [{"role": m.role, "content": m.content} for m in prompt.messages]
        body: dict[str, Any] = {"model": self._settings.model, "messages": messages}
        if self._settings.max_output_tokens:
            body["max_tokens"] = self._settings.max_output_tokens
        if self._settings.json_mode == "object":
            body["response_format"] = {"type": "json_object"}
        elif self._settings.json_mode == "schema":
            schema = {"name": prompt.turn, "schema": prompt.contract.model_json_schema()}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body


_UNREACHED = (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError)


async def _bounded(chunks: AsyncIterator[bytes]) -> bytes:
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > _MAX_REPLY:
            raise NoReplyError("invalid", f"the reply is longer than {_MAX_REPLY} bytes")
    return bytes(data)


def _pause(attempt: int, retry_after: str | None) -> float:
    """Seconds until the next attempt: as the server asks for, else 0.2, doubled each time."""
    if retry_after is not None:
        try:
            return max(0.0, float(retry_after))
        except ValueError:
            pass
        try:
            return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
        except (ValueError, OverflowError):
            pass
    return float(0.2 * 2 ** (attempt - 1))


def _refused(status: int, body: bytes) -> NoReplyError:
    """The error for a status other than 200."""
    message = body.decode("utf-8", "replace")
    try:
        error = json.loads(body)["error"]
        message = error if isinstance(error, str) else str(error["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return NoReplyError("rate_limited" if status == 429 else "error", f"HTTP {status}: {message}")


def _content(body: bytes) -> str:
    """The text in a chat completion."""
    try:
        choice = json.loads(body)["choices"][0]
        content = choice["message"]["content"]
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise NoReplyError("error", "the server's reply is no chat completion") from None
    if not isinstance(content, str):
        why = choice["message"].get("refusal") or "the reply holds no text"
        raise NoReplyError("invalid", str(why))
    return content


# -- programs


class Command:
    """A program in the home folder that gets the prompt on stdin and writes JSON to stdout.

    Args:
        command: The program, by its full path or a name in `PATH`, and its arguments; no shell is
            involved.
        environment: All variables it sees.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command = command
        self._environment = environment

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """The program's stdout. The program and all that it started are ended with the call."""
        name, *words = self._command
        program = find_program(name)
        if program is None:
            raise NoReplyError("error", f"cannot start {name}: it is missing or not executable")
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                *words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=home_folder(),
                env=self._environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise NoReplyError("error", f"cannot start {name}: {error}") from None
        try:
            return TransportReply(await _conversation(process, _prompt(prompt)), "command")
        finally:
            await _end(process)


def _prompt(prompt: Prompt[Any]) -> bytes:
    text = "\n\n".join(message.content for message in prompt.messages)
    return text.encode("utf-8", "replace")


async def _conversation(process: asyncio.subprocess.Process, prompt: bytes) -> str:
    assert process.stdout
    assert process.stderr
    writing = asyncio.create_task(_write(process, prompt))
    stderr = asyncio.create_task(_read(process.stderr, _MAX_STDERR, stop=False))
    try:
        reply = await _read(process.stdout, _MAX_REPLY, stop=True)
        code = await process.wait()
        if code:
            reason = (await stderr).decode("utf-8", "replace").strip().split("\n")[-1]
            raise NoReplyError("error", f"the program ended with {code}: {reason}")
        return reply.decode("utf-8", "replace")
    finally:
        writing.cancel()
        stderr.cancel()


async def _write(process: asyncio.subprocess.Process, prompt: bytes) -> None:
    assert process.stdin
    with contextlib.suppress(OSError):  # the program need not read all of it
        process.stdin.write(prompt)
        await process.stdin.drain()
        process.stdin.close()


async def _read(stream: asyncio.StreamReader, limit: int, *, stop: bool) -> bytes:
    """All bytes of a stream; beyond `limit` raise if `stop`, else keep only the end."""
    data = bytearray()
    while chunk := await stream.read(65536):
        data += chunk
        if stop and len(data) > limit:
            raise NoReplyError("invalid", f"the reply is longer than {limit} bytes")
        del data[:-limit]
    return bytes(data)


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


# -- persons


class Human:
    """The person at the screen, one voter among others; nobody is there if `ask` is None."""

    def __init__(self, ask: Ask | None) -> None:
        self._ask = ask

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """The person's answer as a reply. In the second round the first answer is kept."""
        if self._ask is None:
            raise NoReplyError("error", "nobody is there to ask")
        if prompt.turn == "reconcile":
            raise NoReplyError("error", "a person is asked once")
        answer = await self._ask(prompt)
        if answer is None:
            raise NoReplyError("error", "no answer was given")
        return TransportReply(json.dumps({"answer": answer}), "human")


# -- the choice


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
    """A panel of configured models; each reply is recorded in the folder `keep`."""
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
