"""What each role can do, and what each tool says; the results' forms are checked by the client."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitResult, Implementation
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from quizlog_tui.agents.mcp_server import make_server
from quizlog_tui.agents.transports import _unreadable
from quizlog_tui.errors import RecordError
from quizlog_tui.record.hold import Hold
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.who import Giver, is_by, on_branch
from quizlog_tui.session.open_sessions import OpenSessions
from quizlog_tui.session.served_folders import served, served_record
from quizlog_tui.session.session import Session
from tests.agents.conftest import QUIZ, Connect, texts
from tests.support.build import Build

TOOLS = {
    "auditor": "show answer list_quizzes open_quiz rewind fork diff verify inspect",
    "seat": "show answer",
    "person": "show answer list_quizzes open_quiz",
}


def inputs(path: Path) -> list[str]:
    return list(RecordFile(path).read().inputs)


# -- roles


@pytest.mark.parametrize("role", TOOLS)
async def test_a_role_has_its_tools(connect: Connect, role: Any) -> None:
    async with connect(role) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS[role].split()
        assert all(tool.description and tool.output_schema for tool in tools)
        reading = {tool.name for tool in tools if tool.annotations.read_only_hint}  # type: ignore[union-attr]
        assert reading.isdisjoint({"answer", "open_quiz", "rewind", "fork"})


async def test_a_seat_sees_no_line_of_the_script_and_no_resource(
    connect: Connect, build: Build
) -> None:
    path = build.record(QUIZ, "Zoë")
    async with connect("seat") as client:
        wrong = await client.call_tool("answer", {"record": "record", "text": "no"})
        assert texts(wrong) == ["", "-- error: be sure (score 0.4)"]
        assert not wrong.is_error
        assert (await client.list_resources()).resources == []
        assert (await client.list_resource_templates()).resource_templates == []
        for tool in ("rewind", "inspect", "nonsense"):
            refused = await client.call_tool(tool, {"record": "record", "step": 0})
            assert texts(refused) == [f"Unknown tool: {tool}"]
    assert inputs(path) == ["Zoë", "no"]


async def test_an_auditor_sees_where_a_script_raised(connect: Connect, build: Build) -> None:
    build.record(QUIZ, "Zoë")
    async with connect() as client:
        wrong = await client.call_tool("answer", {"record": "record", "text": "no"})
    (_, said) = texts(wrong)
    assert said.startswith("-- error: quiz.py:4: be sure (score 0.4)\n")
    assert '>    4     raise Exception("be sure")' in said


# -- the folder


async def test_quizzes_are_listed_and_opened(connect: Connect, build: Build) -> None:
    build.record(QUIZ, "Zoë")
    (build.folder / "helper.py").write_text("x = 1\n", encoding="utf-8")
    (build.folder / ".hidden.py").write_text("input()\n", encoding="utf-8")
    async with connect() as client:
        listed = await client.call_tool("list_quizzes")
        assert texts(listed) == ["record record.yaml: in_progress\nscript quiz.py\n"]
        opened = [await client.call_tool("open_quiz", {"quiz": "quiz", "seed": 3})]
        opened += [await client.call_tool("open_quiz", {"quiz": "quiz.py"})]
        names = [each.structured_content["record"] for each in opened]  # type: ignore[index]
        assert names == ["quiz.yaml", "quiz-2.yaml"]
        assert texts(opened[0])[0] == "name? \n"
        assert RecordFile(build.folder / "quiz.yaml").read().seed == 3
        shown = await client.call_tool("open_quiz", {"quiz": "record"})
        assert texts(shown)[0] == "name? Zoë\nhi Zoë\nsure? (yes/no) \n"


async def test_of_two_folders_each_name_finds_one_file(
    sessions: OpenSessions, build: Build, era: str
) -> None:
    """What the first has hides what the second has by the same name."""
    build.record(QUIZ, "Zoë", name="t.yaml")
    other = build.outside
    (other / "t.py").write_text("input('other? ')\n", encoding="utf-8")
    (other / "t.yaml").write_bytes((build.folder / "t.yaml").read_bytes())
    sessions.folders = served([build.folder, other])
    async with Client(make_server(sessions, "auditor"), mode=era) as client:
        listed = await client.call_tool("list_quizzes")
        assert texts(listed)[0].splitlines() == [
            "record t.yaml: in_progress",
            "script quiz.py",
            "script t.py",
        ]
        opened = await client.call_tool("open_quiz", {"quiz": "t"})
        name = opened.structured_content["record"]  # type: ignore[index]
        assert name == "t-2.yaml"
        shown = await client.call_tool("show", {"record": name})
        assert texts(shown)[0] == texts(opened)[0] == "other? \n"


async def test_a_record_alone_is_served_with_its_script_elsewhere(
    connect: Connect, build: Build
) -> None:
    build.record(QUIZ, "Zoë")
    path = build.folder / "apart" / "mine.yaml"
    path.parent.mkdir()
    RecordFile(path).create(
        RecordFile(build.folder / "record.yaml").read().but(script="../quiz.py")
    )
    async with connect(folders=served_record(path)) as client:
        assert "mine.yaml" in (client.instructions or "")
        listed = await client.call_tool("list_quizzes")
        assert texts(listed) == ["record mine.yaml: in_progress\n"]
        for name in ("mine", "mine.yaml"):
            answered = await client.call_tool("answer", {"record": name, "text": "no"})
            assert not answered.is_error
        for name in ("../record", "record", "quiz.py"):
            other = await client.call_tool("open_quiz", {"quiz": name})
            assert other.is_error
            assert "(only mine.yaml is)" in texts(other)[0]


def test_of_one_record_that_is_none_nothing_is_served(tmp_path: Path) -> None:
    (tmp_path / "record.yaml").write_text("nonsense", encoding="utf-8")
    with pytest.raises(RecordError):
        served_record(tmp_path / "record.yaml")


async def test_resources_are_records_and_transcripts(connect: Connect, build: Build) -> None:
    path = build.record(QUIZ, "Zoë", name="my record.yaml")
    async with connect() as client:
        (resource,) = (await client.list_resources()).resources
        assert (resource.name, resource.uri) == (
            "my record.yaml",
            "quizlog://record/my%20record.yaml",
        )
        (content,) = (await client.read_resource(resource.uri)).contents
        assert content.text == path.read_text(encoding="utf-8")  # type: ignore[union-attr]
        uri = "quizlog://transcript/main/my%20record.yaml"
        (content,) = (await client.read_resource(uri)).contents
        assert content.text == "name? Zoë\nhi Zoë\nsure? (yes/no) \n"  # type: ignore[union-attr]
        for uri in ("quizlog://transcript/nope/my%20record.yaml", "quizlog://record/../x.yaml"):
            with pytest.raises(Exception, match=r"there is no branch 'nope'|Unknown resource"):
                await client.read_resource(uri)


# -- judgements


async def test_runs_are_compared_verified_and_inspected(connect: Connect, build: Build) -> None:
    build.record(QUIZ, "Zoë", "yes")
    async with connect() as client:
        record = {"record": "record"}
        await client.call_tool("fork", {**record, "step": 1, "text": "no", "name": "other"})
        found = await client.call_tool("diff", {"a": "record@main", "b": "@other"})
        assert found.structured_content["equal"] is False  # type: ignore[index]
        assert texts(found)[0].startswith(
            "A  record@main: 2 answers, success, score 1\nB  record@other"
        )
        assert "    answered by mcp" in texts(found)[0] and texts(found)[0].count("(B)") == 1
        verdict = await client.call_tool("verify", record)
        assert texts(verdict)[0].startswith("reproducible\n")
        known = await client.call_tool("inspect", {**record, "step": 1})
        assert "  name = 'Zoë'  (str of 3)\n" in texts(known)[0]
        assert str(build.folder) not in str(known.model_dump())
        again = await client.call_tool("diff", {"a": "record@nope", "b": "record"})
        assert "there is no branch 'nope'" in texts(again)[0]


async def test_an_agent_does_not_pass_for_a_person(connect: Connect, build: Build) -> None:
    path = build.record(QUIZ)
    async with connect(client_info=Implementation(name="Person", version="")) as client:
        await client.call_tool("answer", {"record": "record", "text": "Zoë"})
        late = {"record": "record", "text": "x", "pointer": 0}
        assert '"Zoë" by agent "Person"' in texts(await client.call_tool("answer", late))[0]
    (given,) = on_branch(RecordFile(path).read(), "main").values()
    assert not is_by(given, "person")
    assert is_by(given, "agent")


async def test_who_answered_is_recorded(connect: Connect, build: Build) -> None:
    path = build.record(QUIZ)
    async with connect() as client:
        await client.call_tool("answer", {"record": "record", "text": "Zoë"})
    (given,) = on_branch(RecordFile(path).read(), "main").values()
    assert (given.by, given.door) == ("agent", "mcp")
    assert (given.name or "").startswith("mcp")


async def test_a_model_that_says_its_name_is_recorded_beside_the_client(
    connect: Connect, build: Build
) -> None:
    path = build.record(QUIZ)
    async with connect() as client:
        answer = {"record": "record", "text": "Zoë", "model": "m-1\u202e"}
        await client.call_tool("answer", answer)
        fork = {"record": "record", "step": 0, "text": "Ada", "model": "x" * 99}
        await client.call_tool("fork", fork)
        await client.call_tool("answer", {"record": "record", "text": "no", "model": " "})
    record = RecordFile(path).read()
    (first,) = on_branch(record, "main").values()
    long, agent = on_branch(record, "fork-1").values()
    assert (first.by, first.name) == ("model", f"m-1\\u202e ({agent.name})")
    assert (long.by, long.name) == ("model", f"{'x' * 79}… ({agent.name})")
    assert agent.by == "agent"


# -- slow work

SLOW = """
    if input("go? ") == "slowly":
        for _ in range(10**10):
            pass
    print("gone")
