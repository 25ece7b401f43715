"""Verdicts: what differs from the record, at which step, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.proof.trials import find_culprits
from quizlog_tui.proof.verdict import Verdict
from quizlog_tui.proof.verify import verify, verify_branches
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.replay.uncached_runs import UncachedRuns
from quizlog_tui.session.session import Session
from tests.proof.drift.quiz import edited as drifted
from tests.proof.drift.quiz import recorded
from tests.support.build import Build
from tests.support.processes import IS_UP, gives_up

QUIZ = """
import random
a = random.randint(1, 99)
print("a =", a)
x = input("a + 1? ")
print("you said", x)
y = input("a + 2? ")
if int(y) != a + 2:
    raise Exception("wrong")  #score = 0.5
print("done")
"""


@pytest.fixture
def path(build: Build) -> Path:
    """A record of a run that ended in an error."""
    made = build.record(QUIZ)
    with Session(made) as session:
        session.answer("1")
        session.answer("2")
    return made


def edited(path: Path, **fields: object) -> Verdict:
    """The verdict on the record with other fields."""
    record = replace(RecordFile(path).read(), **fields)  # type: ignore[arg-type]
    return verify_branches(record, read_source(path.parent / record.script), UncachedRuns())


def test_an_honest_record_is_reproducible(path: Path) -> None:
    found = verify(path)
    assert (found.verdict, found.step, found.what, found.cause) == ("reproducible",) + (None,) * 3
    assert found.to_dict()["verdict"] == "reproducible"


def test_who_answered_and_where_is_not_what_a_verdict_is_about(path: Path) -> None:
    extras = dict(RecordFile(path).read().extras)
    assert {"who", "world"} <= extras.keys()
    somebody = [{"at": 0, "branch": "main", "by": "person", "name": "somebody else"}]
    other = {
        "who": somebody,
        "world": ["isolation: landlock"],
        "end_time": "2001-01-01T00:00:00+00:00",
    }
    assert edited(path, extras=extras | other).verdict == "reproducible"


def test_at_every_pointer(path: Path) -> None:
    for pointer in range(3):
        with Session(path) as session:
            session.rewind(pointer)
            assert session.verify().verdict == "reproducible"


def test_a_session_verifies_what_is_on_disk(path: Path) -> None:
    with Session(path) as session:
        text = path.read_text()
        path.write_text(text.replace("you said 1", "you said 9"))
        found = session.verify()
    assert (found.verdict, found.step, found.what) == ("diverges", 1, "print")
    assert (found.recorded, found.replayed) == ("you said 9", "you said 1")


def test_what_was_edited_in_the_record_is_found(path: Path) -> None:
    record = RecordFile(path).read()
    other = list(record.print)
    other[0] = "a = 0"
    error = LastError("right", 9, 0.5)
    scored = LastError("wrong", 9, 0.9)
    moved = LastError("wrong", 3, 0.5)
    cases: dict[tuple[int, str], dict[str, object]] = {
        (0, "print"): {"print": AppendOnlyList(other)},
        (1, "print"): {"print": record.print.upto(1)},
        (2, "print"): {"print": record.print.then("more")},
        (2, "error"): {"last_error": error},
        (2, "error "): {"last_error": moved},
        (2, "outcome"): {"last_error": scored},
        (2, "outcome "): {"status": "success", "last_error": None},
    }
    for (step, what), fields in cases.items():
        found = edited(path, **fields)
        assert (found.verdict, found.step, found.what) == ("diverges", step, what.strip())
        assert found.cause == "unknown" and found.recorded != found.replayed


@pytest.mark.parametrize(
    ("old", "new", "step", "recorded"),
    [
        ("print('hi')\nx = input('x? ')", "x = input('x? ')\nprint('hi')", 0, "hi"),
        ("print('end')", "print('end', end='')", 1, "end\n"),
    ],
)
def test_text_that_stands_elsewhere_or_ends_otherwise_is_found(
    old: str, new: str, step: int, recorded: str, build: Build
) -> None:
    quiz = "print('hi')\nx = input('x? ')\nprint('end')\n"
    path = build.record(quiz)
    with Session(path) as session:
        session.answer("1")
    build.script(quiz.replace(old, new))
    found = verify(path)
    assert (found.verdict, found.step, found.what) == ("diverges", step, "print")
    assert (found.recorded, found.fits) == (recorded, "amended")


def test_marks_that_were_wiped_out_are_found(path: Path) -> None:
    trail = [f"{'0' * 12}{marked[12:]}" for marked in RecordFile(path).read().trail]
    found = edited(path, trail=AppendOnlyList(trail))
    assert (found.verdict, found.step, found.what) == ("diverges", 0, "print")


def test_another_seed_is_found(path: Path) -> None:
    assert edited(path, seed=8).step == 0


def test_other_questions_are_found_where_they_are_known(path: Path) -> None:
    trail = list(RecordFile(path).read().trail)
    trail[1] = trail[1].replace("a + 2", "a + 3")
    found = edited(path, trail=AppendOnlyList(trail))
    assert (found.step, found.what, found.recorded, found.replayed) == (
        1,
        "prompt",
        "a + 3? ",
        "a + 2? ",
    )


def test_a_changed_script_is_the_cause(path: Path) -> None:
    script = path.parent / "quiz.py"
    script.write_text(script.read_text().replace("you said", "you wrote"))
    found = verify(path)
    assert (found.verdict, found.step, found.cause) == ("diverges", 1, "code-changed")


@pytest.mark.parametrize(
    ("old", "new", "fits"),
    [
        ("print(", "print (", "all"),
        ("you said", "you wrote", "amended"),
        ("more? ", "other? ", "to step 1"),
        ("name? ", "who? ", "to step 0"),
        ("input('more? ')", "[].pop()", "to step 1"),
    ],
)
def test_how_far_a_record_fits_an_edited_script(
    old: str, new: str, fits: str, build: Build
) -> None:
    path = build.record("print('you said', input('name? '))\nprint('and', input('more? '))\n")
    with Session(path) as session:
        session.answer("Ada")
        session.answer("Bob")
    assert verify(path).fits is None
    script = path.parent / "quiz.py"
    script.write_text(script.read_text().replace(old, new))
    found = verify(path)
    assert (found.fits, found.verdict == "reproducible") == (fits, fits == "all")


def test_a_condition_explains_before_an_edit_does(build: Build) -> None:
    quiz = "import os\nprint(os.path.exists('out.txt'))\nopen('out.txt', 'w').close()\ninput()\n"
    path = build.record(quiz)
    with Session(path) as session:
        session.save()
    (build.folder / "out.txt").write_text("")
    build.script(f"# a comment\n{quiz}")
    found = verify(path)
    assert (found.verdict, found.cause) == ("diverges", "leftover-file")
    assert found.reason is not None and "the script was changed since, too" in found.reason


def test_the_files_that_may_have_been_edited_are_named(build: Build) -> None:
    (build.folder / "words.txt").write_text("red")
    (build.folder / "helper.py").write_text("WORD = 'blue'\n")
    path = build.record("import helper\nprint(open('words.txt').read(), helper.WORD)\ninput()\n")
    with Session(path) as session:
        session.save()
    (build.folder / "words.txt").write_text("green")
    found = verify(path)
    assert (found.cause, found.reason) == (
        "code-changed",
        "no condition changes it, and words.txt was changed since",
    )
    text = re.sub(r"^file_hashes:\n(  .*\n)+", "", path.read_text(), flags=re.M)
    assert text != path.read_text()
    path.write_text(text)  # as an older quizlog writes it
    found = verify(path)
    words = "perhaps a file beside the script (helper.py, words.txt) was another"
    assert (found.cause, found.reason) == ("unknown", f"no condition changes it: {words}")


def test_nobody_is_accused_of_an_edit_that_nothing_proves(path: Path) -> None:
    answers = AppendOnlyList(["5", "2"])
    found = edited(path, inputs=answers)
    assert (found.cause, found.reason) == ("unknown", "no condition changes it: nothing tells why")


def test_a_record_whose_text_its_own_marks_belie_was_edited(path: Path) -> None:
    text = path.read_text()
    for old, new in (("you said 1", "you said 9"), ("score: 0.5", "score: 0.9")):
        assert old in text
        path.write_text(text.replace(old, new))
        found = verify(path)
        assert found.cause == "unknown"
        assert str(found.reason).startswith("the record was edited: its fingerprint")


def test_a_comment_changes_nothing(path: Path) -> None:
    script = path.parent / "quiz.py"
    script.write_text("# a comment\n" + script.read_text() + "\n# another\n")
    assert verify(path).verdict == "reproducible"


@pytest.mark.parametrize(
    ("source", "recorded", "cause"),
    [
        ("print({'a', 'b', 'c', 'd', 'e', 'f', 'g'})", "{'g', 'f'}", "hash-order"),
        ("import time; print(int(time.time()))", "1700000000", "clock"),
        ("import random; print(random.Random().random())", "0.5", "unseeded-generator"),
        ("import os; print(os.getenv('USER'))", "ada", "environment"),
        ("import os; print(os.getcwd())", "/home/ada", "environment"),
        ("print(1)", "2", "unknown"),
    ],
)
def test_records_of_other_tools_part_by_the_condition_they_did_not_hold(
    source: str, recorded: str, cause: str, build: Build
) -> None:
    path = build.record(source)
    record = replace(RecordFile(path).read(), print=AppendOnlyList([recorded]), status="success")
    found = verify_branches(record, read_source(build.folder / "quiz.py"), UncachedRuns())
    assert (found.verdict, found.what, found.cause) == ("diverges", "print", cause)


def test_a_script_over_its_limit_cannot_be_verified(build: Build) -> None:
    found = verify(build.record("while True: pass\n"), UncachedRuns(Limits(seconds=0.3)))
    assert found.verdict == "unverifiable"
    assert "0.3 seconds" in str(found.reason)


def test_verifying_can_be_given_up(build: Build) -> None:
    path = build.record(f"{IS_UP}\nwhile True: pass\n")
    runs = UncachedRuns()
    assert gives_up(lambda: verify(path, runs), runs.give_up)


CONDITIONS = st.lists(st.sampled_from("abcdefghij"), unique=True, min_size=1)


@given(CONDITIONS, st.data())
def test_the_one_condition_that_makes_the_difference_is_found(
    conditions: list[str], data: st.DataObject
) -> None:
    guilty = data.draw(st.sampled_from(conditions))
    asked: list[Sequence[str]] = []

    def parts(changed: Sequence[str]) -> bool:
        asked.append(changed)
        return guilty in changed

    assert find_culprits(conditions, parts) == (guilty,)
    assert len(asked) <= 2 * len(conditions).bit_length() + 2


@given(CONDITIONS, st.data())
def test_conditions_that_make_the_difference_together_are_found_without_others(
    conditions: list[str], data: st.DataObject
) -> None:
    guilty = data.draw(st.sets(st.sampled_from(conditions), min_size=1))
    found = find_culprits(conditions, lambda changed: guilty <= set(changed))
    assert found == tuple(name for name in conditions if name in guilty)


@given(CONDITIONS, st.randoms())
def test_a_difference_that_comes_and_goes_with_any_change_ends_the_search(
    conditions: list[str], chance: Random
) -> None:
    """As addresses in memory do, which one more byte moves and another moves back."""
    known: dict[frozenset[str], bool] = {frozenset(): False, frozenset(conditions): True}

    def parts(changed: Sequence[str]) -> bool:
        return known.setdefault(frozenset(changed), chance.random() < 0.5)

    found = find_culprits(conditions, parts)
    assert found and known[frozenset(found)]


@given(CONDITIONS)
def test_a_difference_that_comes_of_itself_has_no_culprit(conditions: list[str]) -> None:
    assert find_culprits(conditions, lambda changed: True) == ()


@pytest.mark.parametrize("source", ["input('x? ')", "print(1)", "raise Exception('no')"])
def test_a_record_in_which_nothing_is_recorded_yet_accuses_nobody(
    source: str, build: Build
) -> None:
    found = verify(build.record(source))
    assert found.verdict == "reproducible"
    assert found.headline == "reproducible; nothing is recorded yet"


@pytest.mark.parametrize("extras", [{}, {"world": []}, {"world": ["python: 3.11.7"]}])
def test_a_record_that_shows_nothing_proves_nothing(path: Path, extras: dict[str, object]) -> None:
    bare: dict[str, object] = {
        "trail": AppendOnlyList[str](),
        "print": AppendOnlyList[str](),
        "extras": extras,
    }
    found = edited(path, **bare)
    assert (found.verdict, found.cause) == ("unverifiable", None)
    assert found.reason == "printed text and questions are not recorded"
    assert edited(path, **bare, status="success").verdict == "diverges"


def test_what_a_record_does_not_keep_is_named(path: Path) -> None:
    trail = RecordFile(path).read().trail
    assert edited(path, trail=AppendOnlyList[str]()).not_judged == (
        (None, "questions are not recorded"),
    )
    assert edited(path, trail=trail.upto(2)).not_judged == (
        (None, "questions from step 2 on are not recorded"),
    )
    rewound = edited(path, trail=trail.upto(2), pointer=0, status="in_progress", last_error=None)
    assert rewound.what == "print"
    whole = edited(path)
    assert (whole.not_judged, whole.to_dict()["not_judged"]) == ((), [])


@pytest.fixture
def branched(build: Build, replayer: Replayer) -> Path:
    """A record of three branches, main rewound to its second question."""
    path = recorded(build)
    with Session(path, replayer) as session:
        session.keep(4, "no", "kept")
        session.rewind(1)
    return path


def test_every_branch_is_judged_to_its_end(branched: Path) -> None:
    found = verify(branched)
    assert (found.verdict, found.branch, found.not_judged) == ("reproducible", None, ())


def other_branch(path: Path, name: str, **fields: object) -> dict[str, object]:
    branches = dict(RecordFile(path).read().branches)
    branches[name] = replace(branches[name], **fields)  # type: ignore[arg-type]
    return {"branches": branches}


def test_what_was_edited_behind_the_pointer_or_on_another_branch_is_found(branched: Path) -> None:
    record = RecordFile(branched).read()
    behind = AppendOnlyList([*record.inputs[:2], "blue", *record.inputs[3:]])
    found = edited(branched, inputs=behind)
    assert (found.verdict, found.branch, found.step) == ("diverges", None, 3)
    for name, fields, step, what in (
        ("hot", {"status": "success"}, 4, "outcome"),
        ("hot", {"score": 0.9}, 4, "outcome"),
        ("blue", {"score": 0.9}, 4, "outcome"),
        ("blue", {"inputs": AppendOnlyList(["red", "3"])}, 3, "prompt"),
        ("kept", {"status": "success"}, 5, "outcome"),
        ("kept", {"inputs": AppendOnlyList(["yes"])}, 5, "outcome"),
    ):
        found = edited(branched, **other_branch(branched, name, **fields))
        assert (found.verdict, found.branch, found.cause) == ("diverges", name, "unknown")
        assert (found.step, found.what) == (step, what)
        assert found.headline.startswith(f"diverges at step {step} of branch {name} ({what}, ")


def test_a_branch_that_keeps_nothing_is_named(branched: Path) -> None:
    found = edited(branched, **other_branch(branched, "blue", trail=AppendOnlyList[str]()))
    words = "branch blue: texts and questions from step 3 on are not recorded"
    assert (found.verdict, found.to_dict()["not_judged"]) == ("reproducible", [words])
    assert found.headline == f"reproducible; {words}"


def test_a_branch_of_an_older_script_is_named_and_accuses_nobody(
    branched: Path, build: Build, replayer: Replayer
) -> None:
    """As `migrate` leaves it behind, and whatever left it before."""
    build.script(drifted(("How deep? ", "How far down? "), ("How hot? ", "How warm? ")))
    with Session(branched, replayer) as session:
        session.save()
    found = verify(branched)
    older = ["blue", "hot", "kept", "main-1"]
    assert found.verdict == "reproducible"
    reason = "recorded with another text of the script"
    assert found.headline == f"reproducible; 4 branches (blue, hot, kept, ...): {reason}"
    assert not [one for one in found.remarks if one.startswith("not judged: ")]
    assert sorted(found.to_dict()["not_judged"]) == [f"branch {n}: {reason}" for n in older]
    build.script(drifted())
    with Session(branched, replayer) as session:
        session.switch("main-1")
    assert verify(branched).not_judged == ()


def test_sentences_for_people() -> None:
    found = Verdict(
        "diverges", 3, "print", "then", None, "clock", "it depends", observed=("network",)
    )
    assert found.headline == "diverges at step 3 (print, clock): it depends"
    assert list(found.remarks)[:2] == ["recorded: then", "replayed: nothing"]
    assert any("network" in remark for remark in found.remarks)
    shaky = replace(found, verdict="fragile", branch="side")
    assert shaky.headline == (
        "fragile at step 3 of branch side (print, clock): holds here, but it depends"
    )
    assert list(shaky.remarks)[:2] == ["here: then", "elsewhere: nothing"]
    assert [one.differs for one in (found, shaky, Verdict("reproducible"))] == [True, True, False]


def test_what_holds_here_and_not_elsewhere_is_fragile(build: Build) -> None:
    """The same record diverges as soon as it is not what happens here either."""
    source = """
    import os
    print(len([name for name in os.listdir() if name.endswith(".txt")]))
    input("? ")
    """
    path = build.record(source, "x")
    with Session(path) as session:
        session.save()
    found = verify(path)
    assert (found.verdict, found.step, found.cause) == ("fragile", 0, "leftover-file")
    (build.folder / "more.txt").write_text("more")
    found = verify(path)
    assert (found.verdict, found.step) == ("diverges", 0)
    assert Verdict("unverifiable", reason="so").headline == "cannot be verified: so"


BEHAVES = """
import os, time
found = [name for name in os.listdir() if name.endswith(".txt")]
known = {known}
print("files:", len(found) if known else 0)
input("? ")
"""
"""Shows what lies in its folder, but 0, as where it was recorded, where it is not in its usual world."""


@pytest.mark.parametrize(
    "known", ["os.environ.get('USER') == 'quizlog'", "time.gmtime().tm_year == 2025"]
)
def test_a_script_that_knows_its_fixed_world_cannot_behave_where_that_is_changed(
    known: str, build: Build
) -> None:
    path = build.record(BEHAVES.replace("{known}", known))
    with Session(path) as session:
        session.save()
    assert "files: 0" in path.read_text()
    found = verify(path)
    assert (found.verdict, found.step, found.cause) == ("fragile", 0, "leftover-file")
    assert (found.recorded, found.replayed) == ("files: 0", "files: 1")
