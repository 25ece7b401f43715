"""Plays the shipped recorded replies for the server's pages: a whole task without a model.

They say themselves how they came about. They were recorded for `pages.EMAIL`, as many pages are
personal, with the server at `HOME`, and are played for it at any address.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...solver.models.cassettes import Player, recorded
from ...solver.models.transport import ModelClient, Prompt, Transport, TransportReply
from ...solver.redaction import Redaction
from ...solver.solve import Panel, RunCode
from ..task.task import without_history

HOME = "http://127.0.0.1:8765"
FOLDER = Path(__file__).parent / "replies"


class AtHome:
    """Adapts requests to the recording: the server's address, and each page as the first one.

    So the replies fit any address of the server and any selection of its pages.

    Args:
        inner: The transport that plays the replies.
        url: The address of the server.
    """

    def __init__(self, inner: Transport, url: str) -> None:
        self._inner = inner
        self._url = url

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """The recorded reply with the present address of the server."""
        *before, last = (
            replace(one, content=one.content.replace(self._url, HOME)) for one in prompt.messages
        )
        messages = (*before, replace(last, content=_alone(last.content)))
        said = await self._inner.complete(replace(prompt, messages=messages))
        return replace(said, text=said.text.replace(HOME, self._url))


def _alone(asked: str) -> str:
    """A request without the history of earlier pages."""
    try:
        data = json.loads(asked)
    except ValueError:  # a request to repair a reply
        return asked
    question = data["context"] if isinstance(data["context"], dict) else data
    question["context"] = without_history(question["context"])
    return json.dumps(data, ensure_ascii=False)


def demo_panel(url: str, run: RunCode) -> Panel:
    """A panel that plays the recorded replies.

    Args:
        url: The address of the server.
        run: Runs the code in the replies.
    """
    voters, shelf = recorded(FOLDER)
    players = [(voter, AtHome(Player(voter.name, shelf), url)) for voter in voters]
    clients = [ModelClient(voter, player, Redaction()) for voter, player in players]
    return Panel(clients, run, None, f"recorded replies: {shelf.label}")
