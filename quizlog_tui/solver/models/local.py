"""Voters that are no endpoint: a local program, and the person at the screen."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from .transport import NoReplyError, Prompt, Said

MAX_REPLY = 2_000_000
"""Bytes of a program's reply; longer ones are refused."""
_COMPLAINT = 65_536
"""Bytes that are kept of what a program writes to stderr."""
Ask = Callable[[Prompt[Any]], Awaitable[str | None]]
"""Asks a person; the answer as typed, None for no answer."""


class Command:
    """A program: the prompt on its stdin, JSON on its stdout.

    Args:
        command: Its words; no shell is involved.
        environment: All variables it sees.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command = command
        self._environment = environment

    async def complete(self, prompt: Prompt[Any]) -> Said:
        """The program's stdout. It and all it started end with the call, whatever happens."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise NoReplyError("error", f"cannot start {self._command[0]}: {error}") from None
        try:
            return Said(await _conversation(process, _prompt(prompt)), "command")
        finally:
            await _end(process)


def _prompt(prompt: Prompt[Any]) -> bytes:
    text = "\n\n".join(message.content for message in prompt.messages)
    return text.encode("utf-8", "replace")


async def _conversation(process: asyncio.subprocess.Process, prompt: bytes) -> str:
    assert process.stdout
    assert process.stderr
    writing = asyncio.create_task(_write(process, prompt))
    complaint = asyncio.create_task(_read(process.stderr, _COMPLAINT, stop=False))
    try:
        reply = await _read(process.stdout, MAX_REPLY, stop=True)
        code = await process.wait()
        if code:
            said = (await complaint).decode("utf-8", "replace").strip().split("\n")[-1]
            raise NoReplyError("error", f"the program ended with {code}: {said}")
        return reply.decode("utf-8", "replace")
    finally:
        writing.cancel()
        complaint.cancel()


async def _write(process: asyncio.subprocess.Process, prompt: bytes) -> None:
    assert process.stdin
    with contextlib.suppress(OSError):  # it need not read what it does not want
        process.stdin.write(prompt)
        await process.stdin.drain()
        process.stdin.close()


async def _read(stream: asyncio.StreamReader, limit: int, *, stop: bool) -> bytes:
    """All that is written; beyond a limit it is refused, or only its end is kept."""
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


class Human:
    """The person at the screen, one voter among others.

    Args:
        ask: Asks; None where nobody is there.
    """

    def __init__(self, ask: Ask | None) -> None:
        self._ask = ask

    async def complete(self, prompt: Prompt[Any]) -> Said:
        """The person's answer as a reply. A second round leaves the first answer standing."""
        if self._ask is None:
            raise NoReplyError("error", "nobody is there to ask")
        if prompt.turn == "reconcile":
            raise NoReplyError("error", "a person is asked once")
        answer = await self._ask(prompt)
        if answer is None:
            raise NoReplyError("error", "no answer was given")
        return Said(json.dumps({"answer": answer}), "human")
