"""What a script asks for is granted by a person, to one version of one script, and by nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.errors import ConfigError
from quizlog_tui.proof.lint.check import lint
from quizlog_tui.replay.script.grants import grant, granted, grants_path
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.session.session import Session
from tests.support.build import Build

ASKS = "import time  #quizlog: real-clock\ninput(f'{time.time()} ')\n"
DIGEST = "sha256:" + "0" * 64
OTHER = "sha256:" + "1" * 64


def test_a_grant_is_for_one_digest_and_adds_up() -> None:
    assert granted(DIGEST) == frozenset()
    grant(DIGEST, ["real-clock"])
    grant(OTHER, ["real-files"])
    grant(DIGEST, ["real-network"])
    assert granted(DIGEST) == {"real-clock", "real-network"}
    assert granted(OTHER) == {"real-files"}
    assert granted("sha256:" + "2" * 64) == frozenset()


def test_a_deleted_line_is_no_longer_granted() -> None:
    grant(DIGEST, ["real-clock"])
    lines = grants_path().read_text().splitlines()
    grants_path().write_text("\n".join(line for line in lines if DIGEST not in line))
    assert granted(DIGEST) == frozenset()


@pytest.mark.parametrize("text", ["", "nonsense", f'"{DIGEST}" = ["real-everything"]', "\0"])
def test_what_is_no_grant_grants_nothing(text: str) -> None:
    grants_path().parent.mkdir(parents=True, exist_ok=True)
    grants_path().write_text(text)
    assert granted(DIGEST) == frozenset()


def test_a_file_that_cannot_be_kept_is_said() -> None:
    grants_path().mkdir(parents=True)
    with pytest.raises(ConfigError, match="cannot store what is allowed"):
        grant(DIGEST, ["real-clock"])


def clock(prompt: str | None) -> float:
    return float((prompt or "").strip())


def test_only_allow_grants_and_only_this_version(
    build: Build, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = build.record(ASKS)
    monkeypatch.chdir(build.folder)
    with Session(record) as session:
        assert clock(session.transcript.next_prompt) < 1_736_000_000
        assert any("not allowed" in warning for warning in session.warnings)
    assert main(["verify", record.name]) == 4
    assert main(["lint", "quiz.py"]) == 3
    assert granted(read_source(build.folder / "quiz.py").code_hash) == frozenset()
    capsys.readouterr()
    assert main([record.name, "--allow", "real-clock", "--json"]) == 0
    assert clock(json.loads(capsys.readouterr().out)["next_prompt"]) > 1_760_000_000
    with Session(record) as session:
        assert clock(session.transcript.next_prompt) > 1_760_000_000
    (build.folder / "quiz.py").write_text(ASKS + "# another version\n")
    with Session(record) as session:
        assert clock(session.transcript.next_prompt) < 1_736_000_000


def test_a_bundle_has_nothing_that_its_receiver_granted(build: Build, tmp_path: Path) -> None:
    """Its script may be one that was granted; what lies beside it in the bundle is not."""
    build.record("import time  #quizlog: real-clock\nprint(time.time())\ninput('? ')\n")
    grant(read_source(build.folder / "quiz.py").code_hash, ["real-clock"])
    assert read_source(build.folder / "quiz.py").allowed == ("real-clock",)
    assert read_source(build.folder / "quiz.py", ours=False).allowed == ()


def test_lint_names_what_is_asked_for(build: Build) -> None:
    found = lint(read_source(build.script(ASKS)))
    (trap,) = [trap for trap in found.traps if trap.code == "asks-real"]
    assert (trap.line, "real-clock" in trap.reason) == (1, True)