"""


async def test_a_call_that_waits_is_told_so_and_can_be_cancelled(
    connect: Connect, build: Build, sessions: OpenSessions
) -> None:
    path = build.record(SLOW)
    told = asyncio.Event()

    async def progress(done: float, whole: float | None, message: str | None) -> None:
        assert message == f"the script runs: {done:.0f} s"
        told.set()

    async with connect() as client:
        slowly = {"record": "record", "text": "slowly"}
        call = asyncio.create_task(client.call_tool("answer", slowly, progress_callback=progress))
        await told.wait()
        call.cancel()
        await asyncio.wait([call])
        quick = await client.call_tool("answer", {"record": "record", "text": "quickly"})
        assert texts(quick)[0] == "gone\n"
    assert inputs(path) == ["quickly"]


# -- a person at the screens


async def test_a_held_record_makes_the_agent_wait_and_tells_what_was_answered_for_it(
    connect: Connect, build: Build
) -> None:
    path = build.record(QUIZ)
    told: list[str] = []

    async def progress(done: float, whole: float | None, message: str | None) -> None:
        told.append(message or "")

    async with connect() as client:
        with Hold(path) as held:
            mine = {"record": "record", "text": "mine"}
            call = asyncio.create_task(client.call_tool("answer", mine, progress_callback=progress))
            while not held.waiting() or not told:
                await asyncio.sleep(0.001)
            assert held.waiting()[0].startswith("mcp")
            with Session(path, giver=Giver("screen", "person", "Ann")) as person:
                person.answer("hers")
        result = await call
    assert result.is_error  # its answer was not given
    text, said = texts(result)
    assert text == "name? hers\nhi hers\nsure? (yes/no) \n"
    assert said.startswith(
        'a person held the record, and it was moved meanwhile; answered since: "hers" by Ann'
    )
    assert told[0] == "a person holds the record: 1 s"
    assert inputs(path) == ["hers"]


# -- the person at the client


class Person:
    """Answers what the client asks; None declines."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append((params.message, params.requested_schema["properties"]["text"]))
        text = self.answers.pop(0)
        if text is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content={"text": text})


