"""Finds traps: what prevents a script from being replayed, judged or scored as meant.

The tables of library functions come first. Examines only the syntax tree: no types, values or other
modules. Runs nothing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...replay.script.scores import Score, score_in
from ...replay.script.source import Source
from .findings import Trap
from .structure import Leaving, Names, is_wide, parent, raises, tries_around


@dataclass(frozen=True)
class _Rule:
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

_SEED = _Rule(
    "own-seed",
    "a seed of its own: every record gets the same problem, whatever its seed",
    "leave it out; the record's seed is given to every generator",
    (
        "random.seed", "numpy.random.seed", "random.Random", "numpy.random.default_rng",
        "numpy.random.RandomState", "numpy.random.SeedSequence", "torch.manual_seed",
    ),
)  # fmt: skip

_WRITE = _Rule(
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
)  # fmt: skip
_ENVIRONMENT = _Rule(
    "environment",
    "depends on the machine it runs on",
    "ask for it, or write it into the script",
    (
        "os.getenv", "os.environ.get", "os.getlogin", "getpass.getuser", "socket.gethostname",
        "platform.", "os.getpid", "os.cpu_count", "os.uname",
    ),
)  # fmt: skip

_CALLS = (
    _Rule(
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
    _Rule(
        "thread",
        "runs threads or processes: their order may differ from run to run, and going back is slow",
        "do the work in one thread, in a fixed order",
        (
            "threading.Thread", "threading.Timer", "_thread.start_new_thread", "multiprocessing.",
            "concurrent.futures.ThreadPoolExecutor", "concurrent.futures.ProcessPoolExecutor",
            "asyncio.to_thread", "os.fork",
        ),
    ),
    _Rule(
        "process",
        "starts a program: it may not be there elsewhere, and its output may differ",
        "use a library in the script instead",
        ("subprocess.", "os.system", "os.popen", "os.execv", "os.execvp", "os.spawnv", "pty."),
    ),
    _WRITE,
    _Rule(
        "unseeded",
        "asks the system for chance: the seed does not reach it in a plain run",
        "use `random` or `numpy.random`",
        (
            "os.urandom", "os.getrandom", "random.SystemRandom", "secrets.", "uuid.uuid1",
            "uuid.uuid4",
        ),
    ),
    _ENVIRONMENT,
)  # fmt: skip
"""Calls that are always traps, except those in `_CONVERTING`."""

_CONVERTING = {
    "time.localtime": 1, "time.gmtime": 1, "time.ctime": 1, "time.asctime": 1, "time.strftime": 2,
}  # fmt: skip
"""Functions that convert a time instead of asking the clock, if given so many arguments."""

_NETWORK = _Rule(
    "network",
    "uses the network, which is off",
    "put the data in a file beside the script",
    (
        "socket", "ssl", "requests", "httpx", "aiohttp", "urllib3", "urllib.request", "http.client",
        "ftplib", "smtplib", "imaplib", "poplib", "telnetlib", "xmlrpc", "websockets", "paramiko",
    ),
)  # fmt: skip
"""Modules that are traps when they are imported."""

_BARE_EXCEPT = _Rule(
    "bare-except",
    "takes every exception around a question: the end of the answers and the script's own `raise` "
    "vanish in it",
    "catch what the conversion raises: `except ValueError:`",
    (),
)
_EVAL = _Rule(
    "eval-input",
    "runs an answer as Python: whoever answers can do anything the script can",
    "read it with `json.loads` or `ast.literal_eval`",
    ("eval", "exec"),
)
_ADDRESS = _Rule(
    "address",
    "shows where an object lies in memory: another machine has it elsewhere",
    "show a name or a number of your own",
    ("id",),
)
_ARGV = _Rule(
    "argv",
    "needs arguments on its command line, and gets none",
    "ask for them with `input()`, or write them into the script",
    ("sys.argv",),
)

_WRITING = frozenset("wax+")


def traps(nodes: Sequence[ast.AST], names: Names, source: Source) -> list[Trap]:
    """All traps among these nodes by line, at most one of each kind per line."""
    answers = _answers(nodes, names)
    found = [trap for node in nodes for trap in _of_node(node, names, answers)]
    found += _scores(nodes, source)
    return sorted(set(found), key=lambda trap: (trap.line, trap.code))


def _of_node(node: ast.AST, names: Names, answers: set[str]) -> Iterator[Trap]:
    if isinstance(node, ast.Call):
        method = [f"*.{node.func.attr}"] if isinstance(node.func, ast.Attribute) else []
        yield from _of_call(node, [*names.meanings(node.func), *method], names, answers)
    elif isinstance(node, ast.Import):
        yield from _network(node, [alias.name for alias in node.names])
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        yield from _network(node, [module, *(f"{module}.{alias.name}" for alias in node.names)])
    elif isinstance(node, ast.Subscript) and "sys.argv" in names.meanings(node.value):
        if _needed_argument(node):
            yield _trap(node.lineno, _ARGV)
    elif isinstance(node, ast.Subscript) and "os.environ" in names.meanings(node.value):
        yield _trap(node.lineno, _ENVIRONMENT)


def _of_call(
    node: ast.Call, meanings: Sequence[str], names: Names, answers: set[str]
) -> Iterator[Trap]:
    acting = [name for name in meanings if len(node.args) < _CONVERTING.get(name, sys.maxsize)]
    yield from (_trap(node.lineno, rule) for rule in _CALLS if _fits(rule, acting))
    if _fits(_SEED, meanings) and any(_is_fixed(argument) for argument in _arguments(node)):
        yield _trap(node.lineno, _SEED)
    if _fits(_EVAL, meanings) and node.args and _uses_answer(node.args[0], names, answers):
        yield _trap(node.lineno, _EVAL)
    if _fits(_ADDRESS, meanings) and _is_shown(node, names):
        yield _trap(node.lineno, _ADDRESS)
    if _opens_for_writing(node, meanings):
        yield _trap(node.lineno, _WRITE)
    if set(ASKING) & set(meanings):
        yield from _swallowed(node)
    if _required_option(node):
        yield _trap(node.lineno, _ARGV)


def _trap(line: int, rule: _Rule) -> Trap:
    return Trap(line, rule.code, rule.reason, rule.mend)


def _fits(rule: _Rule, meanings: Iterable[str]) -> bool:
    return any(
        meaning == name or (name.endswith(".") and meaning.startswith(name))
        for meaning in meanings
        for name in rule.names
    )


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def _is_fixed(node: ast.expr) -> bool:
    """Whether an argument is the same in every run. None requests the generator's own seed."""
    return isinstance(node, ast.Constant) and node.value is not None


