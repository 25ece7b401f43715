"""The same quiz in other engines: LangGraph, DBOS, pexpect, and the naive implementation."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any, TypedDict


class State(TypedDict):
    """What the graph carries: small, to its advantage."""

    i: int
    last: str


def langgraph(steps: int, folder: Path | None) -> Any:
    """A graph with a superstep per question, answered `steps` times. In memory if no folder."""
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import START, StateGraph
    from langgraph.types import Command, interrupt

    def ask(state: State) -> dict[str, Any]:
        answer = interrupt(f"question {state['i']}? ")
        return {"i": state["i"] + 1, "last": answer}

    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "ask")
    saver: Any = InMemorySaver()
    if folder is not None:
        connection = sqlite3.connect(folder / "langgraph.db", check_same_thread=False)
        saver = SqliteSaver(connection)
    graph = builder.compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": 10**6}
    graph.invoke({"i": 0, "last": ""}, config)
    for i in range(steps):
        graph.invoke(Command(resume=str(i)), config)
    return graph, config, Command


def langgraph_rewind(steps: int, folder: Path | None, repeats: int) -> tuple[float, float, float]:
    """Median seconds of a step, of finding a stop and forking there, and of the fork alone."""
    graph, config, command = langgraph(steps, folder)
    live, find, known = [], [], []
    for _ in range(repeats):
        start = time.perf_counter()
        graph.invoke(command(resume="x"), config)
        live.append(time.perf_counter() - start)
    for n in range(repeats):
        target = random.randrange(steps)
        start = time.perf_counter()
        history = list(graph.get_state_history(config))  # as its documentation does
        stop = next(s for s in history if s.values.get("i") == target and s.next)
        found = time.perf_counter()
        forked = graph.update_state(stop.config, {"last": f"edit {n}"}, as_node="__start__")
        graph.invoke(None, forked)
        graph.invoke(command(resume="other"), _latest(forked))
        end = time.perf_counter()
        find.append(end - start)
        known.append(end - found)
        config = {"configurable": {"thread_id": "1"}, "recursion_limit": 10**6}
    return _median(live), _median(find), _median(known)


def _latest(config: Any) -> Any:
    thread = config["configurable"]["thread_id"]
    return {"configurable": {"thread_id": thread}, "recursion_limit": 10**6}


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def dbos(steps: int, folder: Path, repeats: int) -> tuple[float, float]:
    """Median seconds of a step, and of `fork_workflow` from a random step to its end."""
    from dbos import DBOS, DBOSConfig

    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": f"sqlite:///{folder}/dbos.sqlite",
        "log_level": "ERROR",
    }
    DBOS(config=config)

    @DBOS.step()
    def ask(i: int) -> str:
        return f"answer {i}"

    @DBOS.workflow()
    def quiz(count: int) -> int:
        for i in range(count):
            ask(i)
        return count

    DBOS.launch()
    try:
        start = time.perf_counter()
        handle = DBOS.start_workflow(quiz, steps)
        handle.get_result()
        step = (time.perf_counter() - start) / steps
        times = []
        for _ in range(repeats):
            # the last step: the fork runs one step, as a rewind with one answer does
            start = time.perf_counter()
            DBOS.fork_workflow(handle.workflow_id, steps).get_result()
            times.append(time.perf_counter() - start)
        return step, _median(times)
    finally:
        DBOS.destroy()


def pexpect_step(script: Path, repeats: int) -> float:
    """Median seconds of an answer to a live script over a pseudo-terminal."""
    import pexpect

    child = pexpect.spawn(sys.executable, [str(script)], echo=False)
    child.delaybeforesend = None
    child.expect(r"question \d+\? ")
    times = []
    for i in range(repeats):
        start = time.perf_counter()
        child.sendline(str(i))
        child.expect(r"question \d+\? ")
        times.append(time.perf_counter() - start)
    with contextlib.suppress(pexpect.ExceptionPexpect):
        child.close(force=True)
    return _median(times)


def naive_rewind(script: Path, steps: int, repeats: int) -> float:
    """Median seconds of running all again from the start, in process, to a random step."""
    import naive_quizlog

    times = []
    for _ in range(repeats):
        inputs = [str(i) for i in range(random.randrange(steps))] + ["other"]
        record = {"script": str(script), "seed": 1, "inputs": inputs}
        start = time.perf_counter()
        naive_quizlog.run(record)
        times.append(time.perf_counter() - start)
    return _median(times)
