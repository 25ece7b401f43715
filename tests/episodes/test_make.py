"""From records on disk to an episodes file: grouping, decisions, asked runs, kills, the command."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.cli import main
from quizlog_tui.episodes.build.build import BuildSettings
from quizlog_tui.episodes.build.make import BuildResult, make
from quizlog_tui.episodes.read.check import check_file
from quizlog_tui.episodes.runs.asking import Solver, SolveRun, WantedRun, runs_folder, stored_run
from quizlog_tui.episodes.runs.instance import (
    RecordAttempt,
    attempt,
    gold_run,
    instances,
    is_repeated,
    own_runs,
    taken,
    without_duplicates,
    witnesses,
)
from quizlog_tui.episodes.runs.model_runs import by_models
from quizlog_tui.episodes.runs.runs import SolverRun, Turn
from quizlog_tui.errors import DecisionError, EpisodeError
from quizlog_tui.files.paths import decisions_path
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Branch, Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.solver.decision import (
    Decision,
    DecisionVerdict,
    ModelQuestion,
    ModelReply,
    Reconsidered,
)
from quizlog_tui.solver.decision_text import append_decision
from quizlog_tui.solver.models.transport import Prompt, TransportReply
from tests.episodes.support import solver_run
from tests.support.build import Build
from tests.support.episode_making import QUIZ, Scripted, ignored, panel_of, record, told, want_of
from tests.support.examples import fresh_example


@pytest.fixture
def undoubted(monkeypatch: pytest.MonkeyPatch) -> None:
    """No gold run is replayed in another world, which takes most of the time of a build."""
    monkeypatch.setattr("quizlog_tui.episodes.build.make._fragility", lambda *asked: None)


def built(output: Path, *paths: Path, asked: Asked | None = None, runs: int = 0) -> BuildResult:
    """What is made of records, by default without asking for runs."""
    solver = Solver(asked.open) if asked else None
    return make(paths, output, BuildSettings(), told, solver=solver, runs=runs)


def made_from(output: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.read_text().splitlines()]


def test_records_of_one_script_and_seed_are_one_episode(build: Build) -> None:
    paths = [record(build, f"{n}.yaml", "4", "ada") for n in "abc"]
    paths += [record(build, "d.yaml", "5"), record(build, "e.yaml", "4", "bea")]
    output = build.folder / "out" / "e.jsonl"
    found = built(output, *paths)
    assert (found.episodes, found.verified, found.skipped) == (1, 1, [])
    [one] = made_from(output)
    assert one["triangulation_metadata"]["n_consistency_runs"] == 4
    assert one["triangulation_metadata"]["majority_count"] == 2
    assert one["question"]["hint"] == "it is even"
    before = output.read_bytes()
    built(output, *paths[::-1])
    assert output.read_bytes() == before
    assert check_file(output).ok


def test_a_run_that_holds_only_here_does_not_verify(build: Build) -> None:
    paths = [record(build, f"{n}.yaml", "4", "ada") for n in "ab"]
    fragile = "import os\nprint(len([n for n in os.listdir() if n.endswith('.txt')]))\n"
    build.script(fragile + build.dedent(QUIZ))
    output = build.folder / "e.jsonl"
    found = built(output, *paths)
    assert (found.episodes, found.verified) == (1, 0)
    [reason] = found.reasons
    assert reason.startswith("the script cannot be verified: at step 0 ")
    assert check_file(output).ok


@pytest.mark.usefixtures("undoubted")
def test_a_verified_episode_gives_way_only_to_one_that_knows_its_runs(
    build: Build, capfd: Any
) -> None:
    paths = [str(record(build, f"{n}.yaml", "4", "ada")) for n in "ab"]
    other = str(record(build, "c.yaml", "4", "bea"))
    out = str(build.folder / "e.jsonl")
    assert main(["episodes", "build", *paths, "-o", out]) == 0
    assert capfd.readouterr()[1] == ""
    before = Path(out).read_bytes()
    for few in ([paths[0]], [paths[0], other]):
        assert main(["episodes", "build", *few, "-o", out]) == 0
        err = capfd.readouterr()[1]
        assert "1 episode verified earlier by other runs and left unchanged" in err
        assert Path(out).read_bytes() == before
    assert main(["episodes", "build", *paths, other, "-o", out, "--json"]) == 0
    told = json.loads(capfd.readouterr()[0])
    assert (told["verified"], told["lowered"], told["kept"]) == (0, 1, 0)
    assert main(["episodes", "build", *paths, "-o", out, "--json"]) == 0
    told = json.loads(capfd.readouterr()[0])
    assert (told["verified"], told["lowered"], told["reasons"]) == (1, 0, {})


def test_an_unfinished_run_gives_way_to_what_became_of_it(build: Build) -> None:
    output, name = build.folder / "e.jsonl", {"execution_id": "a", "start_time": "2026-01-01"}
    other = record(build, "b.yaml", " 4", extras=name | {"execution_id": "b"})
    path = record(build, "a.yaml", "4", extras=name)
    assert built(output, path).added == 1
    assert built(output, other).added == 1
    path.unlink()
    made = built(output, record(build, "a.yaml", "4", "ada", extras=name))
    assert (made.added, made.known) == (0, 1)
    found = [one["teacher_gold_trace"]["submission_metadata"] for one in made_from(output)]
    assert [(one["execution_id"], one["status"]) for one in found] == [
        ("b", "in_progress"),
        ("a", "success"),
    ]
    path.unlink()
    made = built(output, record(build, "a.yaml", "4", "bea", extras=name))
    assert (made.added, len(made_from(output))) == (1, 3), "a finished run stays"


@pytest.mark.usefixtures("undoubted")
def test_runs_that_were_asked_for_count_when_it_is_built_again(build: Build) -> None:
    path, output = record(build, "a.yaml", "4", "ada"), build.folder / "e.jsonl"
    built(output, path, asked=Asked(), runs=3)
    before = output.read_bytes()
    assert built(output, path).verified == 1
    assert output.read_bytes() == before
    built(output, path, asked=Asked(), runs=1)
    assert output.read_bytes() == before
    next(runs_folder(output).rglob("run-2.json")).write_text("{")
    made = built(output, path)
    assert made.kept == 1 and "contains no run" in str(made.skipped[0])
    assert output.read_bytes() == before


def test_a_copy_of_a_run_is_no_second_run(build: Build) -> None:
    paths = [record(build, "a.yaml", "4", "ada"), record(build, "b.yaml", "4", "ada")]
    copy = build.folder / "copy.yaml"
    copy.write_bytes(paths[0].read_bytes())
    [one] = instances([attempt(path) for path in (*paths, copy, paths[0])])
    assert len(one.attempts) == 2


def copies(
    folder: Path, *made: tuple[str | None, str | None, tuple[str, ...]]
) -> list[RecordAttempt]:
    """Attempts in files of their own: execution, beginning, answers."""
    found = []
    for number, (run_id, begun, inputs) in enumerate(made):
        run = solver_run(*inputs, name=str(number), sample=0, run_id=run_id, start_time=begun)
        record = Record(
            "q.py", 7, AppendOnlyList(inputs), extras={"start_time": begun} if begun else {}
        )
        found.append(RecordAttempt(folder / f"{number}.yaml", record, run))
    return found


ids, begun = st.sampled_from([None, "a", "b"]), st.sampled_from([None, "2026-01-01"])
answered = st.sampled_from([(), ("4",), ("4", "ada"), ("5",)])


@given(st.lists(st.tuples(ids, begun, answered), max_size=6), st.randoms())
def test_an_execution_is_one_run(made: list[tuple[Any, Any, Any]], random: Any) -> None:
    found = copies(Path("/somewhere"), *made)
    left = list(without_duplicates(found))
    named = [one.run.run_id for one in left if one.run.run_id]
    nameless = [(one.run.inputs, one.run.start_time) for one in left if not one.run.run_id]
    assert len(named) == len(set(named)) and len(nameless) == len(set(nameless))
    random.shuffle(found)
    assert list(without_duplicates(found)) == left


def test_a_copy_counts_once_however_it_was_changed() -> None:
    whole, part = ("a", "2026", ("4", "ada")), ("a", "2026", ("4",))
    [one] = without_duplicates(copies(Path("/somewhere"), part, whole))
    assert one.run.inputs == ("4", "ada"), "the one that came furthest"
    for copy in ((None, "2026", ("4", "ada")), whole):
        assert len(list(without_duplicates(copies(Path("/somewhere"), whole, copy)))) == 1
        assert len(list(without_duplicates(copies(Path("/somewhere"), copy, whole)))) == 1
    others = ("b", "2026", ("4", "ada")), (None, "2026", ("4", "bea")), (None, "2027", ("4", "ada"))
    for other in others:
        assert len(list(without_duplicates(copies(Path("/somewhere"), whole, other)))) == 2


def test_the_run_that_feedback_names_gold_is_gold(build: Build) -> None:
    record(build, "a.yaml", "4", "ada")
    record(build, "b.yaml", "4", "bea", extras={"feedback": [{"verdict": "gold"}]})
    [one] = instances([attempt(build.folder / name) for name in ("a.yaml", "b.yaml")])
    assert one.attempts[0].path.name == "b.yaml"


DATA = "print(open('data.txt').read())\ninput('? ')"


def test_one_script_with_other_data_is_another_instance(tmp_path: Path) -> None:
    paths = []
    for folder, data in (("a", "1"), ("b", "2"), ("c", "1")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "quiz.py").write_text(DATA)
        (tmp_path / folder / "data.txt").write_text(data)
        (tmp_path / folder / "other.txt").write_text(folder)
        paths.append(tmp_path / folder / "r.yaml")
        extras = {"execution_id": folder}
        RecordFile(paths[-1]).create(Record("quiz.py", 7, AppendOnlyList(["x"]), 1, extras=extras))
    found = instances([attempt(path) for path in paths])
    names = [[one.path.parent.name for one in instance.attempts] for instance in found]
    assert sorted(names) == [["a", "c"], ["b"]]
    output = tmp_path / "e.jsonl"
    built(output, *paths)
    said = {one["question"]["question_text"]: one["verified"] for one in made_from(output)}
    assert said == {"1\n?": True, "2\n?": False}


@pytest.mark.usefixtures("undoubted")
def test_refused_answers_are_found_in_the_branches(build: Build) -> None:
    branches = {
        "main-1": Branch("main", 0, AppendOnlyList(["5"]), status="error"),
        "main-2": Branch("main", 0, AppendOnlyList(["6"]), status="error"),
        "other": Branch("main", 1, AppendOnlyList(["bea"]), status="success"),
    }
    path = record(build, "a.yaml", "4", "ada", branches=branches)
    output = build.folder / "e.jsonl"
    make([path], output, BuildSettings(retries=True), told)
    [one] = made_from(output)
    assert one["teacher_gold_trace"]["total_turns"] == 4
    contents = [message["content"] for message in one["conversation_for_sft"]["messages"]]
    assert contents[1:6:2] == ["5", "6", "4"] and contents[2].startswith("wrong\n")


@pytest.mark.usefixtures("undoubted")
def test_one_bad_record_does_not_cost_the_others(build: Build, capfd: Any) -> None:
    good = record(build, "a.yaml", "4", "ada")
    (build.folder / "bad.yaml").write_text("[]")
    lost = record(build, "lost.yaml", "4", script="gone.py")
    out = str(build.folder / "e.jsonl")
    names = [str(one) for one in (good, build.folder / "bad.yaml", lost)]
    assert main(["episodes", "build", *names, "-o", out]) == 2
    printed, err = capfd.readouterr()
    assert "1 episode" in printed and "bad.yaml" in err and "gone.py" in err
    assert main(["episodes", "build", names[0], "-o", out, "--json"]) == 0
    data = json.loads(capfd.readouterr()[0])
    assert (data["episodes"], data["added"], data["known"]) == (1, 0, 1)
    assert main(["episodes", "build", names[1], "-o", out]) == 2
    assert main(["episodes", "build", names[0], "-o", out, "--runs", "-1"]) == 2
    empty = record(build, "empty.yaml")
    assert main(["episodes", "build", str(empty), "-o", out]) == 2
    assert "nobody has answered it" in capfd.readouterr()[1]


def decision(pointer: int, answer: Any, *replies: tuple[str, Any], **more: Any) -> Decision:
    models = tuple(
        ModelReply(name, "ok", claimed=claimed, explanation=f"{name} says so")
        for name, claimed in replies
    )
    names = tuple(name for name, claimed in replies if claimed == answer)
    question = ModelQuestion("?", pointer=pointer, branch="main")
    verdict = DecisionVerdict("majority", answer, "majority", contributors=names)
    made = Decision(f"d{pointer}", "2026-01-01", question, models, verdict=verdict)
    return replace(made, **more)


@pytest.mark.usefixtures("undoubted")
def test_models_that_decided_are_runs_of_their_own(build: Build) -> None:
    path = record(build, "a.yaml", "4", "ada")
    first = decision(0, 4, ("x", 4), ("y", 4), ("z", 5))
    second = decision(1, "ada", ("x", "ada"), ("y", "ada"), ("z", "ada"))
    for one in (first, second):
        append_decision(decisions_path(path), one)
    output = build.folder / "e.jsonl"
    assert built(output, path).verified == 1
    [one] = made_from(output)
    runs = {run["submission_metadata"]["solver"]: run for run in one["consistency_traces"]}
    assert sorted(runs) == ["y", "z"], "x's run is the record's"
    assert [runs[name]["final_answer"] for name in "yz"] == ["ada", None]
    assert runs["z"]["submission_metadata"]["inputs"] == ["5"]
    said = one["conversation_for_sft"]["messages"][1]["content"]
    assert said == "x says so\n\nAnswer: 4"


DECIDED: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    ({"x": 4}, {"x": "ada"}, False),
    ({"x": 4, "y": None}, {"x": "ada", "y": None}, False),
    ({"x": 4, "y": 4}, {"x": "ada", "y": None}, False),
    ({"x": 5, "y": 4}, {"x": "ada", "y": "ada"}, False),
    ({"x": 4, "y": 4}, {"x": "ada", "y": "ada"}, True),
    ({"x": 4, "y": 4, "z": 4}, {"x": "ada", "y": "ada", "z": "bea"}, False),
    ({"w": 4, "x": 4, "y": 4, "z": 4}, dict.fromkeys("wxy", "ada") | {"z": "bea"}, True),
]
"""What models said to each question of a record, and whether that verifies its episode."""


@pytest.mark.usefixtures("undoubted")
def test_the_run_that_gold_is_from_is_no_witness_to_it(build: Build) -> None:
    paths = []
    for seed, (first, second, _) in enumerate(DECIDED):
        paths.append(record(build, f"{seed}.yaml", "4", "ada", seed=seed))
        for pointer, (answer, said) in enumerate([(4, first), ("ada", second)]):
            append_decision(decisions_path(paths[-1]), decision(pointer, answer, *said.items()))
    output = build.folder / "e.jsonl"
    built(output, *paths)
    found = made_from(output)
    verified = {
        one["teacher_gold_trace"]["submission_metadata"]["seed"]: one["verified"] for one in found
    }
    assert verified == {seed: row[-1] for seed, row in enumerate(DECIDED)}


said = st.lists(st.sampled_from(["4", "4.0", "5", "x"]), max_size=3)


@given(said, st.lists(said, max_size=4))
def test_one_run_at_most_is_the_records_own(own: list[str], models: list[list[str]]) -> None:
    run, runs = solver_run(*own), [solver_run(*one, name=str(n)) for n, one in enumerate(models)]
    left = witnesses(runs, run)
    alike = [one for one in runs if one.inputs == run.inputs]
    assert len(left) >= len(runs) - 1 and (not alike or len(left) < len(runs))


def test_a_recorded_reply_that_is_played_again_is_no_second_run() -> None:
    turns = (Turn("4", "n = 4", "so"), Turn("ada"))
    once = SolverRun("x", turns, sample=1)
    assert is_repeated(replace(once, sample=3), [once])
    assert not is_repeated(replace(once, name="y"), [once])
    assert not is_repeated(replace(once, turns=turns[:1]), [once])
    bare = solver_run("4", name="x")
    assert not is_repeated(bare, [bare]), "another run may come to a bare answer too"


def test_a_reconciled_answer_does_not_verify(build: Build) -> None:
    path = record(build, "a.yaml", "4", "ada")
    again = (Reconsidered("x", "ok", 4), Reconsidered("y", "ok", 4))
    append_decision(decisions_path(path), decision(0, 4, ("x", 4), ("y", 4), reconciliation=again))
    append_decision(decisions_path(path), decision(1, "ada", ("x", "ada"), ("y", "ada")))
    output = build.folder / "e.jsonl"
    assert built(output, path).verified == 0
    [one] = made_from(output)
    assert one["triangulation_metadata"]["gold_matches_majority"]
    assert one["teacher_gold_trace"]["submission_metadata"]["reconciled"] is True


@pytest.mark.parametrize(
    ("typed", "chosen", "counts"),
    [
        ("[[2,0],[3,2]]", [[2, 0], [3, 2]], True),
        (" 4.0 ", 4, True),
        ('{"b":1,"a":2}', {"a": 2, "b": 1}, True),
        ("[[2,0],[3,1]]", [[2, 0], [3, 2]], False),
        ("5", 4, False),
    ],
)
def test_an_answer_is_taken_in_whatever_form_it_was_typed(
    typed: str, chosen: Any, counts: bool
) -> None:
    again = (Reconsidered("x", "ok", chosen), Reconsidered("y", "ok", chosen))
    made = decision(0, chosen, ("x", chosen), ("y", "no"), reconciliation=again)
    found = taken([made], Record("q.py", 1, AppendOnlyList([typed])))
    assert list(found) == ([0] if counts else [])
    gold = gold_run(solver_run(typed), found)
    assert gold.reconciled == counts and gold.inputs == (typed,)
    assert (gold.turns[0].explanation == "x says so") == counts


def test_decisions_belong_to_the_answers_of_their_own_branch() -> None:
    entry = Branch("main", 1)
    line = Record("q.py", 1, AppendOnlyList(["4", "b"]), branch="fork", branches={"fork": entry})
    on_main = [decision(0, 4, ("x", 4)), decision(1, "b", ("x", "b")), decision(2, "c", ("x", "c"))]
    far = decision(1, "b", ("x", "b"), question=ModelQuestion("?", pointer=1, branch="elsewhere"))
    assert sorted(taken(on_main, line)) == [0, 1]
    assert taken([far], line) == {}
    run = SolverRun("r", (Turn("4"), Turn("b")))
    assert not gold_run(run, {}).reconciled and own_runs({1: on_main[1]}, run) == []


def test_decisions_that_cannot_be_read_are_not_passed_over(build: Build) -> None:
    path = record(build, "a.yaml", "4", "ada")
    decisions_path(path).write_text("{}\n")
    with pytest.raises(DecisionError):
        attempt(path)


class Asked:
    """Answers every run well, and counts."""

    def __init__(self, fails_at: int = 99) -> None:
        self.samples: list[tuple[int, str | None]] = []
        self.fails_at = fails_at

    async def solve_run(self, want: WantedRun, **more: Any) -> SolverRun:
        self.samples.append((want.sample, want.hint))
        await asyncio.sleep(0)
        if want.sample == self.fails_at:
            raise EpisodeError("the model is gone")
        return SolverRun("ada", (Turn("4", "n = 4"), Turn("ada")), sample=want.sample)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[SolveRun]:
        yield self.solve_run


@pytest.mark.usefixtures("undoubted")
def test_runs_are_asked_for_with_the_hint_for_gold_alone(build: Build) -> None:
    path, output = record(build, "a.yaml"), build.folder / "e.jsonl"
    asked = Asked()
    assert built(output, path, asked=asked, runs=3).verified == 1
    assert sorted(asked.samples, key=lambda one: one[0]) == [
        (0, "it is even"), (1, None), (2, None), (3, None),
    ]  # fmt: skip
    [one] = made_from(output)
    assert one["triangulation_metadata"]["n_consistency_runs"] == 3
    assert "even" not in json.dumps(one["conversation_for_sft"])
    solved = record(build, "b.yaml", "4", "ada")
    again = Asked()
    built(build.folder / "f.jsonl", solved, asked=again, runs=2)
    assert sorted(again.samples) == [(1, None), (2, None)], "a record that finished is gold"


@pytest.mark.usefixtures("undoubted")
def test_finished_runs_are_not_asked_for_again(build: Build) -> None:
    path, output = record(build, "a.yaml"), build.folder / "e.jsonl"
    with pytest.raises(EpisodeError, match="gone"):
        built(output, path, asked=Asked(fails_at=2), runs=3)
    assert not output.exists()
    asked = Asked()
    built(output, path, asked=asked, runs=3)
    assert [sample for sample, _ in asked.samples] == [2]
    file = next(runs_folder(output).rglob("run-2.json"))
    run = stored_run(file)
    assert run is not None and run.turns[0].code == "n = 4"
    file.write_text("{")
    with pytest.raises(EpisodeError, match="contains no run"):
        built(output, path, asked=Asked(), runs=3)


@pytest.mark.usefixtures("undoubted")
def test_a_run_that_lost_its_connection_is_told_and_asked_for_again(build: Build) -> None:
    path, output = record(build, "a.yaml", "4", "ada"), build.folder / "e.jsonl"

    class Lost(Asked):
        async def solve_run(self, want: WantedRun, **more: Any) -> SolverRun:
            run = await super().solve_run(want)
            return replace(run, turns=(), broken="no network") if want.sample == 1 else run

    found = built(output, path, asked=Lost(), runs=2)
    assert [str(error) for error in found.skipped] == [
        "run 1 by ada: no network (build again to request it again)"
    ]
    assert found.verified == 1
    assert made_from(output)[0]["triangulation_metadata"]["n_consistency_runs"] == 1
    asked = Asked()
    built(output, path, asked=asked, runs=2)
    assert asked.samples == [(1, None)]
    assert made_from(output)[0]["triangulation_metadata"]["n_consistency_runs"] == 2


KILLED = """
import asyncio, sys
from contextlib import asynccontextmanager
from pathlib import Path
from quizlog_tui.episodes.runs.asking import Solver
from quizlog_tui.episodes.build.build import BuildSettings
from quizlog_tui.episodes.build.make import make
from quizlog_tui.episodes.runs.runs import SolverRun, Turn

