"""Other versions of Python on this machine, and environments made from them.

As a program: a line for each other version that runs quizlog, with the interpreter.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
"""The versions that can run scripts."""
_STORES = (".pyenv/versions/{}.*/bin", ".local/share/uv/python/cpython-{}*/bin")
_HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)
"""The home of the user, who has another in tests."""


THIS = ".".join(map(str, sys.version_info[:2]))
"""The version that runs the tests."""
LOWEST = (3, 11)
"""The lowest version that runs quizlog itself."""


@lru_cache
def python_of(version: str) -> Path:
    """The interpreter of a version; skips the test if this machine has none."""
    python = _found(version)
    return python or pytest.skip(f"no Python {version} here")


def _found(version: str) -> Path | None:
    if version == THIS:
        return Path(sys.base_prefix, "bin", f"python{version}")
    on_path = shutil.which(f"python{version}")
    stored = [
        path
        for store in _STORES
        for path in sorted(_HOME.glob(f"{store.format(version)}/python{version}"))
    ]
    for path in (*([Path(on_path)] if on_path else []), *stored):
        if subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
            return path
    return None


def make_environment(python: Path, folder: Path, **modules: str) -> Path:
    """Make a virtual environment with modules; its folder for packages.

    Args:
        python: The interpreter.
        folder: The folder of the environment.
        modules: The text of each module.
    """
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name, text in modules.items():
        (packages / f"{name}.py").write_text(text)
    return packages


def main() -> None:
    """Print the other versions and their interpreters."""
    for version in VERSIONS:
        runs = tuple(map(int, version.split("."))) >= LOWEST and version != THIS
        if runs and (python := _found(version)):
            print(version, python)


if __name__ == "__main__":
    main()
