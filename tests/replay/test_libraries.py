"""Libraries in C that ask the system for the time: held where that can be done, else found out."""

from __future__ import annotations

import platform
import sys
from datetime import date, timedelta
from pathlib import Path

import numpy  # noqa: F401  its library is looked at
import pytest

from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.worker.fixed import libraries
from quizlog_tui.replay.worker.fixed.libraries import FIXED_LIBRARIES
from quizlog_tui.replay.worker.fixed.native import MACHINE
from quizlog_tui.replay.world import World, start_of
from quizlog_tui.session.session import Session
from tests.support.build import Build

pytestmark = pytest.mark.skipif(not libraries.readable(), reason="needs Linux on a known machine")
known_code = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != MACHINE, reason=f"needs {MACHINE}"
)


def test_numpy_tells_the_time_of_the_world_and_keeps_its_types(build: Build) -> None:
    script = build.script(
        """
        import numpy, pickle, time
        now = numpy.datetime64("now")
        print(now, numpy.datetime64("today"), numpy.datetime64("now", "ms"))
        print(numpy.array(["now", "2020-02-29"], "M8[D]"), numpy.datetime64("2021-03-04"))
        print(type(now) is numpy.datetime64, isinstance(now, numpy.generic), now.dtype)
        print(pickle.loads(pickle.dumps(now)) == now, numpy.datetime64("NaT"))
        time.sleep(86400)
        print(numpy.datetime64("today"))
        """
    )
    run = replay(script, World(1, start_of("2026-05-01T10:00:00Z")), [])
    assert run.print == (
        "2026-05-01T10:00:00 2026-05-01 2026-05-01T10:00:00.000",
        "['2026-05-01' '2020-02-29'] 2021-03-04",
        "True True datetime64[s]",
        "True NaT",
        "2026-05-02",
    )


def test_a_copy_of_a_run_goes_on_with_the_same_time(build: Build) -> None:
    script = build.script(
        """
        import numpy, time
        while True:
            time.sleep(len(input(f"{numpy.datetime64('now')}? ")))
        """
    )
    with Replayer() as replayer:
        replayer.replay(script, 1, ["a", "bb", "ccc"])
        rewound = replayer.replay(script, 1, ["a", "dddd"])
    assert rewound == replay(script, 1, ["a", "dddd"])


@known_code
def test_a_library_that_shows_the_real_time_is_found_out(build: Build) -> None:
    pytest.importorskip("pydantic_core")
    day = date.today() - timedelta(days=365)
    source = f"""
        from pydantic_core import SchemaValidator, core_schema
        input("which day? ")
        past = SchemaValidator(core_schema.date_schema(now_op="past"))
        print(past.isinstance_python({day.isoformat()!r}))
        """
    with Session(build.record(source)) as session:
        session.answer("that")
        found = session.verify()
    assert (found.verdict, found.step, found.cause) == ("fragile", 1, "clock")
    assert "edited" not in str(found.reason)


def test_the_functions_that_a_library_calls_are_found(tmp_path: Path) -> None:
    module = next(sys.modules[name] for name in FIXED_LIBRARIES if name in sys.modules)
    found = list(libraries.places(str(module.__file__), ["time", "no_such_function"]))
    assert {name for name, _ in found} == {"time"} and all(at > 0 for _, at in found)
    other = tmp_path / "text.so"
    other.write_text("no library, though long enough for a header " * 9)
    assert list(libraries.places(str(other), ["time"])) == []
    head = Path(str(module.__file__)).read_bytes()[:64]
    other.write_bytes(head[:40] + (64).to_bytes(8, "little") + head[48:] + b"cut off")
    with pytest.raises(libraries.Unreadable):
        list(libraries.places(str(other), ["time"]))
