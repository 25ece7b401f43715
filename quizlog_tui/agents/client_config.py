"""quizlog's entry in the configuration of an MCP client: its text, its file, and adding it there.

A client's file is its user's, who may have written all of it by hand. Only the text of the entry is
put in; every other byte stays, also comments, indentation and line ends. A file that is not read
with certainty is refused, with the entry to add by hand. Nothing is asked or printed here, and
nothing is written but by `write`.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import QuizlogError, RecordError, UsageError
from ..files.durable import FileKind, asked_before, check_place, write_text
from ..files.regular_file import read_regular
from ..text import is_whole

SERVER = "quizlog"
"""The name of the entry."""
Entry = dict[str, Any]
_CONFIGURATION = FileKind("a client's configuration", asked_before, makes_folder=True)
_MOST = 2**20
"""Maximum number of bytes of a client's file."""
_MARK = "\ufeff"
"""The byte order mark that some editors put before a text."""


@dataclass(frozen=True)
class McpClient:
    """A program that starts MCP servers, and how its configuration names them."""

    word: str
    """What the user calls it by."""
    file: str
    """The path of its configuration in the current folder, or in the home folder."""
    key: str
    """The object or table in that file that holds the servers by their names."""
    form: Literal["json", "toml"] = "json"
    home_variable: str = ""
    """The environment variable that names its folder; its file is in the home folder then."""


CLIENTS = {
    client.word: client
    for client in (
        McpClient("claude-code", ".mcp.json", "mcpServers"),
        McpClient("codex", ".codex/config.toml", "mcp_servers", "toml", "CODEX_HOME"),
        McpClient("cursor", ".cursor/mcp.json", "mcpServers"),
        McpClient("vscode", ".vscode/mcp.json", "servers"),
    )
}


@dataclass(frozen=True)
class Merge:
    """What a client's file becomes by the entry."""

    text: str | None
    """Its whole new text; None if the entry is there already."""
    replaces: str | None = None
    """The text of another entry of the same name, which the new one replaces."""


@dataclass(frozen=True)
class Plan:
    """A change of a client's file, for its user to accept."""

    path: Path
    entry_text: str
    """The entry, as a file that holds nothing else."""
    new_text: str | None
    """The file's whole new text; None if there is nothing to do."""
    replaces: str | None
    """The text of another entry of the same name, from the file; it may hold anything."""
    old_text: str | None
    """The file's text as it was read; None if there is no file."""


def own_command() -> list[str]:
    """The words that start this program, also tomorrow and from any folder."""
    if _is_throw_away():
        return ["uvx", "--from", "quizlog-tui[agents]", "quizlog"]
    script = Path(sys.executable).with_name("quizlog")
    if script.is_file() and os.access(script, os.X_OK):
        return [str(script)]
    # without -P, a package of that name in the client's current folder would be run instead
    return [sys.executable, "-P", "-m", "quizlog_tui"]


def _is_throw_away() -> bool:
    """Whether this environment is in uv's cache, as one that `uvx` makes is."""
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    cache = os.environ.get("UV_CACHE_DIR") or os.path.join(caches, "uv")
    return Path(os.path.realpath(sys.prefix)).is_relative_to(os.path.realpath(cache))


def plan(client: McpClient, words: Sequence[str], folder: Path, home: Path) -> Plan:
    """How a client's file changes so that the client starts a command; nothing is written.

    Args:
        client: One of `CLIENTS`.
        words: The command with its arguments.
        folder: The current folder, which holds the files of most clients.
        home: The user's home folder.

    Raises:
        UsageError: The command cannot be written down, or the file cannot be changed with
            certainty; the hint says what to add by hand.
    """
    entry, path = entry_for(client, words), _path(client, folder, home)
    try:
        check_place(path, _CONFIGURATION)
        old = _read(path)
        made = merge(client, old, entry)
    except QuizlogError as error:
        hint = _by_hand(client, entry)
        raise UsageError(error.message, where=str(path), hint=hint) from None
    return Plan(path, entry_text(client, entry), made.text, made.replaces, old)


