"""What no well-meant client sends to the MCP server: one clear reply each, and nothing is lost."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import Implementation

from quizlog_tui.agents.mcp_server import make_server
from quizlog_tui.cli import main
from quizlog_tui.config import config_path
from quizlog_tui.record.store import RecordFile
from quizlog_tui.server.admission import MAX_BODY
from tests.support.doors import ERAS, Era, http_client, mcp_url, open_sessions, prepare, stdio_words
from tests.support.processes import IS_UP, below, is_up
from tests.support.raw_mcp import RAW, RawHttp, RawStdio, answer_in, call, raw_http, raw_stdio
from tests.support.sittings import ECHO, SUMS, Sitting

SLOW = f"""
if input("go? ") == "slow":
    {IS_UP}
    import os
    os.read(os.pipe()[0], 1)
input("next? ")
"""
ways = pytest.mark.parametrize("way", list(RAW))
eras = pytest.mark.parametrize("era", ERAS)


@pytest.fixture(autouse=True)
def no_traceback(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> Iterator[None]:
    """A server in this process tells of no defect; those in others are asked when they end."""
    yield
    assert [record for record in caplog.get_records("call") if record.exc_info] == []
    assert "Traceback" not in capfd.readouterr().err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A served folder, beside one that is not."""
    made = tmp_path / "served"
    made.mkdir()
    prepare(made, [Sitting("sums", SUMS, ()), Sitting("slow", SLOW, ()), Sitting("echo", ECHO, ())])
    return made


@pytest.fixture
def outside(folder: Path) -> Path:
    """The folder beside it, to which links and a record lead."""
    made = folder.with_name("outside")
    made.mkdir()
    prepare(made, [Sitting("secret", SUMS, ())])
    (folder / "link.yaml").symlink_to(made / "secret.yaml")
    (folder / "linked").symlink_to(made)
    (folder / "script.py").symlink_to(made / "secret.py")
    stray = RecordFile(made / "secret.yaml").read().but(script="../outside/secret.py")
    RecordFile(folder / "stray.yaml").create(stray)
    RecordFile(folder / "behind.yaml").create(stray.but(script="script.py"))
    return made


def answers(path: Path) -> list[str]:
    return list(RecordFile(path).read().inputs)


def refusal(reply: dict[str, Any]) -> str:
    """The one line by which a call was refused."""
    if "error" in reply:
        said: str = reply["error"]["message"]
    else:
        result = reply["result"]
        assert result["isError"] is True
        assert len(result["content"]) == 1
        assert result["structuredContent"]["error"]["exit_code"] == 2
        said = result["content"][0]["text"]
    assert said.isprintable() and said
    return said


def done(reply: dict[str, Any]) -> dict[str, Any]:
    """The JSON object of a call that was carried out."""
    assert reply["result"]["isError"] is False
    found: dict[str, Any] = reply["result"]["structuredContent"]
    return found


async def goes_on(raw: RawStdio | RawHttp, record: str = "sums") -> None:
    """Whether the server still answers."""
    assert done(await raw.call("show", {"record": record}))["record"] == record


# -- names

NAMES = [
    "nope", "", ".", "..", "/", "../outside/secret", "../outside/secret.yaml", "%2e%2e/outside/secret",
    "..%2foutside%2fsecret", "..\\outside\\secret", "sums\\..\\sums", "./sums", "sums/", "sums/../sums",
    "sums\0", "sums.yaml\0.txt", "sums\n", "\u202esums", "x" * 10_000, "../" * 3000, "C:sums", "~", "~root",
    ".hidden", "sums.py", "link", "link.yaml", "linked/secret", "linked", "/dev/stdin", "//host/share",
]  # fmt: skip
BY_TOOL: dict[str, dict[str, Any]] = {
    "show": {},
    "answer": {"text": "4"},
    "rewind": {"step": 0},
    "fork": {"step": 0, "text": "4"},
    "inspect": {},
    "verify": {},
}


