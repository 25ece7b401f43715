"""An answer over MCP against the SDK's own echo tool: both in processes, the SDK's client, in turns."""

from __future__ import annotations

import asyncio
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from rows import Row, at_most

from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile

SCRIPT = Path(__file__).parent / "scripts" / "bare.py"
CALLS = 300
ECHO = """
import sys
from pathlib import Path
from mcp.server import MCPServer
from quizlog_tui.files.durable import FileKind, asked_before, write_text

server = MCPServer("echo", log_level="ERROR")
record = Path(sys.argv[1], "record.yaml")
copy = FileKind("a floor's copy of a record", asked_before, beside=True)

@server.tool()
def echo(text: str) -> str:
    return text

@server.tool()
def durable(text: str) -> str:
    write_text(record.with_suffix(".floor"), record.read_text(encoding="utf-8"), copy)
    return text

server.run()
"""
"""The SDK's own echo, and one that puts as much on disk as an answer does."""


def _server(*words: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=list(words))


async def _seconds(client: Client, tool: str, arguments: dict[str, str]) -> float:
    start = time.perf_counter()
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return time.perf_counter() - start


async def _in_turns(folder: Path, era: str) -> tuple[float, float, float]:
    """Median seconds of an answer, of an echo, and of an echo that writes to disk."""
    text = {"text": "4"}
    ours = _server("-m", "quizlog_tui", "mcp", str(folder))
    floor = _server("-c", ECHO, str(folder))
    async with Client(ours, mode=era) as quiz, Client(floor, mode=era) as echoing:
        await _seconds(quiz, "show", {"record": "record"})
        rounds = [
            (
                await _seconds(quiz, "answer", {"record": "record"} | text),
                await _seconds(echoing, "echo", text),
                await _seconds(echoing, "durable", text),
            )
            for _ in range(CALLS)
        ]
    mine, echo, durable = (statistics.median(column) for column in zip(*rounds, strict=True))
    return mine, echo, durable


def rows() -> Iterator[Row]:
    """An answer over stdio, in both eras of the protocol."""
    for era, year in (("auto", 2026), ("legacy", 2025)):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            shutil.copy(SCRIPT, folder / SCRIPT.name)
            RecordFile(folder / "record.yaml").create(Record(SCRIPT.name, 1))
            ours, echo, durable = asyncio.run(_in_turns(folder, era))
        what = f"answer over MCP, on disk, protocol of {year}"
        yield at_most(f"{what} / the SDK's echo tool", ours, echo, 2)
        yield at_most(f"{what} / an echo that writes as much to disk", ours, durable, None)


if __name__ == "__main__":
    for row in rows():
        print(row.what, row.ours, row.other, row.shown_ratio, row.must)
