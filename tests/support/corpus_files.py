"""Scripts after public patterns, one a file of `tests/corpus`: its files, arguments, answers, run.

A file has sections that begin with `=== NAME`: the script `quiz.py` and its other files, `args` and
`answers` (one a line), and `run`: what the script shows with them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "corpus"
_HEAD = re.compile(r"^=== (.+)\n", re.M)
_DATA = ("args", "answers", "run")


@dataclass(frozen=True)
class CorpusScript:
    path: Path
    files: dict[str, str]
    args: tuple[str, ...]
    answers: tuple[str, ...]
    run: str

    def unpack(self, folder: Path) -> Path:
        """Write its files; the path of the script."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return folder / "quiz.py"

    def keep(self, run: str) -> None:
        """Write another run to its file."""
        text = self.path.read_text(encoding="utf-8").partition("=== run\n")[0]
        self.path.write_text(f"{text}=== run\n{run}", encoding="utf-8")


def read_script(path: Path) -> CorpusScript:
    _, *parts = _HEAD.split(path.read_text(encoding="utf-8"))
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    files = {name: text for name, text in sections.items() if name not in _DATA}
    args, answers = (tuple(sections.get(name, "").splitlines()) for name in ("args", "answers"))
    return CorpusScript(path, files, args, answers, sections.get("run", ""))
