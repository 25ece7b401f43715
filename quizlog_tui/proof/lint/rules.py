"""Tables of library functions: those that ask, and the rules for traps. Data only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One kind of trap."""

    code: str
    reason: str
    mend: str
    names: tuple[str, ...]
    """The functions, by their dotted names; one that ends in a dot is all of a module's, one that
    begins with a star a method of whatever object."""


_QUESTIONARY = (
    "questionary.text()", "questionary.password()", "questionary.confirm()", "questionary.select()",
    "questionary.rawselect()", "questionary.checkbox()", "questionary.autocomplete()",
    "questionary.path()",
)  # fmt: skip

PROMPTING = (
    "input", "getpass.getpass", "click.prompt", "click.confirm", "rich.prompt.Prompt.ask",
    "rich.prompt.IntPrompt.ask", "rich.prompt.FloatPrompt.ask", "rich.prompt.Confirm.ask",
    *(f"{made}.{ask}" for made in _QUESTIONARY for ask in ("ask", "unsafe_ask")),
)  # fmt: skip
"""The calls that ask a question with a prompt, by their dotted names."""

ASKING = (
    *PROMPTING, "sys.stdin.readline", "sys.stdin.read", "sys.stdin.readlines",
    "sys.stdin.buffer.readline", "sys.stdin.buffer.read", "fileinput.input",
)  # fmt: skip
"""The calls that ask a question, by their dotted names."""

SEED = Rule(
    "own-seed",
    "a seed of its own: every record gets the same problem, whatever its seed",
    "leave it out; the record's seed is given to every generator",
    (
        "random.seed", "numpy.random.seed", "random.Random", "numpy.random.default_rng",
        "numpy.random.RandomState", "numpy.random.SeedSequence", "torch.manual_seed",
    ),
)  # fmt: skip

CALLS = (
    Rule(
        "clock",
        "reads the clock: what it shows is not the same in the next run",
        "leave times out of what is printed and asked, or draw them from the seed",
        (
            "time.time", "time.time_ns", "time.monotonic", "time.perf_counter", "time.process_time",
            "time.localtime", "time.gmtime", "time.ctime", "time.strftime", "time.asctime",
            "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today",
            "datetime.date.today", "timeit.", "pandas.Timestamp.now", "pandas.Timestamp.today",
            "pandas.Timestamp.utcnow",
        ),
    ),
    Rule(
        "thread",
        "runs threads or processes: their order may differ from run to run, and going back is slow",
        "do the work in one thread, in a fixed order",
        (
            "threading.Thread", "threading.Timer", "_thread.start_new_thread", "multiprocessing.",
            "concurrent.futures.ThreadPoolExecutor", "concurrent.futures.ProcessPoolExecutor",
            "asyncio.to_thread", "os.fork",
        ),
    ),
    Rule(
        "process",
        "starts a program: it may not be there elsewhere, and its output may differ",
        "use a library in the script instead",
        ("subprocess.", "os.system", "os.popen", "os.execv", "os.execvp", "os.spawnv", "pty."),
    ),
    Rule(
        "write",
        "writes files: a later run finds what an earlier one left",
        "keep it in memory, or read it only in the same run",
        (
            "os.remove", "os.unlink", "os.rename", "os.replace", "os.mkdir", "os.makedirs",
            "os.rmdir", "shutil.copy", "shutil.copyfile", "shutil.copytree", "shutil.move",
            "shutil.rmtree", "numpy.save", "numpy.savez", "numpy.savetxt", "sqlite3.connect",
            "shelve.open", "*.write_text", "*.write_bytes", "*.to_csv", "*.to_excel", "*.savefig",
            "pathlib.Path().touch", "pathlib.Path().mkdir", "pathlib.Path().unlink",
        ),
    ),
    Rule(
        "unseeded",
        "asks the system for chance: the seed does not reach it in a plain run",
        "use `random` or `numpy.random`",
        (
            "os.urandom", "os.getrandom", "random.SystemRandom", "secrets.", "uuid.uuid1",
            "uuid.uuid4",
        ),
    ),
    Rule(
        "environment",
        "depends on the machine it runs on",
        "ask for it, or write it into the script",
        (
            "os.getenv", "os.environ.get", "os.getlogin", "getpass.getuser", "socket.gethostname",
            "platform.", "os.getpid", "os.cpu_count", "os.uname",
        ),
    ),
)  # fmt: skip
"""Calls that are always traps, except those in `CONVERTING`."""

CONVERTING = {
    "time.localtime": 1, "time.gmtime": 1, "time.ctime": 1, "time.asctime": 1, "time.strftime": 2,
}  # fmt: skip
"""Functions that convert a time instead of asking the clock, if given so many arguments."""

NETWORK = Rule(
    "network",
    "uses the network, which is off",
    "put the data in a file beside the script",
    (
        "socket", "ssl", "requests", "httpx", "aiohttp", "urllib3", "urllib.request", "http.client",
        "ftplib", "smtplib", "imaplib", "poplib", "telnetlib", "xmlrpc", "websockets", "paramiko",
    ),
)  # fmt: skip
"""Modules that are traps when they are imported."""

BARE_EXCEPT = Rule(
    "bare-except",
    "takes every exception around a question: the end of the answers and the script's own `raise` "
    "vanish in it",
    "catch what the conversion raises: `except ValueError:`",
    (),
)
EVAL = Rule(
    "eval-input",
    "runs an answer as Python: whoever answers can do anything the script can",
    "read it with `json.loads` or `ast.literal_eval`",
    ("eval", "exec"),
)
ADDRESS = Rule(
    "address",
    "shows where an object lies in memory: another machine has it elsewhere",
    "show a name or a number of your own",
    ("id",),
)
ARGV = Rule(
    "argv",
    "needs arguments on its command line, and gets none",
    "ask for them with `input()`, or write them into the script",
    ("sys.argv",),
)
SCORE = Rule("score", "{}", "write a number from 0 to 1, as `#score = 0.5`", ())
REQUEST = Rule(
    "asks-real",
    "asks for {0}: its record cannot be verified",
    "leave the comment out; else whoever runs it grants it with --allow {0}",
    (),
)
SYNTAX = Rule("syntax", "cannot be read as Python: {}", "mend the script at this line", ())
