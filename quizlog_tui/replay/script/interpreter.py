"""Finds the interpreter that runs a script, and the virtual environment with its libraries.

They are, in this order: what the user chose for the script by `--python`; the environment that `uv`
made for a script that lists its libraries (PEP 723); the nearest `.venv` beside or above the
script; quizlog's own interpreter.

An environment that nobody chose may be a stranger's. Its program is never started: an interpreter
of the user's own is, and gets the environment's libraries when it is isolated (see
`worker.environment`), so that they can do no more than the script itself. It is started by its
path without links: what lies beside a link to it (`._pth`, `pyvenv.cfg`) names its library.

Choices belong to the machine, not to a record. They are stored by the script's path in the settings
folder, as TOML that can be read and edited.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ...config import config_folder
from ...errors import ConfigError
from ...files.durable import write_own_text
from ...files.process import find_program, search_path
from ...files.regular_file import hex_digest, read_regular
from ..worker import OWN as OWN_MODULES

_OLDEST = (3, 9)
"""The first version of Python that can run scripts."""
_INLINE = re.compile(rb"^# /// script\s*$", re.M)
_MOST_SETTINGS = 64 * 1024
"""Maximum size of an environment's `pyvenv.cfg` in bytes."""
_SECONDS = 20
_INSTALLED = ("/usr/", "/opt/", "/Library/", "/nix/store/", "/gnu/store/")
"""Folders whose programs only the machine's owner installs."""
_PYTHON = r"python3(\.\d+)?t?"
_HINT = "choose one: quizlog new SCRIPT --python PATH"
_LINE = r'^("(?:[^"\\]|\\.)*")\s*=\s*("(?:[^"\\]|\\.)*")\s*$'
_HEAD = "# Which Python runs which script. Delete a line to leave the choice to quizlog again.\n"


class Interpreter(NamedTuple):
    """What runs a script."""

    program: str
    """The program that is started."""
    version: str
    """Its version, such as `3.12.1`."""
    environment: str = ""
    """The folder of the virtual environment with the script's libraries; empty for the program's
    own libraries."""

    @property
    def name(self) -> str:
        """The path by which a user knows it."""
        return f"{self.environment}/bin/python" if self.environment else self.program


OWN = Interpreter(sys.executable, ".".join(map(str, sys.version_info[:3])))
"""The interpreter that runs quizlog."""


def interpreter_of(script: Path, source: bytes) -> Interpreter:
    """The interpreter that runs a script.

    Args:
        script: The absolute path of the script.
        source: Its bytes.

    Raises:
        ConfigError: The one that the user chose cannot be used.
    """
    if chosen := _chosen_interpreter(script):
        return _chosen_by_user(chosen)
    folder = next(_environments(script, source), "")
    return _found(folder) or OWN if folder else OWN


def chosen_interpreter_of(script: Path) -> Interpreter:
    """The interpreter that the user chose for a script, else quizlog's own.

    A run with a grant enters no other: an environment that nobody chose may be a stranger's.

    Raises:
        ConfigError: The one that the user chose cannot be used.
    """
    chosen = _chosen_interpreter(script)
    return _chosen_by_user(chosen) if chosen else OWN


def _chosen_by_user(program: str) -> Interpreter:
    """The interpreter that is meant by the path of a program, which may be an environment's.

    Raises:
        ConfigError: It cannot run scripts; the message says why.
    """
    environment = os.path.dirname(os.path.dirname(program))
    if not os.path.isfile(f"{environment}/pyvenv.cfg"):
        environment = ""
    version, base = _asked(_base_of(environment) if environment else program)
    if not version:
        raise ConfigError("is not a Python interpreter that runs", where=program, hint=_HINT)
    if not _is_new_enough(version):
        oldest = ".".join(map(str, _OLDEST))
        message = f"is Python {version}; scripts run with {oldest} or newer"
        raise ConfigError(message, where=program, hint=_HINT)
    return _interpreter(base, version, environment)


def choose(script: Path, program: str) -> None:
    """Choose the program that runs a script from now on, on this machine.

    Args:
        script: The script.
        program: The path of an interpreter, or a name to be searched for like a command.

    Raises:
        ConfigError: It cannot run scripts, or the choice cannot be stored.
    """
    found = os.path.expanduser(program) if os.sep in program else find_program(program)
    if found is None:
        raise ConfigError("there is no such program", where=program, hint=_HINT)
    path = os.path.abspath(found)
    _chosen_by_user(path)
    _store_choice(script, path)


def _choices_path() -> Path:
    """The path of the file, which may not exist."""
    return config_folder() / "interpreters.toml"


def _chosen_interpreter(script: Path) -> str:
    """The program that the user chose for a script; empty if none."""
    return _choices().get(os.path.realpath(script), "")


