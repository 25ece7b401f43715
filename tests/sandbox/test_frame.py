"""The answer's channel takes one strict form; everything else has a status, never an exception."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.sandbox.inside.code import encode
from quizlog_tui.sandbox.run import parse


def framed(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(json_data)
def test_an_answer_comes_through_as_it_is(answer: object) -> None:
    claim = parse(framed(encode({"answer": answer})))
    assert claim.status == "ok"
    assert json.dumps(claim.answer) == json.dumps(answer)


@given(st.binary(max_size=200))
def test_any_bytes_give_a_closed_status(data: bytes) -> None:
    assert parse(data).status in ("no_result", "bad_result")


@given(st.binary(max_size=200))
def test_any_framed_bytes_give_a_status(body: bytes) -> None:
    assert parse(framed(body)).status != "sandbox_error"


@given(json_data, st.binary(min_size=1, max_size=20))
def test_nothing_may_follow_the_frame(answer: object, rest: bytes) -> None:
    assert parse(framed(encode({"answer": answer})) + rest).status == "bad_result"


@pytest.mark.parametrize(
    "body",
    [
        b'{"answer":1e999}',
        b'{"answer":-1e999}',
        b'{"answer":NaN}',
        b'{"answer":[Infinity]}',
        b'{"answer":' + b"9" * 5000 + b"}",
        b'{"answer":"\\ud800"}',
        b'{"answer":{"\\udfff":1}}',
        b'{"answer":"\xed\xa0\x80"}',
        b'{"answer":1,"answer":2}',
        b'{"answer":{"a":1,"a":2}}',
        b'{"answer":1,"status":"ok"}',
        b'{"ok":true,"answer":1}',
        b"[1]",
        b"1",
        b"{}",
        b"",
        b'{"kind":"ok","error":"x"}',
        b'{"kind":"timeout","error":"x"}',
        b'{"kind":"sandbox_error","error":"x"}',
        b'{"kind":"error","error":1}',
        b'{"kind":["error"],"error":"x"}',
        b'{"answer":' + b"[" * 66 + b"]" * 66 + b"}",
        b'{"answer":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"answer":' + b'{"a":' * 100 + b"1" + b"}" * 100 + b"}",
    ],
    ids=lambda body: str(body[:30]),
)
def test_what_is_refused(body: bytes) -> None:
    claim = parse(framed(body))
    assert claim.status == "bad_result"
    assert claim.answer is None


@pytest.mark.parametrize("kind", ["error", "oom", "disk_limit", "no_result", "result_too_big"])
def test_how_a_run_may_say_that_it_failed(kind: str) -> None:
    claim = parse(framed(encode({"kind": kind, "error": "why \ud800"})))
    assert (claim.status, claim.error) == (kind, "why ?")


def test_no_frame_is_no_result() -> None:
    assert parse(b"").status == "no_result"