def _network(node: ast.stmt, modules: Iterable[str]) -> Iterator[Trap]:
    wanted = set(_NETWORK.names)
    if any(module in wanted or module.partition(".")[0] in wanted for module in modules):
        yield _trap(node.lineno, _NETWORK)


def _needed_argument(node: ast.Subscript) -> bool:
    """Whether an argument is used without checking the number of arguments."""
    index = node.slice
    if not (isinstance(index, ast.Constant) and isinstance(index.value, int) and index.value):
        return False
    above = parent(node)
    while above is not None:
        if isinstance(above, ast.If | ast.IfExp) and "argv" in ast.unparse(above.test):
            return False
        if isinstance(above, ast.Try):
            return False
        above = parent(above)
    return True


def _required_option(node: ast.Call) -> bool:
    """Whether this declares a required argument for argparse."""
    if not (isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument"):
        return False
    said = {keyword.arg: keyword.value for keyword in node.keywords}
    required = said.get("required")
    if isinstance(required, ast.Constant) and required.value:
        return True
    first = node.args[0] if node.args else None
    optional = {"?", "*"} & {getattr(said.get("nargs"), "value", None)} or "default" in said
    named = isinstance(first, ast.Constant) and str(first.value).startswith("-")
    return first is not None and not named and not optional


def _answers(nodes: Iterable[ast.AST], names: Names) -> set[str]:
    """The variables that are given an answer somewhere."""
    found: set[str] = set()
    for node in nodes:
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            continue
        if node.value is not None and _uses_answer(node.value, names, set()):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            inside = (part for target in targets for part in ast.walk(target))
            found |= {part.id for part in inside if isinstance(part, ast.Name)}
    return found


def _uses_answer(node: ast.expr, names: Names, answers: set[str]) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in answers:
            return True
        if isinstance(part, ast.Call) and set(ASKING) & set(names.meanings(part.func)):
            return True
    return False


def _opens_for_writing(node: ast.Call, meanings: Sequence[str]) -> bool:
    """Whether this opens a file with a mode that writes."""
    path_open = any(meaning.endswith("Path().open") for meaning in meanings)
    if not path_open and not {"open", "io.open", "codecs.open"} & set(meanings):
        return False
    file = node.args[0] if node.args and not path_open else None
    if isinstance(file, ast.Constant) and str(file.value).startswith("/dev/"):
        return False  # a stream or a device stores nothing for a later run
    place = 0 if path_open else 1
    modes = [word.value for word in node.keywords if word.arg == "mode"]
    mode = modes[0] if modes else node.args[place] if len(node.args) > place else None
    return isinstance(mode, ast.Constant) and bool(_WRITING & set(str(mode.value)))


def _is_shown(node: ast.AST, names: Names) -> bool:
    """Whether this is part of what is printed or asked."""
    above = parent(node)
    while isinstance(above, ast.expr | ast.keyword):
        if isinstance(above, ast.Call) and {"print", "input"} & set(names.meanings(above.func)):
            return True
        above = parent(above)
    return False


def _swallowed(node: ast.AST) -> Iterator[Trap]:
    """The handlers around a question that catch everything and continue."""
    for attempt in tries_around(node):
        for handler in attempt.handlers:
            if is_wide(handler) and not raises(handler):
                yield _trap(handler.lineno, _BARE_EXCEPT)


def _scores(nodes: Iterable[ast.AST], source: Source) -> Iterator[Trap]:
    """What is meant as a score and counts for nothing."""
    every = ((score_in(text, wanted=False), line) for line, text in source.comments.items())
    ending = (score_of(node, source) for node in nodes if isinstance(node, Leaving))
    for score, line in [*every, *filter(None, ending)]:
        if score and score.problem:
            yield Trap(line, "score", score.problem, score.mend)


def score_of(node: Leaving, source: Source) -> tuple[Score, int] | None:
    """The score that counts where a node ends the run, and the line it is on."""
    raising = node.test if isinstance(node, ast.Assert) else node  # as tracebacks have it
    return source.score(raising.lineno, raising.end_lineno or raising.lineno)
