"""The episode: the user's schema as pydantic models, and the JSON Schema made of them.

Shape only. What must agree between the fields is in `rules`; how a line is written in `lines`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Hash = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
"""16 lower-case hexadecimal digits."""
Count = Annotated[int, Field(ge=0)]
"""How many of something."""
Difficulty = Literal["EASY", "MEDIUM", "HARD", "VERY_HARD"]
"""The schema's bands."""


class _Part(BaseModel):
    """Keys beyond the schema's are kept; the checker tells of them."""

    model_config = ConfigDict(extra="allow", strict=True, use_attribute_docstrings=True)


class Question(_Part):
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


class Hook(_Part):
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


class ExecutionTrace(_Part):
    """One run of the script by one solver."""

    code_cells: list[str]
    """Python code of each accepted turn."""
    final_answer: Any
    """The last accepted answer; null if the run did not end well."""
    final_answer_hash: Hash | None
    """Its hash; null exactly if it is null."""
    execution_success: bool
    """Whether the script finished when the answers were replayed."""
    hooks: list[Hook]
    """One for each accepted answer."""
    submission_metadata: dict[str, Any]
    """Where the run comes from."""
    total_turns: Count
    """Turns of the solver, rejected ones included."""
    archived_turn_count: Count
    """Turns that are not in the conversation."""


class Message(_Part):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    """Who speaks."""
    content: str
    """What is said."""


class ConversationForSft(_Part):
    """What a student is trained on."""

    system_prompt: str
    """The student's own system prompt."""
    messages: list[Message]
    """User and assistant in turn."""


class RlVerificationData(_Part):
    """What a student's answer is compared with."""

    expected_final_answer_hash: Hash | None
    """The gold answer's hash."""
    expected_final_answer: Any
    """The gold answer."""


class TriangulationMetadata(_Part):
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


class Episode(_Part):
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


SCHEMA_FILE = Path(__file__).with_name("episode.schema.json")
"""The JSON Schema as shipped."""


@cache
def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of one line."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return dialect | Episode.model_json_schema()