@ways
async def test_no_name_leads_out_of_the_folder(way: str, folder: Path, outside: Path) -> None:
    before = (outside / "secret.yaml").read_bytes()
    async with RAW[way](folder) as raw:
        for name in [*NAMES, str(outside / "secret.yaml")]:
            reply = await raw.call("show", {"record": name})
            assert "no such record is served" in refusal(reply), name
            assert len(refusal(reply)) < 1200
        for tool, more in BY_TOOL.items():
            reply = await raw.call(tool, {"record": "../outside/secret", **more})
            assert "no such record is served" in refusal(reply)
            for name in ("stray", "behind"):
                said = refusal(await raw.call(tool, {"record": name, **more}))
                hint = "(serve its folder too, with --folder)"
                assert said == f"{name}.yaml: the record's script is not in a served folder {hint}"
        for names in ({"a": "../outside/secret", "b": "sums"}, {"a": "sums", "b": "link"}):
            assert "no such record" in refusal(await raw.call("diff", names))
        assert "no such record" in refusal(await raw.call("open_quiz", {"quiz": "script.py"}))
        listed = done(await raw.call("list_quizzes", {}))
        assert [each["record"] for each in listed["records"] if "secret" in each["record"]] == []
        await goes_on(raw)
    assert (outside / "secret.yaml").read_bytes() == before
    assert sorted(path.name for path in outside.iterdir()) == ["secret.py", "secret.yaml"]


async def test_no_resource_leads_out_of_the_folder(folder: Path, outside: Path) -> None:
    places = ["../outside/secret", "%2e%2e/outside/secret", "..%2foutside%2fsecret", "link.yaml"]
    places += ["linked/secret.yaml", str(outside / "secret.yaml"), "sums.py", "nope", "sums%00"]
    async with (
        open_sessions(folder) as sessions,
        Client(make_server(sessions, "auditor")) as client,
    ):
        listed = [each.name for each in (await client.list_resources()).resources]
        assert "sums.yaml" in listed and "link.yaml" not in listed
        for place in places:
            for kind in ("record", "transcript/main"):
                with pytest.raises(MCPError):
                    await client.read_resource(f"quizlog://{kind}/{place}")
        with pytest.raises(MCPError, match="script is not in a served folder"):
            await client.read_resource("quizlog://transcript/main/stray")


# -- arguments

ARGUMENTS: list[Any] = [
    None, {}, {"record": "sums"}, {"text": "4"}, {"record": None, "text": "4"},
    {"record": "sums", "text": 4}, {"record": "sums", "text": None}, {"record": "sums", "text": ["4"]},
    {"record": "sums", "text": {"text": "4"}}, {"record": ["sums"], "text": "4"},
    {"record": 7, "text": "4"}, {"record": {"a": {"b": {}}}, "text": "4"},
    {"record": "sums", "text": "4", "pointer": -1}, {"record": "sums", "text": "4", "pointer": 0.5},
    {"record": "sums", "text": "4", "pointer": "null"}, {"record": "sums", "text": "4", "pointer": "x"},
    {"record": "sums", "text": "4", "pointer": [0]}, {"record": "sums", "text": "4", "pointer": 10**30},
    {"record": "sums", "text": "4", "pointer": 1, "more": 1}, [], "sums", 7, [["record", "sums"]],
]  # fmt: skip


@ways
async def test_wrong_arguments_are_refused_and_nothing_is_answered(way: str, folder: Path) -> None:
    async with RAW[way](folder) as raw:
        for arguments in ARGUMENTS:
            assert refusal(await raw.call("answer", arguments)), arguments
        for arguments in ({"step": -1}, {"step": "x"}, {"step": 10**30}, {"step": None}, {}):
            assert refusal(await raw.call("rewind", {"record": "sums", **arguments}))
        for tool in ("nope", "__init__", "call_tool", "Answer", "x" * 500):
            assert "tool" in refusal(await raw.call(tool, {"record": "sums", "text": "4"}))
        deep: Any = "x"
        for _ in range(100):
            deep = [deep]
        assert refusal(await raw.call("show", {"record": deep}))
        await goes_on(raw)
    assert answers(folder / "sums.yaml") == []


