"""A site of a few pages, for tests of the browser and the gate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


@dataclass
class Site:
    url: str = ""
    hits: list[str] = field(default_factory=list)
    closing: Event = field(default_factory=Event)


@contextmanager
def small_site(pages: dict[str, tuple[str, str]]) -> Iterator[Site]:
    """Pages by path: `html` with its text, `redirect` with its target, `hang` for ever.

    `drop` closes the line without a word the first time, and says its text from then on.
    """
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            path = self.path.split("?")[0]
            site.hits.append(path)
            kind, text = pages.get(path, ("html", ""))
            if kind == "hang":
                site.closing.wait()
                return
            if kind == "drop" and site.hits.count(path) == 1:
                self.close_connection = True
                return
            self.send_response(302 if kind == "redirect" else 200)
            if kind == "redirect":
                self.send_header("Location", text)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            body = b"" if kind == "redirect" else text.encode()
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None: ...

    server = Server(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
