"""Transports of live voters: chat endpoints over HTTP, local programs, the person at the screen.

A key goes into one header, or into its own program's environment, and nowhere else. Redirects of an
endpoint are not followed, as they would carry the key along. The size of replies is limited as they
arrive.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from ...files.paths import find_program, home_folder
from .models import ModelSettings
from .transport import NoReplyError, Prompt, TransportReply

_MAX_REPLY = 2_000_000
"""Maximum size of a reply in bytes."""
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
    """An OpenAI-compatible chat endpoint.

    Args:
        settings: The model, with `base_url` and `model` set.
        key: Its key; None if it needs none.
        http: The `connections`.
    """

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


"""Maximum size of a program's reply in bytes."""


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
    """The person at the screen, one voter among others.

    Args:
        ask: Asks the person; None if nobody is there.
    """

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
