"""Clients of models: endpoints that misbehave, programs that never outlive a call, and people."""

from __future__ import annotations

import asyncio
import os
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from quizlog_tui.solver.contract import Solution
from quizlog_tui.solver.decision import Decision, ModelQuestion, ModelReply
from quizlog_tui.solver.models.choice import ATTEMPTS, Command, Endpoint, Human
from quizlog_tui.solver.models.models import ModelSettings
from quizlog_tui.solver.models.transport import (
    ModelClient,
    ModelResult,
    NoReplyError,
    Prompt,
    TransportReply,
    Voter,
)
from quizlog_tui.solver.prompts import reconcile_prompt, solve_prompt
from quizlog_tui.solver.redaction import STAND_IN, Redaction
from tests.support.fake_models import BEHAVIOURS, Fake, fake_models
from tests.support.processes import gone

KEY = 'sk-very/secret+"key"-0123456789'
PROMPT = solve_prompt(ModelQuestion("What is the determinant of A? "), (), ())
AGAIN = reconcile_prompt(Decision("d", "t", ModelQuestion("?")), ())
WALL = 30.0
"""Seconds no test waits for: what is slow is given a shorter time."""
SHORT = 0.3
TLS = ssl.create_default_context()
"""Made once: reading the certificates takes longer than most tests."""


@asynccontextmanager
async def client(name: str, **changes: object) -> AsyncIterator[tuple[Fake, ModelClient]]:
    async with fake_models() as fake, httpx.AsyncClient(timeout=None, verify=TLS) as http:
        data = {"name": "tested", "base_url": fake.url, "model": name} | changes
        settings = ModelSettings.model_validate(data)
        voter = Voter("tested", seconds=WALL)
        yield fake, ModelClient(voter, Endpoint(settings, KEY, http), Redaction([KEY]))


async def heard(name: str, timeout: float = WALL) -> tuple[ModelResult[Solution], int]:
    async with client(name) as (fake, one):
        found = await one.request(PROMPT, timeout)
        return found, fake.calls[name]


# status, calls, words of the error
EXPECTED = {
    "good": ("ok", 1, None),
    "stall": ("timeout", 1, "no reply within 0.3 s"),
    "stall-after-headers": ("timeout", 1, "no reply within 0.3 s"),
    "drip": ("timeout", 1, "no reply within 0.3 s"),
    "cut": ("error", ATTEMPTS, "RemoteProtocolError"),
    "cut-once": ("ok", 2, None),
    "hang-up": ("error", ATTEMPTS, "RemoteProtocolError"),
    "garbage": ("error", ATTEMPTS, "RemoteProtocolError"),
    "limited-once": ("ok", 2, None),
    "limited-far": ("rate_limited", 1, "HTTP 429: slow down"),
    "limited-date": ("rate_limited", 1, "HTTP 429"),
    "limited-nonsense": ("ok", 2, None),
    "limited": ("rate_limited", ATTEMPTS, "HTTP 429: quota"),
    "failing": ("error", ATTEMPTS, "HTTP 500"),
    "failing-once": ("ok", 2, None),
    "unavailable": ("error", ATTEMPTS, "HTTP 503"),
    "unavailable-once": ("ok", 2, None),
    "unauthorised": ("error", 1, "HTTP 401: no such key"),
    "elsewhere": ("error", 1, "HTTP 302"),
    "html": ("error", 1, "no chat completion"),
    "empty": ("error", 1, "no chat completion"),
    "no-choices": ("error", 1, "no chat completion"),
    "wrong-envelope": ("invalid", 1, "holds no text"),
    "deep-envelope": ("error", 1, "no chat completion"),
    "bad-utf8": ("error", 1, "no chat completion"),
    "zipped": ("error", 1, "no chat completion"),
    "refusal": ("invalid", 1, "I will not"),
    "parts": ("ok", 1, None),
    "fenced": ("ok", 1, None),
    "thinking": ("ok", 1, None),
    "invalid-once": ("ok", 2, None),
    "invalid": ("invalid", 2, "no JSON object with the keys"),
    "wrong-schema-once": ("ok", 2, None),
    "wrong-schema": ("invalid", 2, "code: Input should be a valid string"),
    "wrong-keys": ("invalid", 2, "no JSON object with the keys"),
    "says-nothing": ("invalid", 2, "give `code`, `answer`, or both"),
    "rust": ("invalid", 2, "language: Input should be 'python'"),
    "huge": ("invalid", 1, "longer than 2000000 bytes"),
    "huge-answer": ("invalid", 2, "answer: is too long"),
    "nan": ("invalid", 2, "no JSON object"),
    "infinite": ("invalid", 2, "answer: must be a finite number"),
    "huge-integer": ("invalid", 2, "no JSON object"),
    "big-integer": ("invalid", 2, "answer: is a number of too many digits"),
    "deep": ("invalid", 2, ""),
    "deep-objects": ("invalid", 2, ""),
    "deep-text": ("invalid", 2, "no JSON object"),
    "braces": ("invalid", 2, "no JSON object"),
    "surrogate": ("invalid", 2, "answer: holds half a character"),
    "echo-key": ("error", 1, STAND_IN),
    "echo-key-in-answer": ("ok", 1, None),
}
TIMED_OUT = {name for name, (status, *_) in EXPECTED.items() if status == "timeout"}


