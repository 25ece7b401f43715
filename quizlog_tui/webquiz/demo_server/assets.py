"""The files that pages refer to: tables, documents, pictures, sound, pages to scrape."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .pages import all_pages, email_number

SPOKEN = (
    "Find the sum of all values in the first column of the CSV file that are greater than or "
    "equal to the cutoff value provided."
)
"""The text spoken on the audio page."""
_ORDERS = 47
_PER_PAGE = 20


@dataclass(frozen=True)
class Asset:
    """A file to serve."""

    type: str
    data: bytes


def asset(path: str, email: str) -> Asset | None:
    """The file at a path, made for an address; None if there is none."""
    make = _MAKERS.get(path)
    return make(email) if make else None


def _text(kind: str, text: str) -> Asset:
    return Asset(f"{kind}; charset=utf-8", text.encode())


def _json(page: str, path: str) -> Asset:
    return _text("application/json", json.dumps(all_pages()[page].assets[path]))


def _table(page: str, path: str) -> Asset:
    return _text("text/csv", all_pages()[page].assets[path])


def numbers(email: str) -> Iterator[tuple[int, int]]:
    """The thousand rows of the audio page's table."""
    one, other = 3, 4
    for row in range(1, 1001):
        one = (1103515245 * one + 12345) % 2**31
        other = (1103515245 * other + 12345) % 2**31
        yield email_number(email) if row == 500 else one % 100000, other % 100000


def _audio_table(email: str) -> Asset:
    return _text("text/csv", "".join(f"{one},{other}\n" for one, other in numbers(email)))


def _caption(_: str) -> Asset:
    return _text("text/vtt", f"WEBVTT\n\n00:00.000 --> 00:08.000\n{SPOKEN}\n")


def _stored(kind: str, name: str) -> Callable[[str], Asset]:
    """A file that lies beside this module; it is the same for every address."""
    return lambda _: Asset(kind, (Path(__file__).parent / name).read_bytes())


def _orders_table(_: str) -> Asset:
    said = all_pages()["/q12-top3"].assets["/files/q12.csv"]
    head, rows = said.split(": ", 1)
    return _text("text/csv", "\n".join([head, *rows.split("; ")]) + "\n")


def _part(number: int, word: str, after: str) -> Callable[[str], Asset]:
    body = f'<p>Part {number}: <b>{word}</b></p><a rel="next" href="{after}">next</a>'
    return lambda _: _text("text/html", f"<!doctype html><title>part</title>{body}")


def _hidden_number(email: str) -> Asset:
    script = """
const email = new URLSearchParams(location.search).get("email") || "";
const bytes = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(email));
const hex = [...new Uint8Array(bytes)].map(b => b.toString(16).padStart(2, "0")).join("");
const number = parseInt(hex.slice(0, 4), 16);
const decoy = number + 1 + (bytes[2] * 256 + bytes[3]) % 999;
document.querySelector("#question").innerHTML = email
  ? `Secret code is <strong>${number}</strong> and not <em>${decoy}</em>.`
  : "Please provide ?email=";
"""
    body = f'<div id="question"></div><script type="module">{script}</script>'
    return _text("text/html", f"<!doctype html><title>data</title>{body}")


def orders(number: int) -> Asset:
    """One page of the orders of the API page."""
    status = ("open", "paid", "void")
    items = [
        {"id": i, "amount": 37 * i % 101 + (7 * i % 10) / 10, "status": status[i % 3]}
        for i in range(1, _ORDERS + 1)
    ]
    start = (number - 1) * _PER_PAGE
    more = start + _PER_PAGE < len(items)
    after = f"/api/q07/orders?page={number + 1}" if more else None
    data = {"items": items[start : start + _PER_PAGE], "next": after}
    return _text("application/json", json.dumps(data))


def late_question() -> Asset:
    """The data for the page that loads its question."""
    html = f"<p>{all_pages()['/q06-fetch'].question}</p>"
    return _text("application/json", json.dumps({"html": html, "submit": "/grade/q06"}))


_MAKERS: dict[str, Callable[[str], Asset]] = {
    "/q02-scrape-data": _hidden_number,
    "/q03.csv": _audio_table,
    "/q03.opus": _stored("audio/ogg", "q03.opus"),
    "/q03.vtt": _caption,
    "/data/q04.csv": lambda _: _table("/q04-csv", "/data/q04.csv"),
    "/files/q08.pdf": _stored("application/pdf", "q08.pdf"),
    "/files/q10.zip": _stored("application/zip", "q10.zip"),
    "/files/q12.csv": _orders_table,
    "/files/q13.png": _stored("image/png", "q13.png"),
    "/files/q17.csv": lambda _: _table("/q17-chart", "/files/q17.csv"),
    "/q22.wav": _stored("audio/wav", "q22.wav"),
    "/files/q23.json": lambda _: _json("/q23-plan", "/files/q23.json"),
    "/q25/1": _part(1, "amber", "/q25/2"),
    "/q25/2": _part(2, "linden", "/q25/3"),
    "/q25/3": _part(3, "harbor", "/q25/1"),
    "/files/q32.json": lambda email: _text("application/json", json.dumps({"email": email})),
    "/files/q35.json": lambda _: _json("/q35-final", "/files/q35.json"),
}
