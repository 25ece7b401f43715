"""The checker: every change of a line is found, every rule has an example."""

from __future__ import annotations

import copy
import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic_core import from_json

from quizlog_tui.episodes.build.make import store_episodes
from quizlog_tui.episodes.format.hashing import (
    episode_id,
    plain_line,
    question_id,
    to_line,
    value_hash,
)
from quizlog_tui.episodes.read.check import SeenLines, check_file, check_line
from quizlog_tui.episodes.read.files import LineError, parse
from quizlog_tui.errors import EpisodeError
from quizlog_tui.replay.script.source import Source
from tests.episodes.support import SCRIPT, SOURCE, episode
from tests.support.episode_faults import DATA, LINE, ONE, PLACES, Place, put

ALLOWED = (
    # Changes that somebody can seal again without breaking a rule: they change what is told of a
    # run, or what a student is taught, but no answer, no hash, no count and no claim.
    r"timestamp", r"question\.(difficulty|created_at)",
    r"[a-z_0-9.]+\.code_cells\.\d+",
    r"[a-z_0-9.]+\.hooks\.\d+\.(code_line|description)",
    r"[a-z_0-9.]+\.hooks\.\d+\.variable_name", r"[a-z_0-9.]+\.hooks\.\d+\.depends_on.*",
    r"[a-z_0-9.]+\.submission_metadata\..*",
    r"consistency_traces\.\d+\.(total_turns|archived_turn_count)",
    r"conversation_for_sft\.system_prompt", r"conversation_for_sft\.messages\.[0-4]\.content",
)  # fmt: skip


def get(data: Any, place: Place) -> Any:
    for key in place:
        data = data[key]
    return data


def codes(line: bytes | str) -> set[str]:
    line = line if isinstance(line, bytes) else line.encode()
    return {one.code for one in check_line(line) if not one.warning}


SEAL: Place = ("teacher_gold_trace", "submission_metadata", "seal")
others = st.sampled_from([None, True, False, 0, 1, -1, 2.5, "", "x", [], {}, "0" * 16, ["first"]])


@given(st.sampled_from(PLACES), others)
def test_any_change_of_a_line_is_found(place: Place, value: Any) -> None:
    old = get(DATA, place)
    if (old, type(old)) == (value, type(value)):
        return
    assert codes(plain_line(put(DATA, place, value))), place


@given(st.sampled_from(PLACES), others)
@example(("teacher_gold_trace", "total_turns"), 0)
def test_a_change_that_is_sealed_again_is_found_or_listed(place: Place, value: Any) -> None:
    old = get(DATA, place)
    if (old, type(old)) == (value, type(value)) or place == SEAL:
        return
    if place == ("question", "hint") and value == "":
        return  # the schema's rule gives no hint and an empty one the same id
    name = ".".join(map(str, place))
    try:
        line = to_line(put(DATA, place, value))
    except (EpisodeError, TypeError, KeyError, AttributeError):
        return  # it cannot even be written
    assert codes(line) or any(re.fullmatch(pattern, name) for pattern in ALLOWED), name


REMOVABLE = (
    # What says nothing that a rule, a count or a claim depends on.
    r"consistency_traces\.\d+\.submission_metadata\.\w+",
    r"teacher_gold_trace\.submission_metadata\.(run|script|solver|sample|execution_id|start_time|status"
    r"|score|error_line|retries|not_verified_because|refused_messages|generated_cells)",
)  # fmt: skip
KEYS = sorted({place[:n] for place in PLACES for n in range(1, len(place) + 1)
               if isinstance(place[n - 1], str)}, key=str)  # fmt: skip


@given(st.sampled_from(KEYS))
def test_whatever_is_removed_is_missed(place: Place) -> None:
    changed = copy.deepcopy(DATA)
    del get(changed, place[:-1])[place[-1]]
    try:
        line = plain_line(changed) if place == SEAL else to_line(changed)
    except KeyError:
        line = plain_line(changed)
    name = ".".join(map(str, place))
    found = check_line(line.encode())
    assert found or any(re.fullmatch(pattern, name) for pattern in REMOVABLE), name


def test_a_line_of_others_is_not_taken_for_more_than_it_says() -> None:
    other = put(DATA, ("teacher_gold_trace", "submission_metadata"), {})
    for content, said in (("end", True), ("submit('end')", True), ("I give up", False)):
        line = plain_line(put(other, ("conversation_for_sft", "messages", 5, "content"), content))
        found = {one.code for one in check_line(line.encode()) if one.warning}
        assert not codes(line) and "no-provenance" in found
        assert ("answer-not-said" in found) != said