def write(plan: Plan) -> None:
    """Carry out a plan: replace the file as a whole, or make it with its folder.

    Raises:
        UsageError: The file has changed since it was read, or cannot be written; it is unchanged.
    """
    if plan.new_text is None:
        return
    if _read(plan.path) != plan.old_text:
        hint = "repeat the command"
        raise UsageError("has changed since it was read", where=str(plan.path), hint=hint)
    try:
        write_text(plan.path, plan.new_text, _CONFIGURATION)
    except RecordError as error:
        hint = "add the entry by hand"
        raise UsageError(error.message, where=error.where, hint=hint) from None


def _path(client: McpClient, folder: Path, home: Path) -> Path:
    """The file to change: at home it is the real one, as many keep theirs elsewhere by links."""
    if not client.home_variable:
        return Path(os.path.realpath(folder), client.file)
    own = os.environ.get(client.home_variable)
    path = Path(own, Path(client.file).name) if own else home / client.file
    return Path(os.path.realpath(path))


def _read(path: Path) -> str | None:
    """A file's text with its line ends as they are; None if there is no file."""
    try:
        return read_regular(path, _MOST).decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError:
        raise UsageError("is not UTF-8 text", where=str(path)) from None


def entry_for(client: McpClient, words: Sequence[str]) -> Entry:
    """What a client's file says of a server that a command starts.

    Raises:
        UsageError: The client would read a word of the command otherwise.
    """
    for word in words:
        if not is_whole(word) or (client.form == "json" and "${" in word):
            message = f"cannot be written into the configuration of {client.word}"
            hint = "rename it: a name must be UTF-8 and hold no ${"  # a variable to these clients
            raise UsageError(message, where=word, hint=hint)
    entry = {"command": words[0], "args": list(words[1:])}
    return entry if client.form == "toml" else {"type": "stdio", **entry}


def entry_text(client: McpClient, entry: Entry) -> str:
    """The text of a client's file that holds this entry and nothing else."""
    if client.form == "toml":
        return f"[{client.key}.{SERVER}]\n" + "".join(f"{line}\n" for line in _toml_lines(entry))
    return _json({client.key: {SERVER: entry}}, indent="  ") + "\n"


def _by_hand(client: McpClient, entry: Entry) -> str:
    if client.form == "toml":
        return f"by hand: in [{client.key}.{SERVER}], {' and '.join(_toml_lines(entry))}"
    return f'by hand: in "{client.key}", "{SERVER}": {_json(entry)}'


def merge(client: McpClient, old: str | None, entry: Entry) -> Merge:
    """A client's file with the entry: all other text stays as it is.

    Args:
        client: The client.
        old: The text of its file; None if there is none.
        entry: The entry, from `entry_for`.

    Raises:
        UsageError: The text is not of the client's form, or has no place for the entry.
    """
    body = (old or "").removeprefix(_MARK)
    made = (_merge_toml if client.form == "toml" else _merge_json)(client, body, entry)
    if made.text is None or body == (old or ""):
        return made
    return replace(made, text=_MARK + made.text)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _merge_toml(client: McpClient, text: str, entry: Entry) -> Merge:
    found = _toml_servers(client, text).get(SERVER)
    if found == entry:
        return Merge(None)
    if found is not None:
        raise UsageError(f"has another [{client.key}.{SERVER}] already")
    new = _appended(text, entry_text(client, entry))
    try:
        _toml_servers(client, new)
    except UsageError:  # it is written on one line, for example
        raise UsageError(f"its {client.key} takes no further table") from None
    return Merge(new)


def _toml_servers(client: McpClient, text: str) -> dict[str, Any]:
    try:
        found = tomllib.loads(text).get(client.key, {})
    except (ValueError, RecursionError) as error:  # a number of too many digits is the former
        raise UsageError(f"is not TOML: {error}") from None
    if not isinstance(found, dict):
        raise UsageError(f"its {client.key} is not a table")
    return found


