"""What a tool returns: text for the model, and the one JSON object of every door for programs.

The text is what `quizlog RECORD --new` prints, and where the questionnaire stands is a second text.
JSON of this protocol carries no half of a surrogate pair; one is written as its escape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mcp.types import CallToolResult, ContentBlock, TextContent

from ..errors import QuizlogError, error_data
from ..session.served_folders import Folders
from ..text import is_whole, one_line


def told(data: Mapping[str, Any], text: str, lines: Iterable[str] = ()) -> CallToolResult:
    """The result of a call that did what was asked; a refused answer is one of them.

    Args:
        data: The JSON object, without its version.
        text: What the command prints.
        lines: What it says beside that.
    """
    said = "\n".join(lines)
    content = [_text(text), *([_text(said)] if said else [])]
    whole: dict[str, Any] = _whole({"schema_version": 1} | dict(data))
    return CallToolResult(content=content, structured_content=whole)


def refused(error: QuizlogError, folders: Folders, shown: str = "") -> CallToolResult:
    """The result of a call that could not be carried out.

    Args:
        error: Why.
        folders: The served folders, whose paths are not shown.
        shown: What the model shall see besides.
    """
    data = without_paths(error_data(error), folders)
    said = _text(one_line(folders.shown(str(error))))
    content = [*([_text(shown)] if shown else []), said]
    return CallToolResult(content=content, structured_content=_whole(data), is_error=True)


def without_paths(value: Any, folders: Folders) -> Any:
    """Plain data whose texts name files without the paths of the served folders."""
    if isinstance(value, str):
        return folders.shown(value)
    if isinstance(value, Mapping):
        return {key: without_paths(each, folders) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_paths(each, folders) for each in value]
    return value


def _text(text: str) -> ContentBlock:
    return TextContent(type="text", text=_whole(text))


def _whole(value: Any) -> Any:
    """Plain data in which each half of a surrogate pair is an escape."""
    if isinstance(value, str):
        return value if is_whole(value) else value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {_whole(key): _whole(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(each) for each in value]
    return value
