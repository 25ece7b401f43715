"""Signatures of bundles, by `ssh-keygen -Y`: a file beside the bundle, made with an SSH key.

No cryptography of our own. Whose key it is, is for the reader to know: see ssh-keygen(1), ALLOWED
SIGNERS.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ...errors import QuizlogError, UsageError

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


def signature(bundle: Path, signers: Path | None = None) -> tuple[str | None, str | None]:
    """Who signed a bundle, and what is wrong with the signature; None, None without one.

    Args:
        bundle: The file.
        signers: Who may have signed it, as ssh-keygen(1) has ALLOWED SIGNERS: a signature by one of
            them has to be there. If None, any key will do.
    """
    target = bundle.with_name(f"{bundle.name}.sig")
    if not target.is_file():
        return None, "is missing: nobody signed it" if signers else None
    try:
        tool = _tool()
    except QuizlogError as error:
        return None, f"cannot be checked: {error.message}"
    proof: list[str | Path] = ["-n", _PURPOSE, "-s", target]
    if signers is None:
        said = _ssh([tool, "-Y", "check-novalidate", *proof], bundle)
        return _who(said), None if said else "is not one of this file"
    names = _ssh([tool, "-Y", "find-principals", "-s", target, "-f", signers], bundle) or ""
    verify = [tool, "-Y", "verify", *proof, "-f", signers, "-I"]
    found = (_ssh([*verify, name], bundle) for name in names.splitlines())
    said = next((one for one in found if one), None)
    return _who(said), None if said else f"is not one of this file by anybody in {signers.name}"


def _who(said: str | None) -> str | None:
    """The signer in ssh-keygen's `Good "..." signature [for NAME] with KEY`."""
    if said is None:
        return None
    who = said.partition(" signature ")[2].removeprefix("for ").removeprefix("with ")
    return who.replace(" with ", ", ") or said


def _ssh(command: Sequence[str | Path], bundle: Path) -> str | None:
    """What ssh-keygen says of a bundle; None if it refuses."""
    with bundle.open("rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, check=False)
    return None if done.returncode else done.stdout.decode("utf-8", "replace").strip()


def _tool() -> str:
    tool = shutil.which("ssh-keygen")
    if tool is None:
        hint = "install OpenSSH's client, or leave the signature out"
        raise UsageError("there is no ssh-keygen here", hint=hint)
    return tool
