"""The forms that trainers read, rewards, parts, and the commands that make them.

The minimal structure of an episode is part of its schema.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quizlog_tui.episodes
from quizlog_tui.cli import main
from quizlog_tui.episodes import export, rewards
from quizlog_tui.episodes.build.build import BuildSettings
from quizlog_tui.episodes.build.make import store_episodes
from quizlog_tui.episodes.format.hashing import question_id, to_line, value_hash
from quizlog_tui.episodes.format.schema import Episode
from quizlog_tui.episodes.read.check import check_line
from quizlog_tui.episodes.read.files import _EPISODE
from quizlog_tui.episodes.read.files import _unusable_at as unusable_at
from quizlog_tui.episodes.read.splits import SeenParts, assign, leaks
from quizlog_tui.episodes.read.stats import Stats
from quizlog_tui.episodes.runs.runs import Turn
from quizlog_tui.replay.script.source import Source
from quizlog_tui.solver.voting.equality import answer_value
from tests.episodes.support import ONE, SCRIPT, SOURCE, episode
from tests.support.episode_faults import DATA, PLACES, Place, put

Run = Callable[..., tuple[int, str, str]]
TEMPLATES = sorted(Path(quizlog_tui.episodes.__path__[0], "templates").glob("*.txt"))


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str, str]:
        code = main(["episodes", *words])
        out, err = capfd.readouterr()
        return code, out, err

    return call


def test_rows_of_each_form() -> None:
    [whole] = export.messages(ONE)
    assert [m["role"] for m in whole["messages"]] == ["system", *["user", "assistant"] * 3]
    [claude] = export.anthropic(ONE)
    assert claude["messages"] == whole["messages"][1:] and claude["system"]
    [pair] = export.prompt_completion(ONE)
    assert pair["prompt"] + pair["completion"] == whole["messages"]
    assert [len(row["prompt"]) for row in export.turns(ONE)] == [2, 4, 6]
    [row] = export.rl(ONE)
    assert row["answer"] == value_hash(json.loads(row["expected_answer_json"]))
    assert all(isinstance(value, str) for key, value in row.items() if key != "prompt")
    assert [m["role"] for m in row["prompt"]][-1] == "user"
    lines = list(export.session(ONE))
    assert lines[0]["type"] == "session" and len(lines) == 8
    [trajectory] = export.atif(ONE)
    assert [step["step_id"] for step in trajectory["steps"]] == list(range(1, 8))


refusals = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["bad", "worse"])), max_size=5)


@given(refusals)
def test_nobody_is_taught_an_answer_that_was_refused(refused: list[tuple[int, str]]) -> None:
    rejected = tuple((at, Turn(answer), "") for at, answer in sorted(refused))
    settings = BuildSettings(retries=True)
    one = episode(("4", "more", "end"), [], rejected=rejected, settings=settings)
    taught = [row["completion"][0]["content"] for row in export.turns(one)]
    assert taught == ["4", "more", "end"]
    [row] = export.messages(one)
    said = [message for message in row["messages"] if message["role"] == "assistant"]
    assert [m["content"] for m in said if m.get("weight", 1)] == ["4", "more", "end"]
    assert sum("weight" in message for message in said) == len(refused)
    assert check_line(to_line(one).encode()) == []


def test_preferences_are_over_runs_that_did_not_do_as_well() -> None:
    runs = [("bad",), ("5", "bad"), ("4", "more", "x"), ("4", "bad"), ("5", "x"), ("4", "more")]
    rows = list(export.preference(episode(("4", "more", "end"), runs)))
    told = [(row["chosen"][0]["content"], row["rejected"][0]["content"]) for row in rows]
    assert told == [("4", "bad"), ("end", "x"), ("more", "bad")]
    assert [len(row["prompt"]) for row in rows] == [2, 6, 4]
    assert list(export.preference(episode(("4", "bad"), [("5", "end")]))) == []


firsts = st.sampled_from(["4", "4.0", " 4 ", "5", "bad"])
lasts = st.sampled_from(["0.5", "0.50", "0.5000000000001", "0.6", "more", "bad"])


@given(st.lists(st.tuples(firsts, lasts) | st.tuples(firsts), max_size=5))
def test_no_answer_that_counts_as_gold_is_rejected(others: list[tuple[str, ...]]) -> None:
    for row in export.preference(episode(("4", "0.5"), others)):
        at = len(row["prompt"]) // 2 - 1
        wrong = row["rejected"][0]["content"]
        assert wrong == "bad" or (at, wrong) == (1, "0.6")


def test_what_may_be_the_gold_answer_in_another_notation_is_rejected_only_if_it_was_refused() -> (
    None
):
    def pairs(gold: tuple[str, ...], other: tuple[str, ...]) -> int:
        return len(list(export.preference(episode(gold, [other]))))

    assert pairs(("4", "end"), ("4", "END")) == pairs(("4", "3.10"), ("4", "3.1")) == 0
    assert pairs(("4", "end"), ("4", "finish")) == pairs(("4", "10"), ("4", "11")) == 1
    assert pairs(("BAD", "end"), ("bad",)) == 1


HASH = value_hash("end")
HOOKS = ONE["teacher_gold_trace"]["hooks"]


def test_the_final_answer_pays_and_nothing_else_does() -> None:
    said = [{"role": "assistant", "content": "I think so.\nAnswer: end"}]
    found = rewards.final_answer(
        completions=["end", said, "End", "", "Answer: no\nAnswer: end", "x end", "end"],
        answer=[HASH] * 6 + [""],
        other=[1] * 7,
    )
    assert found == [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, None]
    empty = value_hash("")
    assert rewards.final_answer([""], [empty]) == [0.0]
    assert rewards.final_answer(["4"], [value_hash(4)]) == rewards.final_answer(
        ["4"], [value_hash("4")]
    )


def test_a_reply_is_read_as_the_script_reads_its_answer() -> None:
    def paid(row: dict[str, Any], *replies: str) -> list[float | None]:
        columns = {key: [row[key]] * len(replies) for key in ("answer", "hooks_json")}
        return rewards.final_answer(replies, **columns)

    [text] = export.rl(episode(("4", "3.10"), []))
    assert paid(text, "3.10", " 3.10 ", "3.1", "3.100") == [1, 1, 0, 0]
    numbers = Source(SOURCE.path, SCRIPT.replace(b'input("Go on? ")', b'float(input("Go on? "))'))
    [number] = export.rl(episode(("4", "3.10"), [], source=numbers))
    assert json.loads(number["expected_answer_json"]) == 3.1
    assert paid(number, "3.10", "3.1", "+3.1", "3.11", '"3.1"') == [1, 1, 1, 0, 0]
    [whole] = export.rl(episode(("4", "1000"), [], source=numbers))
    assert paid(whole, "1000.0", "1e3", "+1000", "1001", "1,000") == [1, 1, 1, 0, 0]


@pytest.mark.parametrize(
    ("code", "gold", "refused"),
    [
        (b'int(input("Go on? ")[0])', "07", ("7", "+7", "7.0")),
        (b'float(input("Go on? ") + "1")', "3.1", ("3.10", "+3.1")),
        (b'input("Go on? ")  # int(input())', "007", ("7", "07")),
        (b'input("Go on? ")', "[1, 2]", ("[1,2]", "[1, 2 ]", "[1.0, 2]")),
        (b'input("Go on? ")', "[1,2]", ("[1, 2]",)),
        (b'input("Go on? ")', '{"a": 1, "b": 2}', ('{"a":1,"b":2}', '{"b": 2, "a": 1}')),
    ],
)
def test_no_reward_is_paid_for_what_the_script_may_refuse(
    code: bytes, gold: str, refused: tuple[str, ...]
) -> None:
    source = Source(SOURCE.path, SCRIPT.replace(b'input("Go on? ")', code))
    [row] = export.rl(episode(("4", gold), [], source=source))
    columns = {key: [row[key]] * (1 + len(refused)) for key in ("answer", "hooks_json")}
    assert rewards.final_answer([gold, *refused], **columns) == [1] + [0] * len(refused)


def test_steps_pay_once_in_order_and_less_than_the_answer() -> None:
    def earned(*replies: str, told: tuple[str, ...] = ()) -> float:
        return round(rewards.steps_reward(replies, HOOKS, HASH, told), 6)

    assert earned("4", "more", "end") == rewards.STEPS_SHARE < 1
    assert earned("4", "4", "4") == earned("4") == rewards.STEPS_SHARE / 2
    assert earned("more") == rewards.STEPS_SHARE / 4
    assert earned("end", "end") == 0
    assert earned(*"0123", "4") == 0, "as many tries as there are steps"
    assert earned("more", "end", told=("4",)) == rewards.STEPS_SHARE
    assert earned("4", told=("4",)) == 0
    assert earned("4", "more", told=("4", "more")) == 0


nameless = st.builds(
    lambda value, needs: {"variable_name": None, "value_hash": value_hash(value)} | needs,
    st.sampled_from([4, "more", "end"]),
    st.just({"depends_on": []}),
)


@given(st.lists(nameless, max_size=5), st.lists(st.sampled_from(["4", "more", "x"]), max_size=8))
def test_steps_without_names_are_told_apart(hooks: list[dict[str, Any]], said: list[str]) -> None:
    values = [hook["value_hash"] for hook in hooks if hook["value_hash"] != HASH]
    hits = Counter(values) & Counter(value_hash(answer_value(one)) for one in said[: len(values)])
    earned = rewards.steps_reward(said, hooks, HASH)
    share = rewards.STEPS_SHARE * hits.total() / len(values) if values else 0
    assert earned == pytest.approx(share)


def test_what_the_prompt_of_the_rl_form_tells_earns_nothing() -> None:
    [row] = export.rl(ONE)
    parroted = [{"role": "assistant", "content": text} for text in ("4", "more", "end")]
    columns = {key: [row[key]] for key in ("answer", "hooks_json", "question_id")}
    assert rewards.steps([parroted], prompts=[row["prompt"]], **columns) == [0.0]
    for told in ({"prompts": ["2+2? 4"]}, {"prompts": None}, {}):
        assert rewards.steps([parroted], **told, **columns) == [None]
    [whole] = export.messages(ONE)
    for shown, share in ((2, 1), (4, 1), (6, 0)):
        prompt, said = whole["messages"][:shown], whole["messages"][shown:]
        assert rewards.steps([said], prompts=[prompt], **columns) == [share * rewards.STEPS_SHARE]


replies = st.lists(st.sampled_from(["4", "more", "end", "x", "", "Answer: 4"]), max_size=12)


@given(replies, replies)
def test_steps_never_pay_as_much_as_the_answer(said: list[str], told: list[str]) -> None:
    earned = rewards.steps_reward(said, HOOKS, HASH, told)
    assert 0 <= earned <= rewards.STEPS_SHARE
    assert rewards.steps_reward([*said, *said], HOOKS, HASH, told) <= rewards.STEPS_SHARE


@given(
    st.dictionaries(st.text("abcdef", min_size=4), st.sampled_from(["EASY", "HARD"]), max_size=60),
    st.integers(0, 5),
)
def test_parts_have_their_share_of_each_difficulty(found: dict[str, str], seed: int) -> None:
    questions = [SeenParts(name, kind, name, "s") for name, kind in found.items()]
    parts = assign(questions, [0.8, 0.1, 0.1], seed)
    assert parts == assign(questions[::-1], [0.8, 0.1, 0.1], seed)
    for kind in ("EASY", "HARD"):
        names = [one.id for one in questions if one.difficulty == kind]
        count = sum(parts[name] == "train" for name in names)
        assert abs(count - 0.8 * len(names)) <= 2


def many(path: Path) -> list[dict[str, Any]]:
    """Episodes of several questions in one file, one of them not verified."""
    found = []
    for number in range(10):
        source = Source(Path("/somewhere/quiz.py"), SCRIPT + b"#" * number)
        found.append(episode(("4", f"end {number}"), [("4", f"end {number}")], source=source))
    found.append(episode(("4", "alone"), []))
    store_episodes(path, found)
    return found


def test_export_writes_verified_episodes(run: Run, tmp_path: Path) -> None:
    many(tmp_path / "e.jsonl")
    code, out, err = run("export", "e.jsonl", "--to", "messages")
    assert code == 0 and len(out.splitlines()) == 10 and "1 episode not verified" in err
    assert len(run("export", "e.jsonl", "--to", "messages", "--all")[1].splitlines()) == 11
    code, out, _ = run("export", "e.jsonl", "--to", "rl", "-o", "rl.jsonl", "--json")
    told = json.loads(out)
    assert (told["schema_version"], told["rows"], told["left_out"]) == (1, 10, 1)
    assert len((tmp_path / "rl.jsonl").read_text().splitlines()) == 10
    assert run("export", "e.jsonl", "--to", "atif", "-o", "atif")[0] == 0
    assert len(list((tmp_path / "atif").glob("*.json"))) == 10
    assert run("export", "e.jsonl", "--to", "session", "-o", "s")[0] == 0
    assert run("export", "e.jsonl", "--to", "session")[0] == 2
    assert run("export", "e.jsonl", "--to", "nothing")[0] == 2
    assert run("export", "e.jsonl", "--to", "verifiers", "-o", "my-package")[0] == 2


def test_splits_keep_a_question_in_one_part_and_tell_leaks(run: Run, tmp_path: Path) -> None:
    found = many(tmp_path / "e.jsonl")
    code, _, err = run("export", "e.jsonl", "--to", "splits", "-o", "parts", "--shares", "1/1/1")
    assert code == 0 and "note" not in err  # all ask the same question
    rows = [line for part in ("train", "validation", "test")
            for line in (tmp_path / "parts" / f"{part}.jsonl").read_text().splitlines()]  # fmt: skip
    assert len(rows) == len(found)
    assert rows == (tmp_path / "e.jsonl").read_text().splitlines()
    for shares in ("1/1", "a/b/c", "-1/1/1", "0/0/0", "nan/1/1"):
        assert run("export", "e.jsonl", "--to", "splits", "-o", "p", "--shares", shares)[0] == 2


def test_what_says_nothing_about_a_form_is_refused(run: Run, tmp_path: Path) -> None:
    many(tmp_path / "e.jsonl")
    for words, said in (
        (
            ("rl", "--seed", "0"),
            "--seed does not apply to 'rl' (leave it out, or export --to splits)",
        ),
        (("messages", "--shares", "1/1/1"), "--shares does not apply to 'messages'"),
        (("splits", "--scripts", "s"), "or export --to verifiers or verifiers-v0)"),
        (("splits", "--all"), "splits include all episodes (leave --all out)"),
    ):
        code, out, err = run("export", "e.jsonl", "-o", "out", "--to", *words)
        assert (code, out, err.count("\n")) == (2, "", 1) and said in err
    assert not (tmp_path / "out").exists()


def test_stats_count_and_plot(run: Run, tmp_path: Path) -> None:
    many(tmp_path / "e.jsonl")
    code, out, _ = run("stats", "e.jsonl")
    assert code == 0 and "11 episodes, 10 verified (90.9%)" in out and "█" in out
    told = json.loads(run("stats", "e.jsonl", "--json")[1])
    assert told["majority"] == {"0 of 0": 1, "1 of 1": 10}
    assert told["reasons"] == {"no consistency run": 1}


def test_bars_stand_in_the_order_of_what_they_count() -> None:
    stats = Stats()
    for level in ("VERY_HARD", "EASY", None, "HARD", "MEDIUM"):
        stats.difficulty[str(level or "none")] += 1
    for size in ("10 of 10", "2 of 3", "2 of 10", "9 of 9"):
        stats.majority[size] += 1
    told = stats.to_dict()
    assert list(told["difficulty"]) == ["EASY", "MEDIUM", "HARD", "VERY_HARD", "none"]
    assert list(told["majority"]) == ["2 of 3", "2 of 10", "9 of 9", "10 of 10"]


def test_leaks_between_parts_are_counted() -> None:
    asked = [
        ("a", "t1", "s1"),
        ("b", "t1", "s2"),
        ("c", "t2", "s2"),
        ("d", "t3", ""),
        ("e", "t4", ""),
    ]
    questions = [SeenParts(name, "EASY", text, script) for name, text, script in asked]
    apart = {"a": "train", "b": "test", "c": "validation", "d": "test", "e": "train"}
    assert leaks(questions, apart) == {"same_text": 1, "same_script": 1}
    together = dict.fromkeys("abcde", "train")
    assert leaks(questions, together) == {"same_text": 0, "same_script": 0}


def test_questions_that_only_look_different_leak(run: Run, tmp_path: Path) -> None:
    found = []
    for number, text in enumerate(["What is  2 + 2?", "WHAT IS 2 + 2?", "what is\u00a02 + 2?"]):
        one = episode(("4", f"end {number}"), [("4", f"end {number}")])
        one["question"] |= {"question_text": text, "id": question_id(text, None)}
        one["episode_id"] = f"00000000-0000-4000-8000-00000000000{number}"
        found.append(one)
    store_episodes(tmp_path / "e.jsonl", found)
    words = ("export", "e.jsonl", "--to", "splits", "-o", "parts", "--shares", "1/1/1")
    code, _, err = run(*words)
    assert code == 0 and "note: 1 same text in more than one part" in err
    assert json.loads(run(*words, "--json")[1])["leaks"] == {"same_text": 1, "same_script": 1}


def test_no_export_replaces_the_episodes_it_is_made_of(run: Run, tmp_path: Path) -> None:
    many(tmp_path / "train.jsonl")
    before = (tmp_path / "train.jsonl").read_bytes()
    for words in (("messages", "train.jsonl"), ("rl", "./train.jsonl"), ("splits", ".")):
        code, _, err = run("export", "train.jsonl", "--to", words[0], "-o", words[1])
        assert code == 2 and "must not replace" in err
    assert (tmp_path / "train.jsonl").read_bytes() == before


def test_no_other_file_is_replaced_unless_told_to(run: Run, tmp_path: Path) -> None:
    many(tmp_path / "e.jsonl")
    target = tmp_path / "mine.jsonl"
    target.write_text("mine")
    words = ("export", "e.jsonl", "--to", "messages", "-o", "mine.jsonl")
    code, _, err = run(*words)
    assert code == 2 and "or replace it with --force" in err and target.read_text() == "mine"
    assert run(*words, "--force")[0] == 0 and target.read_text() != "mine"


def test_a_folder_named_where_a_file_is_to_be_is_told(run: Run, tmp_path: Path) -> None:
    many(tmp_path / "e.jsonl")
    (tmp_path / "r.yaml").write_text("script: q.py\nseed: 1\ninputs: ['4']\npointer: 1\n")
    (tmp_path / "q.py").write_text("input('2+2? ')")
    for words in (("export", "e.jsonl", "--to", "rl"), ("build", "r.yaml")):
        for folder in (".", str(tmp_path)):
            code, _, err = run(*words, "-o", folder)
            assert (code, err.count("\n")) == (2, 1) and "is a folder (name a file with -o)" in err
    assert not tmp_path.with_name(f"{tmp_path.name}.lock").exists()


def test_what_an_export_leaves_in_a_folder_or_does_not_find_is_told(
    run: Run, tmp_path: Path
) -> None:
    many(tmp_path / "e.jsonl")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old.json").write_text("{}")
    for _ in range(2):
        err = run("export", "e.jsonl", "--to", "atif", "-o", "out")[2]
        assert "note: 1 other file left unchanged in the folder" in err
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "quiz.py").write_bytes(SCRIPT)
    err = run("export", "e.jsonl", "--to", "verifiers", "-o", "pack", "--scripts", "scripts")[2]
    assert "note: 1 script copied" in err
    assert "note: 9 scripts not found, and not copied" in err


def test_scripts_are_taken_with_what_they_mention_and_no_more(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / "data").mkdir(parents=True)
    code = b"import helper\nWANTED = 'data/a.txt', 'r.yaml', '.env'\n" + SCRIPT
    (folder / "quiz.py").write_bytes(code)
    for name in ("helper.py", "data/a.txt", "data/b.txt", ".env", "cassette.json", "x.jsonl.tmp"):
        (folder / name).write_text(f"# {name}")
    (folder / "r.yaml").write_text("script: quiz.py\nseed: 1\ninputs: ['4']\npointer: 1\n")
    (folder / ".old").mkdir()
    (folder / ".old" / "quiz.py").write_bytes(code)
    source = Source(folder / "quiz.py", code)
    store_episodes(tmp_path / "e.jsonl", [episode(source=source)])
    words = ("export", "e.jsonl", "--to", "verifiers", "--scripts", "work", "-o")
    for output in ("pack", "work/pack", "work/pack"):
        code_, _, err = run(*words, output)
        assert code_ == 0 and "1 script copied" in err
        taken = tmp_path / output / "scripts"
        names = [path.relative_to(taken).parts[1:] for path in sorted(taken.rglob("*"))]
        assert [name for name in names if name] == [
            ("data",), ("data", "a.txt"), ("helper.py",), ("quiz.py",),
        ]  # fmt: skip


FORMS = [
    "messages",
    "anthropic",
    "prompt-completion",
    "turns",
    "rl",
    "preference",
    "session",
    "atif",
]


@given(
    st.sampled_from([place[:n] for place in PLACES for n in range(1, len(place) + 1)]),
    st.sampled_from([None, True, 3, "x", [], {}, [1], [None], [{}], {"role": "tool"}]),
    st.booleans(),
)
def test_whatever_a_line_holds_it_is_used_or_named(place: Place, value: Any, drop: bool) -> None:
    one = put(DATA, place, value)
    if drop and isinstance(place[-1], str):
        inner = one
        for key in place[:-1]:
            inner = inner[key]  # type: ignore[index]
        del inner[place[-1]]
    lacking = unusable_at(one)
    if lacking is not None:
        named = re.split(r"[.\[]", lacking)[0]
        assert named == place[0]
        return
    Stats().add(one)
    for form in FORMS:
        list({**export.LINES, **{k: f for k, (f, _) in export.FOLDERS.items()}}[form](one))


def test_a_line_that_cannot_be_used_is_named(run: Run, tmp_path: Path) -> None:
    many(tmp_path / "e.jsonl")
    path = tmp_path / "e.jsonl"
    path.write_text(path.read_text().replace('"majority_count": 1', '"majority_count": null', 1))
    for words in (("stats", "e.jsonl"), ("export", "e.jsonl", "--to", "rl")):
        code, _, err = run(*words)
        assert code == 2
        assert "e.jsonl:1: triangulation_metadata.majority_count is missing, or has" in err


def test_check_says_where_and_what(run: Run, tmp_path: Path) -> None:
    many(tmp_path / "e.jsonl")
    assert run("check", "e.jsonl")[0] == 0
    path = tmp_path / "e.jsonl"
    path.write_text(path.read_text().replace('"verified": false', '"verified": true'))
    code, out, _ = run("check", "e.jsonl", "--json")
    told = json.loads(out)
    assert code == 3 and told["ok"] is False and told["lines"] == 11
    assert set(told["errors"][0]) == {"line", "path", "code", "message"}
    code, out, _ = run("check", "e.jsonl")
    assert code == 3 and "e.jsonl:11: error: verified cannot be true" in out
    code, _, err = run("check", "none.jsonl")
    assert code == 2 and "there is no such file" in err
    assert run("check", ".")[0] == 2 and run()[0] == 2


def test_words_of_an_older_format_are_answered(run: Run, tmp_path: Path) -> None:
    many(tmp_path / "e.jsonl")
    for words in (("upgrade", "e.jsonl", "-o", "new.jsonl"), ("check", "e.jsonl", "--lenient")):
        code, _, err = run(*words)
        assert code == 2 and "there is only one format of episodes" in err
        assert "`quizlog episodes check FILE`" in err
    assert not (tmp_path / "new.jsonl").exists()


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.stem)
def test_what_an_exported_package_takes_from_quizlog_is_there(template: Path) -> None:
    tree = ast.parse(template.read_text(encoding="utf-8"))
    taken = [
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and "quizlog_tui" in node.module
        for alias in node.names
    ]
    assert taken
    for module, name in taken:
        assert hasattr(import_module(module), name), f"{module}.{name}"


def test_the_minimal_structure_is_part_of_the_schema() -> None:
    assert list(differences(_EPISODE, Episode)) == []


def differences(form: Any, kind: Any, path: str = "") -> list[str]:
    """The paths at which a minimal form asks for another type than the schema."""
    if isinstance(form, dict):
        known = get_type_hints(kind)
        inner = [(form[key], known.get(key), f"{path}.{key}") for key in form]
        return [path for each in inner for path in differences(*each)]
    if isinstance(form, list):
        return differences(form[0], *get_args(kind), f"{path}[]")
    wanted = set(form) if isinstance(form, tuple) else {form}
    return [] if wanted == plain_types(kind) else [path]


def plain_types(kind: Any) -> set[Any]:
    """The classes of the values that a type of the schema stands for."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return {object}
    if origin is Annotated:
        return plain_types(inner[0])
    if origin is Literal:
        return {type(value) for value in inner}
    if origin in (Union, UnionType):
        return {each for one in inner for each in plain_types(one)}
    return {NoneType if kind is None else origin or kind}
