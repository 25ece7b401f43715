"""Voters that are no endpoint: programs, which never outlive a call, and people."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from quizlog_tui.solver.decisions.decision import Decision, ModelQuestion, ModelReply
from quizlog_tui.solver.models.transport import ModelClient, NoReplyError, Voter
from quizlog_tui.solver.models.voters import Command, Human
from quizlog_tui.solver.prompts import reconcile_prompt, solve_prompt
from quizlog_tui.solver.redaction import Redaction

PROMPT = solve_prompt(ModelQuestion("2 + 2 = "), (), ())


async def heard(
    *words: str, timeout: float = 30.0, environment: Mapping[str, str] = os.environ
) -> object:
    client = ModelClient(Voter("a", seconds=timeout), Command(words, environment), Redaction())
    return await client.request(PROMPT)


def python(code: str) -> tuple[str, str, str]:
    return (sys.executable, "-c", code)


async def test_a_program_reads_the_prompt_and_replies() -> None:
    code = "import sys; asked = sys.stdin.read(); print('{\"answer\": %d}' % ('2 + 2' in asked))"
    found = await heard(*python(code))
    assert (found.status, found.parsed.answer, found.source) == ("ok", 1, "command")  # type: ignore[attr-defined]


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
    found = await heard(*words)
    assert found.status == status  # type: ignore[attr-defined]
    assert said in (found.error or "")  # type: ignore[attr-defined]


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


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
    work = asyncio.create_task(heard(*python(code)))
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
    found = await heard(*python("import time; time.sleep(1000)"), timeout=0.3)
    assert found.status == "timeout"  # type: ignore[attr-defined]


async def test_a_program_sees_the_environment_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIDDEN_KEY", "sk-0123456789")
    code = "import os; print('{\"answer\": \"%s\"}' % (os.environ.get('HIDDEN_KEY', '-') + os.environ['OWN_KEY']))"
    found = await heard(*python(code), environment={"OWN_KEY": "sk-own"})
    assert found.parsed.answer == "-sk-own"  # type: ignore[attr-defined]


async def test_a_person_is_asked_once() -> None:
    async def ask(prompt: object) -> str | None:
        return "four"

    client = ModelClient(Voter("me"), Human(ask), Redaction())
    first = await client.request(PROMPT)
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
            await Human(ask).complete(PROMPT)
