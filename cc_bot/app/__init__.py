"""The only place where things are put together: real parts are made here, tests hand in their own.

One file a command. hikari, lightbulb, openai and the terminal's libraries are imported when they are used:
they cost more than a second and 75 MB, which `cc-bot --version` and `cc-bot backup` need not pay.
"""

from cc_bot.app.database import run_backup, run_migrate
from cc_bot.app.discord import run_discord
from cc_bot.app.terminal import run_terminal

__all__ = ["run_backup", "run_discord", "run_migrate", "run_terminal"]