async def solve_run(want, *, begun, keep):
    if want.sample == 2:
        keep(SolverRun("ada", (Turn("4"),), sample=2))
        while len(list(Path(sys.argv[2]).parent.rglob("*.json"))) < 4:
            await asyncio.sleep(0.001)
        print("ready", flush=True)
        await asyncio.Event().wait()
    return SolverRun("ada", (Turn("4"), Turn("ada")), sample=want.sample)

@asynccontextmanager
async def solver():
    yield solve_run

make([Path(sys.argv[1])], Path(sys.argv[2]), BuildSettings(), lambda *a: None, solver=Solver(solver), runs=3)
"""


@pytest.mark.usefixtures("undoubted")
def test_a_kill_loses_no_answer_that_was_given(build: Build) -> None:
    path, output = record(build, "a.yaml"), build.folder / "out" / "e.jsonl"
    command = [sys.executable, "-c", KILLED, str(path), str(output)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "ready\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait(30)
    process.stdout.close()

    class GoesOn(Asked):
        async def solve_run(self, want: WantedRun, **more: Any) -> SolverRun:
            assert more["begun"] == SolverRun("ada", (Turn("4"),), sample=2)
            return await super().solve_run(want)

    asked = GoesOn()
    assert built(output, path, asked=asked, runs=3).verified == 1
    assert asked.samples == [(2, None)]
    assert not list(runs_folder(output).rglob("*.begun.json"))


async def test_models_answer_whole_scripts_each_alone(build: Build) -> None:
    script = build.script(QUIZ)
    voices = {name: Scripted() for name in ("x", "y")}
    solve_run = by_models(panel_of(**voices))
    gold, first, second = [
        await solve_run(want_of(script, sample, hint), begun=None, keep=ignored)
        for sample, hint in enumerate(["it is even", None, None])
    ]
    assert (gold.name, first.name, second.name) == ("y", "x", "y")
    assert gold.inputs == first.inputs == ("4", "ada")
    assert "it is even" in voices["y"].prompts[0] and "it is even" not in voices["x"].prompts[0]
    assert len(voices["x"].prompts) == 2 and len(voices["y"].prompts) == 4


async def test_a_run_that_was_begun_is_gone_on_with_by_the_same_model(build: Build) -> None:
    script = build.script(QUIZ)
    seen: list[SolverRun] = []
    solve_run = by_models(panel_of(x=Scripted(lost_at=2)))
    lost = await solve_run(want_of(script), begun=None, keep=seen.append)
    assert lost.broken == "no network" and [run.inputs for run in seen] == [("4",)]
    for name, questions in (("x", 1), ("z", 2)):
        voice = Scripted()
        solve_run = by_models(panel_of(**{name: voice}))
        run = await solve_run(want_of(script), begun=seen[0], keep=ignored)
        assert (run.name, run.inputs, len(voice.prompts)) == (name, ("4", "ada"), questions)


async def test_a_run_whose_script_goes_over_a_limit_ends_there(build: Build) -> None:
    script = build.script("input('2+2? ')\nwhile True: print('x' * 10**6)")
    solve_run = by_models(panel_of(x=Scripted()))
    for begun in (None, SolverRun("x", (Turn("4"),), sample=1)):
        run = await solve_run(want_of(script), begun=begun, keep=ignored)
        assert run.inputs == ("4",) and run.broken is None


@pytest.mark.usefixtures("undoubted")
def test_one_branch_of_a_record_is_its_run(build: Build, capfd: Any) -> None:
    branches = {
        "other": Branch("main", 1, AppendOnlyList(["bea"]), status="success"),
        "bad": Branch("main", 0, AppendOnlyList(["5"]), status="error"),
        "gone": Branch("main", 1, AppendOnlyList(["cyd"]), deleted="2026-01-01"),
    }
    path = record(build, "a.yaml", "4", "ada", branches=branches)
    before = path.read_bytes()
    assert attempt(path).run.inputs == ("4", "ada")
    assert attempt(path, "main").run == attempt(path).run
    found = attempt(path, "other")
    assert found.run.inputs == ("4", "bea")
    assert [at for at, _, _ in found.run.rejected] == [0], "the way of the branch, not of main"
    name, out = str(path), str(build.folder / "e.jsonl")
    assert main(["episodes", "build", name, "-o", out, "--branch", "other"]) == 0
    [one] = made_from(Path(out))
    assert one["rl_verification_data"]["expected_final_answer"] == "bea"
    capfd.readouterr()
    for branch, said in (("no", "there is no branch 'no'"), ("gone", "is deleted")):
        assert main(["episodes", "build", name, "-o", out, "--branch", branch]) == 2
        assert said in capfd.readouterr()[1]
    assert main(["episodes", "build", name, name, "-o", out, "--branch", "other"]) == 2
    assert "--branch is of one record" in capfd.readouterr()[1]
    assert path.read_bytes() == before


def test_recorded_replies_make_a_run_of_each_model_and_no_second_one(
    tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = fresh_example("survey", tmp_path)
    name, out = str(record), str(tmp_path / "e.jsonl")
    words = ["episodes", "build", name, "-o", out, "--unsafe-local", "--runs"]
    assert main([*words, "3"]) == 0
    printed, err = capfd.readouterr()
    assert "1 episode, 1 verified" in printed and "recorded replies" in err
    assert main([*words, "4"]) == 2
    assert "replies of 3 models were recorded" in capfd.readouterr()[1]
    shutil.rmtree(record.with_name("cassettes"))
    assert main([*words, "3"]) == 2
    assert "no models are configured" in capfd.readouterr()[1]


CLOCK = """
import time
now = time.strftime("%Y-%m-%d %H:%M")
if input(f"echo {now}: ") != now:
    raise Exception("wrong")
