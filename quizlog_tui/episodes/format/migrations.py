"""Converts older versions of an episode to the present one.

Files from before the schema was final lack `hooks`, `submission_metadata` and question ids, hash
answers through pickle, write times with a space, and let the assistant speak first. `converted`
corrects this without changing what the episode claims; `upgraded` also reads answers again of which
an earlier quizlog took a text for a value, and lowers the claims to what the runs support.
Standard library only.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256

from ...solver.voting.equality import answer_value
from ..rewards import reading_kind
from .hashing import HASH_LENGTH, JsonObject, parsed_hash, question_id
from .identity import episode_id
from .times import is_stamp, stamp
from .triangulate import reasons_against, standing, triangulate

Note = tuple[str, str]
"""A path, and what was wrong there."""
_TRACE = {"hooks": [], "submission_metadata": {}, "total_turns": 0, "archived_turn_count": 0}
_QUESTION = {"hint": None, "difficulty": None, "n_steps": None, "created_at": None}
_HOOK: JsonObject = {"variable_name": None, "description": None, "depends_on": []}


def converted(episode: JsonObject) -> tuple[JsonObject, list[Note]]:
    """A copy of the episode in the present version, and notes of what was changed."""
    data = {key: _copied(value) for key, value in episode.items()}
    return data, [note for step in _STEPS for note in step(data)]


def upgraded(episode: JsonObject) -> tuple[JsonObject, list[Note]]:
    """A copy of the episode in the present version, its counts and `verified` as the runs support.

    `verified` is never raised: only a replay can show that the script accepts the gold run.
    """
    data, notes = converted(episode)
    notes += [*_readings(data), *_settled(data)]
    return data, notes


def gold_metadata(episode: JsonObject) -> JsonObject | None:
    """The gold run's metadata, which contains the seal; None if there is none."""
    trace = episode.get("teacher_gold_trace")
    metadata = trace.get("submission_metadata") if isinstance(trace, dict) else None
    return metadata if isinstance(metadata, dict) else None


def _copied(value: object) -> object:
    """A copy of JSON data, made faster than by `deepcopy`."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _part(data: JsonObject, name: str) -> JsonObject:
    """A part of the episode; an empty object if it is missing or not an object."""
    part = data.get(name)
    return part if isinstance(part, dict) else {}


def _traces(data: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    gold, others = data.get("teacher_gold_trace"), data.get("consistency_traces")
    if isinstance(gold, dict):
        yield "teacher_gold_trace", gold
    for index, trace in enumerate(others if isinstance(others, list) else []):
        if isinstance(trace, dict):
            yield f"consistency_traces[{index}]", trace


def _fill(part: JsonObject, path: str, defaults: Mapping[str, object]) -> Iterator[Note]:
    for key, value in defaults.items():
        if key not in part:
            part[key] = _copied(value)
            yield f"{path}.{key}", "was missing"


def _times(data: JsonObject) -> Iterator[Note]:
    for part, path, key in (
        (data, "timestamp", "timestamp"),
        (_part(data, "question"), "question.created_at", "created_at"),
    ):
        text = part.get(key)
        if isinstance(text, str) and not is_stamp(text) and stamp(text):
            part[key] = stamp(text)
            yield path, "is a time in another form"


def _question(data: JsonObject) -> Iterator[Note]:
    question = _part(data, "question")
    if not question:
        return
    yield from _fill(question, "question", _QUESTION)
    text, hint = question.get("question_text"), question["hint"]
    if question.get("id") is None and isinstance(text, str):
        question["id"] = question_id(text, hint if isinstance(hint, str) else None)
        yield "question.id", "was not computed"


def _shapes(data: JsonObject) -> Iterator[Note]:
    for path, trace in _traces(data):
        yield from _fill(trace, path, _TRACE)
        hooks = trace["hooks"]
        for index, hook in enumerate(hooks if isinstance(hooks, list) else []):
            where = f"{path}.hooks[{index}]"
            if isinstance(hook, dict):
                yield from _fill(hook, where, _HOOK)
                if hook.get("code_line", None) is None:
                    hook["code_line"] = ""
                    yield f"{where}.code_line", "was missing"
    reward = _part(data, "rl_verification_data")
    hashes = reward.pop("intermediate_artifact_hashes", None)
    if hashes is not None:
        metadata = _part(_part(data, "teacher_gold_trace"), "submission_metadata")
        metadata["intermediate_artifact_hashes"] = hashes
        yield "rl_verification_data.intermediate_artifact_hashes", "is not a key of the schema"


def _hashes(data: JsonObject) -> Iterator[Note]:
    """Replace all hashes that were made through pickle."""
    new: dict[str, str] = {}
    holders = [(path, trace, "final_answer") for path, trace in _traces(data)]
    reward = ("rl_verification_data", _part(data, "rl_verification_data"), "expected_final_answer")
    for path, holder, name in [*holders, reward]:
        value, old = holder.get(name), holder.get(f"{name}_hash")
        if value is not None and isinstance(old, str) and old == _pickled(value):
            new[old] = holder[f"{name}_hash"] = parsed_hash(value)
            yield f"{path}.{name}_hash", "was made through pickle"
    agreed = _part(data, "triangulation_metadata")
    majority = agreed.get("majority_answer_hash")
    if isinstance(majority, str) and majority in new:
        agreed["majority_answer_hash"] = new[majority]
        yield "triangulation_metadata.majority_answer_hash", "was made through pickle"


def _pickled(value: object) -> str:
    return sha256(pickle.dumps(value, protocol=4)).hexdigest()[:HASH_LENGTH]


def _dialogue(data: JsonObject) -> Iterator[Note]:
    talk, path = _part(data, "conversation_for_sft"), "conversation_for_sft.messages"
    messages = talk.get("messages")
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return
    text = _part(data, "question").get("question_text")
    if messages and messages[0].get("role") == "assistant" and isinstance(text, str):
        messages.insert(0, {"role": "user", "content": text})
        yield path, "began with the assistant"
    cut = len(messages)
    while cut and messages[cut - 1].get("role") == "user":
        cut -= 1
    if 0 < cut < len(messages):
        del messages[cut:]
        yield path, "ended with the user"


_STEPS = (_times, _question, _shapes, _hashes, _dialogue)


def says_quizlog(metadata: Mapping[str, object]) -> bool:
    """Whether a run's metadata names quizlog as its writer."""
    return str(metadata.get("exporter", "")).startswith("quizlog ")


