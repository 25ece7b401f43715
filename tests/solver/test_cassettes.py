"""Recorded replies: kept without keys, played to the very same request only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quizlog_tui.errors import ConfigError
from quizlog_tui.solver.contract import Solution
from quizlog_tui.solver.decision import ModelQuestion
from quizlog_tui.solver.models.cassettes import CassetteShelf, Player, Recorder, recorded
from quizlog_tui.solver.models.transport import (
    ModelClient,
    NoReplyError,
    Prompt,
    TransportReply,
    Voter,
)
from quizlog_tui.solver.prompts import solve_prompt
from quizlog_tui.solver.redaction import Redaction

from .panels import Scripted, failing, saying

KEY = "sk-0123456789"
PROMPT = solve_prompt(ModelQuestion("2 + 2 = "), (), ())
OTHER = solve_prompt(ModelQuestion("2 + 3 = "), (), ())
VOTER = Voter("ada", "first", 2.0, primary=True)


def recorder(shelf: CassetteShelf, script: object) -> Recorder:
    ticks = iter(range(100))
    transport = Scripted(script)  # type: ignore[arg-type]
    return Recorder(VOTER, transport, shelf, Redaction([KEY]), clock=lambda: next(ticks))


async def test_a_reply_is_kept_and_played(tmp_path: Path) -> None:
    shelf = CassetteShelf(tmp_path, "by hand")
    said = await recorder(shelf, saying({"answer": 4})).complete(PROMPT)
    assert await Player("ada", shelf).complete(PROMPT) == TransportReply(said.text, "recorded", 1)
    [voter], found = recorded(tmp_path)
    assert (voter, found.label) == (VOTER, "by hand")


async def test_another_request_or_model_is_not_played(tmp_path: Path) -> None:
    shelf = CassetteShelf(tmp_path)
    await recorder(shelf, saying({"answer": 4})).complete(PROMPT)
    for name, prompt in (("ada", OTHER), ("bea", PROMPT)):
        with pytest.raises(NoReplyError, match="no reply to this request was recorded"):
            await Player(name, shelf).complete(prompt)


async def test_a_failure_is_kept_and_played(tmp_path: Path) -> None:
    shelf = CassetteShelf(tmp_path)
    with pytest.raises(NoReplyError):
        await recorder(shelf, failing("rate_limited", f"the key {KEY} is used up")).complete(PROMPT)
    with pytest.raises(NoReplyError) as caught:
        await Player("ada", shelf).complete(PROMPT)
    assert (caught.value.status, caught.value.message) == (
        "rate_limited",
        "the key [key] is used up",
    )


async def test_a_repair_turn_has_a_recording_of_its_own(tmp_path: Path) -> None:
    async def script(prompt: Prompt) -> str:
        return "what?" if len(prompt.messages) == 2 else '{"answer": 4}'

    shelf = CassetteShelf(tmp_path)
    live = await ModelClient(VOTER, recorder(shelf, script), Redaction()).request(PROMPT)
    played = await ModelClient(VOTER, Player("ada", shelf), Redaction()).request(PROMPT)
    assert len(list(tmp_path.glob("*.json"))) == 2
    assert (
        (live.parsed, live.repaired)
        == (played.parsed, played.repaired)
        == (Solution(answer=4), True)
    )
    assert played.source == "recorded"
    assert played.seconds == 2


async def test_a_folder_that_cannot_be_written_is_a_failed_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NoReplyError, match="could not be kept"):
        await recorder(CassetteShelf(tmp_path / "file" / "x"), saying({"answer": 4})).complete(
            PROMPT
        )


async def test_the_deadline_is_no_part_of_the_request() -> None:
    from dataclasses import replace

    assert (
        replace(PROMPT, deadline=7.0).digest("ada") == PROMPT.digest("ada") != OTHER.digest("ada")
    )


BROKEN = [
    "",
    "[]",
    "{}",
    '{"voter": {}, "reply": {}}',
    '{"reply": {"text": "x", "seconds": 1}, "voter": {"name": "../x"}}',
    '{"reply": {"text": "x", "seconds": 1}, "voter": {"name": "../x", "family": null, "weight": 1, "primary": true}}',
    '{"reply": {"text": "x", "seconds": 1}, "voter": {"name": "x", "family": null, "weight": -1, "primary": true}}',
    '{"reply": {"status": "fine", "message": "", "seconds": 1}, "voter": {"name": "x", "family": null, "weight": 1, "primary": true}}',
    "\x00",
    "[" * 100_000,
]


@pytest.mark.parametrize("text", BROKEN)
async def test_what_is_no_recording_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ConfigError, match=r"x\.json"):
        recorded(tmp_path)
    CassetteShelf(tmp_path).path("ada", PROMPT).write_text(text)
    with pytest.raises(NoReplyError):
        await Player("ada", CassetteShelf(tmp_path)).complete(PROMPT)


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no recorded replies"):
        recorded(tmp_path)


async def test_a_recording_is_readable_json(tmp_path: Path) -> None:
    await recorder(CassetteShelf(tmp_path), saying({"answer": 4})).complete(PROMPT)
    [path] = tmp_path.glob("*.json")
    data = json.loads(path.read_text())
    assert [one["role"] for one in data["asked"]] == ["system", "user"]
    assert json.loads(data["reply"]["text"]) == {"answer": 4}