@ways
async def test_no_text_is_read_as_json(way: str, folder: Path) -> None:
    """The SDK would take the branch `null` for one without a name, and `[1]` for a list."""
    given = ["null", "[1]", '{"a": 1}', '"x"', "007", "true"]
    async with RAW[way](folder) as raw:
        for text in given:
            await raw.call("answer", {"record": "echo", "text": text})
        for name in ("null", "[1]"):
            told = {"record": "echo", "step": 0, "text": f"by {name}", "name": name}
            assert done(await raw.call("fork", told))["branch"] == name
        for surplus, hint in (("surplus", "there are: record"), ("recrod", "did you mean record?")):
            said = refusal(await raw.call("show", {"record": "echo", surplus: "x"}))
            assert said == f"{surplus}: there is no such argument ({hint})"
    assert list(RecordFile(folder / "echo.yaml").read().path_of("main")) == given


@ways
async def test_half_of_a_surrogate_pair_is_no_answer(way: str, folder: Path) -> None:
    async with RAW[way](folder) as raw:
        for text in ("\ud83d", "a\udc00b", "\ude00\ud83d"):
            reply = await raw.call("answer", {"record": "echo", "text": text})
            assert "surrogate" in refusal(reply) or reply["error"]["code"] == -32700
            assert (reply["id"] is None) == (way == "http, legacy")  # the SDK reads no id there
            for more in ({"text": text}, {"text": "x", "name": text}):
                assert refusal(await raw.call("fork", {"record": "echo", "step": 0, **more}))
        whole = await raw.call("answer", {"record": "echo", "text": "\ud83d\ude00"})
        assert done(whole)["print"] == ["'\U0001f600' 1", "\U0001f600"]
    assert answers(folder / "echo.yaml") == ["\U0001f600"]


@pytest.mark.early
async def test_ten_megabytes_are_an_answer_over_stdio_and_too_much_over_http(folder: Path) -> None:
    text = "x" * 10 * 2**20
    prepare(folder, [Sitting("much", "print(len(input('much? ')))", ())])
    async with raw_stdio(folder) as raw:
        reply = await raw.call("answer", {"record": "much", "text": text})
        assert done(reply)["print"] == [str(len(text))]
    for era in ERAS:
        async with raw_http(folder, era) as http:
            for length in (len(text), 10**15):
                said = await reply_to_head(http, length)
                assert said.startswith(b"HTTP/1.1 413 ") and b"8 MB" in said


@pytest.mark.early
async def test_almost_eight_megabytes_are_an_answer_over_http(folder: Path) -> None:
    prepare(folder, [Sitting("much", "print(len(input('much? ')))", ())])
    text = "x" * (MAX_BODY - 1000)
    async with raw_http(folder, "auto") as http:
        reply = await http.call("answer", {"record": "much", "text": text})
        assert done(reply)["print"] == [str(len(text))]


async def reply_to_head(http: RawHttp, length: int) -> bytes:
    """What comes for the head of a request, before any of its body is sent."""
    headers = http.headers() | {"host": http.url.netloc.decode(), "content-length": str(length)}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    reader, writer = await asyncio.open_connection(http.url.host, http.url.port)
    writer.write(f"POST {http.url.path} HTTP/1.1\r\n{head}\r\n".encode())
    writer.write_eof()
    async with asyncio.timeout(60):
        found = await reader.read()
    writer.close()
    await writer.wait_closed()
    return found


# -- messages

