"""`cc-bot`, also `python -m cc_bot`.

SIGINT and SIGTERM end `run` with exit code 0, even before it has started; Ctrl-C ends any other command
silently.
"""

import gc
import signal
import sys

_INTERRUPTED = 130  # the exit code after Ctrl-C


def main() -> int:
    if sys.argv[1:2] == ["run"]:
        gc.set_threshold(50_000, 1000)  # the start makes little garbage; `app/discord.py` resets it
        # structlog would import rich (4 MB) for tracebacks with local variables, which are never logged.
        sys.modules["rich"] = None  # type: ignore[assignment]
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: sys.exit(0))
    try:
        from cc_bot.app.cli import main as run  # noqa: PLC0415 - slow, so after the handlers of signals

        return run()
    except KeyboardInterrupt:
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
