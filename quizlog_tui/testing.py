"""A pytest fixture that compares the screen of a record with a golden file.

pytest loads this module as a plugin, so it imports nothing heavy until a test asks for a screen.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

_MAX_KEYS = 40
"""Maximum number of characters that the pressed keys take in a file name."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes the golden files."""
    group = parser.getgroup("quizlog")
    about = "write the golden screens instead of comparing with them"
    group.addoption("--quizlog-update", action="store_true", help=about)


@pytest.fixture
def quizlog_screen(request: pytest.FixtureRequest) -> Screens:
    """Compare a record's screen at a step with a file in `golden/` next to the test."""
    update = bool(request.config.getoption("--quizlog-update"))
    return Screens(request.path.parent / "golden", request.node.name, update)


class Screens:
    """The fixture's value: call it to compare a screen, use `render` only to get one.

    Args:
        folder: The folder of the golden files.
        test: The test's name, which the file names start with.
        update: Write the files instead of comparing.
    """

    def __init__(self, folder: Path, test: str, update: bool) -> None:
        self._folder = folder
        self._test = _word(test)
        self._update = update
        self._calls: dict[Path, tuple[object, ...]] = {}

    def render(self, record: str | Path, step: int | None = None, **options: Any) -> Any:
        """The picture, with `text` and `svg`; options as for `quizlog_tui.tui.picture.picture`."""
        from .tui.picture import picture

        return picture(record, step, **options)

    def __call__(
        self,
        record: str | Path,
        step: int | None = None,
        *,
        size: tuple[int, int] = (80, 24),
        theme: str | None = None,
        keys: Sequence[str] = (),
        form: str = "txt",
    ) -> None:
        """Fail with a readable diff unless the screen equals the golden file.

        The file's name consists of the test, the step, the keys, the theme and the size.

        Args:
            record: The record file; it is only read.
            step: The step to show; the pointer if None.
            size: Columns and rows.
            theme: Name of a theme; the default theme if None.
            keys: Keys to press before the screen is taken.
            form: `txt`, or `svg` to compare colours as well.
        """
        options: dict[str, Any] = {"size": size, "keys": keys}
        if theme is not None:
            options["theme"] = theme
        shown = self.render(record, step, **options)
        parts = (self._test, step, _keys_word(keys), theme, f"{size[0]}x{size[1]}")
        name = "-".join(_word(str(part)) for part in parts if part not in (None, ""))
        path = self._folder / f"{name}.{form}"
        self._claim(path, (str(record), step, tuple(keys), theme))
        self._compare(path, shown.svg if form == "svg" else shown.text, shown.text)

    def _claim(self, path: Path, call: tuple[object, ...]) -> None:
        """Fail if another call in this test uses the same file."""
        __tracebackhide__ = True
        if self._calls.setdefault(path, call) != call:
            hint = "take the second picture in a test of its own"
            pytest.fail(f"two different pictures would share {path}; {hint}", pytrace=False)

    def _compare(self, path: Path, shown: str, text: str) -> None:
        __tracebackhide__ = True
        if self._update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(shown, encoding="utf-8")
            return
        if not path.exists():
            pytest.fail(f"{path} is missing; --quizlog-update writes it:\n{text}", pytrace=False)
        golden = path.read_text(encoding="utf-8")
        if golden != shown:
            pytest.fail(f"the screen differs from {path}:\n{_difference(golden, shown)}", False)


def _word(text: str) -> str:
    """A text as part of a file name."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-")


def _keys_word(keys: Sequence[str]) -> str:
    """Keys as part of a file name; a long list is cut and gets a digest that keeps it unique."""
    word = _word("-".join(keys))
    if len(word) <= _MAX_KEYS:
        return word
    return f"{word[:_MAX_KEYS]}-{hashlib.sha256(repr(tuple(keys)).encode()).hexdigest()[:8]}"


def _difference(golden: str, shown: str) -> str:
    lines = difflib.unified_diff(
        golden.splitlines(), shown.splitlines(), "golden", "shown", lineterm="", n=1
    )
    return "\n".join(lines) + "\n(--quizlog-update accepts the new screen)"
