"""The checks of answers that pages name, as lenient as real ones. Pure."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import struct
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from ...solver.voting import png
from .book import Page

Check = Mapping[str, Any]
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def accepted(page: Page, answer: Any, email: str, origin: str) -> bool:
    """Whether a page accepts an answer of an address."""
    if page.check["type"] == "regex_all":
        return _patterns(page.check, answer, email, origin)
    return CHECKS[page.check["type"]](answer, page.expected(email), page.check)


def reason_of(page: Page, answer: Any) -> str:
    """The reason given for a wrong answer."""
    if page.check["type"] == "bool_strict" and not isinstance(answer, bool):
        return "Answer must be a JSON boolean"
    return str(page.check.get("reason_on_wrong") or f"{page.id}: not accepted")


def _nonblank(answer: Any, _: Any, __: Check) -> bool:
    return bool(str(answer).strip())


def _near(value: float, expected: Any, check: Check) -> bool:
    return abs(value - float(expected)) <= float(check.get("tol", 0)) + 1e-9


def _number(answer: Any, expected: Any, check: Check) -> bool:
    is_number = isinstance(answer, (int, float)) and not isinstance(answer, bool)
    return is_number and _near(answer, expected, check)


def _first_number(answer: Any, expected: Any, check: Check) -> bool:
    found = _NUMBER.search(str(answer))
    return bool(found and expected is not None and _near(float(found[0]), expected, check))


def _exact(answer: Any, expected: Any, _: Check) -> bool:
    return bool(answer == expected)


def _exact_nfc(answer: Any, expected: Any, _: Check) -> bool:
    return isinstance(answer, str) and unicodedata.normalize("NFC", answer) == expected


def _any_case(answer: Any, expected: Any, _: Check) -> bool:
    return bool(" ".join(str(answer).split()).casefold() == expected.casefold())


def _boolean(answer: Any, expected: Any, _: Check) -> bool:
    return isinstance(answer, bool) and answer == expected


def _colour(answer: Any, expected: Any, _: Check) -> bool:
    return bool(str(answer).strip().lstrip("#").lower() == expected.lstrip("#").lower())


def _native(answer: Any) -> Any:
    if not isinstance(answer, str):
        return answer
    try:
        return json.loads(answer)
    except ValueError:
        return answer


def _json(answer: Any, expected: Any, check: Check) -> bool:
    return _alike(_native(answer), expected, check)


def _alike(one: Any, other: Any, check: Check) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[k], other[k], check) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_alike(a, b, check) for a, b in pairs)
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        absolute, relative = check.get("number_tol", 0), check.get("number_rel_tol", 0)
        return bool(abs(one - other) <= max(absolute, relative * abs(other)) + 1e-12)
    if isinstance(one, str) and isinstance(other, str) and check.get("strings_ci"):
        return one.casefold() == other.casefold()
    return bool(one == other)


def _plan(answer: Any, _: Any, __: Check) -> bool:
    """Any pair of shards and replicas that meets the limits of the plan page."""
    from .book import all_pages

    plan, said = all_pages()["/q23-plan"].assets["/files/q23.json"], _native(answer)
    if not isinstance(said, dict):
        return False
    shards, replicas = said.get("shards"), said.get("replicas")
    if type(shards) is not int or type(replicas) is not int or shards < 1:
        return False
    return bool(
        math.ceil(plan["dataset"] / shards) <= plan["max_docs_per_shard"]
        and shards <= plan["max_shards"]
        and plan["min_replicas"] <= replicas <= plan["max_replicas"]
        and shards * replicas * plan["memory_per_shard"] <= plan["memory_budget"]
    )


def _patterns(check: Check, answer: Any, email: str, origin: str) -> bool:
    values = {
        "{origin_re}": re.escape(origin),
        "{email_re}": re.escape(email),
        "{email_urlenc_re}": re.escape(quote(email, safe="")),
    }
    patterns = list(check["patterns"])
    for name, value in values.items():
        patterns = [pattern.replace(name, value) for pattern in patterns]
    return all(re.search(pattern, str(answer)) for pattern in patterns)


def _contains(answer: Any, _: Any, check: Check) -> bool:
    return all(part.casefold() in str(answer).casefold() for part in check["parts"])


def _picture(answer: Any, _: Any, check: Check) -> bool:
    """A PNG data URI, big enough, not blank."""
    prefix = "data:image/png;base64,"
    if not isinstance(answer, str) or not answer.startswith(prefix):
        return False
    try:
        data = base64.b64decode(answer.removeprefix(prefix), validate=True)
        width, height = struct.unpack(">II", data[16:24])
    except (binascii.Error, struct.error):
        return False
    seen = png.pixels(data)
    if seen is None or width < check["min_w"] or height < check["min_h"]:
        return False
    size, seen = seen[8], seen[9:]  # the channels of a pixel stand before the samples
    counts = Counter(seen[i : i + size] for i in range(0, len(seen), size))
    drawn = 1 - counts.most_common(1)[0][1] / (width * height)
    colours = len(counts) >= check["min_distinct_colors"]
    return colours and bool(drawn >= check["min_nonbackground_fraction"])


CHECKS: dict[str, Callable[[Any, Any, Check], bool]] = {
    "nonblank": _nonblank,
    "number": _number,
    "number_or_numeric_string": _first_number,
    "string_exact": _exact,
    "string_exact_nfc": _exact_nfc,
    "string_ci": _any_case,
    "bool_strict": _boolean,
    "hex_color": _colour,
    "json": _json,
    "predicate": _plan,
    "contains_all_ci": _contains,
    "png_data_uri": _picture,
}
"""All checks by name, except those that need more than the answer."""
