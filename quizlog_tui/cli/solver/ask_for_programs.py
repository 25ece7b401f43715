"""Asks at a terminal whether the programs beside a models file may be started."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from ...text import one_line

if TYPE_CHECKING:
    from ...solver.models.choice import Choice


def ask_for_programs(choice: Choice, arguments: Namespace) -> None:
    """Ask about each program that the user has not allowed yet, and remember a yes.

    Raises:
        ConfigError: The user said no, or nobody can be asked.
    """
    from ...solver.models.models import allow_program, programs_to_allow, refused

    if choice.models is None or choice.replay is not None:
        return
    can_ask = sys.stdin.isatty() and sys.stderr.isatty() and not arguments.json
    for program in programs_to_allow(choice.models):
        said = one_line(f"{choice.models.absolute()} names the program {program}.")
        if not (can_ask and _says_yes(f"{said}\nMay it run, as you and not confined? [y/N]")):
            raise refused(choice.models, program)
        allow_program(choice.models, program)


def _says_yes(question: str) -> bool:
    print(question, end=" ", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