def _store_choice(script: Path, program: str) -> None:
    """Store the program that runs a script from now on.

    Raises:
        ConfigError: The choice cannot be stored.
    """
    import json

    choices = {**_choices(), os.path.realpath(script): program}
    lines = [f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in choices.items()]
    path = _choices_path()
    try:
        write_own_text(path, "".join([_HEAD, *lines]))
    except OSError as error:
        said = error.strerror or "is not a file"
        raise ConfigError(f"cannot store the choice: {said}", where=str(path)) from None


def _choices() -> dict[str, str]:
    try:
        text = _choices_path().read_text(encoding="utf-8")
        import json

        return {json.loads(key): json.loads(value) for key, value in re.findall(_LINE, text, re.M)}
    except (OSError, ValueError):
        return {}


def environment_identity(script: Path) -> str:
    """What tells a chosen environment from others at its path; empty for quizlog's own Python.

    It is made of the size and time of the program, of `pyvenv.cfg` and of each entry among the
    libraries, so it changes when a library is installed, replaced or removed. Files inside a
    library are not read: whoever chooses an environment trusts it as a whole.

    Raises:
        ConfigError: The interpreter that the user chose cannot be used.
    """
    used = chosen_interpreter_of(script)
    if used == OWN:
        return ""
    known = "\n".join(
        (*_stamps([used.program]), *_stamps(_settings_and_libraries(used.environment)))
    )
    return f"{used.name} {used.version} sha256:{hex_digest(os.fsencode(known))}"


def _settings_and_libraries(environment: str) -> Iterator[str]:
    if not environment:
        return
    yield f"{environment}/pyvenv.cfg"
    for place in sorted(Path(environment).glob("lib*/python*/site-packages")):
        with contextlib.suppress(OSError):
            yield from (f"{place}/{name}" for name in sorted(os.listdir(place)))