@given(st.sampled_from([place for place in PLACES if isinstance(place[-1], str)]))
def test_a_missing_key_is_found(place: Place) -> None:
    changed = copy.deepcopy(DATA)
    del get(changed, place[:-1])[place[-1]]
    assert codes(plain_line(changed)), place


@given(st.integers(0, len(LINE) - 1), st.integers(0, 255))
def test_a_changed_byte_is_found(at: int, byte: int) -> None:
    changed = LINE[:at] + bytes([byte]) + LINE[at + 1 :]
    try:
        same = changed == LINE or json.loads(changed) == DATA
    except ValueError:
        same = False
    assert same or codes(changed)


def test_another_way_to_write_the_same_line_is_no_change() -> None:
    text = json.dumps(json.loads(LINE, object_pairs_hook=lambda p: dict(p)), separators=(",", ":"))
    assert not codes(text) and not codes(json.dumps(DATA, ensure_ascii=False))


def resealed(place: str, value: Any) -> set[str]:
    parts: Place = tuple(int(part) if part.isdigit() else part for part in place.split("."))
    return codes(to_line(put(DATA, parts, value)))


H = "0" * 16


@pytest.mark.parametrize(
    ("place", "value", "code"),
    [
        ("episode_id", "x", "episode-id"),
        ("episode_id", "5e1b7a3e-0000-5000-8000-000000000000", "episode-id"),
        ("timestamp", "yesterday", "timestamp"),
        ("verified", False, "guarantee"),
        ("question.id", H, "question-id"),
        ("question.id", "ABC", "schema"),
        ("question.hint", "psst", "question-id"),
        ("question.n_steps", 2, "steps"),
        ("question.difficulty", "SO SO", "schema"),
        ("teacher_gold_trace.final_answer", "End", "answer-hash"),
        ("teacher_gold_trace.final_answer", None, "hash-null"),
        ("teacher_gold_trace.final_answer_hash", None, "hash-null"),
        ("teacher_gold_trace.execution_success", False, "guarantee"),
        ("teacher_gold_trace.total_turns", 4, "turns"),
        ("teacher_gold_trace.archived_turn_count", 9, "turns"),
        ("teacher_gold_trace.hooks.1.variable_name", "first", "hook-name"),
        ("teacher_gold_trace.hooks.1.depends_on", ["again_2"], "depends-on"),
        ("teacher_gold_trace.hooks.1.depends_on", ["again"], "depends-on"),
        ("teacher_gold_trace.hooks.1.depends_on", ["nobody"], "depends-on"),
        ("teacher_gold_trace.hooks.2.value_hash", H, "last-hook"),
        ("teacher_gold_trace.hooks.0.value_hash", H, "answer-read"),
        ("consistency_traces.0.hooks.0.value_hash", H, "answer-read"),
        ("teacher_gold_trace.submission_metadata.reconciled", True, "guarantee"),
        ("consistency_traces.0.final_answer_hash", H, "answer-hash"),
        ("rl_verification_data.expected_final_answer", "other", "answer-hash"),
        ("rl_verification_data.expected_final_answer_hash", H, "rl-differs"),
        ("triangulation_metadata.n_consistency_runs", 4, "triangulation"),
        ("triangulation_metadata.majority_count", 3, "triangulation"),
        ("triangulation_metadata.majority_answer_hash", H, "triangulation"),
        ("triangulation_metadata.gold_matches_majority", False, "triangulation"),
        ("conversation_for_sft.messages", [], "messages-empty"),
        ("conversation_for_sft.messages.0.role", "assistant", "roles"),
        ("conversation_for_sft.messages.0.role", "teacher", "schema"),
        ("conversation_for_sft.messages.0.content", "x", "first-message"),
        ("consistency_traces", [], "guarantee"),
        ("consistency_traces.0.execution_success", False, "success"),
        ("consistency_traces.2.execution_success", True, "success"),
        ("conversation_for_sft.messages.5.content", "The end", "answer-not-said"),
        ("teacher_gold_trace.total_turns", 0, "turns-unknown"),
        ("conversation_for_sft.messages.5.content", "end\n\nAnswer: more", "answer-not-said"),
    ],
)
def test_every_rule_has_an_example(place: str, value: Any, code: str) -> None:
    assert code in resealed(place, value)


