"""Whether a script waits at once for what it starts, as its source says."""

from __future__ import annotations

import textwrap

import pytest

from quizlog_tui.replay.worker.wait_reader import WaitReader

THREADS = {
    "t.start(); t.join()": True,
    "t.start()\nx = t.join()": True,
    "t.start()\ntry: t.join()\nfinally: pass": True,
    "try: t.start()\nfinally: t.join()": True,
    "if x:\n  t.start()\nt.join()": True,
    "print(start(f).result())": True,
    "f = start(g)\nprint(f.result(), n)": True,
    "def go():\n  start(f)": None,
    "def go():\n  return start(f)": None,
    "def go():\n  t = start(f)\n  return t": None,
    "async def go():\n  await start(f)": True,
    "async def go():\n  f = start(g)\n  print(await f)": True,
    "with ThreadPoolExecutor() as pool:\n  f = start(g)": True,
    "loop.run_until_complete(start(f))": True,
    "t.start()": False,
    "t.start(); n += 1; t.join()": False,
    "t.start(); t.join(0.1)": False,
    "t.start(); ','.join(x)": False,
    "t.start(); print(n, t.join())": False,
    "t.start(); x[n] = t.join()": True,
    "for t in threads: t.start()": False,
    "while x:\n  t.start()": False,
    "with lock:\n  t.start()\nt.join()": False,
    "n = n + start(f)": False,
    "t.start()\nready.wait()": False,
    "t.start()\nif done: t.join()": False,
    "t.start()\nfor x in y: t.join()": False,
}
PROGRAMS = {
    "p = start(c)\np.wait()": True,
    "p = start(c)\nout, _ = p.communicate(data)": True,
    "print(start(c).communicate()[0].decode())": True,
    "print(start(c).stdout.read())": True,
    "p = start(c)\nassert p.wait() == 0": True,
    "p = start(c)\nif p.wait(): print(x)": True,
    "with start(c) as p: p.wait()": True,
    "pid = start(c)\nos.waitpid(pid, 0)": True,
    "async def go():\n  p = await start(c)\n  await p.communicate()": True,
    "async def go():\n  p = await start(c)\n  await other": False,
    "pid = start(c)\nos.waitpid(pid, os.WNOHANG)": False,
    "p = start(c)\np.poll()": False,
    "p = start(c)\np.wait(5)": False,
    "if start(c): os.wait()": False,
    "with start(c) as p: print(p)": False,
}
FORKS = {
    "if os.fork() == 0: os._exit(0)\nos.wait()": True,
    "pid = os.fork()\nif pid == 0: os._exit(0)\nelse: os.waitpid(pid, 0)": True,
    "pid = os.fork()\nif pid: os.waitpid(pid, 0)": True,
    "pid = os.fork()\nif pid == 0: os._exit(0)\nprint(x)\nos.wait()": False,
    "pid = os.fork()\nif pid == 0: os._exit(0)": False,
}
MAPS = {"r = list(pool.map(f, x))": True, "for x in pool.map(f, y): print(x)": False}


def waited(source: str, call: str, *, thread: bool) -> bool | None:
    source = textwrap.dedent(source)
    end = source.index(call)
    while source[end] != ")":
        end += 1
    line = source.count("\n", 0, end) + 1
    column = end + 1 - (source.rfind("\n", 0, end) + 1)
    return WaitReader(source.encode()).is_waited_for(line, column, thread=thread)


@pytest.mark.parametrize("source", THREADS)
def test_threads(source: str) -> None:
    assert waited(source, "start", thread=True) is THREADS[source]


@pytest.mark.parametrize("source", PROGRAMS)
def test_programs(source: str) -> None:
    assert waited(source, "start", thread=False) is PROGRAMS[source]


@pytest.mark.parametrize("source", FORKS)
def test_forks(source: str) -> None:
    assert waited(source, "fork", thread=False) is FORKS[source]


@pytest.mark.parametrize("source", MAPS)
def test_maps(source: str) -> None:
    assert waited(source, "map", thread=True) is MAPS[source]


def test_what_is_not_in_the_source_is_not_waited_for() -> None:
    assert WaitReader(b"").is_waited_for(None, None, thread=True) is False
