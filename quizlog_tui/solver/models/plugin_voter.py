"""A voter that an installed package adds."""

from __future__ import annotations

from typing import Any

from ...errors import ConfigError
from ...plugins import VOTERS, broken, load_plugin
from .models import ModelSettings
from .transport import NoReplyError, Prompt, TransportReply


class PluginVoter:
    """Asks a plug-in, which is loaded with the first question; one that fails has no reply.

    Args:
        model: What the file of models says of it.
        key: The key that it is given; None for none.
    """

    def __init__(self, model: ModelSettings, key: str | None) -> None:
        self._model = model
        self._key = key

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """The text that the plug-in returns."""
        name = self._model.plugin or ""
        try:
            answer = load_plugin(VOTERS, name)
            text = await answer(prompt, self._model, self._key)
            if not isinstance(text, str):
                raise TypeError(f"it returned a value of type {type(text).__name__}, not a text")
        except (NoReplyError, ConfigError) as error:
            raise NoReplyError("error", str(error)) from None
        except Exception as error:  # foreign code
            raise NoReplyError("error", str(broken(VOTERS, name, error))) from None
        return TransportReply(text, "live")
