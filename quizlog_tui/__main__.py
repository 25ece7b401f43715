"""`python -m quizlog_tui`, the same as the command `quizlog`."""

import os
import sys

if not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(__file__)):
    del sys.path[0]  # the current folder, which may be a stranger's, is no place for modules

from .cli import main

sys.exit(main())