"""


class Clock(Scripted):
    """A model that reads the time off the question."""

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        asked = prompt.messages[-1].content.rpartition("echo ")[2][:16]
        return TransportReply(
            json.dumps({"code": None, "answer": asked, "explanation": "so"}), "live"
        )


def test_every_run_is_replayed_by_the_clock_it_was_answered_by(build: Build) -> None:
    times = ("2026-03-01T10:20:30+00:00", "2026-03-01T11:20:40.123456+01:00", "no time")
    paths = []
    for number, (time, answer) in enumerate(
        zip(times, ("2026-03-01 10:20", "2026-03-01 10:20", "2025-01-01 00:00"), strict=True)
    ):
        extras = {"start_time": time, "execution_id": str(number)}
        paths.append(record(build, f"{number}.yaml", answer, extras=extras))
    build.script(CLOCK)

    @asynccontextmanager
    async def solver() -> AsyncIterator[SolveRun]:
        yield by_models(panel_of(x=Clock()))

    output = build.folder / "e.jsonl"
    found = make(paths, output, BuildSettings(), told, solver=Solver(solver), runs=1)
    assert (found.episodes, found.verified, found.skipped) == (1, 1, [])
    [one] = made_from(output)
    assert one["question"]["question_text"] == "echo 2026-03-01 10:20:"
    runs = [one["teacher_gold_trace"], *one["consistency_traces"]]
    said = {run["submission_metadata"]["start_time"]: run["execution_success"] for run in runs}
    assert said == {
        "2026-03-01T10:20:30.000000": True,
        "2026-03-01T10:20:40.123456": True,
        "2025-01-01T00:00:00.000000": True,
    }
    asked = [run for run in runs if run["submission_metadata"]["solver"] == "x"]
    assert [run["final_answer"] for run in asked] == ["2026-03-01 10:20"]
    assert check_file(output).ok


@pytest.mark.parametrize(
    "text",
    [
        '"x"',
        "[]",
        '{"turns": [{"answer": "a", "code": 1}], "rejected": [], "name": "n"}',
        '{"turns": [], "rejected": [], "name": NaN}',
        '{"turns": [], "rejected": [], "name": "n", "sample": "1"}',
        '{"turns": [], "rejected": [[1, {"answer": "a"}]], "name": "n"}',
        "[" * 100_000,
    ],
)
def test_what_is_no_stored_run_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "run-1.json").write_text(text)
    with pytest.raises(EpisodeError, match="contains no run"):
        stored_run(tmp_path / "run-1.json")


def test_a_stored_run_is_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run-1.json")
    with pytest.raises(EpisodeError, match="it is a pipe"):
        stored_run(tmp_path / "run-1.json")
