"""A browser that is none: it fetches pages, and reads what needs no script. For many tasks at once."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from quizlog_tui.webquiz.net.gate import Gate, through
from quizlog_tui.webquiz.page.snapshot import PageFrame, Snapshot


@dataclass
class StandInTab:
    proxy: str
    folder: Path
    room: int
    seconds: float

    async def visit(self, url: str) -> Snapshot:
        async with through(self.proxy) as http:
            reply = await http.get(url, timeout=self.seconds)
        text = html.unescape(re.sub(r"<script.*?</script>|<[^>]+>", " ", reply.text, flags=re.S))
        return Snapshot(
            url, (PageFrame(url, url, text=text),), reply.status_code, settled="stand-in"
        )


class StandIn:
    """Stands where the shared browser is."""

    @asynccontextmanager
    async def tab(
        self, gate: Gate, folder: Path, room: int, seconds: float
    ) -> AsyncIterator[StandInTab]:
        yield StandInTab(gate.url, folder, room, seconds)

    async def close(self) -> None: ...
