"""What commands that make files for others say of private things in them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ..record.private_text import PrivateFinding, listed
from ..text import one_line
from .grammar import Parser


def add_redact(parser: Parser) -> None:
    """The option of a command whose file goes to others."""
    about = "take out what names this machine or looks like a secret"
    parser.add_argument("--redact", action="store_true", help=about)


def tell_private(findings: Sequence[PrivateFinding], head: str) -> None:
    """List on stderr what is private, below a line that says what about it."""
    if findings:
        print(f"-- {head}:", file=sys.stderr)
    for line in listed(findings):
        print(f"   {one_line(line)}", file=sys.stderr)


def private_data(findings: Sequence[PrivateFinding], *, removed: bool) -> list[dict[str, Any]]:
    """The same as data for JSON."""
    return [found._asdict() | {"removed": removed} for found in findings]
