"""Exports an episodes file as rows for trainers, folders of files, or packages.

Only verified episodes are exported unless all are requested. Episodes are processed one at a time,
so that the file may have any size.

A format is a function from an episode to its rows. Values of varying type are JSON text, so that
loaders leave them unchanged. A student is shown neither the hint nor the gold answer, except where
the format is meant for that. A preference pair asserts that an answer is wrong at its place, so it
is made only if that is known.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ..errors import EpisodeError
from ..files.durable import FileKind
from ..files.regular_file import open_regular
from ..replay.script.input_kinds import NUMBER
from ..solver.decision import ModelQuestion
from ..solver.voting.equality import answer_value
from ..solver.voting.vote import is_equal
from .build.conversation import assistant, refused_in, talk_of
from .format.hashing import plain_line, value_hash
from .read.files import INNER_ROWS, ROWS, read_episodes, write_lines
from .runs.runs import Turn
from .runs.scripts import copy_needed_files, find_script

if TYPE_CHECKING:
    from .read.files import UsableEpisode, UsableTrace


Row = dict[str, object]
"""A line of an export."""


_Form: TypeAlias = "Callable[[UsableEpisode], Iterator[Row]]"


def messages(episode: UsableEpisode) -> Iterator[Row]:
    """`messages`: the whole conversation, in the format of OpenAI's fine-tuning and TRL.

    An answer that the script refused has the weight 0.
    """
    system, talk = talk_of(episode)
    refused = refused_in(episode)
    weighted = [one | {"weight": 0} if n in refused else one for n, one in enumerate(talk)]
    yield {"messages": [system, *weighted]}


def anthropic(episode: UsableEpisode) -> Iterator[Row]:
    """`system` and `messages`."""
    system, talk = talk_of(episode)
    yield {"system": system["content"], "messages": talk}


def prompt_completion(episode: UsableEpisode) -> Iterator[Row]:
    """`prompt`: all up to the last question; `completion`: the last answer."""
    system, talk = talk_of(episode)
    yield {"prompt": [system, *talk[:-1]], "completion": talk[-1:]}


def turns(episode: UsableEpisode) -> Iterator[Row]:
    """A `prompt` and `completion` for each answer in the conversation that the script accepted."""
    system, talk = talk_of(episode)
    refused = refused_in(episode)
    for end in range(1, len(talk), 2):
        if end not in refused:
            yield {"prompt": [system, *talk[:end]], "completion": [talk[end]]}


def rl(episode: UsableEpisode) -> Iterator[Row]:
    """The conversation up to the last question, and the expected answer."""
    gold, wanted = episode["teacher_gold_trace"], episode["rl_verification_data"]
    if wanted["expected_final_answer_hash"] is None:
        return
    system, talk = talk_of(episode)
    metadata = gold["submission_metadata"]
    names = ("script", "code_hash", "seed", "start_time", "inputs")
    info = {"episode_id": episode["episode_id"]} | {k: metadata[k] for k in names if k in metadata}
    keys = ("variable_name", "value_hash", "depends_on", "code_line")
    hooks = [{key: hook[key] for key in keys if key in hook} for hook in gold["hooks"]]
    yield {
        "prompt": [system, *talk[:-1]],
        "answer": wanted["expected_final_answer_hash"],
        "question_id": episode["question"]["id"],
        "expected_answer_json": json.dumps(wanted["expected_final_answer"]),
        "hooks_json": json.dumps(hooks),
        "task": "quizlog",
        "info": json.dumps(info),
    }


def preference(episode: UsableEpisode) -> Iterator[Row]:
    """Pairs of the gold answer as `chosen` and a wrong answer after equal answers as `rejected`.

    A wrong answer is one that the script refused, or the last one of a run with another final
    answer, unless the two may be one in different notations.
    """
    gold, hint = episode["teacher_gold_trace"], episode["question"]["hint"]
    system, talk = talk_of(episode)
    inputs = _metadata_list(gold, "inputs")
    if not gold["execution_success"] or len(talk) != 2 * len(inputs):
        return  # some messages are not accepted answers, so that no pair is certain
    seen = set()
    for trace in episode["consistency_traces"]:
        pair = _fault(gold, inputs, trace)
        if pair and pair not in seen:
            seen.add(pair)
            at, answer, code = pair
            rejected = {"role": "assistant", "content": assistant(Turn(answer, code), hint)}
            prompt = [system, *talk[: 2 * at + 1]]
            yield {"prompt": prompt, "chosen": [talk[2 * at + 1]], "rejected": [rejected]}


def _fault(
    gold: UsableTrace, inputs: list[object], trace: UsableTrace
) -> tuple[int, str, str | None] | None:
    """The wrong answer at which a run left the gold run: its index, text and code."""
    given = _metadata_list(trace, "inputs")
    accepted = trace["final_answer_hash"] is not None
    refused = trace["submission_metadata"].get("error_line") is not None
    at = len(given) - 1 if accepted else len(trace["hooks"])
    if not (accepted or refused) or not 0 <= at < min(len(given), len(inputs)):
        return None
    texts = [str(each) for each in (*inputs[: at + 1], *given[: at + 1])]
    hashes = [value_hash(answer_value(text)) for text in texts]
    *before, last = [a == b for a, b in zip(hashes[: at + 1], hashes[at + 1 :], strict=True)]
    if last or not all(before) or (accepted and _may_be_equal(gold, at, texts[at], texts[-1])):
        return None
    cells = trace["code_cells"]
    written = at < len(cells) and at not in _metadata_list(trace, "generated_cells")
    return at, texts[-1], cells[at] if written else None


def _may_be_equal(gold: UsableTrace, at: int, one: str, other: str) -> bool:
    """Whether two answers that the script accepted may be one, by the laxest rules of a vote."""
    asked = gold["hooks"][at].get("description") if at < len(gold["hooks"]) else None
    return is_equal(one, other, ModelQuestion(str(asked or ""), input_type=NUMBER))


def _metadata_list(trace: UsableTrace, name: str) -> list[object]:
    """A list in a run's metadata; empty if the value is not a list."""
    found = trace["submission_metadata"].get(name)
    return found if isinstance(found, list) else []


