"""`cc-bot`, which `python -m cc_bot` is too, from its first moment on.

What it is made of takes a second to load. Who asks the bot to stop meanwhile (it listens for that itself when
it is there) is obeyed all the same, as it is afterwards: with exit code 0. Ctrl-C ends any other command
without a word. No garbage is looked for among what the bot loads, all of which stays: that takes a quarter of
its start. `app/discord.py` switches it on.
"""

import gc
import signal
import sys

_INTERRUPTED = 130
"""The exit code of what was ended by Ctrl-C, as in cli."""


def main() -> int:
    """Run the command and return its exit code."""
    if sys.argv[1:2] == ["run"]:
        gc.disable()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: sys.exit(0))
    try:
        from cc_bot.cli import main as run  # noqa: PLC0415 - this is what takes so long

        return run()
    except KeyboardInterrupt:
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
