"""`quizlog solve`, `decisions`, `models check`: what they print, keep and return."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.cli.decisions import decision_lines
from quizlog_tui.files.paths import record_path
from quizlog_tui.solver.decision import Decision, Fetched, ModelQuestion, ModelReply
from quizlog_tui.solver.models.models import default_models
from tests.support.build import Build
from tests.support.voters import voters

QUIZ = """
    if int(input("2 + 2 = ")) != 4:
        raise Exception("count again")  #score = 0.2
    if int(input("3 + 3 = ")) != 6:
        raise Exception("no")  #score = 0.6
"""


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    return code, out, err


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(QUIZ)


def test_a_decision_is_shown_and_kept_and_nothing_else_happens(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = record.read_bytes()
    code, out, err = run(
        capsys, "solve", record, "--models", voters(tmp_path / "models.yaml", a=4, b="4", c=5)
    )
    assert code == 0
    assert out.splitlines() == [
        "step 0: 2 + 2 =",
        "  *     1  4  a, b",
        "      0.5  5  c",
        "  4  majority: more than half of the weight",
    ]
    assert f"quizlog {record} '4'" in err
    assert "a: 4" in err
    assert record.read_bytes() == before
    code, out, _ = run(capsys, "decisions", record)
    assert code == 0
    assert "4  majority" in out


def test_accepting(record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = voters(tmp_path / "models.yaml", a=4, b=4)
    code, out, err = run(capsys, "solve", record, "--accept", "--models", models, "--json")
    data = json.loads(out)
    assert (code, data["schema_version"], data["reply"]["pointer"]) == (0, 1, 1)
    assert data["decision"]["verdict"]["why"] == "unanimous"
    assert "answered '4' on branch main" in err
    wrong = voters(tmp_path / "models.yaml", a=4, b=4)
    code, _, err = run(capsys, "solve", record, "--accept", "--models", wrong)
    assert code == 1
    assert "score 0.6" in err


def test_to_the_end_and_paused(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(
        capsys,
        "solve",
        record,
        "--until-end",
        "--models",
        voters(tmp_path / "models.yaml", a=4, b=5),
    )
    assert code == 3
    assert "paused at step 0: the models do not agree" in err
    assert "primary" in out
    code, _, err = run(
        capsys,
        "solve",
        record,
        "--until-end",
        "--models",
        voters(tmp_path / "models.yaml", a=4, b=4),
    )
    assert (code, "no is not" in err) == (1, False)
    code, out, err = run(
        capsys,
        "solve",
        record,
        "--until-end",
        "--json",
        "--models",
        voters(tmp_path / "models.yaml", a=6, b=6),
    )
    data = json.loads(out)
    assert (code, data["ended"], data["reply"]["status"]) == (0, "finished", "success")


def test_nobody_answers(record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = tmp_path / "models.yaml"
    models.write_text(
        "models:\n- {name: a, command: [sh, -c, exit 1]}\n- {name: b, command: [/nowhere]}\n"
    )
    code, out, _ = run(capsys, "solve", record, "--models", models)
    assert code == 4
    assert "no decision" in out
    code, _, err = run(capsys, "solve", record, "--until-end", "--models", models)
    assert (code, "no model gave an answer" in err) == (4, True)


def test_a_tie_without_a_primary_is_no_decision(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = tmp_path / "models.yaml"
    models.write_text(
        voters(tmp_path / "models.yaml", a=4, b=5).read_text().replace("true", "false")
    )
    code, out, _ = run(capsys, "solve", record, "--models", models, "--accept")
    assert code == 3
    assert "no decision (rule majority)" in out


def test_an_example_needs_no_key(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "solve", "adventure")
    assert code == 0
    assert "no model was asked" in err
    assert "reason_feedback" in out
    code, out, err = run(capsys, "decisions", "adventure", "--rule", "unanimous")
    assert code == 0
    assert "decided again: 0 of 1 answer would differ" in err
    assert json.loads(run(capsys, "decisions", "adventure", "--json")[1])["decisions"]


def test_configured_models_are_asked_only_what_no_recording_beside_the_record_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    default_models().parent.mkdir(parents=True, exist_ok=True)
    models = voters(default_models(), mine="yes", other="yes")

    def sources(*words: object) -> set[str]:
        code, out, err = run(capsys, "solve", "adventure", "--json", *words)
        assert code in (0, 3)
        assert ("recorded replies are played" in err) is (not words)
        return {model["source"] for model in json.loads(out)["decision"]["models"]}

    assert sources() == {"recorded"}
    assert sources("--models", models) == {"command"}
    assert run(capsys, "rewind", "adventure", "0")[0] == 0
    assert sources() == {"command"}


def test_a_broken_recording_beside_a_record_stops_no_configured_model(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    default_models().parent.mkdir(parents=True, exist_ok=True)
    voters(default_models(), a=4, b=4)
    (record.parent / "cassettes").mkdir()
    (record.parent / "cassettes" / "a.json").write_text("{}")
    code, out, err = run(capsys, "solve", record)
    assert (code, "4  unanimous" in out) == (0, True)
    assert "is not a recorded reply" in err


def test_recording_and_replaying(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    models = voters(tmp_path / "models.yaml", a=4, b=4)
    run(capsys, "solve", record, "--models", models, "--keep", kept)
    code, out, err = run(capsys, "solve", record, "--replay", kept, "--json")
    assert code == 0
    assert "recorded replies" in err
    assert [m["source"] for m in json.loads(out)["decision"]["models"]] == ["recorded"] * 2
    assert len(run(capsys, "decisions", record)[1].split("step 0")) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["solve", "RECORD"], "no models are configured"),
        (["solve", "nowhere.yaml"], "does not exist"),
        (["solve", "RECORD", "--models", "nowhere.yaml"], "there is no models file"),
        (["solve", "RECORD", "--replay", "."], "holds no recorded replies"),
        (["solve", "RECORD", "--budget", "-1"], "--budget"),
        (["solve", "RECORD", "--budget", "nan"], "--budget"),
        (["decisions", "nowhere.yaml"], "does not exist"),
        (["decisions", "/"], "is a directory, not a record"),
        (["decisions", "RECORD", "--rule", "best"], "--rule"),
        (["models", "check"], "there is no models file"),
        (["models", "list"], "invalid choice"),
        (["models"], "there is no models file (see `quizlog models --help` for one)"),
    ],
)
def test_slips_are_told_in_a_line(
    record: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(record) if word == "RECORD" else word for word in words]
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_finished_record_asks_nothing(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    path = build.record("print('done')")
    models = voters(build.folder / "models.yaml", a=1)
    code, _, err = run(capsys, "solve", path, "--models", models)
    assert code == 2
    assert "asks nothing" in err


def test_a_broken_line_is_told_and_the_rest_is_shown(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "solve", record, "--models", voters(tmp_path / "models.yaml", a=4, b=4))
    with open(record.with_suffix(".decisions.jsonl"), "a") as file:
        file.write('{"id": 1}\n')
    code, out, err = run(capsys, "decisions", record)
    assert code == 0
    assert "4  unanimous" in out
    assert "left out" in err
    assert ":2: id: must be a text" in err


def test_no_text_of_a_model_reaches_the_terminal_raw(
    build: Build, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = build.record("input('\\x1b[31mask\\u202e? ')")
    models = voters(tmp_path / "models.yaml", a="\x1b]0;x\x07\u202e", b="\x9b31m", c="\u2028x")
    code, out, err = run(capsys, "solve", path, "--models", models)
    assert code == 0
    assert not {*"\x1b\x07\x9b\u202e\u2028"} & {*out, *err}
    assert not {*"\x1b\x07\x9b\u202e\u2028"} & {*run(capsys, "decisions", path)[1]}


def test_checking_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = voters(tmp_path / "models.yaml", good=4)
    code, out, _ = run(capsys, "models", "check", "--models", models)
    assert (code, out.startswith("ok         good: answers 4")) == (0, True)
    models.write_text(models.read_text() + "\n- {name: bad, command: [echo, hello]}")
    models.write_text(models.read_text() + "\n- {name: keyless, base_url: 'http://127.0.0.1:9', model: m, api_key_env: NO_SUCH_KEY}")  # fmt: skip
    models.write_text(models.read_text() + "\n- {name: me, human: true}")
    code, out, _ = run(capsys, "models", "check", "--models", models, "--json")
    rows = {row["name"]: row for row in json.loads(out)["models"]}
    assert code == 4
    assert {name: row["status"] for name, row in rows.items()} == {
        "good": "ok", "bad": "invalid", "keyless": "error", "me": "not asked",
    }  # fmt: skip
    assert "NO_SUCH_KEY is not set" in rows["keyless"]["says"]
    assert (rows["me"]["ok"], rows["me"]["says"]) == (True, "a person")


def test_models_alone_lists_what_is_set_and_asks_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = voters(tmp_path / "models.yaml", mine="never asked")
    models.write_text(models.read_text() + "\n- {name: far, base_url: 'http://127.0.0.1:9', model: m, api_key_env: NO_SUCH_KEY, weight: 2}")  # fmt: skip
    models.write_text(models.read_text() + "\n- {name: me, human: true}")
    code, out, err = run(capsys, "models", "--models", models)
    mine, far, me = out.splitlines()
    assert (code, mine.startswith("mine  the program echo ")) == (0, True)
    assert mine.endswith(" (primary)") and me == "me    a person"
    assert far == "far   m at http://127.0.0.1:9 (weight 2, NO_SUCH_KEY is not set)"
    assert "`quizlog models check`" in err
    code, out, _ = run(capsys, "models", "--models", models, "--json")
    assert [row["key_is_set"] for row in json.loads(out)["models"]] == [False, False, False]
    code, out, err = run(capsys, "models", "--models", tmp_path / "none.yaml")
    assert (code, out) == (2, "") and "there is no models file (see `quizlog models" in err


def test_a_model_that_answers_wrongly_does_not_pass_the_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = voters(tmp_path / "models.yaml", wrong=5, right="4.0")
    code, out, _ = run(capsys, "models", "check", "--models", models)
    assert (code, out.startswith("wrong      wrong: answers 5, not 4")) == (4, True)
    assert "ok         right: answers '4.0'" in out
    said = json.dumps({"code": "answer = 2 + 2"})
    models.write_text(f"models: [{{name: coder, command: [echo, {json.dumps(said)}]}}]")
    code, out, _ = run(capsys, "models", "check", "--models", models)
    assert (code, "answers with code, which is not run here" in out) == (0, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["serve", "--port", "http"], "argument --port: must be a whole number from 0 to 65535, not 'http'"),
        (["serve", "--port", "65536"], "argument --port: must be a whole number"),
        (["demo-server", "--port", "-1"], "argument --port: "),
        (["solve", "x", "--budget", "soon"], "argument --budget: must be a number of seconds above 0, not 'soon'"),
        (["solve", "x", "--budget", "nan"], "argument --budget: must be a number of seconds"),
        (["solve", "x", "--budget", "0"], "argument --budget: must be a number of seconds"),
    ],
)  # fmt: skip
def test_values_that_cannot_be_are_named(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, *words)
    assert code == 2
    assert said in err


def test_a_person_is_a_voter(record: Path, tmp_path: Path) -> None:
    models = voters(tmp_path / "models.yaml", a=4, b=5)
    models.write_text(models.read_text() + "\n- {name: me, human: true}")
    words = [sys.executable, "-m", "quizlog_tui", "solve", str(record), "--models", str(models)]
    done = subprocess.run(words, input="4\n", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "4  a, me" in done.stdout
    assert "your vote" in done.stderr


def test_listing_decisions_loads_nothing_of_the_solver(record: Path) -> None:
    code = (
        "import sys; from quizlog_tui.cli import main\n"
        f"main(['decisions', {str(record)!r}])\n"
        "print(sorted({'httpx', 'pydantic', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_users_copy_has_the_recordings() -> None:
    assert (record_path("linear-algebra").parent / "cassettes").is_dir()


def test_each_request_of_a_model_is_shown_on_a_line_of_its_own() -> None:
    found = (
        Fetched("GET", "https://quiz.site/a\n\x1b[31m", status=200, size=13),
        Fetched("POST", "https://quiz.site/b", error="no reply within 20 s"),
    )
    reply = ModelReply("ada", "ok", 4, fetched=found)
    lines = decision_lines(Decision("d", "t", ModelQuestion("?"), (reply,)))
    shown = [line for line in lines if "fetched for ada" in line]
    assert len(shown) == 2
    assert shown[0].endswith("HTTP 200, 13 bytes")
    assert shown[1].endswith("POST https://quiz.site/b: no reply within 20 s")
    assert "\x1b" not in shown[0]
