"""Trees of answers, and a script with answers for whatever may go wrong where runs share processes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.tree_walk import Node, Outcome

LINES = st.lists(st.lists(st.sampled_from("abc"), max_size=6), min_size=1, max_size=12)

NASTY = """
import atexit, ctypes, os, random, signal, sqlite3, subprocess, sys, tempfile, threading, time
log, held = [], []
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
def touch(name):
    libc.fclose(ctypes.c_void_p(libc.fopen(name.encode(), b"w")))
def read(name):
    return open(name).read() if os.path.exists(name) else "nothing"
def work():
    log.append("thread")
while True:
    x = input(f"{len(log)} {random.randint(0, 999)}? ")
    log.append(x)
    if x == "write": open("notes", "a").write(f"{len(log)} ")
    elif x == "read": print(read("notes"), read("late"), read("c"), sorted(os.listdir()))
    elif x == "c": touch("c")
    elif x == "late": atexit.register(lambda: open("late", "w").write("late"))
    elif x == "c late": atexit.register(touch, "late")
    elif x == "temporary": held.append(tempfile.NamedTemporaryFile())
    elif x == "database": sqlite3.connect("db").execute("create table if not exists t (x)")
    elif x == "open": held.append(open(sys.argv[0])); print(held[-1].readline())
    elif x == "on": print(held[-1].readline() if held and hasattr(held[-1], "readline") else "none")
    elif x == "close": held.clear()
    elif x == "thread": t = threading.Thread(target=work); t.start(); t.join()
    elif x == "waits": threading.Thread(target=time.sleep, args=(9999,), daemon=True).start()
    elif x == "program": subprocess.run(["echo", "hello"])
    elif x == "fork": print(bool(os.fork() or os._exit(0)), os.wait()[1])
    elif x == "handler": signal.signal(signal.SIGUSR1, lambda *_: None)
    elif x == "set": print({"a", "b", "c", "d", "e", "f"})
    elif x == "clock": print(time.time())
    elif x == "folder": print(len(os.getcwd()), os.environ.get("USER"))
    elif x == "print(len(log))": eval(x)
    elif x == "exit": sys.exit(3)
    elif x == "hard": os._exit(4)
    elif x == "kill": os.kill(os.getpid(), 9)
    elif x == "bad": raise Exception(f"bad after {log}")  #score = 0.5
    elif x == "stop": break
    print(x, random.random(), len(log))
print("end", log)
"""
PLAIN = ("a", "b", "bad", "stop")
NASTY_ANSWERS = tuple(name.split('"')[1] for name in NASTY.splitlines() if 'if x == "' in name)
ANSWERS = st.one_of(st.sampled_from(PLAIN), st.sampled_from(NASTY_ANSWERS))


def answers_in(node: Node) -> int:
    """How many answers stand in a tree."""
    return len(node.answers) + sum(map(answers_in, node.below.values()))


def facts(run: Outcome) -> Any:
    """A run with what it met, without what it only met as other processes saw its folder."""
    if not isinstance(run, Transcript):
        return run.message
    return run, sorted({*run.observed} - {"strayed"}), run.unavailable
