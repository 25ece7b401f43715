"""Runs pytest, and then what failed once more, alone: `python tests/once_more.py [ARG...]`.

Arguments go to pytest. A test that fails first and passes then does not make the run red, but its
last lines name it, so that it is mended and not forgotten. The exit code is pytest's; 1 means that
a test failed twice, or that more than `MOST_FLAKY` tests are flaky.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

MOST_FLAKY = 3
"""More tests that fail once than this are no bad luck: the run is red."""
WRONG_CALL = 4
"""pytest's exit code if it does not understand how it was called."""
TESTS_FAILED = 1
"""pytest's exit code if tests failed; with others (interrupted, a wrong call) nothing is repeated."""


@dataclass(frozen=True)
class Outcomes:
    """What a run of pytest said: names of tests that passed, and a line for each that failed."""

    code: int
    passed: frozenset[str]
    failed: dict[str, str]
    stopped: bool = False
    """Whether it ended before all tests, as with `-x`."""


def main(arguments: list[str]) -> int:
    """Run the tests, repeat what failed, and tell how it ended."""
    if missing := [name for name in arguments if _is_missing(name)]:
        print(f"tests/run: there is no {missing[0].partition('::')[0]}", file=sys.stderr)
        return WRONG_CALL
    signal.signal(signal.SIGINT, lambda *_: None)  # pytest ends by it, and is waited for
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = _run([*_bar(), *arguments], folder / "first.json")
        if first.code != TESTS_FAILED or first.stopped or not first.failed:
            return first.code
        print(f"\nonce more, alone: {len(first.failed)} that failed", flush=True)
        second = _run(_alone(first, folder / "only.json"), folder / "second.json")
    if second.code not in (0, TESTS_FAILED):
        return second.code
    return verdict(first, second)


def _is_missing(argument: str) -> bool:
    """Whether an argument names a test where there is none: workers of pytest-xdist do not say so."""
    return argument.startswith("tests/") and not Path(argument.partition("::")[0]).exists()


def _bar() -> list[str]:
    """Options for a bar, where a person watches."""
    return ["--bar", "-o", "console_output_style=classic"] if sys.stdout.isatty() else []


def verdict(first: Outcomes, second: Outcomes) -> int:
    """The exit code of both runs together; prints a line for each test that failed."""
    flaky = sorted(first.failed.keys() & second.passed)
    twice = sorted(first.failed.keys() - second.passed)
    for name in twice:
        print(f"failed twice: {name} ({second.failed.get(name) or first.failed[name]})")
    if len(flaky) > MOST_FLAKY:
        print(f"red: {len(flaky)} tests are flaky, and at most {MOST_FLAKY} may be")
    for name in flaky:
        print(f"flaky: {name} (first failure: {first.failed[name]})")
    return TESTS_FAILED if twice or len(flaky) > MOST_FLAKY else 0


def _alone(first: Outcomes, only: Path) -> list[str]:
    """Arguments for a run of these tests only, whatever chose them before, one after the other.

    They have a process beside that of pytest: one that ends it is known by name, and the next runs.
    """
    only.write_text(json.dumps(sorted(first.failed)), encoding="utf-8")
    files = sorted({name.partition("::")[0] for name in first.failed})
    return ["-n1", "-m", "", f"--only={only}", *files]


def _run(arguments: list[str], target: Path) -> Outcomes:
    command = [sys.executable, "-m", "pytest", f"--outcomes={target}", *arguments]
    code = subprocess.call(command)
    if not target.exists():
        return Outcomes(code if code >= 0 else 128 - code, frozenset(), {})
    told = json.loads(target.read_text(encoding="utf-8"))
    return Outcomes(code, frozenset(told["passed"]), told["failed"], told["stopped"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
