"""Stores episodes in a file that may contain some: each once, none replaced by a weaker one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...errors import EpisodeError
from ...record.lock import locked
from ..format.hashing import to_line
from ..read.files import LineError, lines, parse, refuse_place, write_lines

if TYPE_CHECKING:
    from ..format.hashing import JsonObject
    from ..format.schema import Episode


class StoreResult(NamedTuple):
    """The result of storing episodes in a file."""

    added: int
    """Number of episodes that are new in the file."""
    known: int
    """Number of episodes it had already, possibly as the unfinished run that they continue."""
    lowered: int
    """Number of known episodes that are no longer verified."""
    kept: int
    """Number of known episodes left unchanged, verified by runs that the new ones lack."""


def store_episodes(path: Path, episodes: Iterable[Episode]) -> StoreResult:
    """Store episodes in a file: known ids are replaced, new ones added, all others kept.

    A verified episode is replaced by an unverified one only if that has all of its runs. The
    episode of an unfinished run is replaced by one of the same run that got further.

    Raises:
        EpisodeError: The file cannot be read or written, or has a line that is not an episode;
            nothing was changed.
        LockedError: Another process writes it.
    """
    merge = _Merge(episodes)
    refuse_place(path)  # before a lock file is made beside what a link leads to
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EpisodeError(f"cannot write: {error.strerror}", where=str(path)) from None
    with locked(path):
        write_lines(path, merge.lines(path))
    return merge.result()


class _Merge:
    """Merges new episodes into the lines of a file, and counts what happens to them."""

    def __init__(self, episodes: Iterable[Episode]) -> None:
        self._new = {episode["episode_id"]: episode for episode in episodes}
        self._by_run: dict[tuple[str, ...] | None, list[Episode]] = defaultdict(list)
        for episode in self._new.values():
            if (run := _run_of(episode)) is not None:
                self._by_run[run].append(episode)
        self._known: set[str] = set()
        self._counts: Counter[str] = Counter()

    def lines(self, path: Path) -> Iterator[str]:
        """All lines of the merged file; kept ones are unchanged byte for byte."""
        for number, line in lines(path) if path.exists() else ():
            name, old = _parsed(line, f"{path}:{number}")
            fresh = self._new.get(name)
            if fresh is None:
                if not self._grown(old):
                    yield line.decode("utf-8")
            elif name not in self._known:
                self._known.add(name)
                yield line.decode("utf-8") if self._stays(old, fresh) else to_line(fresh)
        yield from (to_line(each) for name, each in self._new.items() if name not in self._known)

    def _grown(self, old: JsonObject) -> bool:
        """Whether one of the new episodes continues the unfinished run of an old one."""
        heirs = [each for each in self._by_run.get(_run_of(old), ()) if _grew_from(each, old)]
        self._counts["grown"] += bool(heirs)
        return bool(heirs)

    def _stays(self, old: JsonObject, fresh: Episode) -> bool:
        if old.get("verified") is not True or fresh["verified"]:
            return False
        stays = not _knows_all_of(fresh, old)
        self._counts["kept" if stays else "lowered"] += 1
        return stays

    def result(self) -> StoreResult:
        """The counts, once all lines are written."""
        known = len(self._known) + self._counts["grown"]
        added = len(self._new) - known
        return StoreResult(added, known, self._counts["lowered"], self._counts["kept"])


def _knows_all_of(new: Episode, old: JsonObject) -> bool:
    """Whether an episode has every run of another episode with the same gold run.

    It counts as having them if the other was built by other rules, by which runs may have changed.
    """
    exporters = {_metadata(each["teacher_gold_trace"]).get("exporter") for each in (new, old)}
    return len(exporters) > 1 or not _answered(old) - _answered(new)


def _grew_from(new: Episode, old: JsonObject) -> bool:
    """Whether the gold run of an episode continues the unfinished one of another.

    Both must be of one execution.
    """
    before, after = old["teacher_gold_trace"], new["teacher_gold_trace"]
    if not isinstance(before, dict) or before.get("execution_success") is not False:
        return False
    accepted, inputs = before.get("code_cells"), _metadata(before).get("inputs")
    grown = _metadata(after)["inputs"]
    if not (isinstance(accepted, list) and isinstance(inputs, list) and isinstance(grown, list)):
        return False
    return inputs[: len(accepted)] == grown[: len(accepted)]


def _run_of(episode: Mapping[str, object]) -> tuple[str, ...] | None:
    """The script, seed and execution of the gold run; None if the execution is unknown."""
    metadata = _metadata(episode["teacher_gold_trace"])
    names = [metadata.get(name) for name in ("code_hash", "seed", "execution_id")]
    return None if names[-1] is None else tuple(map(str, names))


def _answered(episode: Mapping[str, object]) -> Counter[str]:
    """The answers of the consistency runs, each with the number of runs that gave them."""
    traces = episode.get("consistency_traces")
    found = traces if isinstance(traces, list) else []
    return Counter(str(_metadata(trace).get("inputs")) for trace in found)


def _metadata(trace: object) -> JsonObject:
    metadata = trace.get("submission_metadata") if isinstance(trace, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _parsed(line: bytes, where: str) -> tuple[str, JsonObject]:
    """The id of the episode on a line, and the episode, whatever its version."""
    try:
        found = parse(line)
    except LineError as error:
        hint = "fix or remove that line, or choose another file with -o"
        raise EpisodeError(str(error), where=where, hint=hint) from None
    name = found.get("episode_id")
    if not isinstance(name, str) or "teacher_gold_trace" not in found:
        hint = "episodes are added only to a file of episodes: choose another one with -o"
        raise EpisodeError("is not an episode", where=where, hint=hint)
    return name, found