def test_the_assistant_speaks_last() -> None:
    messages = DATA["conversation_for_sft"]["messages"]
    assert "roles" in resealed("conversation_for_sft.messages", messages[:-1])


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", "bad-json"),
        (b"[1]", "not-an-object"),
        (b"\xff", "not-utf8"),
        (b'{"a": NaN}', "not-finite"),
        (b'{"a": -Infinity}', "not-finite"),
        (b'{"a": 1e999}', "not-finite"),
        (b'{"a": 1, "a": 1}', "duplicate-key"),
        (b"[" * 100_000, "too-deep"),
        (LINE.replace(b'"hint": null', b'"hint": ' + b"[" * 300 + b"]" * 300), "too-deep"),
        (LINE.replace(b'"hint": null', b'"hint": "\\ud800"'), "surrogate"),
        (LINE.replace(b"Welcome", b"\\uDFFF", 1), "surrogate"),
        (LINE.replace(b"Welcome", b"\\ud800\\ud800", 1), "surrogate"),
        (b"\xef\xbb\xbf" + LINE, "bom"),
        (b"{}", "schema"),
        (LINE.replace(b'"verified": true', b'"verified": true, "verified": true'), "duplicate-key"),
        (LINE.replace(b'"final_answer": "end"', b'"final_answer": NaN', 1), "not-finite"),
    ],
)
def test_lines_that_are_no_strict_json(line: bytes, code: str) -> None:
    assert codes(line) == {code}


@pytest.mark.parametrize(
    ("place", "value", "code"),
    [
        ("timestamp", "2025-12-21 16:00:00.000000", "timestamp-form"),
        ("timestamp", "2025-12-21T16:00:00Z", "timestamp-form"),
        ("teacher_gold_trace.submission_metadata.exporter", "another 1", "no-provenance"),
        ("extra", 1, "extra-key"),
        ("question.extra", 1, "extra-key"),
        ("rl_verification_data.intermediate_artifact_hashes", {}, "extra-key"),
        ("teacher_gold_trace.submission_metadata.generated_cells", [], "cell-not-said"),
        ("conversation_for_sft.messages.1.content", "x" * 5_000_000, "long-line"),
    ],
)
def test_every_warning_has_an_example(place: str, value: Any, code: str) -> None:
    parts: Place = tuple(int(part) if part.isdigit() else part for part in place.split("."))
    found = check_line(to_line(put(DATA, parts, value)).encode())
    assert code in {one.code for one in found if one.warning}


def test_unknown_turns_are_only_warned_of_where_another_program_wrote_the_line() -> None:
    foreign = put(DATA, ("teacher_gold_trace", "submission_metadata", "exporter"), "another 1")
    found = check_line(to_line(put(foreign, ("teacher_gold_trace", "total_turns"), 0)).encode())
    assert [one.warning for one in found if one.code == "turns-unknown"] == [True]


def test_a_hint_that_is_told_and_a_number_that_is_big_are_warned_of() -> None:
    told = copy.deepcopy(episode(("4", str(2**60)), [("4", str(2**60))]))
    told["question"]["hint"] = "Welcome"
    told["question"]["id"] = question_id(told["question"]["question_text"], "Welcome")
    found = {one.code for one in check_line(to_line(told).encode()) if one.warning}
    assert found == {"hint-told", "big-number"}


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**200), 2**200))
def test_the_quick_reader_reads_the_same_numbers(number: float, integer: int) -> None:
    text = json.dumps([number, integer])
    assert repr(from_json(text)) == repr(json.loads(text))


def test_lines_are_told_apart_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    other = to_line(episode(("4", "stop"), [("4", "stop")])).encode()
    path.write_bytes(LINE + b"\n\n" + other + b"\n" + LINE + b"\nx\n")
    report = check_file(path)
    assert (report.lines, report.ok, report.verified) == (4, False, 2)
    assert [(one["line"], one["code"]) for one in report.errors] == [
        (4, "duplicate-id"),
        (5, "bad-json"),
    ]
    assert [(one["line"], one["code"]) for one in report.warnings] == [(4, "duplicate-answer")]


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        path = tmp_path / "e.jsonl"
        path.write_bytes((LINE + b"\n") * count)
        check_file(path)
        tracemalloc.start()
        check_file(path)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(400) < 1.2 * peak(100)


