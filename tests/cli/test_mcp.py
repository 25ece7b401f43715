"""`quizlog mcp` as one starts it by hand: at a terminal, with odd streams, without its library."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.cli import main
from quizlog_tui.files.paths import example_names
from tests.cli.conftest import Run
from tests.support.build import Build
from tests.support.processes import below, gone, wait_for
from tests.support.terminal import Terminal
from tests.support.terminal import quizlog as started

CLIENT = {"name": "ann", "version": "1"}
FIRST = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
WAITS = "waits for a client of MCP at stdin; --install sets one up, Ctrl-C ends it"
ENDLESS = """
    input("How long? ")
    while True:
        pass
"""


def message(method: str, number: int | None = None, **params: Any) -> str:
    named = {} if number is None else {"id": number}
    return json.dumps({"jsonrpc": "2.0", "method": method, **named, "params": params}) + "\n"


INITIALIZE = message("initialize", 1, **FIRST)


def greeted(terminal: Terminal) -> None:
    terminal.wait_for("Ctrl-C ends it")
    terminal.send(INITIALIZE)
    terminal.wait_for('"serverInfo"')


def interrupt(terminal: Terminal) -> None:
    terminal.send("\x03")


def terminate(terminal: Terminal) -> None:
    os.kill(terminal.process.pid, signal.SIGTERM)


ENDS = pytest.mark.parametrize(("end", "code"), [(interrupt, 130), (terminate, 143)])


@ENDS
def test_a_signal_ends_it_while_it_waits_for_a_message(
    end: Callable[[Terminal], None], code: int, tmp_path: Path
) -> None:
    with Terminal(started("mcp"), cwd=tmp_path) as terminal:
        greeted(terminal)
        end(terminal)
        assert terminal.end() == code
        assert WAITS.encode() in terminal.seen and b"Traceback" not in terminal.seen


@ENDS
def test_a_signal_ends_it_and_the_script_that_runs(
    end: Callable[[Terminal], None], code: int, build: Build
) -> None:
    build.record(ENDLESS)
    said = {"name": "answer", "arguments": {"record": "record", "text": "ever"}}
    with Terminal(started("mcp"), cwd=build.folder) as terminal:
        greeted(terminal)
        terminal.send(message("notifications/initialized"))
        terminal.send(message("tools/call", 2, **said, _meta={"progressToken": 5}))
        terminal.wait_for("the script runs: 1 s")
        scripts = below(terminal.process.pid)
        end(terminal)
        assert terminal.end() == code and b"Traceback" not in terminal.seen
        wait_for(lambda: all(map(gone, scripts)))


def test_the_end_of_input_ends_it(tmp_path: Path) -> None:
    with Terminal(started("mcp"), cwd=tmp_path) as terminal:
        greeted(terminal)
        terminal.send("\x04")
        assert terminal.end() == 0


def in_shell(redirections: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = f"{sys.executable} -m quizlog_tui mcp {redirections}"
    return subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=folder, check=False, timeout=60
    )


def test_a_closed_stdin_is_told_in_one_line(tmp_path: Path) -> None:
    done = in_shell("<&-", tmp_path)
    hint = "a client starts this command; --install sets one up"
    assert done.stderr == f"quizlog: stdin: cannot read: Bad file descriptor ({hint})\n"
    assert done.returncode == 2 and done.stdout == ""


def test_messages_are_read_from_a_file_too(tmp_path: Path) -> None:
    """The last one without the end of its line; what is asked then is not answered: the client left."""
    (tmp_path / "sent").write_text(INITIALIZE.rstrip("\n"))
    done = in_shell("<sent", tmp_path)
    assert json.loads(done.stdout)["id"] == 1 and (done.returncode, done.stderr) == (0, "")


def test_a_message_arrives_in_parts_and_several_at_once(tmp_path: Path) -> None:
    name = "é" * 100_000
    unknown = message("tools/call", 2, name=name).encode().replace(rb"\u00e9", "é".encode())
    begun = message("notifications/initialized").encode()
    with subprocess.Popen(
        started("mcp"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(INITIALIZE.encode() + begun + unknown + message("ping", 3).encode())
        process.stdin.flush()
        replies = {
            reply["id"]: reply for reply in (json.loads(process.stdout.readline()) for _ in "123")
        }
        process.stdin.close()
    assert process.returncode == 0 and replies[3]["result"] == {}
    assert name in json.dumps(replies[2], ensure_ascii=False)


def test_an_agent_under_test_sees_and_answers_only(build: Build) -> None:
    build.record('if input("? ") != "yes":\n    raise Exception("no")  # the secret\n')
    asked = {"name": "answer", "arguments": {"record": "record", "text": "maybe"}}
    forked = {"name": "fork", "arguments": {"record": "record", "step": 0, "text": "yes"}}
    begun = message("notifications/initialized")
    with subprocess.Popen(
        started("mcp", "record.yaml", "--seat"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=build.folder,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout
        said: dict[int, Any] = {}
        for each in (
            INITIALIZE,
            begun + message("tools/list", 2),
            message("tools/call", 3, **asked),
            message("tools/call", 4, **forked),
            message("resources/list", 5),
            message("resources/templates/list", 6),
        ):
            process.stdin.write(each)
            process.stdin.flush()
            reply = json.loads(process.stdout.readline())
            said[reply["id"]] = reply["result"]
        process.stdin.close()
    assert [tool["name"] for tool in said[2]["tools"]] == ["show", "answer"]
    assert said[3]["structuredContent"]["last_error"]["message"] == "no" and not said[3]["isError"]
    assert said[4]["isError"] and said[5]["resources"] == said[6]["resourceTemplates"] == []
    assert "secret" not in json.dumps(said) and "raise" not in json.dumps(said)


def test_over_http_the_token_is_asked_for(tmp_path: Path) -> None:
    with subprocess.Popen(
        started("mcp", "--http", "--port", "0"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, cwd=tmp_path, env=os.environ | {"QUIZLOG_TOKEN": "hush-hush"},
    ) as process:  # fmt: skip
        assert process.stdout
        url = process.stdout.readline().strip()
        assert url.endswith("/mcp")
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(url, INITIALIZE.encode(), timeout=60)
        process.terminate()
        assert process.wait(60) == 143
    with caught.value as refused:
        assert refused.code == 401


def test_a_client_that_has_gone_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "sent").write_text(INITIALIZE)
    done = in_shell("<sent | true; exit ${PIPESTATUS[0]}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_cannot_be_served_is_told_in_one_line(run: Run, build: Build) -> None:
    Path("notes.yaml").write_text("only a text\n")
    build.script("input('? ')\n")
    told = {
        "nowhere": "nowhere: there is no such file or folder (name another)",
        "notes.yaml": "notes.yaml:1: must be a mapping, is text (see `quizlog help record-format`)",
        "quiz.py": "quiz.py: is a script, not a record (make one with `quizlog new quiz.py`)",
    }
    for place, line in told.items():
        assert run("mcp", place) == (2, "", f"quizlog: {line}\n")


def test_a_port_that_is_taken_is_told_in_one_line(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, out, err = run("mcp", "--http", "--port", str(taken.getsockname()[1]))
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert "cannot listen: Address already in use" in err and "--port" in err


@pytest.mark.parametrize("words", [["mcp"], ["serve", "--mcp"]])
@pytest.mark.parametrize("missing", [{"mcp", "mcp_types"}, {"mcp_types"}], ids=["none", "1.x"])
def test_without_its_library_the_extra_is_named(
    words: list[str], missing: set[str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version 1 of the SDK has the same name, but none of what is used."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in missing else find(name)
    )
    needed = " and ".join(sorted(missing))
    told = f"quizlog: needs {needed} (pip install 'quizlog-tui[agents]')\n"
    assert run(*words) == (2, "", told)


def test_options_that_exclude_each_other_are_refused(run: Run) -> None:
    code, out, err = run("mcp", "--install", "cursor", "--http")
    assert (code, out) == (2, "") and "--install is for a server that the client starts" in err
    code, out, err = run("mcp", "--seat", "--person")
    assert (code, out) == (2, "") and "exclude each other" in err
    code, out, err = run("mcp", "--json")
    assert code == 2 and "stdout is the client's here" in err


def asked(folder: Path, answer: str, *words: str) -> tuple[int, str]:
    """What `--install` shows at a terminal of which stdout is a file, and its exit code."""
    with Terminal(started("mcp", *words), cwd=folder, env={"HOME": str(folder)}) as terminal:
        terminal.wait_for("[y/N]")
        terminal.send(answer)
        return terminal.end(), terminal.seen.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("client", "file"),
    [
        ("claude-code", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
    ],
)
def test_an_entry_is_shown_then_asked_about_then_written(
    client: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")  # lets an entry wait that nobody flushes
    code, shown = asked(tmp_path, "n\n", "--install", client)
    assert code == 0 and not (tmp_path / file).exists()
    assert shown.index('"mcp"') < shown.index("[y/N]") < shown.index("was not changed")
    code, shown = asked(tmp_path, "y\n", "--install", client)
    assert code == 0 and "has this entry now" in shown
    written = (tmp_path / file).read_text()
    assert written in shown
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["mcp", "--install", client]) == 0
    assert "has this entry already" in capsys.readouterr().err
    assert (tmp_path / file).read_text() == written


def test_an_interrupted_question_writes_nothing(tmp_path: Path) -> None:
    code, shown = asked(tmp_path, "\x03", "--install", "cursor")
    assert code == 130 and "Traceback" not in shown and not (tmp_path / ".cursor").exists()


def test_a_broken_file_is_refused_with_the_entry(run: Run) -> None:
    Path(".mcp.json").write_text("{ // mine\n}\n")
    code, out, err = run("mcp", "--install", "claude-code")
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert "is not JSON without comments" in err and 'by hand: in "mcpServers", "quizlog"' in err
    assert Path(".mcp.json").read_text() == "{ // mine\n}\n"


def test_a_shipped_example_can_be_named(run: Run) -> None:
    code, out, _ = run("mcp", example_names()[0], "--install", "cursor", "--json")
    assert code == 0 and os.path.isfile(
        json.loads(json.loads(out)["entry"])["mcpServers"]["quizlog"]["args"][1]
    )
