"""Guesses the kind of answer from the words of a question. Pure; only the vote depends on it."""

from __future__ import annotations

import re

from ...replay.script.input_kinds import JSON, NUMBER, TEXT, TEXTAREA, YESNO

_KINDS = (
    (YESNO, re.compile(r"\bboolean\b|\btrue or false\b", re.I)),
    (
        TEXTAREA,
        re.compile(
            r"\bcommand string\b|\b(?:submit|write|craft|give|send)\b[^.\n]{0,40}"
            r"\b(?:commands?|function|code snippet|system prompt|essay|dockerfile|yaml)\b",
            re.I,
        ),
    ),
    (TEXT, re.compile(r"\bdata uri\b|data:image|\bbase64\b", re.I)),
    (JSON, re.compile(r"[\[{]\s*\"|\bjson (?:object|array|list)\b|\bas json\b", re.I)),
    (TEXT, re.compile(r"\bpadded\b|\bleading zero|\bpassphrase\b|\bcode string\b", re.I)),
    (
        NUMBER,
        re.compile(
            r"\bhow (?:many|much|far)\b|\b(?:sum|total|count|average|median|mean|rmse|difference)\b"
            r"|\bnumber only\b|\bdecimals?\b|=\s*\?",
            re.I,
        ),
    ),
)


def asked_kind(question: str) -> str:
    """The kind of answer, as an `input_type`."""
    return next((kind for kind, said in _KINDS if said.search(question)), TEXT)
