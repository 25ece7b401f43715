"""Reports private text in files that are made for others."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ..record.private_text import PrivateFinding, listed
from ..text import one_line
from .grammar import Parser


def add_redact(parser: Parser) -> None:
    """Add the option of a command that makes a file for others."""
    about = "remove what names this machine or looks like a secret"
    parser.add_argument("--redact", action="store_true", help=about)


def tell_private(findings: Sequence[PrivateFinding], head: str) -> None:
    """List private text on stderr below a heading."""
    if findings:
        print(f"-- {head}:", file=sys.stderr)
    for line in listed(findings):
        print(f"   {one_line(line)}", file=sys.stderr)


def private_data(findings: Sequence[PrivateFinding], *, removed: bool) -> list[dict[str, Any]]:
    """The findings as data for JSON."""
    return [found._asdict() | {"removed": removed} for found in findings]
