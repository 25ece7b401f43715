"""Signs bundles by `ssh-keygen -Y`: the signature is a file next to the bundle.

There is no cryptography of our own. The reader decides whose key is trusted: see ssh-keygen(1),
ALLOWED SIGNERS.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ...errors import QuizlogError, UsageError
from ...files.durable import FileKind, check_place
from ...files.process import find_program
from ...files.regular_file import open_regular

_PURPOSE = "quizlog-bundle"
"""The namespace, so that a signature for another purpose is not accepted."""


def _is_signature(path: Path) -> bool:
    with contextlib.suppress(OSError), open_regular(path) as file:
        return file.read(100).startswith(b"-----BEGIN SSH SIGNATURE-----")
    return False


SIGNATURE = FileKind("a signature", _is_signature)


def signature_path(bundle: Path) -> Path:
    """The path of a bundle's signature, which need not exist."""
    return bundle.with_name(f"{bundle.name}.sig")


def sign(bundle: Path, key: Path) -> Path:
    """Sign a bundle; return the signature's path. Asks for the key's passphrase if it has one.

    Raises:
        RecordError: Something else than a signature is there.
        UsageError: There is no ssh-keygen, or it refuses the key.
    """
    target = signature_path(bundle)
    check_place(target, SIGNATURE)
    target.unlink(missing_ok=True)
    command = [_tool(), "-Y", "sign", "-f", str(key), "-n", _PURPOSE, str(bundle)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode or not target.exists():
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        message = f"ssh-keygen could not sign: {said[-1] if said else 'it gave no reason'}"
        raise UsageError(message, where=str(key), hint="name a private SSH key")
    return target


def signature(bundle: Path, signers: Path | None = None) -> tuple[str | None, str | None]:
    """The signer of a bundle, and the fault of the signature; None, None without a signature.

    Args:
        bundle: The file.
        signers: A file of ALLOWED SIGNERS, see ssh-keygen(1): one of them must have signed. If
            None, any key is accepted.
    """
    target = signature_path(bundle)
    if not target.is_file():
        return None, "is missing: nobody signed it" if signers else None
    try:
        tool = _tool()
    except QuizlogError as error:
        return None, f"cannot be checked: {error.message}"
    proof: list[str | Path] = ["-n", _PURPOSE, "-s", target]
    if signers is None:
        said = _ssh([tool, "-Y", "check-novalidate", *proof], bundle)
        return _who(said), None if said else "is not a signature of this file"
    names = _ssh([tool, "-Y", "find-principals", "-s", target, "-f", signers], bundle) or ""
    verify = [tool, "-Y", "verify", *proof, "-f", signers, "-I"]
    found = (_ssh([*verify, name], bundle) for name in names.splitlines())
    said = next((one for one in found if one), None)
    return _who(
        said
    ), None if said else f"is not a signature of this file by anybody in {signers.name}"


def _who(said: str | None) -> str | None:
    """The signer in ssh-keygen's `Good "..." signature [for NAME] with KEY`."""
    if said is None:
        return None
    who = said.partition(" signature ")[2].removeprefix("for ").removeprefix("with ")
    return who.replace(" with ", ", ") or said


def _ssh(command: Sequence[str | Path], bundle: Path) -> str | None:
    """The output of ssh-keygen for a bundle; None if it fails."""
    with bundle.open("rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, check=False)
    return None if done.returncode else done.stdout.decode("utf-8", "replace").strip()


def _tool() -> str:
    tool = find_program("ssh-keygen")
    if tool is None:
        hint = "install OpenSSH's client, or leave the signature out"
        raise UsageError("there is no ssh-keygen here", hint=hint)
    return tool
