"""One sitting is the same through every door: each reply, each text, and the record at the end."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.config import config_path
from tests.support.doors import (
    DOORS,
    Expected,
    OpenDoor,
    Said,
    by_api,
    command,
    escaped,
    prepare,
    record_data,
    shell_process,
)
from tests.support.long_runs import few
from tests.support.sittings import ENDLESS, SITTINGS, SLEEPY, Sitting

NAMES = list(DOORS)


@cache
def expected(sitting: Sitting) -> tuple[list[Expected], dict[str, Any]]:
    """What the Python API says of each move, and the record at the end."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, [sitting])
        return by_api(folder, sitting), record_data(folder / f"{sitting.file}.yaml")


async def differences(
    folder: Path, open_door: OpenDoor, name: str, sittings: Iterable[Sitting]
) -> list[str]:
    """What a door says otherwise than the Python API, and what records hold otherwise."""
    chosen = list(sittings)
    prepare(folder, chosen)
    found: list[str] = []
    async with open_door(folder) as door:
        for sitting in chosen:
            wanted, _ = expected(sitting)
            for at, (move, each) in enumerate(zip(sitting.moves, wanted, strict=True)):
                said = await door(sitting.file, move)
                where = f"{sitting.name}, move {at} ({move.kind})"
                found += _differences(where, said, _wanted(each, name, move.kind))
    for sitting in chosen:
        _, wanted_record = expected(sitting)
        record = record_data(folder / f"{sitting.file}.yaml")
        for key, value in record.items():
            if value != wanted_record[key]:
                where = f"{sitting.name}, the record's {key}"
                found.append(f"{where}: {value!r:.600} is not {wanted_record[key]!r:.600}")
    return found


def _wanted(each: Expected, name: str, kind: str) -> Said:
    """What the door of a name must say."""
    if name.startswith("shell"):  # it shows all of a fork
        return each.whole if kind == "fork" else each.newest
    if name == "http":
        return each.newest
    return Said(escaped(each.newest.reply), each.newest.text)


def _differences(where: str, said: Said, wanted: Said) -> Iterator[str]:
    if said.reply is not None and json.dumps(said.reply) != json.dumps(wanted.reply):
        yield f"{where}: reply {said.reply!r:.600} is not {wanted.reply!r:.600}"
    if said.text is not None and said.text != wanted.text:
        yield f"{where}: text {said.text!r:.600} is not {wanted.text!r:.600}"


def test_there_are_sittings_of_all_kinds() -> None:
    assert len({sitting.file for sitting in SITTINGS}) == len(SITTINGS) >= 60
    statuses = set()
    for sitting in SITTINGS:
        moves, _ = expected(sitting)
        statuses |= {(each.newest.reply or {}).get("status", "refused") for each in moves}
    assert statuses == {"in_progress", "error", "success", "refused"}


@pytest.mark.early
@pytest.mark.parametrize("name", NAMES)
async def test_a_third_of_the_sittings_is_the_same_at_each_door(name: str, tmp_path: Path) -> None:
    """The doors take turns, so that each sitting goes through three of them or more."""
    some = SITTINGS[NAMES.index(name) % 3 :: 3]
    found = await differences(tmp_path, DOORS[name], name, some)
    assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
async def test_every_sitting_is_the_same_at_each_door(name: str, tmp_path: Path) -> None:
    found = await differences(tmp_path, DOORS[name], name, SITTINGS)
    assert not found, "\n".join(found)


async def test_some_sittings_are_the_same_in_processes_of_their_own(tmp_path: Path) -> None:
    kinds = ("forked by names", "unicode bidi", "printed halves", "ended by exit")
    some = [sitting for sitting in SITTINGS if sitting.name in kinds]
    assert len(some) == len(kinds)
    found = await differences(tmp_path, shell_process, "shell --json", some)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("words", [("serve", "--mcp", "--folder"), ("mcp", "--http")], ids=str)
async def test_some_sittings_are_the_same_at_the_commands(
    words: Sequence[str], tmp_path: Path
) -> None:
    set_limits()
    some = [sitting for sitting in SITTINGS if sitting.name in ("forked by names", "many lines")]
    some += [ENDLESS, SLEEPY]
    assert len(some) == 4
    found = await differences(tmp_path, partial(command, words=words), "mcp", some)
    assert not found, "\n".join(found)


def set_limits() -> None:
    """Let the user's settings allow a script one second, and one megabyte."""
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text("[limits]\nseconds = 1\noutput_mb = 1\n")


@pytest.mark.early
@pytest.mark.parametrize("name", few(NAMES, *(name for name in NAMES if "legacy" not in name)))
async def test_the_limits_are_those_of_the_settings_at_each_door(name: str, tmp_path: Path) -> None:
    set_limits()
    for sitting in (ENDLESS, SLEEPY):
        moves, _ = expected(sitting)
        assert (moves[1].newest.reply or {})["error"]["exit_code"] == 4
    found = await differences(tmp_path, DOORS[name], name, [ENDLESS, SLEEPY])
    assert not found, "\n".join(found)
