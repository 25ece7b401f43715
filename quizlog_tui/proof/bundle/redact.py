"""Finds private texts in a bundle, and removes those that are not evidence.

Printed texts, answers and the source of the script are what a bundle proves, and stay as they are.
The other texts of the record can be cleaned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from ...record.document import to_mapping
from ...record.model import Record
from ...record.private_text import Privacy, PrivateFinding, is_private_file


def redacted(record: Record, privacy: Privacy) -> Record:
    """A record with placeholders for private texts in its stderr, remarks and notes."""
    branches = {
        name: replace(
            branch,
            note=privacy.clean_value(branch.note),
            extras=privacy.clean_value(branch.extras),
        )
        for name, branch in record.branches.items()
    }
    return replace(record, branches=branches, extras=privacy.clean_value(record.extras))


def private_in_record(record: Record, privacy: Privacy) -> list[PrivateFinding]:
    """The private texts in a record."""
    data = to_mapping(record)
    return [
        found
        for key, value in data.items()
        for found in privacy.find_in({key: value}, f"the record's {key}")
    ]


def private_in_files(files: Mapping[str, bytes], privacy: Privacy) -> Iterator[PrivateFinding]:
    """The private texts in the script and its files."""
    for name, data in files.items():
        if is_private_file(PurePosixPath(name).name):
            yield PrivateFinding("file", name, "the bundle")
        yield from privacy.find(data.decode("utf-8", "replace"), name)
