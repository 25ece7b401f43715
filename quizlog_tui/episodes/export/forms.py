"""The export formats: each is a function from an episode to its rows.

Values of varying type are JSON text, so that loaders leave them unchanged. A student is shown
neither the hint nor the gold answer, except where the format is meant for that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from ..build.conversation import refused_in, talk_of
from .preferences import Row, preference

if TYPE_CHECKING:
    from ..format.shape import UsableEpisode

Form: TypeAlias = "Callable[[UsableEpisode], Iterator[Row]]"


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


LINES: dict[str, Form] = {
    "messages": messages,
    "anthropic": anthropic,
    "prompt-completion": prompt_completion,
    "turns": turns,
    "rl": rl,
    "preference": preference,
}
"""The formats that are one file of rows."""
FOLDERS: dict[str, tuple[Form, str]] = {"session": (session, ".jsonl"), "atif": (atif, ".json")}
"""The formats that are a folder with a file for each episode, and the suffix of the files."""
PACKAGES = {"verifiers": "verifiers_v1", "verifiers-v0": "verifiers_v0"}
"""The formats that are a Python package, and the template of each."""
FORMS = (*LINES, *FOLDERS, *PACKAGES)
"""All formats except those of plug-ins."""