def test_every_behaviour_is_tried() -> None:
    assert EXPECTED.keys() == BEHAVIOURS.keys()


async def test_a_status_for_each_misbehaviour() -> None:
    names = EXPECTED.keys() - TIMED_OUT
    for name, (found, calls) in zip(names, await asyncio.gather(*map(heard, names)), strict=True):
        has_status(name, found, calls)


async def test_the_wall_is_hard() -> None:
    """The time-out ends a call that would never end."""
    async with asyncio.timeout(WALL):
        ended = await asyncio.gather(*(heard(name, SHORT) for name in TIMED_OUT))
    for name, (found, calls) in zip(TIMED_OUT, ended, strict=True):
        has_status(name, found, calls)
        assert found.seconds + 0.01 >= SHORT


def has_status(name: str, found: ModelResult[Solution], calls: int) -> None:
    status, expected_calls, said = EXPECTED[name]
    assert (found.status, calls) == (status, expected_calls), name
    assert (found.parsed is not None) == (status == "ok")
    assert found.repaired == ((name.endswith("-once") and calls == 2 and "invalid" in name) or (calls == 2 and status == "invalid") or name == "wrong-schema-once")  # fmt: skip
    if said is None:
        assert found.error is None
    else:
        assert said in (found.error or "")
        assert "\n" not in (found.error or "")
        assert len(found.error or "") <= 300
    assert KEY not in repr(found)


async def test_the_wall_holds_for_both_turns_together() -> None:
    async def behave(x: object) -> None:
        await (BEHAVIOURS["invalid"] if x.nth == 1 else BEHAVIOURS["stall"])(x)  # type: ignore[attr-defined,arg-type]

    BEHAVIOURS["invalid-then-stall"] = behave
    try:
        found, calls = await heard("invalid-then-stall", 4 * SHORT)
    finally:
        del BEHAVIOURS["invalid-then-stall"]
    assert (found.status, calls) == ("timeout", 2)


async def test_nobody_listens() -> None:
    async with client("good", base_url="http://127.0.0.1:9/v1") as (_, one):
        found = await one.request(PROMPT)
    assert found.status == "error"
    assert "ConnectError" in (found.error or "")


async def test_a_key_that_no_header_can_hold_is_an_error_without_the_key() -> None:
    bad = "sk-line\nbreak-0123456789"
    async with fake_models() as fake, httpx.AsyncClient(verify=TLS) as http:
        settings = ModelSettings(name="a", base_url=fake.url, model="good")
        one = ModelClient(Voter("a"), Endpoint(settings, bad, http), Redaction([bad]))
        found = await one.request(PROMPT)
    assert found.status == "error"
    assert "0123456789" not in repr(found)


async def test_cancelling_ends_the_call() -> None:
    async with client("stall") as (fake, one):
        task = asyncio.create_task(one.request(PROMPT))
        async with asyncio.timeout(60):
            while not fake.calls["stall"]:
                await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_the_repair_turn_shows_the_reply_and_what_is_wrong() -> None:
    async with client("invalid-once") as (fake, one):
        await one.request(PROMPT)
    first, second = fake.bodies
    assert second["messages"][:2] == first["messages"]
    assert second["messages"][2] == {"role": "assistant", "content": '{"answer": 16'}
    assert "no JSON object with the keys" in second["messages"][3]["content"]