_TOO_DEEP = (
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":' + b"[" * 9999 + b"]" * 9999 + b"}"
)
MESSAGES: list[tuple[bytes, int | None]] = [
    (b"nonsense", None), (b"[]", None), (b"{}", None), (b"null", None), (b"7", None), (b'"x"', None),
    (b"\xff\xfe", None), (b"[" * 100_000, None), (_TOO_DEEP, None), (b'{"id":7}', 7),
    (b'{"jsonrpc":"1.0","id":7,"method":"tools/list"}', 7), (b'{"jsonrpc":"2.0","id":7,"method":8}', 7),
    (b'{"jsonrpc":"2.0","id":7,"method":{"id":8}}', 7), (b'{"jsonrpc":"2.0","id":true,"method":8}', None),
    (b'[{"jsonrpc":"2.0","id":7,"method":"tools/list"}]', None),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}', 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call"}', 7),
    (b'{"jsonrpc":"2.0","id":7,"method":"nope/nope"}', 7),
]  # fmt: skip
"""Messages that cannot be carried out, and the id that the answer must have over stdio."""


async def test_a_message_that_is_none_is_answered_over_stdio(folder: Path) -> None:
    async with raw_stdio(folder) as raw:
        for message, number in MESSAGES:
            await raw.send(message)
            reply = await raw.next()
            assert refusal(reply)
            assert reply["id"] == number, message[:100]
        await goes_on(raw)


@eras
async def test_a_message_that_is_none_is_answered_over_http(era: Era, folder: Path) -> None:
    async with raw_http(folder, era) as raw:
        for message, _ in [*MESSAGES, (b"", None)]:
            response = await raw.post(message)
            assert "error" in answer_in(response), message[:100]
            assert 400 <= response.status_code < 500 or era == "legacy"
        await goes_on(raw)


@eras
async def test_only_who_may_comes_in_over_http(era: Era, folder: Path) -> None:
    turned_away: list[tuple[int, dict[str, str | None]]] = [
        (401, {"authorization": None}),
        (401, {"authorization": "Bearer wrong"}),
        (401, {"authorization": "Basic a secret"}),
        (401, {"authorization": "Bearer"}),
        (403, {"origin": "http://elsewhere.test"}),
        (403, {"origin": "null"}),
        (403, {"host": "elsewhere.test"}),
        (403, {"sec_fetch_site": "cross-site"}),
        (415, {"content_type": "text/plain"}),
    ]
    async with mcp_url(folder, token="a secret") as url, httpx.AsyncClient(timeout=60) as http:
        raw = RawHttp(url, http, era, "a secret")
        await raw.begin()
        for status, headers in turned_away:
            message = raw.message("answer", {"record": "sums", "text": "4"})
            response = await raw.post(message, "answer", **headers)
            said = response.json()
            assert (response.status_code, said["schema_version"]) == (status, 1)
            assert {"message", "where", "hint"} < set(said["error"])
        await goes_on(raw)
    assert answers(folder / "sums.yaml") == []


# -- several clients


@ways
async def test_a_stale_pointer_is_told_what_happened_since(way: str, folder: Path) -> None:
    async with RAW[way](folder) as raw:
        first = {"record": "sums", "text": "4", "pointer": 0}
        assert done(await raw.call("answer", first))["pointer"] == 1
        again = "(show the record, then answer again)"
        said = refusal(await raw.call("answer", first))
        assert said == f'the record is at step 1, not 0; answered since: "4" by raw 1 {again}'
        await raw.call("rewind", {"record": "sums", "step": 0})
        for tool, more in (("answer", {"text": "6"}), ("rewind", {"step": 0})):
            late = {"record": "sums", "pointer": 1, **more}
            said = refusal(await raw.call(tool, late))
            why = "it was rewound, or another branch is active"
            assert said == f"the record is at step 0, not 1; {why} {again}"
    assert answers(folder / "sums.yaml") == ["4"]


