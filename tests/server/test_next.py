"""`POST /quizlog/next`: both forms, and what is wrong with others."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.who import on_branch
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.replay.script.granted import grant
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.session.session import Session
from tests.server.conftest import Server
from tests.support.build import Build
from tests.support.sittings import SUMS


def message(reply: dict[str, Any]) -> str:
    error: dict[str, Any] = reply["error"]
    assert set(error) == {"message", "where", "hint", "exit_code"}
    return f"{error['where']}: {error['message']}"


async def test_a_script_and_its_answers(server: Server, build: Build) -> None:
    build.script(SUMS)
    reply = await server.next(script_id="quiz", seed=1, inputs=["4"])
    wanted = {
        "schema_version": 1, "status": "in_progress", "pointer": 1, "next_prompt": "3 + 3 = ",
        "input_type": "integer", "choices": [], "print": ["two sums", "good"], "last_error": None,
        "score": None, "branch": "main", "record": None,
    }  # fmt: skip
    assert reply == wanted
    ended = await server.next(script_id="quiz", seed=1, inputs=["4", "6"])
    assert (ended["status"], ended["score"]) == ("success", 1)
    raised = await server.next(script_id="quiz.py", inputs=["4", "7", "never used"])
    assert raised["last_error"] == {"message": "no", "line": 6, "score": 0.6}
    assert raised["pointer"] == 2
    assert sorted(path.name for path in build.folder.iterdir()) == ["quiz.py"]


async def test_a_grant_ends_while_a_record_is_open_when_a_file_of_it_changes(
    server: Server, build: Build
) -> None:
    asks = (
        "import helper, time  #quizlog: real-clock\nwhile True: input(str(time.time() > 1.76e9))\n"
    )
    (build.folder / "helper.py").write_text("")
    build.record(asks)
    grant(read_source(build.folder / "quiz.py"), ["real-clock"])
    assert (await server.next(sheet_id="record", input="a"))["next_prompt"] == "True"
    (build.folder / "helper.py").write_text("# theirs")
    assert (await server.next(sheet_id="record", input="b"))["next_prompt"] == "False"


async def test_a_record_is_shown_and_answered(server: Server, build: Build) -> None:
    path = build.record(SUMS)
    before = path.read_bytes()
    for absent in ({}, {"input": None}):
        shown = await server.next(sheet_id="record", **absent)
        assert (shown["pointer"], shown["record"]) == (0, "record")
    assert path.read_bytes() == before
    assert (await server.next(sheet_id="record", input="4"))["print"] == ["two sums", "good"]
    last = await server.next(sheet_id="record", input="6", new=True)
    assert (last["status"], last["print"]) == ("success", ["done"])
    with Session(path) as session:
        assert list(session.record.inputs) == ["4", "6"]
        assert [given.door for given in on_branch(session.record, "main").values()] == ["http"] * 2


async def test_a_client_may_say_who_answers(server: Server, build: Build) -> None:
    path = build.record(SUMS)
    ann = {"by": "person", "name": "ann\u202e"}
    await server.next(sheet_id="record", input="4", who=ann)
    await server.next(sheet_id="record", input="6", who={"by": "agent", "name": " "})
    with Session(path) as session:
        given = on_branch(session.record, "main")
    found = [(one.by, one.name, one.door) for one in given.values()]
    assert found == [("person", "ann\\u202e", "http"), ("agent", None, "http")]


async def test_an_answer_waits_its_turn_behind_a_shell(server: Server, build: Build) -> None:
    path = build.record(SUMS)
    assert (await server.next(sheet_id="record"))["pointer"] == 0
    with Session(path) as other:
        with other.locked():
            answering = asyncio.create_task(server.next(sheet_id="record", input="6"))
            await asyncio.sleep(0.05)
            other.answer("4")
        reply = await answering
    assert (reply["pointer"], reply["status"]) == (2, "success")


async def test_what_others_do_to_a_record_is_seen(server: Server, build: Build) -> None:
    path = build.record(SUMS)
    assert (await server.next(sheet_id="record"))["pointer"] == 0
    with Session(path) as other:
        other.answer("4")
    assert (await server.next(sheet_id="record"))["pointer"] == 1
    with Session(path) as other:
        other.rewind(0)
    assert (await server.next(sheet_id="record", input="5"))["score"] == 0.2
    build.script(SUMS.replace("2 + 2", "1 + 3"))
    assert (await server.next(sheet_id="record", input="4"))["pointer"] == 1
    path.unlink()
    await server.next(404, sheet_id="record")


async def test_an_answer_for_another_step_is_refused(server: Server, build: Build) -> None:
    build.record(SUMS)
    await server.next(sheet_id="record", input="4", pointer=0)
    again = await server.next(409, sheet_id="record", input="4", pointer=0)
    assert "at step 1, not 0" in message(again)
    assert (await server.next(sheet_id="record"))["pointer"] == 1


async def test_answers_at_once_are_given_one_after_the_other(server: Server, build: Build) -> None:
    path = build.record("""
        for i in range(20):
            input(f"{i}: ")
    """)
    bodies = [{"sheet_id": "record", "input": str(i)} for i in range(20)]
    replies = await asyncio.gather(*(server.next(**body) for body in bodies))
    assert sorted(reply["pointer"] for reply in replies) == list(range(1, 21))
    with Session(path) as session:
        assert sorted(session.record.inputs, key=int) == [str(i) for i in range(20)]


async def test_a_slow_script_keeps_no_other_waiting(server: Server, build: Build) -> None:
    build.script('input("go? ")\nwhile True: pass\n', "slow.py")
    build.script(SUMS)
    replayers = server.app.state.sessions.replayers
    slot = replayers.slot(build.folder.resolve() / "slow.py", 0)
    slow = asyncio.create_task(server.next(503, script_id="slow", inputs=["y"]))
    while not slot.users:
        await server.next(script_id="quiz", inputs=["4"])
    assert (await server.next(script_id="quiz", seed=9, inputs=["4"]))["pointer"] == 1
    assert not slow.done()
    while not slow.done():
        replayers.cancel()
        await server.next(script_id="quiz", inputs=["4"])
    assert "stopped" in message(await slow)


async def test_any_text_passes(server: Server, build: Build) -> None:
    build.record('x = input("? ")\nprint(ascii(x))\ninput("more? ")\n')
    for index, text in enumerate(["\ud800", "a\0b", "\u2028\x85", "NO", "1:30", "x" * 1_000_000]):
        reply = await server.next(script_id="quiz", seed=index, inputs=[text])
        assert (reply["print"], reply["pointer"]) == ([ascii(text)], 1)
    assert (await server.next(sheet_id="record", input="\ud800"))["print"] == [r"'\ud800'"]
    assert (await server.next(sheet_id="record"))["pointer"] == 1


async def test_sessions_share_the_processes_of_a_script(server: Server, build: Build) -> None:
    script = build.script(SUMS)
    for name in ("a.yaml", "b.yaml"):
        RecordFile(build.folder / name).create(Record(script.name, 7))
    await server.next(sheet_id="a")
    held = server.app.state.sessions.replayers.processes
    assert held > 0
    await server.next(sheet_id="b")
    assert server.app.state.sessions.replayers.processes == held


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({}, 422, "script_id: is missing"),
        ({"sheet_id": "record", "inputt": "4"}, 422, "inputt: unknown key"),
        ({"sheet_id": "record", "input": 4}, 422, "input: must be a text"),
        ({"sheet_id": "record", "input": ["4"]}, 422, "input: must be a text"),
        ({"sheet_id": "record", "pointer": -1}, 422, "pointer"),
        ({"sheet_id": "record", "who": {"by": "dog"}}, 422, "who.by"),
        ({"sheet_id": "record", "who": {"name": "ann"}}, 422, "who.by: is missing"),
        ({"sheet_id": "record", "who": {"by": "agent", "name": "x" * 81}}, 422, "who.name"),
        ({"sheet_id": "record", "who": {"by": "agent", "name": "\ud800"}}, 422, "who.name"),
        ({"sheet_id": "record", "who": {"by": "agent", "door": "shell"}}, 422, "who.door: unknown"),
        ({"script_id": "quiz", "who": {"by": "agent"}}, 422, "who: unknown key"),
        ({"sheet_id": 1}, 422, "sheet_id: must be a text"),
        ({"script_id": "quiz", "inputs": "4"}, 422, "inputs"),
        ({"script_id": "quiz", "inputs": ["4", 4]}, 422, "inputs.1: must be a text"),
        ({"script_id": "quiz", "seed": "1"}, 422, "seed"),
        ({"script_id": "quiz", "seed": True}, 422, "seed"),
        ({"script_id": "quiz", "seed": 10**40}, 422, "seed"),
        ({"script_id": "quiz", "sheet_id": "record"}, 422, "unknown key"),
        ({"script_id": "missing"}, 404, "missing: no such script"),
        ({"sheet_id": "../record"}, 404, "../record: no such record"),
        ({"sheet_id": "broken"}, 422, "broken.yaml"),
        ({"sheet_id": "outside"}, 422, "not in a served folder"),
    ],
)
async def test_wrong_bodies(
    server: Server, build: Build, body: dict[str, Any], status: int, said: str
) -> None:
    build.record(SUMS)
    (build.folder / "broken.yaml").write_text("script: [")
    (build.folder / "outside.yaml").write_text("script: /etc/passwd\nseed: 1\n")
    reply = await server.next(status, **body)
    assert said in message(reply)
    assert str(build.folder) not in message(reply)


async def test_bodies_that_are_no_object(server: Server) -> None:
    for data, status in (
        (b"", 422), (b"{", 400), (b"nonsense", 400), (b"[]", 422), (b'"x"', 422), (b"null", 422),
        (b"[" * 100_000, 400), (b"\xff\xfe", 400), (b'{"script_id": ' + b"9" * 5000 + b"}", 400),
    ):  # fmt: skip
        kind = {"content-type": "application/json"}
        reply = await server.http.post("/quizlog/next", content=data, headers=kind)
        assert reply.status_code == status, reply.text
        assert message(reply.json())


async def test_a_body_is_refused_in_the_words_of_fastapi(server: Server) -> None:
    """What `_StepRoute` cannot read, down to the place of a fault, is left to FastAPI."""
    for data, status, said in (
        (b'{"script_id": ', 400, "None: the body is not JSON: Expecting value"),
        (b'"\xff"', 400, "/quizlog/next: There was an error parsing the body"),
        (b"", 422, "body: is missing"),
        (b'{"script_id": "quiz", "seed": 1.5}', 422, "seed: Input should be a valid integer"),
    ):
        kind = {"content-type": "application/json"}
        reply = await server.http.post("/quizlog/next", content=data, headers=kind)
        assert (reply.status_code, message(reply.json())) == (status, said)


async def test_a_finished_record_takes_no_answer(server: Server, build: Build) -> None:
    build.record(SUMS, "4", "6")
    assert "finished" in message(await server.next(409, sheet_id="record", input="1"))


async def test_a_script_over_its_limit(
    server: Server, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.script('input("? ")\nwhile True: pass\n')
    slot = server.app.state.sessions.replayers.slot(build.folder.resolve() / "quiz.py", 3)
    slot.replayer.close()
    slot.replayer = Replayer(Limits(seconds=0.5))
    reply = await server.next(504, script_id="quiz", seed=3, inputs=["x"])
    assert "without asking" in message(reply)
    assert reply["error"]["exit_code"] == 4
    assert (await server.next(script_id="quiz", seed=3))["pointer"] == 0


async def test_other_routes(server: Server, tmp_path: Path) -> None:
    wrong = await server.http.get("/quizlog/next")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert message(wrong.json()) == "/quizlog/next: Method Not Allowed"
    health = (await server.http.get("/health")).json()
    assert (health["status"], health["sessions"]) == ("ok", 0)


async def test_a_server_without_a_secret_says_why_it_takes_no_tasks(server: Server) -> None:
    for call in ("POST /run", "POST /", "GET /tasks", "GET /tasks/aa/events"):
        reply = await server.http.request(*call.split(), content=b"{}")
        assert reply.status_code == 503
        said = reply.json()["error"]
        where, what = "USER_SECRET", "is not set: this server takes no tasks"
        assert (said["where"], said["message"]) == (where, what)
        assert "start the server again" in said["hint"]


async def test_the_description_names_all_routes(server: Server) -> None:
    gone = await server.http.get("/docs")
    assert (gone.status_code, gone.json()["error"]["hint"]) == (404, "see /openapi.json")
    described = (await server.http.get("/openapi.json")).json()
    routes = {"/quizlog/next", "/solve", "/decisions", "/decisions/{decision_id}", "/health"}
    assert set(described["paths"]) == routes
    forms = described["components"]["schemas"]
    assert {"ScriptStep", "SheetStep", "RecordSolve", "QuestionSolve"} <= set(forms)
    for path in described["paths"].values():
        for operation in path.values():
            assert {"200", "403", "422", "504"} <= set(operation["responses"])