def session(episode: UsableEpisode) -> Iterator[Row]:
    """The lines of a session file for the Hugging Face trace viewer."""
    system, talk = talk_of(episode)
    name = episode["question"]["question_text"].partition("\n")[0][:80]
    yield {"type": "session", "harness": "quizlog", "id": episode["episode_id"], "name": name}
    for message in (system, *talk):
        yield {"type": "message", "message": message}


def atif(episode: UsableEpisode) -> Iterator[Row]:
    """One trajectory of the Agent Trajectory Interchange Format, version 1.4."""
    gold, (system, talk) = episode["teacher_gold_trace"], talk_of(episode)
    metadata = gold["submission_metadata"]
    sources = {"system": "system", "user": "user", "assistant": "agent"}
    steps = [
        {"step_id": number, "source": sources.get(one["role"], "user"), "message": one["content"]}
        for number, one in enumerate((system, *talk), 1)
    ]
    names = ("script", "code_hash", "seed", "score")
    yield {
        "schema_version": "ATIF-v1.4",
        "session_id": episode["episode_id"],
        "agent": {
            "name": str(metadata.get("solver") or "unknown"),
            "version": str(metadata.get("exporter") or "unknown"),
        },
        "steps": steps,
        "final_metrics": {"total_steps": len(steps)},
        "extra": {"verified": episode["verified"]}
        | {k: metadata[k] for k in names if k in metadata},
    }


LINES: dict[str, _Form] = {
    "messages": messages,
    "anthropic": anthropic,
    "prompt-completion": prompt_completion,
    "turns": turns,
    "rl": rl,
    "preference": preference,
}
"""The formats that are one file of rows."""
FOLDERS: dict[str, tuple[_Form, str]] = {"session": (session, ".jsonl"), "atif": (atif, ".json")}
"""The formats that are a folder with a file for each episode, and the suffix of the files."""
_PACKAGES = {"verifiers": "verifiers_v1", "verifiers-v0": "verifiers_v0"}
"""The formats that are a Python package, and the template of each."""
FORMS = (*LINES, *FOLDERS, *_PACKAGES)
"""All formats."""


@dataclass
class Exported:
    """Counts of what was exported."""

    episodes: int = 0
    """Number of episodes that gave rows."""
    rows: int = 0
    """Number of rows or files."""
    left_out: int = 0
    """Number of episodes left out because they are not verified."""
    empty: int = 0
    """Number of episodes that have no rows in this format."""
    scripts: int = 0
    """Number of scripts copied."""
    not_found: int = 0
    """Number of scripts that should be copied but were not found."""
    others: int = 0
    """Number of files of this format that were in the folder before."""


