"""The decision: the replies of several models to one question, and which answer won and why.

Frozen data, standard library only, so that a screen can draw a decision without the solver's
dependencies. The question, replies, reconciliation and refusals are the **evidence**. A rule
(`decide`) derives the `verdict` from it, so that a stored decision can be decided again without a
model. `decision_text` writes decisions as JSON, and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..replay.script.input_kinds import TEXT
from ..sandbox.result import Status

SCHEMA_VERSION = 1
"""The version of a decision's JSON."""

ReplyStatus = Literal["ok", "invalid", "timeout", "rate_limited", "error"]
"""How a request to a model ended."""
Why = Literal[
    "unanimous", "majority", "confidence", "primary", "plurality", "only_candidate",
    "reason_feedback",
]  # fmt: skip
"""Why an answer won."""
Source = Literal["live", "recorded", "command", "human"]
"""Where a reply comes from: an endpoint, a recording, a local program, a person."""


@dataclass(frozen=True)
class ModelQuestion:
    """A question to models."""

    text: str
    """The prompt."""
    context: str = ""
    """The text printed before the prompt, or the text of the page."""
    input_type: str = TEXT
    """The kind of answer wanted, as in a reply of a questionnaire."""
    choices: tuple[str, ...] = ()
    """The options, if the question lists them."""
    record: str | None = None
    """The file name of the record that asks, if any."""
    branch: str | None = None
    """The record's active branch when it asked."""
    pointer: int | None = None
    """The step at which it asked."""
    code_hash: str | None = None
    """Hash of the script that asked."""


@dataclass(frozen=True)
class Execution:
    """The result of running a model's code in the sandbox."""

    status: Status
    """How the run ended."""
    answer: Any = None
    """The value of the variable `answer` if the status is `ok`: any JSON value."""
    stdout: str = ""
    """The start of its stdout."""
    stderr: str = ""
    """The start of its stderr."""
    error: str | None = None
    """What went wrong, in one line."""
    seconds: float = 0.0
    """Wall time in seconds."""
    isolation: str = ""
    """The isolation level it ran under."""


@dataclass(frozen=True)
class Fetched:
    """An HTTP request that a model asked for, and its result."""

    method: str
    url: str
    headers: tuple[str, ...] = ()
    """The headers that the model gave, each as `Name: value`."""
    body: str | None = None
    """The body that was sent."""
    status: int | None = None
    """The HTTP status; None if there was no reply or the request was not sent."""
    type: str = ""
    """The media type of the reply."""
    size: int = 0
    """Size of the reply in bytes."""
    file: str | None = None
    """The file that contains the reply, among those that the model's code may read."""
    begins: str = ""
    """The start of the reply, if it is text."""
    error: str | None = None
    """Why there is no reply or no file, in one line."""


@dataclass(frozen=True)
class ModelReply:
    """One model's reply to the question."""

    name: str
    """The model's name in the configuration; unique in a decision."""
    status: ReplyStatus
    """How the request to it ended."""
    claimed: Any = None
    """The answer it claims: any JSON value, None if it claims none."""
    code: str | None = None
    """The code it wrote to find the answer."""
    explanation: str | None = None
    """Its own short explanation."""
    executed: Execution | None = None
    """The result of its code; None if it wrote none."""
    seconds: float = 0.0
    """Wall time of the request in seconds."""
    repaired: bool = False
    """Whether it was asked a second time because its first reply was unreadable."""
    error: str | None = None
    """What went wrong, in one line."""
    family: str | None = None
    """The provider family it belongs to."""
    weight: float = 1.0
    """The weight of its vote."""
    primary: bool = False
    """Whether its answer counts if no other rule decides."""
    source: Source = "live"
    """Where the reply comes from."""
    fetched: tuple[Fetched, ...] = ()
    """The HTTP requests it asked for before it replied."""


@dataclass(frozen=True)
class Reconsidered:
    """One model's answer after it has seen all candidates and their results."""

    name: str
    """The model's name."""
    status: ReplyStatus
    """How the request to it ended."""
    final_answer: Any = None
    """Its final answer: any JSON value."""
    confidence: float | None = None
    """Its confidence, 0..1."""
    explanation: str | None = None
    """Its own short explanation."""
    corrected_code: str | None = None
    """Its corrected code, which is run too."""
    executed: Execution | None = None
    """The result of the corrected code."""
    seconds: float = 0.0
    """Wall time of the request in seconds."""
    repaired: bool = False
    """Whether it was asked a second time because its first reply was unreadable."""
    error: str | None = None
    """What went wrong, in one line."""


@dataclass(frozen=True)
class Refusal:
    """An answer that was submitted and found wrong."""

    answer: Any
    """The answer as submitted."""
    reason: str = ""
    """The grader's message."""


@dataclass(frozen=True)
class AnswerClass:
    """Answers that count as equal."""

    key: str
    """A short name of the class: its kind and its normal form."""
    answer: Any
    """The raw answer that represents the class."""
    weight: float
    """The sum of its votes' weights."""
    members: tuple[str, ...]
    """The models that voted for it, sorted."""
    confidence: float | None = None
    """The sum of weights times confidences, if a reconciliation gave any."""
    refused: bool = False
    """Whether an equal answer was already found wrong."""
    rules: tuple[str, ...] = ()
    """The rules of `voting.equality` by which different answers of its members count as one, such
    as `case` or, where the question asks for that, `decimals=2`."""

    @property
    def lenient_rules(self) -> tuple[str, ...]:
        """The rules that people should know of: not that 4 is 4.0."""
        return tuple(rule for rule in self.rules if rule != "value")


@dataclass(frozen=True)
class Abstention:
    """A model that cast no vote."""

    name: str
    """The model's name."""
    reason: str
    """Why, in one line."""


@dataclass(frozen=True)
class DecisionVerdict:
    """What a rule derives from the evidence."""

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
    """The models whose code gave another answer than they claimed, sorted."""
    candidates: tuple[Any, ...] = ()
    """Raw answers in the order they should be tried, the chosen one first."""


@dataclass(frozen=True)
class Decision:
    """The evidence and the verdict about one question."""

    id: str
    """Identifies it among the decisions of a record."""
    time: str
    """When it was made, ISO 8601 in UTC."""
    question: ModelQuestion
    """The question."""
    models: tuple[ModelReply, ...] = ()
    """Each model's reply."""
    reconciliation: tuple[Reconsidered, ...] = ()
    """The replies of the round in which models saw each other's; empty if there was none."""
    refused: tuple[Refusal, ...] = ()
    """Answers already found wrong."""
    family_cap: float | None = None
    """Maximum weight of one provider family in a class; None for no limit."""
    verdict: DecisionVerdict = DecisionVerdict("majority")
    """The outcome."""
    label: str | None = None
    """A remark shown with it, for example that its replies were recorded."""
    schema_version: int = SCHEMA_VERSION
    """Version of this format."""
