"""Many agents at once at one server over HTTP: no answer is lost, and none is taken twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation

from quizlog_tui.record import who
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session.new_record import new_record
from tests.support.doors import ERAS, mcp_url

AGENTS = 50
TALK = """
import random
for turn in range(1000):
    said = input(f"{turn}: {random.randint(1, 10**6)}? ")
    print("heard", said)
"""
Agent = Callable[[int, Client], Awaitable[Any]]


@asynccontextmanager
async def agent_client(url: str, number: int) -> AsyncIterator[Client]:
    """A client of its own name, every other one of the older protocols."""
    transport = streamable_http_client(url)
    info = Implementation(name=f"agent-{number}", version="1")
    async with Client(transport, mode=ERAS[number % 2], client_info=info) as client:
        yield client


async def all_at_once(folder: Path, agent: Agent, count: int) -> list[Any]:
    """What the agents return, each with a connection of its own to one server."""

    async def connected(number: int) -> Any:
        async with agent_client(url, number) as client:
            return await agent(number, client)

    async with mcp_url(folder) as url:
        return await asyncio.gather(*map(connected, range(count)))


def prepare(folder: Path, names: int) -> None:
    (folder / "talk.py").write_text(TALK)
    for number in range(names):
        new_record(folder / "talk.py", folder / f"{number}.yaml", number)


@pytest.mark.early
async def test_fifty_agents_answer_fifty_records_of_one_folder(tmp_path: Path) -> None:
    prepare(tmp_path, AGENTS)

    async def agent(number: int, client: Client) -> None:
        for turn in range(4):
            told = {"record": str(number), "text": f"{number} {turn}", "pointer": turn}
            result = await client.call_tool("answer", told)
            assert result.structured_content and not result.is_error
            assert result.structured_content["record"] == str(number)
            assert result.structured_content["print"] == [f"heard {number} {turn}"]

    await all_at_once(tmp_path, agent, AGENTS)
    prompts = set()
    for number in range(AGENTS):
        record = RecordFile(tmp_path / f"{number}.yaml").read()
        assert list(record.inputs) == [f"{number} {turn}" for turn in range(4)]
        givers = who.on_branch(record, record.branch)
        assert [givers[turn].name for turn in range(4)] == [f"agent-{number} 1"] * 4
        prompts.add(record.trail[-1])
    assert len(prompts) == AGENTS  # each seed has questions of its own


@pytest.mark.parametrize("count", [12, pytest.param(AGENTS, marks=pytest.mark.long)])
async def test_many_agents_answer_one_record_each_in_its_turn(tmp_path: Path, count: int) -> None:
    """Each answers the question that it was shown, and looks again whenever it is refused."""
    prepare(tmp_path, 1)

    async def agent(number: int, client: Client) -> int:
        while True:
            shown = await client.call_tool("show", {"record": "0"})
            assert shown.structured_content
            pointer: int = shown.structured_content["pointer"]
            told = {"record": "0", "text": f"by {number}", "pointer": pointer}
            result = await client.call_tool("answer", told)
            if not result.is_error:
                assert result.structured_content
                assert result.structured_content["print"] == [f"heard by {number}"]
                return pointer
            assert f"not {pointer}; answered since: " in str(result.content)

    pointers = await all_at_once(tmp_path, agent, count)
    assert sorted(pointers) == list(range(count))
    record = RecordFile(tmp_path / "0.yaml").read()
    givers = who.on_branch(record, record.branch)
    for number, pointer in enumerate(pointers):
        assert record.inputs[pointer] == f"by {number}"
        assert givers[pointer].name == f"agent-{number} 1"
    assert (len(record.inputs), record.pointer, list(record.branches)) == (count, count, [])