@pytest.mark.parametrize(
    ("mode", "check"),
    [
        ("prompt", lambda body: "response_format" not in body),
        ("object", lambda body: body["response_format"] == {"type": "json_object"}),
        ("schema", lambda body: "answer" in body["response_format"]["json_schema"]["schema"]["properties"]),
    ],
)  # fmt: skip
async def test_json_is_asked_for_as_configured(mode: str, check: Callable[[dict], bool]) -> None:  # type: ignore[type-arg]
    async with client("good", json_mode=mode, max_output_tokens=99) as (fake, one):
        await one.request(PROMPT)
    assert check(fake.bodies[0])
    assert fake.bodies[0]["max_tokens"] == 99


async def test_the_key_is_in_the_header_and_nowhere_else() -> None:
    leaky = solve_prompt(ModelQuestion(f"My key is {KEY}. What is 2 + 2? "), (), ())
    async with client("echo-key-in-answer") as (fake, one):
        found = await one.request(leaky)
    assert fake.headers[0]["authorization"] == f"Bearer {KEY}"
    assert fake.raw.count(KEY.encode()) == 1
    [message] = [m["content"] for m in fake.bodies[0]["messages"] if m["role"] == "user"]
    assert f"My key is {STAND_IN}. What" in message
    assert fake.headers[0]["accept-encoding"] == "identity"
    assert found.parsed
    assert found.parsed.answer == f"the key is {STAND_IN}"
    assert KEY not in repr(found)