def _stamps(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        with contextlib.suppress(OSError):
            info = os.stat(path)
            yield f"{path} {info.st_size} {info.st_mtime_ns}"


def when_a_module_is_missing(script: Path, source: bytes, used: Interpreter) -> str:
    """Which interpreter a script ran with, and how to choose another, in one line.

    Args:
        script: The script, which found no module of some name.
        source: Its bytes.
        used: The interpreter.
    """
    uv = f"uv sync --script {script.name}" if _INLINE.search(source) else ""
    choice = uv or f"quizlog new {script.name} --python PATH, or a .venv beside the script"
    return f"it ran with Python {used.version} ({used.name}); to give it its libraries: {choice}"


def when_a_chosen_one_lacks_a_module(script: Path, used: Interpreter) -> str:
    """The same for a script with a grant, which runs in no environment that nobody chose."""
    choice = f"quizlog new {script.name} --python PATH"
    ran = f"it ran with Python {used.version} ({used.name})"
    return f"{ran}, as with a grant only what you chose is used: {choice}"


def _found(environment: str) -> Interpreter | None:
    """The interpreter for an environment that nobody chose; None if it cannot be used."""
    link = _base_link(environment)
    if not link or not _is_installed(link, os.path.dirname(os.path.realpath(environment))):
        return None
    version, base = _asked(os.path.realpath(link))
    if not _is_new_enough(version):
        return None
    return _interpreter(os.path.realpath(base), version, environment)


def _interpreter(base: str, version: str, environment: str) -> Interpreter:
    own_environment = bool(environment) and os.path.realpath(environment) == _real_prefix()
    same = not environment and os.path.realpath(base) == os.path.realpath(sys.executable)
    without = sys.prefix == sys.base_prefix
    return OWN if own_environment or (same and without) else Interpreter(base, version, environment)


def _real_prefix() -> str:
    return os.path.realpath(sys.prefix)


def _environments(script: Path, source: bytes) -> Iterator[str]:
    """The folders of the environments that the script can use, the first to be preferred."""
    if _INLINE.search(source) and (made := _made_by_uv(script)):
        yield made
    for folder in script.parents:
        if _is_plain(f"{folder}/.venv"):
            yield f"{folder}/.venv"


def _is_plain(environment: str) -> bool:
    """Whether this is an environment of the user without links to elsewhere.

    What it links to would be shown to the script.
    """
    parts = (environment, f"{environment}/lib", f"{environment}/bin", f"{environment}/pyvenv.cfg")
    try:
        owner = os.lstat(environment).st_uid
    except OSError:
        return False
    linked = any(map(os.path.islink, parts))
    return owner in (os.getuid(), 0) and not linked and os.path.isfile(parts[-1])


def _made_by_uv(script: Path) -> str:
    """The environment that `uv` made for a script; empty if there is none.

    Nothing near the script may name a program that `uv` would start to look at it: neither a file
    `.python-version` nor the current folder's `.venv`.
    """
    uv = find_program("uv")
    if not uv:
        return ""
    words = [uv, "python", "find", "--no-config", "--offline", "--no-python-downloads", "--script"]
    variables = {key: text for key, text in os.environ.items() if key != "VIRTUAL_ENV"}
    found = _output([*words, str(script)], variables)
    folder = os.path.dirname(os.path.dirname(found))
    return folder if found and os.path.isfile(f"{folder}/pyvenv.cfg") else ""


def _base_of(environment: str) -> str:
    """The program that an environment was made from, without links; empty if there is none."""
    link = _base_link(environment)
    return os.path.realpath(link) if link else ""


def _base_link(environment: str) -> str:
    """The path at which an environment has the program that it was made from, perhaps a link."""
    try:
        data = read_regular(f"{environment}/pyvenv.cfg", _MOST_SETTINGS)
        settings = _settings(data.replace(b"\0", b"").decode())
    except (OSError, UnicodeDecodeError):
        return ""
    version = settings.get("version_info") or settings.get("version", "")
    home, names = settings.get("home", ""), ("python" + ".".join(version.split(".")[:2]), "python3")
    found = (f"{home}/{name}" for name in names if os.access(f"{home}/{name}", os.X_OK))
    return next(found, "") if os.path.isabs(home) and "/" not in names[0] else ""


def _settings(text: str) -> dict[str, str]:
    """What a file of settings sets. No expression: blanks without end would take it long."""
    parts = (line.partition("=") for line in text.splitlines())
    return {name.strip(): value.strip() for name, mark, value in parts if mark}


def _is_installed(link: str, near: str) -> bool:
    """Whether a path leads to a Python that the user installed, and not to one that came along.

    Args:
        link: The path, as an environment names it.
        near: The folder of the environment, where all may be a stranger's.
    """
    real = os.path.realpath(link)
    if not re.fullmatch(_PYTHON, os.path.basename(real)):
        return False
    known = (*_known_folders(), *_on_path(os.path.basename(link)))
    return all(
        f"{folder}/".startswith(known)
        or any(_is_of_the_machine(folder, above, near) for above in _INSTALLED)
        for folder in (os.path.realpath(os.path.dirname(link)), os.path.dirname(real))
    )


def _is_of_the_machine(folder: str, above: str, near: str) -> bool:
    """Whether a folder belongs to the machine's programs, and not to a copy of something there.

    Args:
        folder: The folder of a program.
        above: One of `_INSTALLED`.
        near: The folder of an environment; what is below the same folder of `above` came along.
    """
    if not f"{folder}/".startswith(above) or f"{folder}/".startswith(f"{near}/"):
        return False
    first = folder.removeprefix(above).partition("/")[0]
    return not f"{near}/".startswith(f"{above}{first}/")


def _known_folders() -> list[str]:
    """Folders of Pythons that the user installed, each with a final slash."""
    home = os.path.expanduser("~")
    uv = os.environ.get("UV_PYTHON_INSTALL_DIR") or f"{home}/.local/share/uv/python"
    folders = (f"{os.path.realpath(sys.base_prefix)}/bin", f"{home}/.pyenv/versions", uv)
    return [os.path.realpath(folder) + "/" for folder in folders]


def _on_path(name: str) -> list[str]:
    """The folders of the program that a user starts by a name, each with a final slash.

    Folders of environments do not count: one that is activated may be a stranger's.
    """
    import shutil

    own = [each for each in search_path().split(os.pathsep) if not _is_in_environment(each)]
    found = shutil.which(name, path=os.pathsep.join(own)) if own else None
    if not found:
        return []
    return [
        os.path.realpath(os.path.dirname(found)) + "/",
        os.path.dirname(os.path.realpath(found)) + "/",
    ]


def _is_in_environment(folder: str) -> bool:
    return os.path.isfile(f"{os.path.dirname(os.path.realpath(folder))}/pyvenv.cfg")


_PROBE = """import sys
print('.'.join(map(str, sys.version_info[:3])), sys.executable, sep='\\n', flush=True)
sys.path[:0] = {folders}
sys.version_info >= {oldest} and __import__('inside.isolation') and __import__('worker.boot')"""


@lru_cache(64)
def _asked(program: str) -> tuple[str, str]:
    """The version of an interpreter and its own path, both empty if it is none.

    A program such as a shim of pyenv is not the interpreter that it starts. It also imports the
    worker: the first import compiles it, which moves what later is in memory.
    """
    replay = os.path.dirname(OWN_MODULES.rstrip(os.sep))
    folders = [replay, os.path.join(os.path.dirname(replay), "sandbox")]
    text = _PROBE.format(folders=folders, oldest=_OLDEST)
    found = _output([program, "-I", "-S", "-c", text]) if program else ""
    version, _, path = found.partition("\n")
    return (version, path) if re.fullmatch(r"\d+\.\d+\.\d+", version) and path else ("", "")


def _is_new_enough(version: str) -> bool:
    return bool(version) and tuple(map(int, version.split(".")))[:2] >= _OLDEST


def _output(words: list[str], variables: dict[str, str] | None = None) -> str:
    """What a program writes, without the final newline; empty if it fails."""
    import subprocess

    with contextlib.suppress(OSError, subprocess.SubprocessError, UnicodeDecodeError):
        done = subprocess.run(
            words, cwd="/", env=variables, capture_output=True, timeout=_SECONDS, check=True
        )
        return done.stdout.decode().strip()
    return ""