async def answered(client: Client) -> list[str]:
    return texts(await client.call_tool("answer", {"record": "record"}))


async def test_the_person_is_asked_and_answers(connect: Connect, build: Build) -> None:
    path = build.record(QUIZ)
    person = Person("007", "no", None, "yes")
    async with connect("person", elicitation_callback=person) as client:
        assert (await answered(client))[0] == "hi 007\nsure? (yes/no) \n"
        assert (await answered(client))[1].startswith("-- error")
        assert "the person gave no answer" in (await answered(client))[0]
        assert (await answered(client))[1].startswith("-- finished")
        assert "nothing is asked any more" in (await answered(client))[0]
    assert [message for message, _ in person.asked] == [
        "name? \n(step 0)",
        "hi 007\nsure? (yes/no) \n(step 1)",
        "be sure\nsure? (yes/no) \n(step 2)",
        "be sure\nsure? (yes/no) \n(step 2)",
    ]
    record = RecordFile(path).read()
    assert list(record.inputs) == ["007", "yes"]
    assert {given.by for given in on_branch(record, "main").values()} == {"person"}


async def test_the_person_is_offered_the_choices_of_a_question(
    connect: Connect, build: Build
) -> None:
    path = build.record('print(input("pick (red/green): "))\n')
    person = Person("blue", "green")
    async with connect("person", elicitation_callback=person) as client:
        assert "has not the form" in (await answered(client))[0]
        assert (await answered(client))[0] == "green\n"
    assert person.asked[0][1]["enum"] == ["red", "green"]
    assert inputs(path) == ["green"]


