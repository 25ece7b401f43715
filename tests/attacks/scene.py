"""The targets of attacks: secrets, folders, listeners and a process, made for the purpose."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import secrets
import select
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from quizlog_tui.files.scratch import scratch_folder

_SECRET_FILES = (".ssh/id_rsa", ".aws/credentials", ".env", ".netrc")


class Scene:
    """The targets of attacks. A context manager; attacks run inside its block."""

    def __enter__(self) -> Scene:
        self._stack = contextlib.ExitStack()
        self.canary = secrets.token_hex(16)
        self.folder = self._stack.enter_context(scratch_folder("attacks"))
        self.home, self.outside = self.folder / "home", self.folder / "outside"
        self.workspace = self.folder / "workspace"
        self._folders()
        self._environment()
        self.listeners = list(self._listeners())
        self._victim()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _folders(self) -> None:
        os.chmod(self.folder, 0o755)
        other = self.folder / "workspaces" / "othertask"
        for folder in (self.outside, self.workspace, other):
            folder.mkdir(parents=True)
        os.chmod(self.outside, 0o777)
        for name in _SECRET_FILES:
            file = self.home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.canary, encoding="ascii")
        (other / "answer.json").write_text(self.canary, encoding="ascii")
        (self.outside / "kept").write_text("kept", encoding="ascii")
        (self.workspace / "data.csv").write_text("a,b\n1,2\n", encoding="ascii")
        self.leak = os.open(self.home / ".env", os.O_RDONLY)
        os.set_inheritable(self.leak, True)
        self._stack.callback(os.close, self.leak)
        self.shared_memory = self._shared_memory()

    def _shared_memory(self) -> str:
        name = f"quizlog-{self.canary[:8]}"
        with contextlib.suppress(OSError):
            path = Path("/dev/shm", name)
            path.write_text(self.canary, encoding="ascii")
            self._stack.callback(path.unlink, missing_ok=True)
        return name

    def _environment(self) -> None:
        os.environ["QUIZLOG_CANARY"] = self.canary
        self._stack.callback(os.environ.pop, "QUIZLOG_CANARY", None)

    def _listeners(self) -> Iterator[socket.socket]:
        self.ports: dict[str, int] = {}
        kinds = (
            ("TCP", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            ("TCP6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
            ("UDP", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        )
        for name, family, kind, address in kinds:
            with contextlib.suppress(OSError):
                yield self._listen(socket.socket(family, kind), address, name)
        path = str(self.folder / "listener")
        yield self._listen(socket.socket(socket.AF_UNIX), path, "UNIX")
        os.chmod(path, 0o777)
        with contextlib.suppress(OSError):
            yield self._listen(socket.socket(socket.AF_UNIX), f"\0quizlog-{self.canary[:8]}", "ABS")

    def _listen(
        self, sock: socket.socket, address: str | tuple[str, int], name: str
    ) -> socket.socket:
        self._stack.callback(sock.close)
        sock.bind(address)
        if sock.type == socket.SOCK_STREAM:
            sock.listen()
        found = sock.getsockname()
        self.ports[name] = found[1] if isinstance(found, tuple) else 0
        return sock

    def _victim(self) -> None:
        self.victim = subprocess.Popen(
            ["sleep", "3600"], stdin=subprocess.DEVNULL, start_new_session=True
        )
        self._stack.callback(self.victim.wait)
        self._stack.callback(self.victim.kill)

    def aimed(self, code: str) -> str:
        """The code with placeholders replaced by the targets."""
        places = {
            "CANARY": self.canary,
            "HOME": self.home,
            "OUTSIDE": self.outside,
            "OTHER_WS": self.folder / "workspaces" / "othertask",
            "TCP_PORT": self.ports.get("TCP", 1),
            "TCP6_PORT": self.ports.get("TCP6", 1),
            "UDP_PORT": self.ports.get("UDP", 1),
            "UNIX_SOCK": self.folder / "listener",
            "ABSTRACT": f"quizlog-{self.canary[:8]}",
            "PARENT_PID": os.getpid(),
            "VICTIM_PID": self.victim.pid,
            "LEAK_FD": self.leak,
            "SHM_NAME": self.shared_memory,
        }
        for name, place in places.items():
            code = code.replace(f"@@{name}@@", str(place))
        return code

    def connected(self) -> bool:
        """Whether a connection to a listener was made."""
        return bool(select.select(self.listeners, [], [], 0)[0])

    def reveals(self, text: str) -> bool:
        """Whether a text contains the secret, plain or in a common encoding."""
        raw = self.canary.encode()
        forms = (raw, raw[::-1], base64.b64encode(raw)[:40], raw.hex().encode())
        data = text.encode("utf-8", "surrogatepass")
        return any(form in data for form in forms)


def digest(folder: Path) -> str:
    """A digest of names, sizes, modes and contents below a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        found.update(f"{path.relative_to(folder)} {about.st_mode} {about.st_size}\n".encode())
        if path.is_file() and not path.is_symlink():
            found.update(path.read_bytes())
    return found.hexdigest()