@asynccontextmanager
async def two_clients(way: str, folder: Path) -> AsyncIterator[list[Client]]:
    """Two clients of one server over HTTP, or of one server each."""
    if way == "stdio":
        words = stdio_words(folder)
        async with Client(words) as one, Client(words, mode="legacy") as other:
            yield [one, other]
    else:
        async with (
            mcp_url(folder) as url,
            http_client(url, "auto") as one,
            http_client(url, "legacy") as other,
        ):
            yield [one, other]


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_of_two_answers_to_one_question_exactly_one_is_taken(way: str, folder: Path) -> None:
    async with two_clients(way, folder) as clients:
        for pointer in range(8):
            said = await asyncio.gather(
                *(
                    client.call_tool("answer", {"record": "echo", "text": who, "pointer": pointer})
                    for client, who in zip(clients, ("one", "other"), strict=True)
                )
            )
            refused = [result for result in said if result.is_error]
            assert len(refused) == 1
            taken = answers(folder / "echo.yaml")
            assert len(taken) == pointer + 1
            winner = said[["one", "other"].index(taken[-1])]
            assert winner is not refused[0]
            told = f"the record is at step {pointer + 1}, not {pointer}; answered since: "
            assert told + f'"{taken[-1]}"' in str(refused[0].content)


# -- clients that go away


async def until_up() -> None:
    async with asyncio.timeout(60):
        while not is_up():
            await asyncio.sleep(0.01)


async def until_gone(before: Iterable[int]) -> None:
    """Wait until there are no processes but those before."""
    async with asyncio.timeout(60):
        while set(below(os.getpid())) - set(before):
            await asyncio.sleep(0.01)


SLOWLY = {"record": "slow", "text": "slow"}


async def test_a_client_that_closes_stdio_while_a_script_runs_leaves_nothing(folder: Path) -> None:
    before = below(os.getpid())
    async with raw_stdio(folder) as raw:
        await raw.send(call(1, "answer", SLOWLY))
        await until_up()
    await until_gone(before)
    async with raw_stdio(folder) as raw:
        reply = await raw.call("answer", {"record": "slow", "text": "go on"})
        assert done(reply)["next_prompt"] == "next? "
    assert answers(folder / "slow.yaml") == ["go on"]


async def test_a_client_that_dies_with_replies_unread_leaves_nothing(folder: Path) -> None:
    before = below(os.getpid())
    prepare(folder, [Sitting("long", "print('x' * 10**6)\ninput('? ')", ())])
    words = [sys.executable, "-m", "quizlog_tui", "mcp", str(folder)]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin and process.stdout and process.stderr
    for message in (_HELLO, *(call(n, "show", {"record": "long"}) for n in range(20))):
        process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    assert process.stdout.readline()  # it has begun
    process.stdout.close()
    process.stdin.close()
    said = await asyncio.to_thread(process.stderr.read)
    process.stderr.close()
    await asyncio.to_thread(process.wait)
    assert b"Traceback" not in said
    await until_gone(before)


_HELLO = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}


async def test_a_cancelled_call_ends_the_script_and_is_not_answered(folder: Path) -> None:
    before = answers(folder / "slow.yaml")
    async with raw_stdio(folder) as raw:
        await raw.send(call(70, "answer", SLOWLY))
        await until_up()
        params = {"requestId": 70}
        await raw.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        reply = await raw.call("show", {"record": "slow"}, 71)
        assert (reply["id"], done(reply)["pointer"]) == (71, 0)
        while is_up():  # the killed process may still be going
            await asyncio.sleep(0.01)
        assert answers(folder / "slow.yaml") == before == []


@eras
async def test_a_client_that_leaves_http_lets_the_next_one_go_on(era: Era, folder: Path) -> None:
    before = below(os.getpid())

    async def leaves(url: str) -> None:
        async with http_client(url, era) as client:
            await client.call_tool("answer", SLOWLY)

    async with mcp_url(folder) as url:
        leaving = asyncio.create_task(leaves(url))
        await until_up()
        leaving.cancel()
        await asyncio.wait([leaving])
        async with http_client(url, era) as client:
            shown = await client.call_tool("show", {"record": "slow"})
            assert (shown.structured_content or {})["pointer"] == 0
            told = await client.call_tool("answer", {"record": "slow", "text": "go on"})
            assert (told.structured_content or {})["next_prompt"] == "next? "
    await until_gone(before)
    assert answers(folder / "slow.yaml") == ["go on"]


