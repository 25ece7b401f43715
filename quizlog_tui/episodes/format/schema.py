"""The episode: the user's schema as types that pydantic checks, and the JSON Schema made of them.

Shape only, and plain data: an episode is a dictionary everywhere. What must agree between the
fields is in `read.check`; how a line is written in `hashing`.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

Hash = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
"""16 lower-case hexadecimal digits."""
Count = Annotated[int, Field(ge=0)]
"""How many of something."""
Difficulty = Literal["EASY", "MEDIUM", "HARD", "VERY_HARD"]
"""The schema's bands."""


_PART = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True, cache_strings="keys")


@with_config(_PART)
class Question(TypedDict):
    """What was asked."""

    id: Hash
    """Hash of `question_text` and `hint`."""
    question_text: str
    """All that is shown up to the first answer, the prompt included."""
    hint: str | None
    """What only the teacher was told."""
    difficulty: Difficulty | None
    """Declared by the script, or derived from `n_steps`."""
    n_steps: Count | None
    """Answers the script accepted in the gold run."""
    created_at: str | None
    """When the gold run began."""


@with_config(_PART)
class Hook(TypedDict):
    """An intermediate checkpoint: an answer the script accepted."""

    code_line: str
    """The script's line that asked."""
    variable_name: str | None
    """The name the answer got there, made unique."""
    value_hash: Hash
    """Hash of the canonical answer."""
    description: str | None
    """First line of the prompt."""
    depends_on: list[str]
    """Names of hooks that came before."""


@with_config(_PART)
class ExecutionTrace(TypedDict):
    """One run of the script by one solver."""

    code_cells: list[str]
    """Python code of each accepted turn."""
    final_answer: object
    """The last accepted answer; null if the run did not end well."""
    final_answer_hash: Hash | None
    """Its hash; null exactly if it is null."""
    execution_success: bool
    """Whether the script finished when the answers were replayed."""
    hooks: list[Hook]
    """One for each accepted answer."""
    submission_metadata: dict[str, object]
    """Where the run comes from."""
    total_turns: Count
    """Turns of the solver, rejected ones included."""
    archived_turn_count: Count
    """Turns that are not in the conversation."""


@with_config(_PART)
class Message(TypedDict):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    """Who speaks."""
    content: str
    """What is said."""


@with_config(_PART)
class ConversationForSft(TypedDict):
    """What a student is trained on."""

    system_prompt: str
    """The student's own system prompt."""
    messages: list[Message]
    """User and assistant in turn."""


@with_config(_PART)
class RlVerificationData(TypedDict):
    """What a student's answer is compared with."""

    expected_final_answer_hash: Hash | None
    """The gold answer's hash."""
    expected_final_answer: object
    """The gold answer."""


@with_config(_PART)
class TriangulationMetadata(TypedDict):
    """What the consistency runs came to."""

    n_consistency_runs: Count
    """How many there are."""
    n_consistency_succeeded: Count
    """How many of them have an answer."""
    majority_answer_hash: Hash | None
    """The answer most of them gave; null if none answered."""
    majority_count: Count
    """How many gave it."""
    gold_matches_majority: bool
    """Whether more than half of those that answered gave the gold answer."""


@with_config(_PART)
class Episode(TypedDict):
    """One line of an episodes file."""

    episode_id: str
    """A UUID."""
    timestamp: str
    """`YYYY-MM-DDTHH:MM:SS.ffffff`, UTC."""
    verified: bool
    """The three guarantees hold, and the script accepted the gold run when it was replayed."""
    question: Question
    """What was asked."""
    teacher_gold_trace: ExecutionTrace
    """The run that is the reference."""
    consistency_traces: list[ExecutionTrace]
    """The other independent runs."""
    conversation_for_sft: ConversationForSft
    """The gold run as a conversation."""
    rl_verification_data: RlVerificationData
    """Copied from the gold run."""
    triangulation_metadata: TriangulationMetadata
    """What the runs agree on."""


SHAPE: TypeAdapter[Episode] = TypeAdapter(Episode)
"""Checks the shape of a line. A key beyond the schema's is an error of the type
`extra_forbidden`, which the checker makes a warning."""


@cache
def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of one line. Keys beyond the schema's are allowed."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema: dict[str, object] = _open(SHAPE.json_schema())
    return dialect | schema


def _open(schema: Any) -> Any:
    """A schema without `additionalProperties: false`, at any depth."""
    if isinstance(schema, list):
        return [_open(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = schema.get("additionalProperties") is False
    return {k: _open(v) for k, v in schema.items() if not (closed and k == "additionalProperties")}