class Says:
    """A transport that says one thing."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        return TransportReply(self.text, "live")


async def said(text: str, prompt: Any = AGAIN, key: str = "") -> ModelResult[Any]:
    """What is made of a reply."""
    return await ModelClient(Voter("a"), Says(text), Redaction([key])).request(prompt)


async def test_a_key_that_comes_back_in_disguise_is_taken_out() -> None:
    disguised = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    text = f'{{"answer": {{"{disguised}": ["{disguised}"]}}, "explanation": "{disguised}"}}'
    found = await said(text, PROMPT, KEY)
    assert found.parsed
    assert found.parsed.answer == {STAND_IN: [STAND_IN]}
    assert found.parsed.explanation == STAND_IN


async def test_foreign_text_of_any_kind_can_be_asked() -> None:
    odd = solve_prompt(ModelQuestion("\ud800 \x00 \x1b[31m \u2028", context="x" * 100_000), (), ())
    async with client("good") as (_, one):
        assert (await one.request(odd)).status == "ok"


@pytest.mark.parametrize("value", ['"\\ud83d x"', '["\\udc00"]', '{"\\ud83d": 1}'])
async def test_an_answer_of_half_a_character_cannot_be_sent_on(value: str) -> None:
    for prompt, key in ((PROMPT, "answer"), (AGAIN, "final_answer")):
        found = await said(f'{{"{key}": {value}}}', prompt)
        assert (found.status, found.repaired) == ("invalid", True)
        assert f"{key}: holds half a character" in (found.error or "")


async def test_an_answer_of_any_whole_character_is_one() -> None:
    found = await said('{"answer": "\\ud83d\\ude00"}', PROMPT)
    assert found.parsed
    assert found.parsed.answer == "\U0001f600"


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ('{"final_answer": 4, "confidence": 0.8}', 0.8),
        ('{"final_answer": 4, "confidence": 80}', 0.8),
        ('{"final_answer": 4, "confidence": "80%"}', 0.8),
        ('{"final_answer": 4, "confidence": "0.5"}', 0.5),
        ('{"final_answer": 4, "confidence": "1%"}', 0.01),
        ('{"final_answer": 4, "confidence": 1}', 1.0),
        ('{"final_answer": 4}', None),
        ('{"final_answer": null, "confidence": null}', None),
    ],
)
async def test_confidences(text: str, confidence: float | None) -> None:
    found = await said(text)
    assert found.status == "ok"
    assert found.parsed
    assert found.parsed.confidence == confidence


@pytest.mark.parametrize(
    "confidence", ["-1", "101", "NaN", '"much"', "[]", "true", "1e400", "9" * 400, '"' + "9" * 400 + '"']
)  # fmt: skip
async def test_no_confidence(confidence: str) -> None:
    text = f'{{"final_answer": 4, "confidence": {confidence}}}'
    found = await said(text)
    assert found.status == "invalid"


SUM = solve_prompt(ModelQuestion("2 + 2 = "), (), ())


async def heard_of_program(
    *words: str, timeout: float = 30.0, environment: Mapping[str, str] = os.environ
) -> ModelResult[Any]:
    client = ModelClient(Voter("a", seconds=timeout), Command(words, environment), Redaction())
    return await client.request(SUM)


def python(code: str) -> tuple[str, str, str]:
    return (sys.executable, "-c", code)


async def test_a_program_reads_the_prompt_and_replies() -> None:
    code = "import sys; asked = sys.stdin.read(); print('{\"answer\": %d}' % ('2 + 2' in asked))"
    found = await heard_of_program(*python(code))
    assert (found.status, found.parsed.answer, found.source) == ("ok", 1, "command")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (python("print('hello')"), "invalid", "no JSON object"),
        (python("raise SystemExit('no luck')"), "error", "ended with 1: no luck"),
        (python("import os; os.kill(os.getpid(), 9)"), "error", "ended with -9"),
        (python("import sys; sys.stdout.write('x' * 3_000_000)"), "invalid", "longer than 2000000 bytes"),
        (python("import sys; sys.stderr.write('x' * 3_000_000); print('{\"answer\": 1}')"), "ok", ""),
        (python("import sys; sys.stdout.buffer.write(b'\\xff')"), "invalid", "no JSON object"),
        (python("import os; os.close(0); print('{\"answer\": 1}')"), "ok", ""),
        (("/does/not/exist",), "error", "cannot start"),
        (("nul\0",), "error", "cannot start"),
    ],
)  # fmt: skip
async def test_programs_that_misbehave(words: tuple[str, ...], status: str, said: str) -> None:
    found = await heard_of_program(*words)
    assert found.status == status
    assert said in (found.error or "")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
async def test_a_program_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = (
        "import os, subprocess, time\n"
        f"child = subprocess.Popen(['sleep', '1000'])\n"
        f"open({str(pids)!r} + '~', 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        f"os.rename({str(pids)!r} + '~', {str(pids)!r})\n"
        "time.sleep(1000)"
    )
    work = asyncio.create_task(heard_of_program(*python(code)))
    async with asyncio.timeout(60):
        while not pids.exists():
            await asyncio.sleep(0.01)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    started = [int(pid) for pid in pids.read_text().split()]
    async with asyncio.timeout(60):
        while not all(map(gone, started)):
            await asyncio.sleep(0.01)


async def test_the_wall_ends_a_program() -> None:
    found = await heard_of_program(*python("import time; time.sleep(1000)"), timeout=0.3)
    assert found.status == "timeout"


async def test_a_program_sees_the_environment_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIDDEN_KEY", "sk-0123456789")
    code = "import os; print('{\"answer\": \"%s\"}' % (os.environ.get('HIDDEN_KEY', '-') + os.environ['OWN_KEY']))"
    found = await heard_of_program(*python(code), environment={"OWN_KEY": "sk-own"})
    assert found.parsed.answer == "-sk-own"


async def test_a_person_is_asked_once() -> None:
    async def ask(prompt: object) -> str | None:
        return "four"

    client = ModelClient(Voter("me"), Human(ask), Redaction())
    first = await client.request(SUM)
    assert (first.status, first.source) == ("ok", "human")
    assert first.parsed
    assert first.parsed.answer == "four"
    decision = Decision("d", "t", ModelQuestion("?"), (ModelReply("me", "ok", "four"),))
    second = await client.request(reconcile_prompt(decision, ()))
    assert (second.status, second.error) == ("error", "a person is asked once")


async def test_a_person_who_is_not_there_or_says_nothing() -> None:
    async def silent(prompt: object) -> str | None:
        return None

    for ask, said in ((None, "nobody is there"), (silent, "no answer was given")):
        with pytest.raises(NoReplyError, match=said):
            await Human(ask).complete(SUM)