@eras
async def test_a_cut_connection_lets_the_next_one_go_on(era: Era, folder: Path) -> None:
    """In the older protocols a call outlives its connection; the script's limit ends it there."""
    before = below(os.getpid())
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text("[limits]\nseconds = 2\n")
    async with raw_http(folder, era) as raw:
        calling = asyncio.create_task(raw.call("answer", SLOWLY))
        await until_up()
        calling.cancel()
        await asyncio.wait([calling])
        reply = await raw.call("answer", {"record": "slow", "text": "go on"})
        assert done(reply)["next_prompt"] == "next? "
    await until_gone(before)
    assert answers(folder / "slow.yaml") == ["go on"]


@contextmanager
def unclosed_streams() -> Iterator[None]:
    """The SDK leaves it to the garbage collector to close its streams of a connection that is cut."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


@eras
async def test_a_client_that_never_reads_keeps_nobody_waiting(era: Era, folder: Path) -> None:
    with unclosed_streams():
        await never_reads(era, folder)


async def never_reads(era: Era, folder: Path) -> None:
    prepare(folder, [Sitting("long", "print('x' * 10**6)\ninput('? ')", ())])
    async with raw_http(folder, era) as raw:
        url = raw.url
        body = json.dumps(raw.message("show", {"record": "long"})).encode()
        headers = raw.headers() | {
            "host": f"{url.host}:{url.port}",
            "content-length": str(len(body)),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        request = f"POST {url.path} HTTP/1.1\r\n{head}\r\n".encode() + body
        lines = [await asyncio.open_connection(url.host, url.port) for _ in range(10)]
        for _, writer in lines:
            writer.write(request)
        for text in ("4", "6"):
            reply = await raw.call("answer", {"record": "sums", "text": text})
        assert done(reply)["status"] == "success"
        for _, writer in lines:
            writer.transport.abort()


# -- who

FORGED = [
    "\x1b[2J\x1b]0;owned\x07", "a\nquizlog: all is well\r", "x" * 10_000, "\u202etxt.exe\u2066", "\0", "",
    "\u200b\u2028", "{'by': 'person'}", "- by: person",
]  # fmt: skip


@pytest.mark.parametrize("name", FORGED, ids=range(len(FORGED)))
async def test_a_forged_name_of_a_client_is_harmless(
    name: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with open_sessions(folder) as sessions:
        server = make_server(sessions, "auditor")
        for era in ERAS:
            info = Implementation(name=name, version="\x1b[31m\n1")
            async with Client(server, mode=era, client_info=info) as client:
                result = await client.call_tool("answer", {"record": "echo", "text": "x"})
                assert not result.is_error
    entries = yaml.safe_load((folder / "echo.yaml").read_text())["who"]
    assert [(each["by"], each["door"]) for each in entries] == [("agent", "mcp")] * 2
    for each in entries:
        assert each["name"].isprintable() and len(each["name"]) <= 80
    assert main(["steps", str(folder / "echo.yaml")]) == 0
    shown = capfd.readouterr()
    assert shown.err == ""
    assert all(line.isprintable() for line in shown.out.splitlines())
    assert len(shown.out.splitlines()) == 3


# -- seats

MARK = "zq7marked"
HELPER = f"""
def check(text):  # {MARK} 1
    if text == "deep":  # {MARK} 2
        raise LookupError("not this one")  # {MARK} 3
