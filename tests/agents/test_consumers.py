"""The MCP server with clients that nobody here wrote, and as users install it: `tests/run consumers`.

The server is of a wheel that is built from the tree, in environments of its own, without any library
of the tests. `QUIZLOG_CONSUMERS` names a folder where the downloads of npm are kept from run to run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.consumers, pytest.mark.timeout(1800)]
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OWN_UV = Path(".uv") / "bin" / "uv"
"""Where `tests/run` puts one: in the tree, whose copy is two folders below."""
UV = shutil.which("uv") or next(
    filter(Path.exists, (ROOT / OWN_UV, ROOT.parents[1] / OWN_UV)), None
)
PATIENCE = 900
"""Seconds for installing."""
INSPECTOR = "@modelcontextprotocol/inspector"
QUIZ = """
if int(input("6 * 7 = ")) != 42:
    raise Exception("six times seven")  #score = 0.2
print("Right.")
"""


def ran(*words: str | Path, cwd: Path, **variables: str) -> str:
    """What a command prints."""
    done = subprocess.run(
        words, cwd=cwd, env=os.environ | variables, capture_output=True, text=True,
        timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def installed(*words: str | Path, cwd: Path, **variables: str) -> None:
    """Run a command that installs something; the test skips where it cannot."""
    try:
        ran(*words, cwd=cwd, **variables)
    except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"it cannot be installed here: {str(error).strip().splitlines()[-1]}")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the tree; in the copy that `tests/run` makes, the one that it has built."""
    if not (ROOT / "quizlog_tui").is_dir():
        return next((ROOT.parent / "wheel").glob("*.whl"))
    folder = tmp_path_factory.mktemp("wheel")
    ran(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    return next(folder.glob("*.whl"))


def environment(wheel: Path, folder: Path, *beside: str) -> Path:
    """The programs of a new environment with the extra, and packages beside it."""
    if UV is None:
        pytest.skip("needs uv")
    ran(UV, "venv", "--quiet", "--python", sys.executable, folder, cwd=folder)
    words = (UV, "pip", "install", "--quiet", "--python", folder / "bin" / "python")
    installed(*words, f"{wheel}[agents]", *beside, cwd=folder)
    return folder / "bin"


@pytest.fixture(scope="module")
def own(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the oldest SDK that the extra allows."""
    return environment(wheel, tmp_path_factory.mktemp("oldest"), "mcp==2.0.0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "product.py").write_text(QUIZ.lstrip("\n"))
    return tmp_path


@contextmanager
def listening(program: Path, folder: Path) -> Iterator[str]:
    """The address of a server over HTTP."""
    words = [program, "mcp", folder, "--http", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def test_the_oldest_sdk_serves_both_eras(own: Path, folder: Path) -> None:
    expected = "".join(
        f"{mode} with mcp 2.0.0: error 0.2, in_progress None, success 1.0, success 1.0\n"
        for mode in ("auto", "legacy")
    )
    play = (own / "python", HERE / "consumers" / "play.py")
    assert ran(*play, own / "quizlog", "mcp", folder, cwd=folder) == expected
    with listening(own / "quizlog", folder) as url:
        assert ran(*play, url, cwd=folder) == expected


def test_an_agent_of_inspect_takes_the_seat(
    wheel: Path, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    programs = environment(wheel, tmp_path_factory.mktemp("inspect"), "inspect-ai==0.3.285")
    ran(programs / "quizlog", "new", "product.py", "--seed", "7", cwd=folder)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    script = HERE / "consumers" / "inspect_quiz.py"
    told = ran(programs / "python", script, "product.yaml", cwd=folder, PATH=path, HOME=str(folder))
    assert told.splitlines()[:3] == [
        "show: -- waiting for an answer: integer (step 0, branch main)",
        "answer: -- error: six times seven (score 0.2)",
        "answer: -- finished: score 1 (step 1, branch main)",
    ]


def test_uvx_starts_a_server_from_nothing(wheel: Path, folder: Path) -> None:
    """As the entry of a client does that has no installation."""
    if UV is None:
        pytest.skip("needs uv")
    client = {"name": "ann", "version": "1"}
    first = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    sent: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": first},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    words = [UV, "tool", "run", "--from", f"quizlog-tui[agents] @ {wheel.as_uri()}"]
    words += ["--python", sys.executable, "quizlog", "mcp", folder]
    home = {"HOME": str(folder), "UV_CACHE_DIR": str(folder / "cache")}
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | home
    ) as process:
        assert process.stdin and process.stdout
        for each in sent:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **each}) + "\n")
        process.stdin.flush()
        replies = [json.loads(process.stdout.readline()) for _ in "12"]
        process.stdin.close()
    assert process.returncode == 0 and replies[0]["result"]["serverInfo"]["name"] == "quizlog"
    assert "open_quiz" in [tool["name"] for tool in replies[1]["result"]["tools"]]


@pytest.fixture(scope="module")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inspector of the protocol, by npm."""
    if not shutil.which("npm"):
        pytest.skip("needs npm")
    folder = tmp_path_factory.mktemp("inspector")
    kept = Path(os.environ.get("QUIZLOG_CONSUMERS") or folder) / "npm"
    words = ["npm", "install", "--no-audit", "--no-fund", "--cache", kept, INSPECTOR]
    installed(*words, cwd=folder, HOME=str(folder))
    return folder / "node_modules" / ".bin" / "mcp-inspector"


def inspected(inspector: Path, *words: str | Path, cwd: Path) -> Any:
    return json.loads(ran(inspector, "--cli", *words, cwd=cwd, HOME=str(cwd)))


def plays(inspector: Path, *place: str | Path, cwd: Path) -> None:
    """List the tools, open the quiz, answer it wrongly and rightly."""
    calls: list[tuple[str, ...]] = [
        ("open_quiz", "quiz=product.py", "seed=7"),
        ("answer", "record=product", "text=41"),
        ("answer", "record=product", "text=42"),
    ]
    tools = inspected(inspector, *place, "--method", "tools/list", cwd=cwd)["tools"]
    assert {"show", "answer", "open_quiz"} <= {tool["name"] for tool in tools}
    told = []
    for name, *given in calls:
        words = ("--method", "tools/call", "--tool-name", name, "--tool-arg", *given)
        reply = inspected(inspector, *place, *words, cwd=cwd)
        assert not reply.get("isError")
        told.append(reply["structuredContent"]["status"])
    assert told == ["in_progress", "error", "success"]


def test_the_inspector_plays_over_stdio(inspector: Path, own: Path, folder: Path) -> None:
    plays(inspector, own / "quizlog", "mcp", folder, cwd=folder)


def test_the_inspector_plays_over_http(inspector: Path, own: Path, folder: Path) -> None:
    with listening(own / "quizlog", folder) as url:
        plays(inspector, url, "--transport", "http", cwd=folder)
