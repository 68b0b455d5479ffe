"""The only place where things are put together: real parts are made here, tests hand in their own.

One file a command, and each is imported when its command is called: what `cc-bot run` needs costs more than
a second and 75 MB, which `cc-bot --version` and `cc-bot backup` need not pay. For the same reason hikari,
lightbulb, openai and the terminal's libraries are imported when they are used.
"""
