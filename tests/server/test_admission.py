"""Who is let in, and how many wrong secrets are judged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.errors import UsageError
from quizlog_tui.server import admission
from quizlog_tui.server.admission import MAX_BODY, AccessRefusal, AccessRules, Shield, check
from quizlog_tui.server.run import _is_loopback, rules_for
from quizlog_tui.server.tasks import _GUESS_SECONDS, _MOST_GUESSES, _Guesses

HERE = {"host": "127.0.0.1:8642", "content-type": "application/json"}
OPEN, LOCKED = AccessRules(), AccessRules(token="geheim")


def status(rules: AccessRules, method: str = "POST", path: str = "/solve", **headers: str) -> int:
    try:
        check(rules, method, path, HERE | {k.replace("_", "-"): v for k, v in headers.items()})
    except AccessRefusal as refusal:
        return refusal.status
    return 200


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        ("127.0.0.1:8642", 200),
        ("127.0.0.1", 200),
        ("localhost:1", 200),
        ("LOCALHOST", 200),
        ("[::1]:8642", 200),
        ("rebound.example:8642", 403),
        ("127.0.0.1.rebound.example", 403),
        ("rebound.example#127.0.0.1", 403),
        ("127.0.0.1, rebound.example", 403),
        ("[::1", 403),
        ("", 403),
    ],
)
def test_hosts(host: str, wanted: int) -> None:
    assert status(OPEN, host=host) == wanted


@pytest.mark.parametrize(
    ("origin", "wanted"),
    [
        ("http://127.0.0.1:8642", 200),
        ("http://127.0.0.1:9", 403),
        ("http://evil.example", 403),
        ("http://127.0.0.1:8642.evil.example", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_origins(origin: str, wanted: int) -> None:
    assert status(OPEN, origin=origin) == wanted
    assert status(OPEN, "GET", origin=origin) == wanted


def test_pages_of_other_sites() -> None:
    assert status(OPEN, "GET", sec_fetch_site="cross-site") == 403
    assert status(OPEN, "GET", sec_fetch_site="same-site") == 403
    assert status(OPEN, "GET", sec_fetch_site="same-origin") == 200
    assert status(OPEN, "GET", sec_fetch_site="none") == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "json"])
def test_what_a_form_can_send_is_refused(kind: str) -> None:
    assert status(OPEN, content_type=kind) == 415


def test_charsets_pass() -> None:
    assert status(OPEN, content_type="Application/JSON; charset=utf-8") == 200


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("Bearer geheim", 200),
        ("bearer geheim", 200),
        ("Bearer geheimer", 401),
        ("Bearer geh\u00e9im", 401),
        ("Bearer ", 401),
        ("Basic geheim", 401),
        ("", 401),
    ],
)
def test_tokens(given: str, wanted: int) -> None:
    assert status(LOCKED, authorization=given) == wanted
    assert status(LOCKED, "GET", "/health", authorization=given) == 200


def test_a_token_of_any_letters() -> None:
    rules = AccessRules(token="schl\u00fcssel")
    sent = "schl\u00fcssel".encode().decode("latin-1")
    assert status(rules, authorization=f"Bearer {sent}") == 200


def test_a_trigger_needs_no_token_and_may_come_from_anywhere() -> None:
    rules = AccessRules(token="geheim", triggers=frozenset({"/run", "/"}))
    foreign = {"host": "quiz.example", "content_type": "text/plain", "origin": "null"}
    assert status(rules, path="/run", **foreign) == 200
    assert status(rules, path="/", **foreign) == 200
    assert status(rules, path="/run/", **foreign) == 403
    assert status(rules, path="/solve", **foreign) == 403
    assert status(rules, "GET", "/tasks") == 401
    assert status(rules, "GET", "/") == 401
    assert status(LOCKED, path="/run") == 401


def test_sizes() -> None:
    assert status(OPEN, content_length=str(MAX_BODY)) == 200
    assert status(OPEN, content_length=str(MAX_BODY + 1)) == 413
    assert status(OPEN, content_length="9" * 5000) == 413


@pytest.mark.parametrize("sizes", [[MAX_BODY + 1], [MAX_BODY, 1], [1] + [MAX_BODY // 2] * 2])
async def test_a_body_that_does_not_tell_its_size(sizes: list[int]) -> None:
    sent: list[Any] = []
    parts = [{"body": b"x" * size, "more_body": True} for size in sizes]
    parts[-1]["more_body"] = False

    async def app(*_: Any) -> None:
        raise AssertionError("the application was called")

    async def receive() -> Any:
        return {"type": "http.request"} | parts.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/"}
    headers = [(k.encode(), v.encode()) for k, v in HERE.items()]
    await Shield(app, OPEN)(scope | {"headers": headers}, receive, send)
    assert sent[0]["status"] == 413


async def test_a_body_that_does_not_come_to_its_end_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "READ_SECONDS", 0.05)
    sent: list[Any] = []
    parts: list[Any] = [{"type": "http.request", "body": b"{", "more_body": True}]

    async def app(*_: Any) -> None:
        raise AssertionError("the application was called")

    async def receive() -> Any:
        return parts.pop() if parts else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(k.encode(), v.encode()) for k, v in HERE.items()]
    for path in ("/run", "/solve"):
        parts.append({"type": "http.request", "body": b"{", "more_body": True})
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
        await Shield(app, AccessRules(triggers=frozenset({"/run"})))(scope, receive, send)
        start = sent[-2]
        assert (start["status"], dict(start["headers"])[b"connection"]) == (408, b"close")


async def test_refusals_are_json(serving: Callable[..., FastAPI]) -> None:
    transport = httpx.ASGITransport(serving(rules=AccessRules(token="t")))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        reply = await http.post("/solve", json={})
    assert reply.status_code == 401
    assert reply.headers["www-authenticate"] == "Bearer"
    assert reply.json()["error"]["message"] == "the token is missing or wrong"


def test_other_machines_need_a_token() -> None:
    assert rules_for("127.0.0.1", None).hosts
    assert rules_for("0.0.0.0", "t") == AccessRules("t", None)
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(UsageError, match="other machines"):
            rules_for(host, None)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback(host: str) -> None:
    assert _is_loopback(host)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 30)), max_size=120))
def test_no_address_has_more_judged_in_a_minute_and_none_less(
    sent: list[tuple[str, float]],
) -> None:
    guesses, now = _Guesses(), 0.0
    judged: dict[str, list[float]] = {"a": [], "b": []}
    for address, pause in sent:
        now += pause
        recent = [one for one in judged[address] if one > now - _GUESS_SECONDS]
        wait = guesses.wait(address, now)
        assert (wait == 0) is (len(recent) < _MOST_GUESSES)
        assert 0 <= wait <= _GUESS_SECONDS
        if not wait:
            judged[address].append(now)


def test_addresses_that_were_not_heard_of_for_long_are_forgotten() -> None:
    guesses = _Guesses()
    for _ in range(_MOST_GUESSES):
        guesses.wait("first", 0.0)
    assert guesses.wait("first", 0.0)
    for number in range(2000):
        guesses.wait(str(number), 0.0)
    assert len(guesses._times) <= 1000
    assert guesses.wait("first", 0.0) == 0
