"""The part of the replay that runs inside the quiz process.

Standard library only, and nothing of the rest of quizlog: this code shares an interpreter with the
user's script, so every module it imports is one the script would find already imported.
`boot.main` is the entry; the parent's side is `quizlog_tui.replay.process.process`.
"""

import os

OWN = os.path.dirname(__file__) + os.sep
"""The folder of the worker's own modules."""
STANDARD = os.path.dirname(os.__file__) + os.sep
"""The folder of the standard library."""
