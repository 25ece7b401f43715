"""What waits by an event loop or a poll asks as many questions as it reads, and no longer.

The fixed clock goes on only where nothing can happen meanwhile.
"""

from __future__ import annotations

import pytest

from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script.interpreter import choose
from quizlog_tui.replay.worker.fixed import clock
from quizlog_tui.replay.worker.fixed.clock import VirtualClock
from tests.support.build import Build
from tests.support.interpreters import THIS, VERSIONS, python_of
from tests.support.long_runs import few
from tests.support.plain import equals_a_plain_run

HEAD = """
import asyncio, os, select, selectors, sys
async def connected(pipe=sys.stdin):
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader
class Heard(asyncio.Protocol):
    def __init__(self): self.first = asyncio.get_running_loop().create_future()
    def data_received(self, data): self.first.done() or self.first.set_result(data)
async def ticks():
    for tick in range(3): print("tick", tick); await asyncio.sleep(0.05)
"""
READERS = {
    "one line": (
        """
        reader = await connected(); print("Age:", flush=True)
        if int(await reader.readline()) < 18: raise Exception("too young")
        """,
        ["10"],
    ),
    "sleeping between lines": (
        """
        reader = await connected()
        for _ in range(2): print(await reader.readline()); await asyncio.sleep(0.1)
        """,
        ["a", "b"],
    ),
    "with a time limit": (
        """
        reader = await connected()
        print(await asyncio.wait_for(reader.readline(), 5)); await asyncio.sleep(0.5)
        """,
        ["a"],
    ),
    "beside another task": (
        "print(await asyncio.gather(ticks(), (await connected()).readline()))",
        ["a"],
    ),
    "whoever is first": (
        """
        reader = await connected()
        tasks = [asyncio.ensure_future(one) for one in (reader.readline(), asyncio.sleep(5))]
        done, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        print([one.result() for one in done]); [one.cancel() for one in others]
        """,
        ["a"],
    ),
    "asked again and again": (
        """
        task = asyncio.ensure_future((await connected()).readline())
        while not task.done(): await asyncio.sleep(0)
        print(task.result())
        """,
        ["a"],
    ),
    "line by line": (
        """
        async for line in await connected():
            print(line)
            if line == b"stop\\n": break
        """,
        ["a", "stop"],
    ),
    "parts of lines": (
        """
        reader = await connected(sys.stdin.buffer)
        print(await reader.readuntil(b"\\n"), await reader.readexactly(3), await reader.readline())
        """,
        ["a", "bc", "d"],
    ),
    "a protocol of its own": (
        """
        loop = asyncio.get_running_loop()
        transport, heard = await loop.connect_read_pipe(Heard, sys.stdin)
        print(await heard.first); transport.close()
        """,
        ["a"],
    ),
    "a callback": (
        """
        loop = asyncio.get_running_loop(); line = loop.create_future()
        loop.add_reader(0, lambda: line.done() or line.set_result(sys.stdin.readline()))
        print(await asyncio.wait_for(line, 3)); loop.remove_reader(0)
        """,
        ["a"],
    ),
    "a callback that fills a queue": (
        """
        loop, lines = asyncio.get_running_loop(), asyncio.Queue()
        loop.add_reader(sys.stdin, lambda: lines.put_nowait(os.read(0, 1000)))
        print(await lines.get()); await asyncio.sleep(0); loop.remove_reader(sys.stdin)
        """,
        ["a"],
    ),
    "a callback that never waits": (
        """
        loop, lines = asyncio.get_running_loop(), []
        loop.add_reader(sys.stdin, lambda: lines.append(sys.stdin.readline()))
        while not lines: await asyncio.sleep(0)
        print(lines); loop.remove_reader(sys.stdin)
        """,
        ["a"],
    ),
    "threads": (
        "print(await asyncio.to_thread(input, 'a? '), await asyncio.to_thread(sys.stdin.readline))",
        ["a", "b"],
    ),
    "select": (
        """
        while select.select([sys.stdin], [], [], 1)[0] and (line := sys.stdin.readline()) != "stop\\n":
            print(line)
        """,
        ["a", "stop"],
    ),
    "poll": (
        """
        poll = select.poll(); poll.register(0, select.POLLIN)
        print(poll.poll(100)[0][1] & select.POLLIN, sys.stdin.readline())
        """,
        ["a"],
    ),
    "epoll": (
        """
        poll = select.epoll(); poll.register(sys.stdin, select.EPOLLIN)
        print(poll.poll(1)[0][1] & select.EPOLLIN, sys.stdin.readline())
        """,
        ["a"],
    ),
    "selectors": (
        """
        waiting = selectors.DefaultSelector(); waiting.register(sys.stdin, selectors.EVENT_READ)
        for _ in range(2): print([key.fileobj.readline() for key, _ in waiting.select(2)])
        """,
        ["a", "b"],
    ),
}


def script_of(build: Build, name: str) -> str:
    body = build.dedent(READERS[name][0]).strip().replace("\n", "\n    ")
    return f"{HEAD}async def main():\n    {body}\n    print('end')\nasyncio.run(main())\n"


@pytest.mark.parametrize("name", READERS)
def test_a_loop_that_reads_asks_as_much_as_the_script_reads(
    build: Build, replayer: Replayer, name: str
) -> None:
    script, answers = build.script(script_of(build, name)), READERS[name][1]
    equals_a_plain_run(script, answers)
    for count in range(len(answers)):
        assert replayer.replay(script, 1, answers[:count]).status == "in_progress"
    assert len(replayer.replay(script, 1, answers).steps) == len(answers)


@pytest.mark.parametrize("version", [one for one in VERSIONS if one not in (THIS, "3.14")])
@pytest.mark.parametrize("name", few(READERS, "sleeping between lines", "poll"))
def test_so_it_does_under_other_versions(build: Build, name: str, version: str) -> None:
    script, python = build.script(script_of(build, name)), str(python_of(version))
    choose(script, python)
    equals_a_plain_run(script, READERS[name][1], python)


def test_a_loop_with_the_real_clock_asks_no_more(build: Build) -> None:
    script = build.script("#quizlog: real-clock\n" + script_of(build, "one line"))
    assert replay(script, 1, ["20"]).status == "success"


LOOP = "def wait(select, seconds): return select(None, seconds)"


class Events:
    """A selector that has what a thread wrote into it, once."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def select(self, _: object, timeout: float | None) -> list[str]:
        found, self.written = self.written, []
        return found


def waited(events: Events, virtual: VirtualClock) -> list[str]:
    """What a select in a module of asyncio finds."""
    names: dict[str, object] = {"__name__": "asyncio.base_events"}
    exec(LOOP, names)
    found: list[str] = names["wait"](clock._patient(events.select, virtual), 300.0)  # type: ignore[operator]
    return found


@pytest.mark.core
def test_what_a_thread_wrote_before_it_ended_is_no_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may write and end between any two looks."""
    events, virtual = Events(), VirtualClock(0, 1)

    def last_thread_ends() -> bool:
        events.written.append("done")
        return False

    monkeypatch.setattr(clock, "worth_waiting", last_thread_ends)
    assert waited(events, virtual) == ["done"]
    assert virtual.now == 0


@pytest.mark.core
def test_where_nothing_can_happen_the_clock_goes_on_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    virtual = VirtualClock(0, 1)
    monkeypatch.setattr(clock, "worth_waiting", lambda: False)
    assert waited(Events(), virtual) == []
    assert virtual.now == 300 * 10**9
