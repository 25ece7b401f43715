"""One episode with runs that part from its gold one."""

from __future__ import annotations

from tests.episodes.support import episode

ONE = episode(("4", "more", "end"), [("4", "end"), ("4", "end"), ("5", "bad"), ("4", "more", "x")])