async def test_an_answer_to_a_question_that_somebody_else_answered_meanwhile_is_not_given(
    connect: Connect, build: Build, sessions: OpenSessions
) -> None:
    path = build.record("for _ in range(9):\n    input('again? ')\n")

    class Slow(Person):
        async def __call__(self, context: Any, params: Any) -> ElicitResult:
            if not self.asked:
                await sessions.move(path.resolve(), lambda session: session.answer("first"))
            return await super().__call__(context, params)

    person = Slow("mine", "mine")
    async with connect("person", elicitation_callback=person) as client:
        said = await answered(client)
    if len(person.asked) == 1:  # in the older protocols the call waits while the person thinks
        assert "the record is at step 1, not 0" in said[0]
        assert inputs(path) == ["first"]
    else:  # in the newer ones it is made again, and so is the question
        assert [message for message, _ in person.asked] == [
            "again? \n(step 0)",
            "again? \n(step 1)",
        ]
        assert inputs(path) == ["first", "mine"]


async def test_a_client_that_cannot_ask_is_told_so(connect: Connect, build: Build) -> None:
    build.record(QUIZ)
    async with connect("person") as client:
        assert (await answered(client))[0].startswith("this client cannot ask its person")


# -- messages


@pytest.mark.parametrize(
    ("line", "number", "is_answer"),
    [
        (r'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"x":"\ud800"}}', 7, False),
        (r'{"jsonrpc":"2.0","id":"\ud800","method":"tools/list"}', None, False),
        (r'{"jsonrpc":"2.0","id":true,"method":8}', None, False),
        (r'{"jsonrpc":"2.0","id":17,"result":{"content":{"text":"\ud800"}}}', 17, True),
        ("nonsense", None, False),
    ],
)
def test_a_message_that_cannot_be_read_is_answered_where_that_helps(
    line: str, number: int | None, is_answer: bool
) -> None:
    """An answer to a question of the server goes to whoever asked, as a failure."""
    with pytest.raises(ValidationError) as caught:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    error, answers = _unreadable(caught.value)
    assert (error.id, answers) == (number, is_answer)
