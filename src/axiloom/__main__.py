"""The ``axiloom`` command, and ``python -m axiloom``.

A signal that comes while Python still imports ends it as one does later (:func:`axiloom.cli.guarded`): with
one line, and 128 + its number.
"""

import os
import signal
import sys
from types import FrameType


def _end(number: int, _frame: FrameType | None) -> None:
    how = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    try:
        os.write(2, f"axiloom: {how}\n".encode())
    finally:
        os._exit(128 + number)


def main() -> int:
    """Run the command and return its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup leaves it
            signal.signal(number, _end)
    from axiloom.cli import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