def _appended(text: str, table: str) -> str:
    """A text with a table behind an empty line; it ends in a line end if it did before."""
    end = _line_end(text)
    table = table.replace("\n", end)
    if not text:
        return table
    return text + end + (table if text.endswith("\n") else end + table.removesuffix(end))


def _toml_lines(entry: Entry) -> list[str]:
    return [f"{key} = {_toml(value)}" for key, value in entry.items()]


def _toml(value: str | list[str]) -> str:
    """A text or a list of texts as TOML writes it: as JSON does, but DEL is escaped."""
    return _json(value).replace("\x7f", "\\u007f")


def _json(value: object, indent: str | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


@dataclass(frozen=True)
class _Member:
    """A member of a JSON object, as it stands in the text."""

    line: str
    """The line break and indentation before its key; empty if it begins no line."""
    value: Any
    start: int
    """Where the text of the value begins."""
    end: int


@dataclass(frozen=True)
class _Object:
    """A JSON object, as it stands in the text."""

    start: int
    """Where its opening brace is."""
    members: dict[str, _Member]
    line: str
    """What a further member gets before its key, as `_Member.line`."""
    outer: str
    """The same for the member that is this object."""


def _merge_json(client: McpClient, text: str, entry: Entry) -> Merge:
    if not text.strip(_SPACE):
        return Merge(text + entry_text(client, entry))
    root = _root(text)
    held = root.members.get(client.key)
    if held is None:
        return Merge(_with_member(text, root, client.key, {SERVER: entry}))
    if not isinstance(held.value, dict):
        raise UsageError(f'its "{client.key}" is not an object')
    servers = _object_at(text, held.start, held.line)
    found = servers.members.get(SERVER)
    if found is None:
        return Merge(_with_member(text, servers, SERVER, entry))
    if found.value == entry:
        return Merge(None)
    new = text[: found.start] + _laid_out(text, entry, found.line) + text[found.end :]
    return Merge(new, text[found.start : found.end])


def _root(text: str) -> _Object:
    try:
        if not isinstance(json.loads(text), dict):
            raise UsageError("is not a JSON object")
        return _object_at(text, _behind_space(text, 0), _line_end(text))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is not JSON without comments: {error}") from None


def _object_at(text: str, start: int, outer: str) -> _Object:
    """The object whose brace is at `start`, in a text that is JSON.

    Of several members with one name it has the last, as every reader takes that one.
    """
    members: dict[str, _Member] = {}
    end = start
    while text[end] != "}" and text[begin := _behind_space(text, end + 1)] != "}":
        key, colon = _DECODE(text, begin)
        first = _behind_space(text, _behind_space(text, colon) + 1)
        value, after = _DECODE(text, first)
        members[key] = _Member(_line_of(text[end + 1 : begin]), value, first, after)
        end = _behind_space(text, after)
    line = outer and outer + _unit(text)
    return _Object(start, members, _last(members).line if members else line, outer)


_DECODE = json.JSONDecoder().raw_decode
_SPACE = " \t\r\n"


def _last(members: dict[str, _Member]) -> _Member:
    return max(members.values(), key=lambda member: member.end)


def _behind_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def _line_of(gap: str) -> str:
    """The last line break with what follows it, of white space; empty if there is none."""
    found = re.search(r"\r?\n[^\n]*\Z", gap)
    return found[0] if found else ""


def _unit(text: str) -> str:
    """The indentation of the first line that has one; two spaces if none has."""
    found = re.search(r"\n([ \t]+)", text)
    return found[1] if found else "  "


def _with_member(text: str, place: _Object, key: str, value: object) -> str:
    """The text with one more member, the last of an object."""
    member = f"{_json(key)}: {_laid_out(text, value, place.line)}"
    if place.members:
        end = _last(place.members).end
        return text[:end] + "," + (place.line or " ") + member + text[end:]
    end = text.index("}", place.start)
    return text[: place.start + 1] + place.line + member + place.outer + text[end:]


def _laid_out(text: str, value: object, line: str) -> str:
    """A value as a text lays out its own: over lines if the member of it begins one."""
    return _json(value, indent=_unit(text)).replace("\n", line) if line else _json(value)
