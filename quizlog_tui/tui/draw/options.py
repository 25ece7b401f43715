"""The options of a question, and the table that shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...replay.script.input_kinds import YESNO
from ...replay.script.input_type import InputType, listed_options
from ...text import one_line
from ..widgets.documents import Table, line

_YES_NO = re.compile(r"\b(yes|y)\b\W{0,3}(?:/|\||,|or)\W{0,3}\b(no|n)\b", re.I)


def options(question: str, kind: InputType) -> tuple[str, ...]:
    """The choices named in the question, or yes and no as the question spells them."""
    if kind.choices:
        return kind.choices
    if kind.name != YESNO:
        return ()
    written = _YES_NO.search(question)
    return (written[1], written[2]) if written else ("yes", "no")


def option_rows(options: Sequence[str], heard: str) -> tuple[str, ...]:
    """The row of each option: its line in the printed text, such as `a) red`."""
    lines = dict(listed_options(heard))
    return tuple(one_line(lines.get(option, option)) for option in options)


def option_table(rows: Sequence[str]) -> Table:
    """A table with one row per option; it keeps its own copy."""
    return Table(len(rows), lambda index: line(("  ", ""), rows[index], cut=True))
