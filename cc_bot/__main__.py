"""`cc-bot`, which `python -m cc_bot` is too, from its first moment on.

What it is made of takes a second to load. Who asks the bot to stop meanwhile (it listens for that itself when
it is there) is obeyed all the same, as it is afterwards: with exit code 0.
"""

import signal
import sys


def main() -> int:
    """Run the command and return its exit code."""
    if sys.argv[1:2] == ["run"]:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: sys.exit(0))
    from cc_bot.cli import main as run  # noqa: PLC0415 - this is what takes so long

    return run()


if __name__ == "__main__":
    sys.exit(main())
