"""How a script runs: source and tags, the quiz process, the transcript, and `replay` itself.

The package can be called as the function `quizlog_tui.replay`: Python binds that name to this
package as soon as anything below it is imported.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from .replayer import replay

        return replay(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
