"""Signatures of bundles, by `ssh-keygen -Y`: a file beside the bundle, made with an SSH key.

No cryptography of our own. Whose key it is, is for the reader to know: see ssh-keygen(1), ALLOWED
SIGNERS.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ..errors import QuizlogError, UsageError

_PURPOSE = "quizlog-bundle"
"""The namespace, so that a signature for another purpose does not pass for one of a bundle."""


def sign(bundle: Path, key: Path) -> Path:
    """Sign a bundle; the signature's path. Asks for the key's passphrase where it has one.

    Raises:
        UsageError: There is no ssh-keygen, or it refuses the key.
    """
    target = bundle.with_name(f"{bundle.name}.sig")
    target.unlink(missing_ok=True)
    command = [_tool(), "-Y", "sign", "-f", str(key), "-n", _PURPOSE, str(bundle)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode or not target.exists():
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        message = f"ssh-keygen could not sign: {said[-1] if said else 'it gave no reason'}"
        raise UsageError(message, where=str(key), hint="name a private SSH key")
    return target


def signature(bundle: Path) -> tuple[str | None, str | None]:
    """Who signed a bundle, and what is wrong with the signature; None, None without one."""
    target = bundle.with_name(f"{bundle.name}.sig")
    if not target.exists():
        return None, None
    try:
        command = [_tool(), "-Y", "check-novalidate", "-n", _PURPOSE, "-s", str(target)]
    except QuizlogError as error:
        return None, f"cannot be checked: {error.message}"
    with bundle.open("rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, check=False)
    if done.returncode:
        return None, "is not one of this file"
    said = done.stdout.decode("utf-8", "replace").strip()
    return said.partition(" with ")[2] or said, None


def _tool() -> str:
    tool = shutil.which("ssh-keygen")
    if tool is None:
        hint = "install OpenSSH's client, or leave the signature out"
        raise UsageError("there is no ssh-keygen here", hint=hint)
    return tool