def export(
    file: Path,
    form: str,
    output: Path | None,
    scripts: Path | None,
    *,
    everything: bool,
    advanced: Callable[[int], None] | None = None,
) -> Exported:
    """Export an episodes file.

    Args:
        file: The episodes.
        form: A name of `FORMS`.
        output: The file or folder to write; None writes rows to stdout.
        scripts: Where the scripts are, for a package that replays them.
        everything: Episodes that are not verified too.
        advanced: Told how many bytes were read, after each line.

    Raises:
        EpisodeError: The file cannot be read, or the output cannot be written.
    """
    done = Exported()
    check_apart(file, output)
    chosen = _chosen(read_episodes(file, advanced), done, everything=everything)
    make = LINES.get(form)
    if make is not None:
        rows = _counted(chosen, make, done)
        if output is None:
            for row in rows:
                sys.stdout.write(f"{plain_line(row)}\n")
        else:
            write_lines(output, map(plain_line, rows), ROWS)
        return done
    if output is None:
        raise EpisodeError(f"{form} is a folder", hint="name it with -o")
    if form in FOLDERS:
        _folder(chosen, form, output, done)
    else:
        _package(chosen, _PACKAGES[form], output, scripts, done)
    return done


def check_apart(file: Path, output: Path | None) -> None:
    """Raise an `EpisodeError` if the output would replace the file of episodes."""
    if output is not None and output.exists() and output.samefile(file):
        message = "is the file of episodes, which its export must not replace"
        raise EpisodeError(message, where=str(output), hint="choose another file with -o")


def _chosen(
    episodes: Iterator[UsableEpisode], done: Exported, *, everything: bool
) -> Iterator[UsableEpisode]:
    for episode in episodes:
        if episode["verified"] or everything:
            yield episode
        else:
            done.left_out += 1


def _counted(episodes: Iterator[UsableEpisode], form: _Form, done: Exported) -> Iterator[Row]:
    for episode in episodes:
        before = done.rows
        for row in form(episode):
            done.rows += 1
            yield row
        done.episodes += done.rows > before
        done.empty += done.rows == before


def _folder(episodes: Iterator[UsableEpisode], form: str, folder: Path, done: Exported) -> None:
    """Write a file for each episode, named for its id."""
    make, ending = FOLDERS[form]
    written = set()
    for episode in episodes:
        name = "".join(c if c.isalnum() or c == "-" else "_" for c in episode["episode_id"])
        write_lines(folder / f"{name}{ending}", map(plain_line, make(episode)), INNER_ROWS)
        written.add(f"{name}{ending}")
        done.episodes += 1
        done.rows += 1
    there = {path.name for path in folder.glob(f"*{ending}")}
    done.others = len(there - written)


def _is_module(path: Path) -> bool:
    with contextlib.suppress(OSError), open_regular(path) as file:
        return b"made by `quizlog episodes export`" in file.read(200)
    return False


_MODULE = FileKind("a package of episodes", _is_module)


def _package(
    episodes: Iterator[UsableEpisode],
    module: str,
    folder: Path,
    scripts: Path | None,
    done: Exported,
) -> None:
    """Write a package named like its folder: the module, the rows, the scripts."""
    name = folder.absolute().name
    if not name.isidentifier():
        hint = "Python imports it by that name: letters, digits and _ only"
        raise EpisodeError(f"{name!r} cannot name a package", where=str(folder), hint=hint)
    template = files("quizlog_tui.episodes") / "templates" / f"{module}.txt"
    rows = _with_scripts(_counted(episodes, rl, done), scripts, folder / "scripts", done)
    text = template.read_text(encoding="utf-8").rstrip("\n")
    write_lines(folder / "rows.jsonl", map(plain_line, rows), INNER_ROWS)
    write_lines(folder / "__init__.py", [text], _MODULE)


def _with_scripts(
    rows: Iterator[Row], found_in: Path | None, target: Path, done: Exported
) -> Iterator[Row]:
    """Pass on the rows, and copy their scripts."""
    known: set[str] = set()
    for row in rows:
        code_hash = str(json.loads(str(row["info"])).get("code_hash", ""))
        if found_in is not None and code_hash and code_hash not in known:
            known.add(code_hash)
            script = find_script(found_in.absolute(), code_hash, but=target.absolute())
            if script is None:
                done.not_found += 1
            else:
                copy_needed_files(script, code_hash, target)
                done.scripts += 1
        yield row
