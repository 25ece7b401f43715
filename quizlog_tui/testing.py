"""A pytest fixture for tests of one's own records: what the screen shows, compared with a file.

Loaded by pytest as a plugin, so it imports nothing heavy until a test asks for a picture.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

_MOST = 40
"""Characters of the keys' names in a file's name."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that writes the files."""
    group = parser.getgroup("quizlog")
    about = "write the golden screens instead of comparing with them"
    group.addoption("--quizlog-update", action="store_true", help=about)


@pytest.fixture
def quizlog_screen(request: pytest.FixtureRequest) -> Screens:
    """Renders a record's screen at a step and compares it with `golden/` beside the test."""
    update = bool(request.config.getoption("--quizlog-update"))
    return Screens(request.path.parent / "golden", request.node.name, update)


class Screens:
    """What the fixture gives: call it to compare, `render` only to look.

    Args:
        folder: Where the golden files are.
        test: The test's name, from which theirs are made.
        update: Write them instead of comparing.
    """

    def __init__(self, folder: Path, test: str, update: bool) -> None:
        self._folder = folder
        self._test = _word(test)
        self._update = update
        self._calls: dict[Path, tuple[object, ...]] = {}

    def render(self, record: str | Path, step: int | None = None, **options: Any) -> Any:
        """The picture, with `text` and `svg`; options as of `quizlog_tui.tui.picture.picture`."""
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
        """Fail, with a readable difference, unless the screen is as in the golden file.

        The file is named for the test, the step, the keys, the theme and the size.

        Args:
            record: The record file; it is not written.
            step: The step to look at; the pointer if None.
            size: Columns and rows.
            theme: Name of a theme; quizlog's own if None.
            keys: Keys to press first.
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
        """Fail if another call of this test has the same file."""
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
            pytest.fail(f"{path} is not there; --quizlog-update writes it:\n{text}", pytrace=False)
        golden = path.read_text(encoding="utf-8")
        if golden != shown:
            pytest.fail(f"the screen is not as in {path}:\n{_difference(golden, shown)}", False)


def _word(text: str) -> str:
    """A text as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-")


def _keys_word(keys: Sequence[str]) -> str:
    """Keys as part of a file's name; many are cut, with a digest that tells them apart."""
    word = _word("-".join(keys))
    if len(word) <= _MOST:
        return word
    return f"{word[:_MOST]}-{hashlib.sha256(repr(tuple(keys)).encode()).hexdigest()[:8]}"


def _difference(golden: str, shown: str) -> str:
    lines = difflib.unified_diff(
        golden.splitlines(), shown.splitlines(), "golden", "shown", lineterm="", n=1
    )
    return "\n".join(lines) + "\n(--quizlog-update takes the new one)"
