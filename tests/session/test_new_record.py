"""New records: a script with its arguments, and the answers of a record given again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quizlog_tui.episodes.runs.instance import attempt
from quizlog_tui.errors import EpisodeError, RecordError
from quizlog_tui.proof.bundle.check import verify_bundle
from quizlog_tui.proof.bundle.pack import pack
from quizlog_tui.proof.verify import verify
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.report.document import build_report
from quizlog_tui.report.html import to_html
from quizlog_tui.report.markdown import to_markdown
from quizlog_tui.session.new_record import new_record, run_again
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.sessions import ROUNDS, on_disk

ARGV = "import json, sys; print(json.dumps(sys.argv)); input('? ')\n"


@pytest.fixture
def path(build: Build) -> Path:
    """A record of two answers to `ROUNDS` with arguments."""
    made = build.folder / "rounds.yaml"
    new_record(build.script(ROUNDS), made, 7, ["--rounds", "3", "Ann"])
    with Session(made) as session:
        session.answer("a")
        session.answer("b")
    return made


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(args=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), max_size=4))
def test_a_script_finds_exactly_the_arguments_of_its_record(
    args: list[str], build: Build, replayer: Replayer
) -> None:
    made = build.folder / "argv.yaml"
    made.unlink(missing_ok=True)
    new_record(build.script(ARGV), made, 7, args)
    with Session(made, replayer) as session:
        session.save()
        (shown,) = session.transcript.print
    assert json.loads(shown) == ["quiz.py", *args]
    assert RecordFile(made).read().args == tuple(args)


def test_arguments_identify_the_run_everywhere(path: Path, build: Build) -> None:
    assert on_disk(path)["args"] == ["--rounds", "3", "Ann"]
    with Session(path) as session:
        assert session.reply().next_prompt == "round 2 of 3: "
        report = build_report(session)
    assert "- arguments: `--rounds 3 Ann`" in to_markdown(report)
    assert "--rounds 3 Ann" in to_html(report)
    assert verify(path).verdict == "reproducible"
    bundle = build.folder / "b.zip"
    bundle.write_bytes(pack(path).data)
    assert verify_bundle(bundle).ok
    text = path.read_text().replace('- "Ann"', '- "Bob"', 1)
    path.write_text(text)
    assert verify(path).verdict == "diverges"


def test_an_episode_is_not_made_of_what_it_cannot_tell(path: Path) -> None:
    with pytest.raises(EpisodeError, match="arguments"):
        attempt(path)


def test_answers_are_given_again_as_far_as_the_script_takes_them(
    path: Path, build: Build, replayer: Replayer
) -> None:
    again = build.folder / "deep" / "again.yaml"
    again.parent.mkdir()
    run_again(path, again, replayer, args=["--rounds", "1", "Bob"])
    with Session(again) as session:
        assert list(session.transcript.print) == ["Bob a"]
        assert (session.pointer, tuple(session.record.inputs)) == (1, ("a",))
        session.save()
    assert verify(again).verdict == "reproducible"
    old, new = on_disk(path), on_disk(again)
    assert new["script"] == "../quiz.py"
    assert (new["seed"], new["start_time"]) == (7, old["start_time"])
    assert new["execution_id"] != old["execution_id"]
    run_again(path, build.folder / "seed.yaml", replayer, seed=8)
    seeded = RecordFile(build.folder / "seed.yaml").read()
    assert (seeded.seed, seeded.args) == (8, ("--rounds", "3", "Ann"))


@pytest.mark.parametrize("args", ["[1]", '["a\\0b"]', '["\\ud800"]', "text"])
def test_arguments_that_no_script_can_have_are_refused(args: str, build: Build) -> None:
    build.script(ARGV)
    bad = build.folder / "bad.yaml"
    bad.write_text(f"script: quiz.py\nseed: 1\nargs: {args}\n")
    with pytest.raises(RecordError, match="args"):
        RecordFile(bad).read()
