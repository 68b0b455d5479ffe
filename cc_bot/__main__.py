"""`cc-bot`, also `python -m cc_bot`.

SIGINT and SIGTERM end `run` with exit code 0 from the first moment on; Ctrl-C ends any other command
silently. Garbage collection is rare during the start, whose objects mostly stay; `app/discord.py` resets it.
"""

import gc
import signal
import sys

_INTERRUPTED = 130  # the exit code after Ctrl-C


def main() -> int:
    if sys.argv[1:2] == ["run"]:
        gc.set_threshold(50_000, 1000)
        # structlog imports it for tracebacks with local variables, which we never log. It takes 4 MB.
        sys.modules["rich"] = None  # type: ignore[assignment]
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: sys.exit(0))
    try:
        from cc_bot.app.cli import main as run  # noqa: PLC0415 - this is what takes so long

        return run()
    except KeyboardInterrupt:
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
