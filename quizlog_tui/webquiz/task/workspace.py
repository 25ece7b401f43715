"""The folder of each task: files, log and result, some of which are kept until they expire.

Layout: `<base>/<id>/{files,task.log,result.json}`; `<base>/results/<id>/` has the record with its
script, decisions and the replies to requests of models from the start, and in the end all but the
files. Whatever is written passes
the task's redaction.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...files.durable import Draft, own_folder
from ...files.paths import decisions_path
from ...solver.models.cassettes import FETCHED
from ...solver.redaction import Redaction
from ...text import one_line
from ..net.address import safe_name

_RESULTS = "results"
LOG, RESULT, RECORD = "task.log", "result.json", "record.yaml"
_KEPT = (LOG, RESULT)
_ID = re.compile(r"[0-9a-f]{8,64}")
_FRESH = 60.0


@dataclass(frozen=True)
class Workspace:
    """The folder of one task."""

    folder: Path
    redaction: Redaction

    @property
    def log(self) -> Path:
        """The file of the task's log."""
        return self.folder / LOG

    @property
    def record(self) -> Path:
        """The file of the task's record, during the task and after."""
        return record_of(self.folder.parent, self.folder.name)

    @property
    def decisions(self) -> Path:
        """The file of the task's decisions, next to its record."""
        return decisions_path(self.record)

    @property
    def fetched(self) -> Path:
        """The folder of replies to requests of models, next to its record."""
        return self.record.parent / FETCHED

    def page_folder(self, number: int, name: str) -> Path:
        """A new folder for exactly the files of a page that code may read."""
        folder = self.folder / "files" / f"{number:02d}-{safe_name(name)}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def note(self, line: str) -> None:
        """Add a line to the log."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(f"{now} {one_line(self.redaction.clean(line))[:4000]}\n")

    def write_result(self, data: dict[str, Any]) -> None:
        """Write `result.json` atomically."""
        text = json.dumps(self.redaction.clean_value(data), ensure_ascii=False, indent=1)
        with Draft(self.folder / RESULT, text.encode("utf-8", "replace")) as draft:
            draft.put()


def create_workspace(base: Path, task: str, redaction: Redaction) -> Workspace:
    """The folder of a task, readable by its owner only; an existing one is reused.

    Raises:
        ConfigError: The folder of all tasks is not this user's alone.
        UsageError: A folder cannot be made.
    """
    if not _ID.fullmatch(task):
        raise UsageError("is not a task id", where=task[:80])
    own_folder(base)
    try:
        (base / _RESULTS).mkdir(exist_ok=True, mode=0o700)
        folder = base / task
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / "files").mkdir(exist_ok=True)
        _results_folder(base, task).mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise UsageError(f"cannot make folders: {error.strerror}", where=str(base)) from None
    return Workspace(folder, redaction)


def _results_folder(base: Path, task: str) -> Path:
    """The folder of a task's results, which outlives its workspace."""
    return base / _RESULTS / task


def record_of(base: Path, task: str) -> Path:
    """The record of a task."""
    return _results_folder(base, task) / RECORD


def cleanup_task_workspace(workspace: Workspace, *, keep: bool = False) -> None:
    """Store the results of a task, and remove its workspace unless told to keep it."""
    kept = _results_folder(workspace.folder.parent, workspace.folder.name)
    for name in _KEPT:
        if (workspace.folder / name).exists():
            shutil.copy2(workspace.folder / name, kept / name)
    if not keep:
        shutil.rmtree(workspace.folder, ignore_errors=True)


def sweep(base: Path, hours: float, busy: frozenset[str] = frozenset()) -> None:
    """Remove workspaces and results older than `hours`, but for those of `busy` tasks."""
    limit = time.time() - max(hours * 3600, _FRESH)
    for folder in [*_tasks(base), *_tasks(base / _RESULTS)]:
        with contextlib.suppress(OSError):
            if folder.name not in busy and folder.stat().st_mtime < limit:
                shutil.rmtree(folder, ignore_errors=True)


def _tasks(base: Path) -> Iterator[Path]:
    """The folders of tasks; anything else in a shared folder must not be removed."""
    with contextlib.suppress(OSError):
        for folder in sorted(base.iterdir()):
            if _ID.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
                yield folder
