"""Signals of the command `weir sweep` until it can handle them: the end without a traceback."""

import os
import signal
import sys

# The exit code of the program.
INTERRUPTED = 5
SAID = b"interrupted before anything was run"
# For programs, as every command with `--json` ends that fails.
ERROR = b'{"error": {"kind": "interrupted", "exit": 5, "message": "%s", "next": null}}\n' % SAID


def end_program(number, frame):
    """End at once: nothing was begun."""
    os.write(2, b"weir: " + SAID + b"\n")
    # The last argument has the options, see `_command`.
    if '"json":true' in sys.argv[-1].replace(" ", ""):
        os.write(2, ERROR)
    os._exit(INTERRUPTED)


def raise_interrupts():
    """Signals raise `KeyboardInterrupt` from now on. Those that are ignored remain so."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


def end_on_signal():
    """Signals end the program from now on."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end_program)
