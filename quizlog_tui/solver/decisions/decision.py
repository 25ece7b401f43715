"""The decision: what several models said about one question, and which answer won, and why.

Frozen data, standard library only: a screen draws a decision without the solver's dependencies.
The first part is **evidence** (question, replies, reconciliation, refusals); the `verdict` follows
from it by a rule (`decide`), so that a stored decision can be decided again without a model.
How it is written is in `decision_text`, where it is kept in `decision_file`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

SCHEMA_VERSION = 1
"""The version of a decision's JSON."""

ReplyStatus = Literal["ok", "invalid", "timeout", "rate_limited", "error"]
"""How asking a model ended (spec 2.2.4, model output contract)."""
RunStatus = Literal[
    "ok",
    "error",
    "timeout",
    "oom",
    "crashed",
    "no_result",
    "bad_result",
    "result_too_big",
    "output_limit",
    "disk_limit",
    "sandbox_error",
]
"""How running a model's code ended."""
Why = Literal[
    "unanimous", "majority", "confidence", "primary", "plurality", "only_candidate",
    "reason_feedback",
]  # fmt: skip
"""Why an answer won."""
Source = Literal["live", "recorded", "command", "human"]
"""Where a reply comes from: an endpoint, a cassette, a local program, a person."""


@dataclass(frozen=True)
class Question:
    """What was asked."""

    text: str
    """The prompt."""
    context: str = ""
    """What was printed before it, or the page's text."""
    input_type: str = "text"
    """Kind of answer wanted, as in a reply of a questionnaire."""
    choices: tuple[str, ...] = ()
    """The options, where the question names them."""
    record: str | None = None
    """The record's path, where it is a record's question."""
    branch: str | None = None
    """The record's active branch when it was asked."""
    pointer: int | None = None
    """The step it was asked at."""
    code_hash: str | None = None
    """Hash of the script that asked."""


@dataclass(frozen=True)
class Execution:
    """What came of a model's code in the sandbox."""

    status: RunStatus
    """How the run ended."""
    answer: Any = None
    """The value it left, if the status is `ok`: any JSON value."""
    stdout: str = ""
    """The start of what it printed."""
    stderr: str = ""
    """The start of what it wrote to stderr."""
    error: str | None = None
    """What went wrong, in a line."""
    seconds: float = 0.0
    """Wall time."""
    isolation: str = ""
    """The isolation it ran under."""


@dataclass(frozen=True)
class Fetched:
    """A request that a model asked for, and what came of it."""

    method: str
    url: str
    headers: tuple[str, ...] = ()
    """As the model gave them: `Name: value`."""
    body: str | None = None
    """As it was sent."""
    status: int | None = None
    """The HTTP status; None if there was no reply, or it was not sent."""
    type: str = ""
    """The media type of the reply."""
    size: int = 0
    """Bytes of the reply."""
    file: str | None = None
    """The file that holds the reply, among those that the model's code may read."""
    begins: str = ""
    """The start of the reply, if it is a text."""
    error: str | None = None
    """Why there is no reply or no file, in a line."""


@dataclass(frozen=True)
class ModelReply:
    """One model's answer to the question."""

    name: str
    """The model's name in the configuration; unique in a decision."""
    status: ReplyStatus
    """How asking it ended."""
    claimed: Any = None
    """The answer it asserts: any JSON value, None if it asserts none."""
    code: str | None = None
    """The code it wrote to find the answer."""
    explanation: str | None = None
    """Its own short explanation."""
    executed: Execution | None = None
    """What its code came to; None if it wrote none."""
    seconds: float = 0.0
    """Wall time of asking it."""
    repaired: bool = False
    """Whether it was asked once more because its first reply was not readable."""
    error: str | None = None
    """What went wrong, in a line."""
    family: str | None = None
    """The provider family it belongs to."""
    weight: float = 1.0
    """The weight of its vote."""
    primary: bool = False
    """Whether its answer counts where no other rule decides."""
    source: Source = "live"
    """Where the reply comes from."""
    fetched: tuple[Fetched, ...] = ()
    """What it asked for before it replied."""


@dataclass(frozen=True)
class Reconsidered:
    """One model's answer after it saw all candidates and their results (spec 3.6)."""

    name: str
    """The model's name."""
    status: ReplyStatus
    """How asking it ended."""
    final_answer: Any = None
    """Its final answer: any JSON value."""
    confidence: float | None = None
    """Its confidence, 0..1."""
    explanation: str | None = None
    """Its own short explanation."""
    corrected_code: str | None = None
    """Code it changed; run again."""
    executed: Execution | None = None
    """What the changed code came to."""
    seconds: float = 0.0
    """Wall time of asking it."""
    repaired: bool = False
    """Whether it was asked once more because its first reply was not readable."""
    error: str | None = None
    """What went wrong, in a line."""


@dataclass(frozen=True)
class Refusal:
    """An answer that was submitted and found wrong."""

    answer: Any
    """The answer as submitted."""
    reason: str = ""
    """What the grader said."""


@dataclass(frozen=True)
class AnswerClass:
    """Answers that count as equal."""

    key: str
    """A short name of the class: its kind and its normal form."""
    answer: Any
    """The raw answer that stands for it."""
    weight: float
    """The votes for it."""
    members: tuple[str, ...]
    """The models that voted for it, sorted."""
    confidence: float | None = None
    """The votes weighted with confidence, where a reconciliation gave any."""
    refused: bool = False
    """Whether an equal answer was found wrong already."""


@dataclass(frozen=True)
class Abstention:
    """A model that cast no vote."""

    name: str
    """The model's name."""
    reason: str
    """Why, in a line."""


@dataclass(frozen=True)
class DecisionVerdict:
    """What follows from the evidence by one rule."""

    rule: str
    """The rule (`decide.RULES`)."""
    answer: Any = None
    """The chosen raw answer; None if the rule chooses none."""
    why: Why | None = None
    """Why it won; None if nothing was chosen."""
    classes: tuple[AnswerClass, ...] = ()
    """All classes of equal answers, the heaviest first."""
    contributors: tuple[str, ...] = ()
    """The models whose votes made the choice, sorted."""
    abstained: tuple[Abstention, ...] = ()
    """The models without a vote, sorted."""
    conflicts: tuple[str, ...] = ()
    """The models whose code came to something else than they claimed, sorted."""
    candidates: tuple[Any, ...] = ()
    """Raw answers in the order they should be tried, the chosen one first."""


@dataclass(frozen=True)
class Decision:
    """Evidence and verdict about one question."""

    id: str
    """Names it among the decisions of a record."""
    time: str
    """When it was made, ISO 8601 in UTC."""
    question: Question
    """What was asked."""
    models: tuple[ModelReply, ...] = ()
    """Each model's reply."""
    reconciliation: tuple[Reconsidered, ...] = ()
    """The replies of the one round in which all saw all; empty if there was none."""
    refused: tuple[Refusal, ...] = ()
    """Answers already found wrong."""
    family_cap: float | None = None
    """The most weight one provider family has in a class; None for no cap."""
    verdict: DecisionVerdict = DecisionVerdict("majority")
    """The outcome."""
    label: str | None = None
    """A remark shown with it: that its replies were recorded, for instance."""
    schema_version: int = SCHEMA_VERSION
    """Version of this shape."""
