"""A client of a quizlog server's HTTP interface.

It sends steps and questions, reports progress, and raises the server's errors. The token goes into
one header only, and redirects are not followed, as they would carry it along.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import httpx

from ..errors import QuizlogError, UsageError
from .decision import Decision
from .decision_text import from_data, strict_loads
from .solve import Progress

_MAX_EVENT = 64 * 1024 * 1024
"""Maximum number of characters in an event."""
Accept = Literal["never", "agreed", "always"]


class BackendError(QuizlogError):
    """A server cannot be reached, or reports an error: with the exit code it has in a shell."""

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        exit_code: int = QuizlogError.exit_code,
    ) -> None:
        super().__init__(message, where=where, hint=hint)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Solved:
    """The result of a question."""

    decision: Decision
    agreed: bool
    """Whether the models agree well enough to continue without a person."""
    reply: Mapping[str, Any] | None
    """The record's reply, if it was answered."""


class Backend:
    """A server, reached at the address it printed; `transport` replaces the network in tests."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise UsageError("is not a URL", where=url, hint="for example http://127.0.0.1:8642")
        headers = {"Content-Type": "application/json"}  # bodies are ASCII, for lone surrogates
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._url = url
        self._http = httpx.AsyncClient(
            base_url=url.rstrip("/"),
            headers=headers,
            timeout=httpx.Timeout(60, read=None),
            transport=transport,
            follow_redirects=False,
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._http.aclose()

    async def next(self, **body: Any) -> dict[str, Any]:
        """The reply to a step, in one of the two forms of the trace format.

        Raises:
            BackendError: The server refuses it, or cannot be reached.
        """
        try:
            reply = await self._http.post("/quizlog/next", content=json.dumps(body))
        except httpx.HTTPError as error:
            raise self._unreached(error) from None
        data = self._read(reply.text)
        if reply.status_code != 200:
            raise self._refused(data, reply.status_code)
        return data

    async def solve(
        self,
        sheet: str,
        *,
        accept: Accept = "never",
        budget: float | None = None,
        tell: Callable[[Progress], None] = lambda progress: None,
    ) -> Solved:
        """Let the server ask its models the pending question of a record.

        The budget is in seconds, unlimited if None.

        Raises:
            BackendError: The server refuses it, fails, or cannot be reached.
        """
        body = json.dumps({"sheet_id": sheet, "accept": accept, "budget": budget})
        headers = {"Accept": "text/event-stream"}
        try:
            async with self._http.stream("POST", "/solve", content=body, headers=headers) as reply:
                if reply.status_code != 200:
                    await reply.aread()
                    raise self._refused(self._read(reply.text), reply.status_code)
                async for kind, data in self._events(reply):
                    if kind == "error":
                        raise self._refused(data, reply.status_code)
                    decision = from_data(data.get("decision"), self._url)
                    if kind == "done":
                        return Solved(decision, bool(data.get("agreed")), data.get("reply"))
                    tell(Progress(data.get("what"), data.get("name"), decision))  # type: ignore[arg-type]
        except httpx.HTTPError as error:
            raise self._unreached(error) from None
        raise BackendError("the server ended the reply early", where=self._url, hint="ask again")

    async def _events(self, reply: httpx.Response) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        kind = ""
        async for line in reply.aiter_lines():
            name, _, value = line.partition(": ")
            if len(value) > _MAX_EVENT:
                raise BackendError("an event of the server is too long", where=self._url)
            if name == "event":
                kind = value
            elif name == "data":
                yield kind, self._read(value)

    def _read(self, text: str) -> dict[str, Any]:
        try:
            data = strict_loads(text)
        except ValueError:
            data = None
        if not isinstance(data, dict):
            hint = "check the URL: it may belong to another program"
            raise BackendError("the reply is not from quizlog", where=self._url, hint=hint)
        return data

    def _refused(self, data: Mapping[str, Any], status: int) -> BackendError:
        error = data.get("error")
        if not isinstance(error, Mapping):
            return BackendError(f"HTTP {status}: {json.dumps(data)[:200]}", where=self._url)
        code = error.get("exit_code")
        where, hint = error.get("where"), error.get("hint")
        return BackendError(
            str(error.get("message")),
            where=None if where is None else str(where),
            hint=None if hint is None else str(hint),
            exit_code=code if isinstance(code, int) and 0 < code < 256 else 2,
        )

    def _unreached(self, error: httpx.HTTPError) -> BackendError:
        hint = "start one with `quizlog serve`, or check the URL"
        message = f"the server cannot be reached: {type(error).__name__} {error}".rstrip()
        return BackendError(message, where=self._url, hint=hint)
