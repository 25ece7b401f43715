"""The digests of a script's other files in a record (`file_hashes`, beside `code_hash`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .model import Record

KEY = "file_hashes"


def with_file_hashes(extras: Mapping[str, Any], hashes: Mapping[str, str]) -> dict[str, Any]:
    """The extras of a record with these digests; without the key if there are none."""
    others = {key: value for key, value in extras.items() if key != KEY}
    return {**others, KEY: dict(hashes)} if hashes else others


def edited_files(record: Record, now: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Names of the files that are not as recorded, each with `edited`, `new` or `missing`.

    Args:
        record: The record; nothing is known about one without digests.
        now: The digests now.
    """
    then = record.extras.get(KEY)
    if not isinstance(then, dict):
        return
    for name in sorted({*then, *now}):
        if name not in now:
            yield str(name), "missing"
        elif name not in then:
            yield name, "new"
        elif then[name] != now[name]:
            yield name, "edited"
