"""Transports for local voters: a program, and the person at the screen."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from ...files.programs import find_program, home_folder
from .transport import NoReplyError, Prompt, TransportReply

MAX_REPLY = 2_000_000
"""Maximum size of a program's reply in bytes."""
_MAX_STDERR = 65_536
"""Number of bytes at the end of a program's stderr that are kept."""
Ask = Callable[[Prompt[Any]], Awaitable[str | None]]
"""Asks a person; returns the typed answer, or None for no answer."""


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
        reply = await _read(process.stdout, MAX_REPLY, stop=True)
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
