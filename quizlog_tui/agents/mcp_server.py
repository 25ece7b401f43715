"""The MCP server: which tools and resources a client gets, and what a refused call says.

It is made for the official SDK of version 2, whose servers talk to clients of the protocols before
2026 too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Literal
from urllib.parse import quote

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp.types import CallToolResult, InputRequiredResult, Resource, ToolAnnotations
from pydantic import ValidationError

from .. import __version__
from ..errors import QuizlogError, UsageError, did_you_mean, refusal
from ..files.regular_file import read_regular
from ..record.yaml_text import MAX_BYTES
from ..session.open_sessions import OpenSessions
from ..session.reply import REPLY_SCHEMA, Reply
from ..session.reply_text import questionnaire
from ..session.served_folders import SHEET
from ..text import one_line
from .person import person_tool
from .results import refused
from .tools import MOST_LISTED, QuizTools

Role = Literal["auditor", "seat", "person"]
"""What a client may do: everything; see and answer, as an agent under test; or only see, while the
person at the client answers."""

_ABOUT = (
    "A quiz is a script that prints messages and asks questions. `show` tells where a record of it "
    "is; `answer` answers its pending question. A wrong answer has the status `error` and a "
    "partial score; the next one tries the same question again. Give the `pointer` of the last "
    "reply with each answer: it is refused if somebody else has answered meanwhile."
)
_OBJECT = {"type": "object", "properties": {"schema_version": {"type": "integer", "const": 1}}}
"""The schema of a JSON object whose keys the guides list."""


def make_server(sessions: OpenSessions, role: Role) -> MCPServer[None]:
    """Make the server of a role; the caller closes the sessions."""
    tools = [_tool(*each) for each in _tools(QuizTools(sessions, seat=role == "seat"), role)]
    server = _Server(sessions, tools, _instructions(sessions, role), resources=role == "auditor")
    if role == "auditor":
        _add_resources(server, sessions)
    return server


def _instructions(sessions: OpenSessions, role: Role) -> str:
    only = sessions.folders.only
    one = f" The record is {only.name}." if only else ""
    asks = " `answer` asks the person at this client." if role == "person" else ""
    return f"{_ABOUT}{asks}{one}"


_ToolEntry = tuple[Callable[..., Any], bool, Mapping[str, Any]]
"""A tool, whether it only reads, and the schema of its JSON object."""


def _tools(quiz: QuizTools, role: Role) -> Iterator[_ToolEntry]:
    """The tools of a role."""
    yield quiz.show, True, REPLY_SCHEMA
    yield quiz.answer if role != "person" else person_tool(quiz), False, REPLY_SCHEMA
    if role != "seat":
        yield quiz.list_quizzes, True, _OBJECT
        yield quiz.open_quiz, False, REPLY_SCHEMA
    if role == "auditor":
        yield quiz.rewind, False, REPLY_SCHEMA
        yield quiz.fork, False, REPLY_SCHEMA
        yield quiz.diff, True, _OBJECT
        yield quiz.verify, True, _OBJECT
        yield quiz.inspect, True, _OBJECT


def _tool(call: Callable[..., Any], reads: bool, schema: Mapping[str, Any]) -> Tool:
    about = " ".join((call.__doc__ or "").split())
    hints = ToolAnnotations(read_only_hint=reads, destructive_hint=False, open_world_hint=False)
    # A result has its JSON object already; to have the SDK make a model of it costs more.
    tool = Tool.from_function(call, description=about, annotations=hints, structured_output=False)
    tool.fn_metadata = _AsSent(arg_model=tool.fn_metadata.arg_model)
    tool.parameters["additionalProperties"] = False
    tool.output_schema = dict(schema)  # as metadata, SDK 2.0.0 refuses it without a model
    return tool


class _AsSent(FuncMetadata):
    """A tool whose arguments are taken as the client sent them.

    The SDK would read the text `null` as none: a pointer would go unchecked, a branch unnamed.
    """

    def pre_parse_json(self, data: dict[str, Any]) -> dict[str, Any]:
        """The arguments; no text of them is read as JSON.

        Raises:
            UsageError: There is no such argument: a misspelt `pointer` would go unchecked.
        """
        known = self.arg_model.model_fields.keys()
        for name in data.keys() - known:
            hint = did_you_mean(name, known) or f"there are: {', '.join(known)}"
            raise UsageError("there is no such argument", where=name, hint=hint)
        return data


class _Server(MCPServer[None]):
    """An MCP server whose refused calls say what is wrong in one line."""

    def __init__(
        self, sessions: OpenSessions, tools: list[Tool], instructions: str, *, resources: bool
    ) -> None:
        super().__init__(
            "quizlog",
            instructions=instructions,
            version=__version__,
            tools=tools,
            log_level="ERROR",
        )
        self._sessions = sessions
        self._lists_records = resources

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; a call that makes no sense is answered with the reason."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            shown = _refusal(error)
            if shown is None:
                raise
            return refused(shown, self._sessions.folders)

    async def list_resources(self) -> list[Resource]:
        """The records of the served folders."""
        if not self._lists_records:
            return []
        names = await self._sessions.off_loop(self._record_names)
        return [
            Resource(uri=f"quizlog://record/{quote(name)}", name=name, mime_type="application/yaml")
            for name in names
        ]

    def _record_names(self) -> list[str]:
        found = islice(self._sessions.folders.names(SHEET), MOST_LISTED)
        return [name for name, _ in found]


def _refusal(error: ToolError) -> QuizlogError | None:
    """Why a call was refused; None for a defect of ours."""
    cause = error.__cause__
    if isinstance(cause, ValidationError):
        fault = cause.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        said = "is missing" if fault["type"] == "missing" else fault["msg"]
        return UsageError(said, where=where, hint="see the schema of the tool")
    if isinstance(cause, ToolError):  # the SDK's own: it has asked the person
        return UsageError("the client's answer has not the form that was asked for")
    return refusal(cause) if cause is not None else UsageError(str(error))


def _add_resources(server: MCPServer[None], sessions: OpenSessions) -> None:
    """Add the text of each record, and the transcript of each of its branches."""

    @server.resource(
        "quizlog://record/{+record}",
        title="A record",
        description="the file of a record",
        mime_type="application/yaml",
    )
    async def record_text(record: str) -> str:
        def read() -> str:
            path = sessions.folders.find(SHEET, record)
            return read_regular(path, MAX_BYTES).decode("utf-8", "backslashreplace")

        return await _read(sessions, read)

    @server.resource(
        "quizlog://transcript/{branch}/{+record}",
        title="A transcript",
        description="a run through all answers of a branch",
        mime_type="text/plain",
    )
    async def transcript(branch: str, record: str) -> str:
        try:
            path = sessions.folders.find(SHEET, record)
            run = await sessions.move(path, lambda session: session.transcript_of(branch))
        except QuizlogError as error:
            raise _resource_error(sessions, error) from error
        return questionnaire(Reply(run, branch, record))


async def _read(sessions: OpenSessions, read: Callable[[], str]) -> str:
    try:
        return await sessions.off_loop(read)
    except (QuizlogError, OSError) as error:
        raise _resource_error(sessions, error) from error


def _resource_error(sessions: OpenSessions, error: Exception) -> ResourceError:
    shown = refusal(error)
    return ResourceError(one_line(sessions.folders.shown(str(shown or error))))