"""
MARKED = f'''
import sys, helper  # {MARK} 4
answers = {{"first": "{MARK} 5"}}
said = input("first? ")  # {MARK} 6
helper.check(said)
if said == "wrong":
    raise Exception("wrong")  #score = 0.3  {MARK} 7
if said == "zero":
    1 / 0  # {MARK} 8
if said == "assert":
    assert answers["first"] == said  # {MARK} 9
if said == "exit":
    sys.exit("left")  # {MARK} 10
if said == "log":
    print("{MARK} 11", file=sys.stderr)
if said == "eval":
    exec("raise KeyError  # {MARK} 12")
print("good")
if input("second? ") != "b": raise RuntimeError("no") from ValueError("because")  # {MARK} 13
'''
SEAT_TOOLS = {
    "rewind": {"step": 0},
    "fork": {"step": 0, "text": "a"},
    "inspect": {"step": 0},
    "verify": {},
    "list_quizzes": {},
    "open_quiz": {"quiz": "marked.py"},
    "diff": {"a": "marked", "b": "marked"},
}


@eras
async def test_a_seat_sees_no_line_of_a_script(era: Era, folder: Path) -> None:
    (folder / "helper.py").write_text(HELPER)
    broken = Sitting("broken", f"print('a')  # {MARK}\nif True print('{MARK}')", ())
    missing = Sitting("missing", f"import no_such_module_here  # {MARK}", ())
    prepare(folder, [Sitting("marked", MARKED, ()), broken, missing])
    async with (
        open_sessions(folder) as sessions,
        Client(make_server(sessions, "seat"), mode=era) as client,
    ):
        heard = [(await client.list_tools()).model_dump_json(), client.instructions or ""]
        scripts = ["marked", "broken", "missing"]
        heard += await whole_sitting(client, folder / "marked.py", scripts)
        heard += await everything_else(client)
    assert [text for text in heard if MARK in text] == []


async def test_an_auditor_sees_the_lines_of_a_script(folder: Path) -> None:
    """So the sitting of a seat would show them, were they not kept from it."""
    (folder / "helper.py").write_text(HELPER)
    prepare(folder, [Sitting("marked", MARKED, ())])
    async with (
        open_sessions(folder) as sessions,
        Client(make_server(sessions, "auditor")) as client,
    ):
        heard = await whole_sitting(client, folder / "marked.py", ["marked"])
    told = [text for text in heard if MARK in text]
    assert len(told) > 6
    assert [text for text in heard if "note: " in text]


async def test_a_seat_has_two_tools(folder: Path) -> None:
    async with raw_stdio(folder, "--seat") as raw:
        await raw.send({"jsonrpc": "2.0", "id": 5, "method": "tools/list"})
        tools = (await raw.next())["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["show", "answer"]
        for tool, more in SEAT_TOOLS.items():
            reply = await raw.call(tool, {"record": "sums", **more})
            assert refusal(reply) == f"Unknown tool: {tool}"
        await goes_on(raw)


async def whole_sitting(client: Client, script: Path, names: list[str]) -> list[str]:
    """What a client hears while scripts raise, and then change below it."""
    heard = []

    async def ask(tool: str, record: str, **more: str) -> Any:
        result = await client.call_tool(tool, {"record": record, **more})
        heard.append(result.model_dump_json())
        return (result.structured_content or {}).get("status")

    for text in ("deep", "wrong", "zero", "assert", "exit", "eval"):
        assert await ask("answer", "marked", text=text) == "error", text
    for text in ("log", "a"):
        await ask("answer", "marked", text=text)
    for name in names:
        assert await ask("show", name) == "error"
        await ask("answer", name, text="x")
    whole = script.read_text()
    script.write_text(whole.replace("good", "better"))
    assert await ask("show", "marked") == "in_progress"  # with warnings, were it no seat
    script.write_text(f"'{MARK}")
    await ask("show", "marked")
    script.unlink()
    assert await ask("show", "marked") is None
    return heard


async def everything_else(client: Client) -> list[str]:
    """What a seat hears where it tries what it may not."""
    heard = []
    for tool, more in SEAT_TOOLS.items():
        result = await client.call_tool(tool, {"record": "marked", **more})
        assert result.is_error
        assert "Unknown tool" in str(result.content)
        heard.append(result.model_dump_json())
    assert (await client.list_resources()).resources == []
    assert (await client.list_resource_templates()).resource_templates == []
    assert (await client.list_prompts()).prompts == []
    for place in ("record/marked.yaml", "record/marked.py", "transcript/main/marked"):
        with pytest.raises(MCPError) as caught:
            await client.read_resource(f"quizlog://{place}")
        heard.append(str(caught.value))
    return heard
