"""A key goes into one header and nowhere else: all artefacts of a whole run are searched for it."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.cli import main
from quizlog_tui.solver.redaction import Redaction
from tests.support.build import Build
from tests.support.fake_models import BEHAVIOURS, fake_models
from tests.support.long_runs import few

KEYS = {"FIRST_KEY": 'sk-first/0123"456 789+x', "SECOND_KEY": "hunter2-hunter2-ä"}
QUIZ = """
    import os
    print("the key is sk-first/0123\\"456 789+x, they say")
    input("What is the determinant of A? ")
"""


def forms(key: str) -> list[bytes]:
    """A key as it may hide in a file or a request."""
    written = {key, json.dumps(key)[1:-1], repr(key)[1:-1], quote(key), quote(key, safe="")}
    return [form.encode() for form in written]


def search(data: bytes, where: str) -> None:
    for name, key in KEYS.items():
        for form in forms(key):
            assert form not in data, f"{name} is in {where}"


def test_the_search_finds_what_it_looks_for() -> None:
    for key in KEYS.values():
        for text in (key, json.dumps({"x": key}), repr([key]), quote(key)):
            with pytest.raises(AssertionError, match="is in a file"):
                search(f"...{text}...".encode(), "a file")


@pytest.mark.parametrize("keep", few([True, False], True))
def test_no_artefact_of_a_run_holds_a_key(
    keep: bool, build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    record = build.record(QUIZ)
    log = io.StringIO()
    logging.basicConfig(level=logging.DEBUG, stream=log, force=True)
    out, err = io.StringIO(), io.StringIO()

    async def whole() -> bytes:
        async with fake_models() as fake:
            models = tmp_path / "models.yaml"
            models.write_text(_models(fake.url), encoding="utf-8")
            words = ["solve", str(record), "--json", "--models", str(models)]
            if keep:
                words += ["--keep", str(tmp_path / "kept")]
            with redirect_stdout(out), redirect_stderr(err):
                await asyncio.to_thread(main, words)
            assert {h["authorization"] for h in fake.headers} <= {
                f"Bearer {k}" for k in KEYS.values()
            }
            sent = bytes(fake.raw)
            for key in KEYS.values():
                sent = sent.replace(f"Bearer {key}".encode(), b"")
            return sent + json.dumps(fake.bodies, ensure_ascii=False).encode()

    search(asyncio.run(whole()), "a request besides its header")
    decision = json.loads(out.getvalue())["decision"]  # beside it stands what the quiz printed
    search(json.dumps(decision, ensure_ascii=False).encode(), "stdout")
    search(json.dumps(decision).encode(), "stdout")
    search(err.getvalue().encode(), "stderr")
    search(log.getvalue().encode(), "the log")
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".py"]
    assert any(path.name.endswith("decisions.jsonl") for path in files)
    assert any(path.parent.name == "kept" for path in files) is keep
    for path in files:
        search(path.read_bytes() if path != record else b"", str(path))
    logging.basicConfig(force=True)


def _models(url: str) -> str:
    """Every misbehaviour that ends by itself, with either key, and a program that prints all it sees."""
    slow = {"stall", "stall-after-headers", "drip", "huge"}
    lines = ["models:"]
    names = [*sorted({*BEHAVIOURS} - slow)[:24], "echo-key", "echo-key-in-answer"]
    for index, name in enumerate(names):
        key = list(KEYS)[index % 2]
        lines += [f"- {{name: m{index}, base_url: '{url}', model: {name}, api_key_env: {key}}}"]
    program = "import os, json; print(json.dumps({'answer': str(dict(os.environ))}))"
    lines += [f"- {{name: program, command: [python3, -c, {json.dumps(program)}]}}"]
    lines += [f"- {{name: loud, command: [sh, -c, {json.dumps('env >&2; exit 1')}]}}"]
    return "\n".join(lines)


@given(st.text(min_size=6, max_size=30), st.text(max_size=40), st.text(max_size=40))
def test_any_key_is_taken_out_of_any_text(key: str, before: str, after: str) -> None:
    clean = Redaction([key]).clean
    for form in (key, json.dumps(key)[1:-1], repr(key)[1:-1]):
        assert clean(before + form + after).count(form) <= (before + "[key]" + after).count(form)


def test_a_redaction_that_knows_further_keys_knows_the_first_too() -> None:
    both = Redaction(["abcdef"]).also(["abcdef-ghi", "b"])
    assert both.clean("abcdef-ghi abcdef b") == "[key] [key] b"


def test_short_values_are_no_keys() -> None:
    assert Redaction(["", "a", "12345"]).clean("a 12345") == "a 12345"


def test_the_longer_key_goes_first() -> None:
    assert Redaction(["abcdef", "abcdef-ghi"]).clean("abcdef-ghi abcdef") == "[key] [key]"


def test_keys_do_not_show_in_a_repr() -> None:
    key = os.urandom(8).hex()
    assert key not in repr(Redaction([key]))
