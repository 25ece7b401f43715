"""Small scripts and records, made where a test needs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile


@dataclass(frozen=True)
class Build:
    folder: Path
    dedent: Callable[[str], str]

    @property
    def outside(self) -> Path:
        """A folder beside that of the scripts, which they cannot reach where they are shut in."""
        path = self.folder.with_name(f"{self.folder.name}-outside")
        path.mkdir(exist_ok=True)
        return path

    def script(self, source: str, name: str = "quiz.py") -> Path:
        path = self.folder / name
        path.write_text(self.dedent(source).lstrip("\n"), encoding="utf-8")
        return path

    def record(self, source: str, *inputs: str, seed: int = 7, name: str = "record.yaml") -> Path:
        script = self.script(source)
        path = self.folder / name
        RecordFile(path).create(Record(script.name, seed, AppendOnlyList(inputs), len(inputs)))
        return path
