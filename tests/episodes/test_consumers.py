"""The exports in the programs they are for, in environments of their own: `tests/run consumers`.

Installing takes minutes and gigabytes, so this is run by hand. `QUIZLOG_CONSUMERS` names a folder where
the environments are kept from one run to the next.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest

import quizlog_tui
from quizlog_tui.cli import main

pytestmark = [pytest.mark.consumers, pytest.mark.timeout(3600)]
HERE = Path(__file__).parent
ENVIRONMENTS = {
    "new": ["verifiers==0.4.0", "datasets==5.2.0"],
    "old": ["verifiers==0.1.9", "datasets==4.4.1"],
    "trl": ["trl==1.16.0"],
    "atif": ["atif==1.8.0"],
}
OWN = ["pyyaml", "platformdirs"]
ROOM = 10 * 2**30
PATIENCE = 900
"""Seconds for installing one environment."""
QUIZ = """
print("Values of every kind.")
values = input("Which value? ")
more = input("And {number}? ")
if values == "wrong":
    raise Exception("no")
last = input("And the last? ")
if last == "wrong":
    raise Exception("no")
"""
LAST = [
    "0.7149499284692418", "1e-12", "0.3", '"42"', "true", "yes", "1180591620717411303424", "1.0", "1",
    "[[1, 0], [0, 1]]", '{"a": null}', "2025-12-21T16:00:00", "2025-12-21", "caf\\u00e9\\u2028",
]  # fmt: skip


def environment(name: str) -> Path:
    """The interpreter of an environment, made where it is not there yet."""
    kept = os.environ.get("QUIZLOG_CONSUMERS")
    folder = Path(kept or "/tmp/quizlog-consumers") / name
    python = folder / "bin" / "python"
    if (folder / "ready").exists():
        return python
    if shutil.disk_usage(folder.parents[1]).free < ROOM:
        pytest.skip("there is not enough room on the disk to install it")
    venv.create(folder, with_pip=True, clear=True)
    command = [python, "-m", "pip", "install", "-q", *ENVIRONMENTS[name], *OWN]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"it was not installed within {PATIENCE} seconds")
    if done.returncode:
        pytest.skip(f"it cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    (folder / "ready").touch()
    return python


def package_alone(folder: Path) -> Path:
    """A folder with the package that is tested and none of the libraries it is installed beside."""
    alone = folder / "package"
    if not alone.exists():
        alone.mkdir()
        (alone / "quizlog_tui").symlink_to(Path(quizlog_tui.__file__).parent)
    return alone


def run_in(name: str, *words: str | Path, cwd: Path, program: str | None = None) -> str:
    python = environment(name)
    command = [python.parent / program if program else python, *words]
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd),
        "PYTHONPATH": os.pathsep.join([str(package_alone(cwd)), str(cwd)]),
        "HF_HUB_OFFLINE": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=variables, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An episodes file of answers of every kind, in every form."""
    folder = tmp_path_factory.mktemp("exported")
    records = []
    for number, last in enumerate(LAST):
        script = folder / "scripts" / str(number) / "quiz.py"
        script.parent.mkdir(parents=True)
        script.write_text(QUIZ.replace("{number}", str(number)))
        runs = [["4", "x", last], ["4", "x", last], ["4", "y", last], ["4", "x", "wrong"]]
        for index, answers in enumerate(runs):
            record = script.parent / f"{index}.yaml"
            data = {"script": "quiz.py", "seed": 7, "status": "success", "inputs": answers}
            data |= {"pointer": 3, "print": [], "execution_id": str(index)}
            record.write_text(json.dumps(data))
            records.append(str(record))
    episodes = str(folder / "episodes.jsonl")
    assert main(["episodes", "build", *records, "-o", episodes]) == 0
    assert main(["episodes", "check", episodes]) == 0
    (folder / "rows").mkdir()
    for form in ("messages", "anthropic", "prompt-completion", "turns", "rl", "preference"):
        out = str(folder / "rows" / f"{form}.jsonl")
        assert main(["episodes", "export", episodes, "--to", form, "-o", out]) == 0
    assert main(["episodes", "export", episodes, "--to", "atif", "-o", str(folder / "atif")]) == 0
    scripts = ["--scripts", str(folder / "scripts")]
    for form, name in (("verifiers", "quiz_v1"), ("verifiers-v0", "quiz_v0")):
        out = str(folder / name)
        assert main(["episodes", "export", episodes, "--to", form, "-o", out, *scripts]) == 0
    assert not list((folder / "quiz_v1" / "scripts").rglob("*.yaml")), "records hold answers"
    return folder


@pytest.mark.parametrize("name", ["old", "new"])
def test_datasets_gives_back_what_was_written(name: str, exported: Path, tmp_path: Path) -> None:
    script = HERE / "consumers" / "load_datasets.py"
    out = run_in(name, script, exported / "rows", tmp_path / "cache", cwd=exported)
    assert out.count("loaded") == 6


def test_verifiers_validates_the_taskset_by_replay(exported: Path) -> None:
    words = ["quiz_v1", "--runtime.type", "subprocess", "-o", "out"]
    run_in("new", *words, cwd=exported, program="vf-validate")
    [summary] = (exported / "out").rglob("summary.json")
    told = json.loads(summary.read_text())
    assert told["checks"]["gold"]["valid"] == told["checks"]["noop"]["valid"] == len(LAST), told
    assert told["valid_rate"] == 1.0


def test_verifiers_finds_a_gold_answer_that_the_script_refuses(exported: Path) -> None:
    broken = exported / "broken_v1"
    shutil.copytree(exported / "quiz_v1", broken)
    rows = [json.loads(line) for line in (broken / "rows.jsonl").read_text().splitlines()]
    info = json.loads(rows[0]["info"])
    rows[0]["info"] = json.dumps(info | {"inputs": [*info["inputs"][:-1], "wrong"]})
    (broken / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = ["broken_v1", "--runtime.type", "subprocess", "-o", "out2"]
    run_in("new", *words, cwd=exported, program="vf-validate")
    [summary] = (exported / "out2").rglob("summary.json")
    assert json.loads(summary.read_text())["checks"]["gold"]["invalid"] == 1


def test_the_older_verifiers_load_the_environment(exported: Path) -> None:
    out = run_in("old", HERE / "consumers" / "load_verifiers_v0.py", cwd=exported)
    assert f"scored {len(LAST)}" in out


def test_trl_prepares_the_rows(exported: Path, tmp_path: Path) -> None:
    script = HERE / "consumers" / "check_trl.py"
    out = run_in("trl", script, exported / "rows", tmp_path / "cache", cwd=exported)
    assert out.count("prepared") == 4 and "rewarded" in out


def test_atif_takes_the_trajectories(exported: Path) -> None:
    out = run_in("atif", HERE / "consumers" / "check_atif.py", exported / "atif", cwd=exported)
    assert out.count("valid") == len(LAST)
