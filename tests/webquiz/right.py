"""The right answer to each page of the quiz server, made from its data."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

from quizlog_tui.webquiz.demo_server.grader import Page


def png(width: int, height: int, pixel: Callable[[int, int], tuple[int, int, int]]) -> bytes:
    """An RGB picture, given by the colour at each x and y."""
    rows = b"".join(
        b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@cache
def chart() -> str:
    """Four bars, as a data URI."""
    heights = [12, 30, 7, 22]

    def pixel(x: int, y: int) -> tuple[int, int, int]:
        bar = x // 80
        inside = 10 < x % 80 < 70 and 200 - y < 6 * heights[bar]
        return (20, 60, 200) if inside else (255, 255, 255)

    return "data:image/png;base64," + base64.b64encode(png(320, 200, pixel)).decode()


def right_answer(page: Page, email: str, origin: str) -> Any:
    special = {
        "q01-start": "anything you want",
        "q17-chart": chart(),
        "q23-plan": {"shards": 7, "replicas": 2},
        "q32-command": f'curl -H "Accept: application/json" {origin}/files/q32.json?email={email}',
    }
    return special.get(page.id, page.expected(email))
