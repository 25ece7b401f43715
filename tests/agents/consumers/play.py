"""Plays a quiz by the client of the SDK that is installed, in both eras of the protocol.

`play.py COMMAND WORD...` starts a server, `play.py URL` uses one. The server's folder has a `product.py`.
"""

import asyncio
import sys
from importlib.metadata import version

from mcp import Client, StdioServerParameters, stdio_client


async def play(mode: str) -> None:
    place, *words = sys.argv[1:]
    stdio = stdio_client(StdioServerParameters(command=place, args=words)) if words else place
    async with Client(stdio, mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        opened = await client.call_tool("open_quiz", {"quiz": "product.py", "seed": 7})
        record = opened.structured_content["record"]
        said = {"record": record, "text": "41", "pointer": 0}
        replies = [await client.call_tool("answer", said)]
        replies.append(await client.call_tool("rewind", {"record": record, "step": 0}))
        replies.append(await client.call_tool("answer", said | {"text": "42"}))
        replies.append(await client.call_tool("show", {"record": record}))
        told = [
            f"{r.structured_content['status']} {r.structured_content['score']}" for r in replies
        ]
        read = (await client.read_resource(f"quizlog://record/{record}")).contents[0]
    assert not any(reply.is_error for reply in replies) and "product.py" in read.text
    assert "open_quiz" in tools and len(tools) > 5
    print(f"{mode} with mcp {version('mcp')}: {', '.join(told)}")


for mode in ("auto", "legacy"):
    asyncio.run(play(mode))
