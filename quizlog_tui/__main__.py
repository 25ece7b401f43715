"""`python -m quizlog_tui`, the same as the command `quizlog`."""

import sys

from .cli import main

sys.exit(main())
