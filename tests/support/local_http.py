"""A web server on this machine, as long as a test needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


class QuietHandler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...

    def say(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None: ...


@contextmanager
def local_http(
    handler: type[BaseHTTPRequestHandler], closing: Event | None = None
) -> Iterator[str]:
    """The address of a server, which runs while the block does.

    Args:
        handler: Answers its requests.
        closing: Set before the server ends, so that no request is waited for.
    """
    server = _Server(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        if closing is not None:
            closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
