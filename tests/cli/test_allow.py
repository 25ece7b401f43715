"""What a script asks for is granted by a person's word, and by nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from quizlog_tui.config import config_folder
from quizlog_tui.episodes.runs.instance import attempt, instances
from quizlog_tui.proof.lint.check import lint
from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.script.granted import granted_source, grants_path
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.session.session import Session
from tests.cli.conftest import Run
from tests.support.build import Build
from tests.support.isolation import needs_isolation

CLOCK = "import time  #quizlog: real-clock\nprint('real' if time.time() > 1.76e9 else 'fixed')\n"
ASKS = f"{CLOCK}while True: input('? ')\n"


def runs(out: str) -> str:
    return out.splitlines()[0]


def test_only_allow_grants_and_only_this_version(run: Run, build: Build) -> None:
    name = build.record(ASKS).name
    assert runs(run(name)[1]) == "fixed"
    assert run("verify", name)[0] == 4
    assert run("lint", "quiz.py")[0] == 3
    assert run("export", name, "-o", "quiz.html")[0] == 0
    assert not grants_path().exists()
    assert runs(run(name, "--allow", "real-clock")[1]) == "real"
    assert runs(run(name)[1]) == "real"
    (build.folder / "quiz.py").write_text(ASKS + "# another version\n")
    _, out, err = run(name)
    assert runs(out) == "fixed"
    assert "runs without: quiz.py changed since you allowed it (--allow real-clock)" in err


def test_a_persons_own_folder_asks_once(run: Run, build: Build) -> None:
    build.script(ASKS)
    assert runs(run("new", "quiz.py", "--seed", "1", "--allow", "real-clock")[1]) == "real"
    moves = [
        *(["quiz.yaml", "a"], ["quiz.yaml", "b"], ["rewind", "quiz.yaml", "1"]),
        *(["fork", "quiz.yaml", "0", "c"], ["quiz.yaml", "d"], ["amend", "quiz.yaml", "0", "e"]),
        *(["switch", "quiz.yaml", "main"], ["export", "quiz.yaml", "-o", "quiz.html"]),
        *(["note", "quiz.yaml", "main", "mine"], ["verify", "quiz.yaml"], ["quiz.yaml", "f"]),
        *(["new", "quiz.yaml", "-o", "again.yaml"], ["again.yaml", "g"]),
        *(["watch", "quiz.yaml", "time", "--keep"], ["watch", "quiz.yaml"]),
        *(["screenshot", "quiz.yaml", "-o", "s.svg"], ["quiz.yaml"]),
    ]
    for words in moves:
        _, out, err = run(*words)
        assert "runs without" not in err, words
    assert runs(out) == "real"


def test_an_expression_from_elsewhere_runs_without_the_grant(run: Run, build: Build) -> None:
    path = build.record(ASKS)
    shows_clock = ("watch", path.name, "--json")
    run(path.name, "--allow", "real-clock")
    assert '"text": "True"' in run(*shows_clock, "time.time() > 1.76e9")[1]
    with path.open("a", encoding="utf-8") as file:
        file.write("feedback:\n- watch: 'time.time() > 1.76e9'\n")
    _, out, err = run(*shows_clock)
    assert '"text": "False"' in out
    assert "runs without: the arguments and answers of record.yaml were neither given" in err
    shown = run(path.name, "--allow", "real-clock")[2]
    assert "watched expression: time.time() > 1.76e9" in shown
    run(path.name, "--allow", "real-clock")
    assert '"text": "True"' in run(*shows_clock)[1]


def test_a_move_that_lacks_a_grant_says_so(run: Run, build: Build) -> None:
    needs_isolation(*replay(build.script("input()\n"), 1, []).unavailable)
    build.script(f"#quizlog: real-files\nopen({str(build.outside / 'data')!r}).read()\ninput()\n")
    (build.outside / "data").write_text("x")
    run("new", "quiz.py", "--seed", "1", "--allow", "real-files")
    assert run("quiz.yaml", "a")[0] == 0
    (build.folder / "more.py").write_text("")
    for words in (
        ["quiz.yaml", "b"],
        ["rewind", "quiz.yaml", "1"],
        ["amend", "quiz.yaml", "0", "c"],
        ["migrate", "quiz.yaml"],
    ):
        before = Path("quiz.yaml").read_bytes()
        code, _, err = run(*words)
        assert code == 2 and Path("quiz.yaml").read_bytes() == before
        assert "more.py is new since you allowed it (--allow real-files)" in err, words


def test_what_is_made_of_records_has_their_grant(run: Run, build: Build) -> None:
    needs_isolation(*replay(build.script("input()\n"), 1, []).unavailable)
    (build.outside / "data").write_text("x")
    build.script(
        f"#quizlog: real-files\nprint(open({str(build.outside / 'data')!r}).read())\ninput()\n"
    )
    run("new", "quiz.py", "--seed", "1", "--allow", "real-files")
    run("quiz.yaml", "a")
    assert "questions: 1 of 1 reached" in run("coverage", "quiz.py", "quiz.yaml")[1]
    (only,) = instances([attempt(Path("quiz.yaml"))])
    assert only.source.allowed == ("real-files",)
    text = Path("quiz.yaml").read_text()
    Path("theirs.yaml").write_text(text.replace("- a", "- b"))
    assert "questions: 0 of 1 reached" in run("coverage", "quiz.py", "theirs.yaml")[1]
    both = [attempt(Path(name)) for name in ("quiz.yaml", "theirs.yaml")]
    assert {one.source.allowed for one in instances(both)} == {()}


@pytest.fixture
def stranger(run: Run, build: Build) -> Path:
    """A record from elsewhere that names a script to which something was granted here."""
    build.script(ASKS)
    run("new", "quiz.py", "--seed", "1", "--allow", "real-clock")
    path, script = build.outside / "rec.yaml", f"../{build.folder.name}/quiz.py"
    text = f"script: {script}\nseed: 1\nargs: [--evil]\ninputs: [rm, -rf]\npointer: 2\n"
    path.write_text(text)
    return path


def test_answers_from_elsewhere_are_shown_before_a_grant_applies(run: Run, stranger: Path) -> None:
    _, out, err = run(str(stranger))
    assert runs(out) == "fixed"
    lines = ["argument 1: --evil", "answer 0: rm", "answer 1: -rf"]
    assert all(f"quizlog:   {line}\n" in err for line in lines)
    assert "answers of rec.yaml were neither given nor allowed here (--allow real-clock)" in err
    assert "--evil" not in run(str(stranger))[2]  # shown once
    assert runs(run(str(stranger), "--allow", "real-clock")[1]) == "real"
    assert runs(run(str(stranger), "more")[1]) == "real"
    assert runs(run(str(stranger))[1]) == "real"


def test_what_was_not_shown_is_not_allowed(run: Run, stranger: Path) -> None:
    code, out, err = run(str(stranger), "--allow", "real-clock")
    assert (code, out) == (2, "")
    assert "answer 1: -rf" in err and "give the same command again" in err
    assert runs(run(str(stranger), "--allow", "real-clock")[1]) == "real"


def test_what_changed_after_it_was_shown_is_shown_again(run: Run, stranger: Path) -> None:
    run(str(stranger))
    stranger.write_text(stranger.read_text().replace("-rf", "-rf /"))
    code, _, err = run(str(stranger), "--allow", "real-clock")
    assert code == 2 and "answer 1: -rf /" in err


def test_a_record_put_in_the_place_of_a_known_one_is_shown(run: Run, stranger: Path) -> None:
    assert runs(run("quiz.yaml", "mine")[1]) == "real"
    Path("quiz.yaml").write_text("script: quiz.py\nseed: 1\ninputs: [theirs]\npointer: 1\n")
    assert runs(run("quiz.yaml")[1]) == "fixed"


LOOKS = {
    "export": ["export", "rec.yaml", "-o", "rec.html"],
    "verify": ["verify", "rec.yaml"],
    "diff": ["diff", "rec.yaml", "rec.yaml"],
    "bundle": ["bundle", "rec.yaml", "-o", "rec.zip"],
    "answer": ["rec.yaml", "x"],
    "new": ["new", "rec.yaml", "-o", "copy.yaml"],
    "new with arguments": ["new", "rec.yaml", "-o", "copy.yaml", "--", "--mine"],
}


@pytest.mark.parametrize("kind", LOOKS)
def test_nothing_else_makes_answers_from_elsewhere_ones_from_here(
    kind: str, run: Run, stranger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(stranger.parent)
    run(*LOOKS[kind])
    for path in stranger.parent.glob("*.yaml"):
        assert runs(run(path.name)[1]) == "fixed", path.name


def test_a_bundle_has_nothing_that_its_receiver_granted(build: Build) -> None:
    build.record(ASKS)
    assert read_source(build.folder / "quiz.py").allowed == ()


def test_a_session_without_a_grant_is_told_so(build: Build) -> None:
    with Session(build.record(ASKS)) as session:
        assert any("not allowed" in warning for warning in session.warnings)
    assert granted_source(build.folder / "quiz.py").allowed == ()


def test_lint_names_what_is_asked_for(build: Build) -> None:
    found = lint(read_source(build.script(ASKS)))
    (trap,) = [trap for trap in found.traps if trap.code == "asks-real"]
    assert (trap.line, "real-clock" in trap.reason) == (1, True)


FILES = "#quizlog: real-files\nimport json\nprint(json.dumps(input('Name? ')))\n"
READS = "print('STRANGER READS', open({key!r}).read())\ndef dumps(x): return x\n"


def test_the_same_bytes_in_a_strangers_folder_get_nothing(run: Run, build: Build) -> None:
    key, stranger = build.outside / "key", build.folder / "stranger"
    key.write_text("OUTSIDE-KEY")
    mine = build.folder / "mine" / "quiz.py"
    for path in (mine, stranger / "quiz.py"):
        path.parent.mkdir()
        path.write_text(FILES)
    run("new", str(mine), "--seed", "1", "--allow", "real-files")
    (stranger / "json.py").write_text(READS.format(key=str(key)))
    (stranger / "rec.yaml").write_text("script: quiz.py\nseed: 1\ninputs: []\npointer: 0\n")
    code, out, _ = run(str(stranger / "rec.yaml"))
    needs_isolation(*replay(stranger / "quiz.py", 1, []).unavailable)
    assert code == 1 and "OUTSIDE-KEY" not in out


def test_a_note_that_cannot_be_kept_is_a_warning(run: Run, build: Build) -> None:
    build.script(ASKS)
    run("new", "quiz.py", "--seed", "1")
    (config_folder() / "given-here.toml").mkdir(parents=True)
    code, out, err = run("quiz.yaml", "a")
    assert (code, out.splitlines()[-1]) == (0, "? ")
    assert "cannot note what was given" in err
