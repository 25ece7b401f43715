"""Reads the text of a quiz script: its hash, comments, tags and partial scores.

The script is read once as bytes; no part of it is run or evaluated.
"""

from __future__ import annotations

import contextlib
import io
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import ScriptError
from ...files.regular_file import Stamp, hex_digest, read_regular, stamp_of
from . import NAMES
from .input_kinds import tags_in
from .interpreter import (
    OWN,
    Interpreter,
    chosen_interpreter_of,
    interpreter_of,
    when_a_chosen_one_lacks_a_module,
    when_a_module_is_missing,
)

if TYPE_CHECKING:
    from .scores import Score

MAX_BYTES = 64 * 1024 * 1024
"""Larger scripts are refused before they are read."""
_FOR_NAMES = ("punycode", "idna", "undefined")
"""Encodings that are not for whole texts: they take very long, or fail."""
_LONGEST_NUMBER = 10
"""Maximum digits of a line's number."""
_ASKED = rf"#\s*quizlog:\s*({'|'.join(NAMES)})\b"


@dataclass(frozen=True)
class Source:
    """One version of a quiz script."""

    path: Path
    """Absolute path of the script file."""
    data: bytes
    """The file's bytes, exactly as they will be run."""
    granted: frozenset[str] = frozenset()
    """The user's grants for what is there now, whether or not the script requests them."""
    surroundings: tuple[tuple[str, str], ...] = ()
    """What a run with a grant finds in the script's folder: see `script.surroundings`."""
    withheld: str = ""
    """Why a grant does not hold now, as `json.py is new since you allowed it`; empty if there is
    none."""
    in_place: bool = False
    """Whether its file is there, and perhaps an environment with its libraries near it."""

    @cached_property
    def interpreter(self) -> Interpreter:
        """What runs it.

        Raises:
            ConfigError: The interpreter that the user chose cannot be used.
        """
        if not self.in_place:
            return OWN
        if self.allowed:
            return chosen_interpreter_of(self.path)
        return interpreter_of(self.path, self.data)

    @property
    def missing_module_hint(self) -> str:
        """What to tell when it finds no module of some name."""
        if self.allowed:
            return when_a_chosen_one_lacks_a_module(self.path, self.interpreter)
        return when_a_module_is_missing(self.path, self.data, self.interpreter)

    @cached_property
    def code_hash(self) -> str:
        """`sha256:` and the hexadecimal digest of the bytes (the record's `code_hash`)."""
        return "sha256:" + hex_digest(self.data)

    @cached_property
    def lines(self) -> list[str]:
        """The text, line by line, undecodable bytes replaced."""
        return code_lines(self.data.decode(self._encoding, "replace"))

    @cached_property
    def _encoding(self) -> str:
        """As the first two lines declare it."""
        first = re.split(rb"\r\n|\r|\n", self.data, maxsplit=2)[:2]
        if any(b"coding" in line for line in first):
            import tokenize

            with contextlib.suppress(SyntaxError, LookupError, ValueError):
                found, _ = tokenize.detect_encoding(iter(first).__next__)
                b" ".decode(found)  # fails for what is no encoding of texts, as `hex`
                if found.replace("_", "-").lower() not in _FOR_NAMES:
                    return found
        return "utf-8-sig"

    @cached_property
    def text(self) -> str:
        """The lines, joined by newlines."""
        return "\n".join(self.lines)

    @property
    def comments(self) -> dict[int, str]:
        """The comment of each line that has one; a `#` inside a string is not a comment."""
        return self._read[0]

    @cached_property
    def _read(self) -> tuple[dict[int, str], list[tuple[int, int]]]:
        """The comments, and the first and last line of each statement, or of its head."""
        import tokenize

        comments: dict[int, str] = {}
        statements: list[tuple[int, int]] = []
        between = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
        first = 0
        try:
            lines = iter([f"{line}\n" for line in self.lines])
            for token in tokenize.generate_tokens(lambda: next(lines, "")):
                if token.type == tokenize.COMMENT:
                    comments[token.start[0]] = token.string
                elif token.type == tokenize.NEWLINE:
                    statements.append((first, token.start[0]))
                    first = 0
                elif token.type not in between:
                    first = first or token.start[0]
        except (SyntaxError, ValueError, tokenize.TokenError):
            pass  # what is before the error still counts
        return comments, statements

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """What the script requests in comments such as `#quizlog: real-clock`."""
        if b"quizlog:" not in self.data:
            return ()
        found = {match[1] for text in self.comments.values() for match in re.finditer(_ASKED, text)}
        return tuple(sorted(found))

    @cached_property
    def allowed(self) -> tuple[str, ...]:
        """What the script requests and the user has granted."""
        return tuple(name for name in self.asked if name in self.granted)

    @cached_property
    def refused(self) -> tuple[str, ...]:
        """What the script requests and was not granted."""
        return tuple(name for name in self.asked if name not in self.granted)

    @cached_property
    def version(self) -> str:
        """Identifies all that affects a run: the bytes, the grants in use and the interpreter.

        With a grant, also what the run finds in its folder.
        """
        by = () if self.interpreter == OWN else (self.interpreter.name, self.interpreter.version)
        found = (hex_digest(repr(self.surroundings).encode()),) if self.allowed else ()
        return " ".join((self.code_hash, *self.allowed, *found, *by))

    def line(self, number: int) -> str:
        """The text of line `number` (from 1), empty if there is none."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def excerpt(self, number: int, around: int = 2) -> list[tuple[int, str]]:
        """The existing lines around line `number`, each with its number."""
        found = range(max(number - around, 1), min(number + around, len(self.lines)) + 1)
        return [(each, self.lines[each - 1]) for each in found]

    def file(self, name: str) -> Source | None:
        """Another file of the script by its name relative to the folder; itself if it is empty.

        None if it is not a readable module below the folder, or too big: a script may claim any
        name, and files that are hidden from it must not be shown as its source.
        """
        return self if not name else _file_below(self.path.parent, name)

    def file_at(self, place: str) -> tuple[Source, int] | None:
        """The other file and the line that `FILE:LINE` means; None if there is none."""
        name, _, number = place.rpartition(":")
        known = name and number.isdecimal() and len(number) <= _LONGEST_NUMBER
        file = self.file(name) if known else None
        return None if file is None else (file, int(number))

    def at(self, place: str | None, line: int | None) -> tuple[Source, int | None]:
        """The file and line of a place; the script and `line` if it is not in another file."""
        return (self.file_at(place) if place else None) or (self, line)

    def tags(self, number: int) -> list[str]:
        """The input tags in the comment of line `number`, as `["matrix", "rows=4"]`."""
        if "#" not in self.line(number):
            return []
        return tags_in(self.comments.get(number, ""))

    def score(self, first: int, last: int) -> tuple[Score, int] | None:
        """The partial score that counts for some lines of a statement, and the line it is on.

        It may be on any line of the statement: formatters move comments. Of a statement with
        several, as a list of calls, the one on these lines counts. The body of a compound
        statement is no part of it.
        """
        from .scores import score_in  # only an error needs it

        # The script tells which lines they are, so they are only compared.
        start, end = self._statement(first) or (first, last)
        comments = [each for each in self.comments.items() if start <= each[0] <= end]
        found = [line for line, text in comments if score_in(text, wanted=True)]
        if not found:
            return self._misplaced_score(start, end)
        number = min(found, key=lambda line: (not first <= line <= last, line < first, line))
        score = score_in(self.comments[number], wanted=True)
        return score and (score, number)

    def _misplaced_score(self, start: int, end: int) -> tuple[Score, int] | None:
        """A score beside a statement: on a line of its own, or on the head of its block."""
        from .scores import MISPLACED, score_in

        for line in (start - 1, end + 1):
            head = self._statement(line)
            if head and (line > start or _indent(self.line(head[0])) >= _indent(self.line(start))):
                continue
            if score_in(self.comments.get(line, ""), wanted=False):
                return MISPLACED, line
        return None

    def _statement(self, line: int) -> tuple[int, int] | None:
        """The first and last line of the statement that a line belongs to."""
        statements = self._read[1]
        at = bisect_right(statements, line, key=lambda lines: lines[0]) - 1
        return statements[at] if at >= 0 and line <= statements[at][1] else None


def code_lines(text: str) -> list[str]:
    """The lines of a program's text as Python's tokenizer counts them.

    `str.splitlines` also splits at form feeds and at separators that may stand in a string.
    """
    return [line.removesuffix("\n") for line in io.StringIO(text, newline=None)]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def read_source(path: Path) -> Source:
    """Read a script, with nothing granted to it: see `granted`.

    Raises:
        ScriptError: The file is missing, a directory, not a regular file, too big, or unreadable.
    """
    try:
        return Source(path.absolute(), read_regular(path, MAX_BYTES), in_place=True)
    except FileNotFoundError:
        raise ScriptError("the script does not exist", where=str(path), hint=_HINT) from None
    except IsADirectoryError:
        raise ScriptError("is a directory, not a script", where=str(path), hint=_HINT) from None
    except OSError as error:
        raise ScriptError(f"cannot read: {error.strerror}", where=str(path)) from None


def read_script_of(record: Path, script: str) -> Source:
    """Read the script that a record names, with nothing granted to it.

    Args:
        record: The record's file.
        script: Its `script`: a path relative to the record.

    Raises:
        ScriptError: It cannot be read; the hint says what to do about the record.
    """
    try:
        return read_source(record.parent / script)
    except ScriptError as error:
        hint = f"put it back, or edit `script:` in {record}"
        raise ScriptError(error.message, where=error.where, hint=hint) from None


_HINT = "name a Python file"


def _file_below(folder: Path, name: str) -> Source | None:
    path = folder / name
    if _is_hidden(Path(name)) or not leads_to_module(path, folder):
        return None
    stamp = stamp_of(path)
    return _file_of(path, stamp) if stamp else None


def leads_to_module(path: Path, folder: Path) -> bool:
    """Whether a path, which may be a link, leads to a module below a folder.

    A link whose name is that of a module may lead to a hidden file or to one that holds keys.
    """
    try:
        real = path.resolve().relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return False
    if not path.suffix == real.suffix == ".py" or _is_hidden(real):
        return False
    return path.name == real.name or not _holds_keys(real)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _holds_keys(path: Path) -> bool:
    from ...record.private_text import is_private_file

    return is_private_file(path.name)


@lru_cache(64)
def _file_of(path: Path, stamp: Stamp) -> Source | None:
    """A file of a script; `stamp` tells its versions apart."""
    try:
        return Source(path, read_regular(path, MAX_BYTES))
    except OSError:
        return None
