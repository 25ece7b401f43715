"""bundle, verify of a bundle, lint and coverage, as a shell sees them."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from quizlog_tui.session.session import Session
from tests.cli.conftest import Run
from tests.proof.drift.quiz import edited, recorded
from tests.support.build import Build


@pytest.fixture
def run(run: Run, build: Build) -> Run:
    """Runs one command line in a folder with a record of three branches."""
    recorded(build)
    return run


def test_a_record_is_packed_and_verified_offline(run: Run, build: Build) -> None:
    code, out, err = run("bundle", "record.yaml", "-o", "b.zip")
    assert code == 0 and out.startswith("b.zip: 4 files, head ")
    assert "script/quiz.py" in err
    said = "   replayed alone: all 3 branches\n   not signed\n"
    assert run("verify", "b.zip") == (0, "reproducible\n", said)
    (build.folder / "signers").write_text("")
    code, out, _ = run("verify", "b.zip", "--signers", "signers")
    assert (code, out) == (3, "signature b.zip.sig: is missing: nobody signed it\n")
    for words in (["record.yaml"], ["--all", "."]):
        code, _, err = run("verify", *words, "--signers", "signers")
        assert code == 2 and "leave" in err
    code, out, _ = run("verify", "b.zip", "--json")
    data = json.loads(out)
    assert (code, data["verdict"], data["problems"]) == (0, "reproducible", [])
    whole = bytearray((build.folder / "b.zip").read_bytes())
    whole[len(whole) // 2] ^= 1
    (build.folder / "b.zip").write_bytes(whole)
    code, out, _ = run("verify", "b.zip")
    assert code == 3 and out.startswith("file ") and "bytes were changed" in out
    assert json.loads(run("verify", "b.zip", "--json")[1])["problems"][0]["part"] == "file"
    code, _, err = run("bundle", "record.yaml", "-o", "b.zip")
    assert code == 2 and "exists already" in err


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="no ssh-keygen")
def test_a_bundle_that_is_signed_is_told_as_signed(run: Run, build: Build) -> None:
    key = build.folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    left = build.folder / "b.zip.sig"
    left.write_text("a file of somebody")
    code, _, err = run("bundle", "record.yaml", "-o", "b.zip", "--sign", "key")
    assert code == 2 and "is not a signature of quizlog" in err
    assert not (build.folder / "b.zip").exists()
    left.write_text("-----BEGIN SSH SIGNATURE-----\nleft by a bundle before")
    code, _, err = run("bundle", "record.yaml", "-o", "b.zip", "--sign", "key")
    assert code == 0 and "   signed by ED25519 key" in err and "not signed" not in err
    (build.folder / "n.txt").write_text("n\n")
    build.record("print(open(input('name? ')).read())\n", "n.txt", name="n.yaml")
    assert run("bundle", "n.yaml", "-o", "n.zip", "--sign", "key")[0] == 3
    assert not [*build.folder.glob("n.zip*")]


def test_a_file_that_only_a_run_names_has_to_be_added(run: Run, build: Build) -> None:
    for name in ("notes-1.txt", "notes-2.txt", "unread.txt"):
        (build.folder / name).write_text(f"{name}\n")
    reading = "for i in (1, 2): print(open(f'notes-{i}.txt').read())\ninput('? ')\n"
    with Session(build.record(reading, name="n.yaml")) as session:
        session.answer("x")
    code, out, err = run("bundle", "n.yaml", "-o", "n.zip")
    assert (code, out) == (3, "") and "at step 0 without notes-1.txt, notes-2.txt" in err
    assert "(--add notes-1.txt --add notes-2.txt)" in err and err.count("\n") == 1
    assert not (build.folder / "n.zip").exists()
    added = ("--add", "notes-1.txt", "--add", "notes-2.txt")
    assert run("bundle", "n.yaml", "-o", "n.zip", *added)[0] == 0
    assert run("verify", "n.zip")[0] == 0
    assert run("bundle", "n.yaml", "-o", "o.zip", "--add", "notes-1.txt", "notes-2.txt")[0] == 0


def test_a_bundle_of_what_is_not_reproducible_is_made_and_says_so(run: Run, build: Build) -> None:
    text = (build.folder / "record.yaml").read_text()
    assert text.count("score: 0.7") == 1
    (build.folder / "record.yaml").write_text(text.replace("score: 0.7", "score: 0.8"))
    code, out, err = run("bundle", "record.yaml", "-o", "b.zip")
    assert code == 3 and out.startswith("b.zip: 4 files, head ")
    assert "quizlog: note: diverges at step 4 of branch hot (outcome, unknown)" in err
    assert run("verify", "b.zip")[0] == 3
    assert run("bundle", "record.yaml", "-o", "c.zip", "--json")[0] == 3


def test_a_file_that_was_packed_is_no_leftover(run: Run, build: Build) -> None:
    (build.folder / "state.json").write_text("[1]")
    looking = """
        import json, os
        found = os.path.exists('state.json')
        json.dump([1], open('state.json', 'w'))
        input(f'found: {found}? ')
        """
    with Session(build.record(looking, name="n.yaml")) as session:
        session.answer("x")
    code, out, _ = run("verify", "n.yaml")
    assert code == 3 and "leftover-file" in out
    assert run("bundle", "n.yaml", "-o", "n.zip")[0] == 0
    assert run("verify", "n.zip") == (0, "reproducible\n", "   not signed\n")


def test_a_record_of_an_edited_script_is_not_packed(run: Run, build: Build) -> None:
    build.script(edited(("How hot? ", "How warm? ")))
    code, out, err = run("bundle", "record.yaml", "-o", "b.zip")
    assert (code, out) == (3, "") and "from step 3 on" in err and err.count("\n") == 1


def test_lint_tells_lines_scores_and_traps(run: Run, build: Build) -> None:
    code, out, _ = run("lint", "quiz.py")
    assert code == 0 and out.startswith("quiz.py: 6 questions, 3 endings, 0 traps\n")
    assert run("lint", "record.yaml")[1] == out
    build.script("import random\nrandom.seed(1)\nprint(eval(input('n? ')))\n", "bad.py")
    code, out, _ = run("lint", "bad.py", "--json")
    data = json.loads(out)
    assert code == 3 and data["ok"] is False
    assert [(trap["line"], trap["code"]) for trap in data["traps"]] == [
        (2, "own-seed"), (3, "eval-input"),
    ]  # fmt: skip
    assert "line 2    trap      own-seed: " in run("lint", "bad.py")[1]
    assert run("lint", "nope.py")[0] == 2


def test_lint_lists_the_modules_in_the_scripts_folder(run: Run, build: Build) -> None:
    build.script("from asking import ask\nask('how many? ')\n", "several.py")
    build.script(
        """
        import random
        def ask(text):
            random.seed(1)
            if input(text) != "3":
                raise ValueError("no")  #score = 0.5
        """,
        "asking.py",
    )
    code, out, _ = run("lint", "several.py")
    assert code == 3 and "several.py: 0 questions, 0 endings, 0 traps\n" in out
    assert "asking.py: 1 question, 1 ending, 1 trap\n" in out and "score 0.5" in out
    data = json.loads(run("lint", "several.py", "--json")[1])
    assert [one["line"] for one in data["files"]["asking.py"]["endings"]] == [5]


def test_coverage_tells_what_was_never_reached_and_where_to_fork(run: Run, build: Build) -> None:
    code, out, _ = run("coverage", "quiz.py", ".")
    assert code == 0 and "questions: 6 of 6 reached" in out and "endings: 1 of 3 reached" in out
    assert "record.yaml@main step 0" in out and "may lead to line 7" in out
    code, out, _ = run("coverage", "quiz.py", "record.yaml", "--json")
    data = json.loads(out)
    assert data["runs"] == 3 and data["waiting"] == 1
    assert data["scores"] == [
        {"score": 0.5, "times": 0}, {"score": 0.7, "times": 1},
        {"score": 0.9, "times": 0}, {"score": 1.0, "times": 1},
    ]  # fmt: skip
    assert [(one["line"], one["step"], one["kind"]) for one in data["suggestions"]] == [
        (7, 0, "ending"), (28, 4, "ending"),
    ]  # fmt: skip
    build.script("input()\n", "other.py")
    code, _, err = run("coverage", "other.py", "record.yaml")
    assert code == 2 and "no record of this script" in err


def test_what_is_private_is_listed_as_text_and_as_data(run: Run, build: Build) -> None:
    (build.folder / ".env").write_text("")
    build.record("open\n'.env'\nraise Exception('/home/eve/x')", name="r.yaml")
    _, _, err = run("export", "r.yaml", "-o", "r.md")
    assert "private, and in the file; --redact removes it" in err
    assert "a folder of this machine, /home/eve: branch main" in err
    _, _, err = run("export", "r.yaml", "-o", "clean.md", "--redact")
    assert "-- removed:" in err and "/home/eve" not in (build.folder / "clean.md").read_text()
    _, _, err = run("bundle", "r.yaml", "-o", "r.zip", "--redact")
    assert ".env may hold keys: left out (--add packs it)" in err
    assert "private, and in the bundle; it is evidence" in err
    data = json.loads(run("bundle", "r.yaml", "-o", "s.zip", "--redact", "--json")[1])
    assert data["left_out"] == [".env"]
    found = {"kind": "folder", "text": "/home/eve", "where": "quiz.py", "removed": False}
    assert found in data["private"]