def by_an_earlier_rule(**more: Any) -> dict[str, Any]:
    """An episode whose answers `3.10` were taken for the number 3.1."""
    one = copy.deepcopy(episode(("3.10", "3.10"), [("3.10", "3.10")], **more))
    for trace in (one["teacher_gold_trace"], *one["consistency_traces"]):
        trace["submission_metadata"] |= {"exporter": "quizlog episodes 2", "matcher": {}}
        trace["final_answer"], trace["final_answer_hash"] = 3.1, value_hash(3.1)
        for hook in trace["hooks"]:
            hook["value_hash"] = value_hash(3.1)
    one["rl_verification_data"] = {
        "expected_final_answer_hash": value_hash(3.1), "expected_final_answer": 3.1,
    }  # fmt: skip
    one["triangulation_metadata"]["majority_answer_hash"] = value_hash(3.1)
    one["episode_id"] = episode_id(one["question"]["id"], one["teacher_gold_trace"])
    return one


def test_a_text_that_was_taken_for_a_number_is_an_error() -> None:
    one = by_an_earlier_rule()
    assert codes(to_line(one)) == {"answer-read"}
    numbers = Source(SOURCE.path, re.sub(rb"(input\(.*\))", rb"float(\1)", SCRIPT))
    asked = by_an_earlier_rule(source=numbers)
    assert not codes(to_line(asked))


def test_a_line_that_a_tolerance_verified_is_an_error() -> None:
    one = copy.deepcopy(episode(("4", "1000001"), [("4", "1000002")]))
    one["verified"] = True
    one["triangulation_metadata"] |= {
        "majority_answer_hash": value_hash(1000001), "gold_matches_majority": True,
    }  # fmt: skip
    assert codes(to_line(one)) == {"guarantee", "triangulation"}


junk = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
)


@given(st.sampled_from([*PLACES, *{place[:-1] for place in PLACES if len(place) > 1}]), junk)
def test_no_line_is_too_strange_to_be_checked(place: Place, value: Any) -> None:
    check_line(plain_line(put(DATA, place, value)).encode())


def test_a_file_holds_each_episode_once(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "e.jsonl"
    second = episode(("4", "stop"), [])
    assert store_episodes(path, [ONE]) == (1, 0, 0, 0)
    before = path.read_bytes()
    assert store_episodes(path, [ONE]) == (0, 1, 0, 0) and path.read_bytes() == before
    assert store_episodes(path, [second, ONE]) == (1, 1, 0, 0)
    assert path.read_bytes() == before + to_line(second).encode() + b"\n"
    path.write_bytes(path.read_bytes() + b"junk\n")
    with pytest.raises(EpisodeError, match="not JSON"):
        store_episodes(path, [ONE])
    assert path.read_bytes().endswith(b"junk\n") and len(list(path.parent.glob("*"))) == 1


deep = st.integers(1, 900).map(lambda depth: "[" * depth + "]" * depth)
odd = st.sampled_from([r'"\ud800"', r'"a\uDFFFb"', r'"\ud83d\ude00"', r'"\\ud800"'])
HELD = [b'"hint": null', b'"question_text": "Welcome\\nWhat is 2 + 2?"', b'"final_answer": "end"']


@given(st.sampled_from(HELD), deep | odd)
def test_what_json_can_say_and_nobody_can_read_is_a_finding(key: bytes, value: str) -> None:
    line = LINE.replace(key, key.partition(b" ")[0] + b" " + value.encode())
    assert line != LINE
    assert check_line(line)
    try:
        parse(line)
    except LineError as error:
        assert error.code in ("too-deep", "surrogate")
        assert codes(line) == {error.code}


def test_answers_as_deep_as_can_be_are_built_and_read() -> None:
    for depth in (190, 197, 198, 199, 200, 201, 202, 300):
        answer = "[" * depth + "]" * depth
        line = to_line(episode(("4", answer), [("4", answer)]))
        assert check_line(line.encode()) == [], depth


def test_a_message_of_a_bad_line_names_no_other_line() -> None:
    [found] = check_line(b'{"a": 1,}')
    assert "line" not in found.message and re.search("character [89]$", found.message)


def test_nothing_is_added_to_a_file_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    for text in ('{"script": "q.py", "seed": 1}', '{"episode_id": "x"}', '{"a": 1,}', "\ufeff{}"):
        path.write_text(f"{text}\n")
        with pytest.raises(EpisodeError, match=r"is no|byte order mark"):
            store_episodes(path, [ONE])
        assert path.read_text() == f"{text}\n"


def test_what_was_seen_is_seen_again() -> None:
    seen = SeenLines()
    assert check_line(LINE, seen) == []
    assert {one.code for one in check_line(LINE, seen)} == {"duplicate-id", "duplicate-answer"}
