"""Gives the test process the signals of a program that is started from a terminal."""

from __future__ import annotations

import signal

_PYTHONS_OWN = {signal.SIGPIPE, signal.SIGXFSZ}
"""Ignored by Python itself in every process, and restored in those that it starts."""


def reset_signals() -> None:
    """Undo what was inherited: a shell lets what it starts with `&` ignore SIGINT, nohup SIGHUP.

    Processes that tests start would inherit it too, and could not be ended by Ctrl-C.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - _PYTHONS_OWN:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
