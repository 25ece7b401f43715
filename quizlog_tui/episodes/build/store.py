"""Putting episodes into a file that may hold some: each once, none lost to one that knows less."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import EpisodeError
from ...record.lock import locked
from ..format.lines import to_line
from ..read.files import write_lines
from ..read.reading import LineError, lines, parse

Data = dict[str, Any]


class Put(NamedTuple):
    """What became of episodes that were put into a file."""

    added: int
    """Those it did not have."""
    known: int
    """Those it had, also as the unfinished run they grew from."""
    lowered: int
    """Those of them that were verified before and are no longer."""
    kept: int
    """Those of them that stay as they were: verified, by runs that the new ones do not know."""


def put_episodes(path: Path, episodes: Iterable[Data]) -> Put:
    """Put episodes into a file that may exist: known ids are replaced, the rest stays or is added.

    A verified episode gives way to one that is not verified only if that knows all of its runs. The
    line of a run that was unfinished gives way to what became of it.

    Raises:
        EpisodeError: The file cannot be read or written, or holds a line that is no episode;
            nothing was changed.
        LockedError: Another process writes it.
    """
    merge = _Merge(episodes)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EpisodeError(f"cannot write: {error.strerror}", where=str(path)) from None
    with locked(path):
        write_lines(path, merge.lines(path))
    return merge.result()


class _Merge:
    """The lines of a file with new episodes among them, and what became of these."""

    def __init__(self, episodes: Iterable[Data]) -> None:
        self._new = {episode["episode_id"]: episode for episode in episodes}
        self._by_run: dict[Any, list[Data]] = defaultdict(list)
        for episode in self._new.values():
            if (run := _run_of(episode)) is not None:
                self._by_run[run].append(episode)
        self._known: set[str] = set()
        self._counts: Counter[str] = Counter()

    def lines(self, path: Path) -> Iterator[str]:
        """All lines, those that stay byte for byte as they are."""
        for number, line in lines(path) if path.exists() else ():
            old = _parsed(line, f"{path}:{number}")
            fresh = self._new.get(old["episode_id"])
            if fresh is None:
                if not self._grown(old):
                    yield line.decode("utf-8")
            elif old["episode_id"] not in self._known:
                self._known.add(old["episode_id"])
                yield line.decode("utf-8") if self._stays(old, fresh) else to_line(fresh)
        yield from (to_line(one) for name, one in self._new.items() if name not in self._known)

    def _grown(self, old: Data) -> bool:
        """Whether one of the new episodes is what became of an unfinished one."""
        heirs = [one for one in self._by_run.get(_run_of(old), ()) if grew_from(one, old)]
        self._counts["grown"] += bool(heirs)
        return bool(heirs)

    def _stays(self, old: Data, fresh: Data) -> bool:
        if old.get("verified") is not True or fresh["verified"]:
            return False
        stays = not knows_all_of(fresh, old)
        self._counts["kept" if stays else "lowered"] += 1
        return stays

    def result(self) -> Put:
        """What became of the new episodes, once all lines are written."""
        known = len(self._known) + self._counts["grown"]
        added = len(self._new) - known
        return Put(added, known, self._counts["lowered"], self._counts["kept"])


def knows_all_of(new: Data, old: Data) -> bool:
    """Whether an episode has every run of another one of the same gold run.

    What was made by other rules does not count: some of its runs may be none any more.
    """
    exporters = {_metadata(one["teacher_gold_trace"]).get("exporter") for one in (new, old)}
    return len(exporters) > 1 or not _answered(old) - _answered(new)


def grew_from(new: Data, old: Data) -> bool:
    """Whether a run went on where that of another episode, not finished, had come to.

    Both are of one execution.
    """
    before, after = old["teacher_gold_trace"], new["teacher_gold_trace"]
    accepted = before.get("code_cells")
    if before.get("execution_success") is not False or not isinstance(accepted, list):
        return False
    inputs = _metadata(before).get("inputs")
    shared = inputs[: len(accepted)] if isinstance(inputs, list) else None
    return bool(shared == _metadata(after)["inputs"][: len(accepted)])


def _run_of(episode: Data) -> tuple[str, ...] | None:
    """What names the script, the seed and the execution of the gold run."""
    told = _metadata(episode["teacher_gold_trace"])
    names = [told.get(name) for name in ("code_hash", "seed", "execution_id")]
    return None if names[-1] is None else tuple(map(str, names))


def _answered(episode: Data) -> Counter[str]:
    """The answers of each consistency run, with how many runs gave them."""
    traces = episode.get("consistency_traces")
    found = traces if isinstance(traces, list) else []
    return Counter(str(_metadata(trace).get("inputs")) for trace in found)


def _metadata(trace: Any) -> Data:
    told = trace.get("submission_metadata") if isinstance(trace, dict) else None
    return told if isinstance(told, dict) else {}


def _parsed(line: bytes, where: str) -> Data:
    """The episode of a line, whatever its form."""
    try:
        found = parse(line)
    except LineError as error:
        hint = "mend or remove that line, or choose another file with -o"
        raise EpisodeError(str(error), where=where, hint=hint) from None
    if not isinstance(found.get("episode_id"), str) or "teacher_gold_trace" not in found:
        hint = "episodes are added only to a file of episodes: choose another one with -o"
        raise EpisodeError("is no episode", where=where, hint=hint)
    return found
