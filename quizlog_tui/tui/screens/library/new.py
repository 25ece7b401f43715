"""Asks for a script and a seed, and writes a record for them."""

from __future__ import annotations

import contextlib
import os
import random
import re
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

from ....errors import QuizlogError, UsageError
from ....files.paths import typed_path
from ....replay.replayer import Replayer
from ....session import new_record as rules
from ....session.session import Session
from ..base import QuizlogScreen
from ..dialogs import AskScreen


async def new_record(screen: QuizlogScreen[Any], replayer: Replayer) -> Path | None:
    """Ask until a record can be written; None if the user cancels.

    Args:
        screen: Asks, and shows errors.
        replayer: Runs the script up to its first question.
    """
    app, script = screen.app, ""
    seed = str(random.SystemRandom().randrange(10**6))
    while True:
        wanted = await app.push_screen_wait(AskScreen("New record for which script?", script))
        if not wanted:
            return None
        script = wanted
        wanted = await app.push_screen_wait(AskScreen("Seed for random numbers?", seed))
        if wanted is None:
            return None
        seed = wanted
        made = await screen.slow_work.run(
            partial(_create_record, script, seed, replayer), "writing"
        )
        if made is not None:
            return made


def _create_record(script: str, seed: str, replayer: Replayer) -> Path:
    """Write a record beside a script, under the first free name, with the script's first stop.

    Raises:
        UsageError: The seed is not a whole number.
        ScriptError: The script cannot be read, or is a record itself.
        RecordError: The record cannot be written.
    """
    if not re.fullmatch(r"\s*-?\d{1,18}\s*", seed):
        raise UsageError(f"the seed {seed!r} is not a whole number", hint="such as 123456")
    path = typed_path(script)
    rules.read_new_script(path)
    names = chain([path.stem], (f"{path.stem}-{number}" for number in count(2)))
    free = (path.with_name(f"{name}.yaml") for name in names)
    record = next(each for each in free if not os.path.lexists(each))
    rules.new_record(path, record, int(seed))
    # Whatever goes wrong is told when the record is opened, which is what comes next.
    with contextlib.suppress(QuizlogError), Session(record, replayer) as session:
        session.save()
    return record
