"""Code that a model wraps in something runs; code that is Python stays as it is."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.solver.contract import Final, Solution, parse_reply, unwrapped

CODE = "x = 6\nif x:\n    answer = x * 7\n"
DOCUMENTS = 'text = """\n```python\nanswer = 1\n```\n"""\nanswer = 42\n'
"""Python that has a fence in a text."""
WRAPPED = [
    f"```python\n{CODE}```",
    f"```\n{CODE}```\n",
    f"```py\n{CODE}\n```",
    f"```Python3\n{CODE}\n```",
    f'```python title="a.py"\n{CODE}\n```',
    f"```{{python}}\n{CODE}\n```",
    f"```tool_code\n{CODE}\n```",
    f"~~~\n{CODE}~~~",
    f"~~~python\n{CODE}~~~~",
    f"````python\n{CODE}````",
    f"```python\n{CODE}",
    f"```python\r\n{CODE}```\r\n",
    f"\n\n  ```python\n{CODE}  ```",
    f"Here is the code:\n\n```python\n{CODE}```\n\nIt prints nothing.",
    f"Run this: ```python\n{CODE}```",
    "1. Compute:\n   ```python\n   x = 6\n   answer = x * 7\n   ```",
    "```python\nx = 6\n```\nand then\n```python\nanswer = x * 7\n```",
    f"```python\n{CODE}```\nwhich gives\n```text\nanswer: 42\n```",
    f"```python\n{CODE}```\nwhich gives\n```\nthe answer 42\n```",
    f"```bash\npip install numpy\n```\n```python\n{CODE}```",
    "```python\nanswer = 6 * 7```",
    "```answer = 6 * 7```",
    "```python answer = 6 * 7```",
    "`answer = 6 * 7`",
    "    x = 6\n    if x:\n        answer = x * 7\n",
    "\tx = 6\n\tanswer = x * 7",
    "x = 6\n    answer = x * 7",
    "# by hand\n    x = 6\n    answer = x * 7",
    "    x = 6\n# a remark\n    answer = x * 7",
    '    text = """\nfirst\n"""\n    answer = 42 if text == "\\nfirst\\n" else 0',
    "```python\n    x = 6\n    answer = x * 7\n```",
    f"```python\n{DOCUMENTS}```",
]


def answer_of(code: str | None) -> Any:
    names: dict[str, Any] = {}
    exec(code or "", names)
    return names["answer"]


@pytest.mark.parametrize("code", WRAPPED)
def test_wrapped_code_runs(code: str) -> None:
    first = parse_reply(json.dumps({"code": code}), Solution, lambda data: data)
    assert answer_of(first.code) == 42
    data = {"final_answer": 42, "corrected_code": code}
    again = parse_reply(f"So:\n```json\n{json.dumps(data)}\n```", Final, lambda data: data)
    assert answer_of(again.corrected_code) == 42


@pytest.mark.parametrize("code", [CODE, DOCUMENTS, "", "answer = '```'", "'\\d'", "x = = 1", "\0"])
def test_what_is_python_or_cannot_be_stays(code: str) -> None:
    assert unwrapped(code) == code


def test_code_of_another_version_loses_its_fence() -> None:
    assert unwrapped("```python\nanswer = 6 **** 7\n```").strip() == "answer = 6 **** 7"


@given(st.text("`~ \n\tpython=1x#\"'", max_size=60))
def test_any_text_can_be_unwrapped(text: str) -> None:
    once = unwrapped(text)
    assert isinstance(once, str) and len(once) <= len(text) + len("if True:\n")


@pytest.mark.parametrize(
    "part", ["`", "~", " ", "```\n", "~~~ ", "``` x", "(", "`\n", "```\n`", "\t "]
)
def test_long_text_is_unwrapped_in_time_that_grows_with_it(part: str) -> None:
    started = time.process_time()
    unwrapped(f"```\n{part * (200_000 // len(part))}x = = 1")
    unwrapped(part * (200_000 // len(part)) + "x = = 1")
    assert time.process_time() - started < 10