def misread_hooks(trace: Mapping[str, object]) -> Iterator[tuple[JsonObject, object]]:
    """Each hook of a run by quizlog that is not of the answer given, with the right value.

    That is the answer's text as its question reads it. A hash of the text itself is right too: then
    the answer was declared as text.
    """
    metadata, hooks = trace.get("submission_metadata"), trace.get("hooks")
    ours = isinstance(metadata, dict) and says_quizlog(metadata)
    inputs = metadata.get("inputs") if isinstance(metadata, dict) and ours else None
    if not isinstance(inputs, list) or not isinstance(hooks, list):
        return
    for text, hook in zip(inputs, hooks, strict=False):
        if isinstance(text, str) and isinstance(hook, dict):
            kind, found = reading_kind([hook]), hook.get("value_hash")
            hashes = _answer_hashes if len(text) < _SHORT else _answer_hashes.__wrapped__
            if found not in hashes(text, kind):
                yield hook, answer_value(text, kind)


_SHORT = 100
"""Answers with fewer characters are hashed once for many lines of a file."""


@lru_cache(maxsize=1000)
def _answer_hashes(text: str, kind: str) -> tuple[str, str]:
    """The hashes of an answer, as text and as value."""
    return parsed_hash(text.strip()), parsed_hash(answer_value(text, kind))


def _readings(data: JsonObject) -> Iterator[Note]:
    """Replace the values of answers that their texts do not say, and what follows from them."""
    for path, trace in _traces(data):
        for hook, value in misread_hooks(trace):
            found, hook["value_hash"] = hook.get("value_hash"), parsed_hash(value)
            yield f"{path}.hooks", "had the hash of another value than its answer"
            if trace.get("final_answer_hash") == found and hook is trace["hooks"][-1]:  # type: ignore[index]
                trace["final_answer"], trace["final_answer_hash"] = value, hook["value_hash"]
                if path == "teacher_gold_trace":
                    yield from _reread(data, trace)


def _reread(data: JsonObject, gold: JsonObject) -> Iterator[Note]:
    """Bring what depends on the gold answer up to date."""
    reward, question = _part(data, "rl_verification_data"), _part(data, "question")
    for name in ("final_answer", "final_answer_hash"):
        reward[f"expected_{name}"] = gold[name]
    with suppress(KeyError, TypeError):  # the checker says what is missing
        data["episode_id"] = episode_id(str(question.get("id")), gold)
    yield "rl_verification_data", "expected another value than the answer"


def _settled(data: JsonObject) -> Iterator[Note]:
    """Correct the fields that follow from other fields."""
    gold, talk = _part(data, "teacher_gold_trace"), _part(data, "conversation_for_sft")
    messages = talk.get("messages")
    listed = messages if isinstance(messages, list) else []
    said = [m for m in listed if isinstance(m, dict) and m.get("role") == "assistant"]
    if gold.get("total_turns") == 0 and said:
        gold["total_turns"], gold["archived_turn_count"] = len(said), 0
        yield "teacher_gold_trace.total_turns", "was not counted"
    traces = [trace for _, trace in _traces(data)]
    pairs = [
        (key, trace.get("final_answer"))
        for trace in traces
        if isinstance(key := trace.get("final_answer_hash"), str | None)
    ]
    if not pairs or len(pairs) < len(traces):
        return
    metadata = _part(gold, "submission_metadata")
    found = triangulate(pairs[0], pairs[1:])
    if data.get("triangulation_metadata") != found.to_dict():
        data["triangulation_metadata"] = found.to_dict()
        yield "triangulation_metadata", "did not follow from the runs"
    success = gold.get("execution_success") is True
    stands = standing({"execution_success": success, "submission_metadata": metadata})
    against = reasons_against(found, stands)
    if data.get("verified") and against:
        data["verified"] = False
        yield "verified", f"was true, but {'; '.join(against)}"
