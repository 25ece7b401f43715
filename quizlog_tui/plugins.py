"""What other installed packages add to quizlog, found by their entry points.

Nothing is looked for before a name is met that quizlog itself does not know, and a plug-in is
loaded when it is used. This module imports no other part of quizlog but errors and text.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from .errors import ConfigError
from .text import one_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

INPUT_KINDS = "quizlog.input_kinds"
"""The group of inputs for kinds of answers; each is named like the tag that asks for it."""
VOTERS = "quizlog.voters"
"""The group of voters that are neither endpoint, program nor person."""
EXPORTERS = "quizlog.exporters"
"""The group of forms that episodes are exported in."""


@cache
def _entry_points(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group by their names; of two with one name the first."""
    from importlib.metadata import entry_points

    try:
        return {each.name: each for each in reversed(tuple(entry_points(group=group)))}
    except Exception:  # a package that is installed broken must not break what does not use it
        return {}


def plugin_names(group: str) -> tuple[str, ...]:
    """The names of all plug-ins of a group that are installed."""
    return tuple(sorted(_entry_points(group)))


def load_plugin(group: str, name: str) -> Any:
    """Load what a plug-in gives.

    Raises:
        ConfigError: It is not installed, or fails to load.
    """
    found = _entry_points(group).get(name)
    if found is None:
        known = ", ".join(plugin_names(group))
        hint = f"installed: {known}" if known else "install the package that has it"
        raise ConfigError(f"no plug-in {name!r} of {group} is installed", hint=hint)
    try:
        return found.load()
    except (Exception, SystemExit) as error:  # whatever foreign code does when it is imported
        raise broken(group, name, error) from None


def broken(group: str, name: str, error: BaseException) -> ConfigError:
    """The one line that is said of a plug-in that fails."""
    found = _entry_points(group).get(name)
    package = found.dist.name if found is not None and found.dist is not None else "its package"
    what = f"{type(error).__name__}: {one_line(str(error))}".removesuffix(": ")
    message = f"the plug-in {name!r} of {group} failed: {what}"
    return ConfigError(message, hint=f"mend or uninstall {package}")
