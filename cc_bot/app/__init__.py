"""The composition root: real parts are built here, tests pass their own.

One module per command, imported when it is called: `cc-bot run` needs more than a second and 75 MB, which
`cc-bot --version` and `cc-bot backup` don't. hikari, lightbulb and the terminal libraries are
imported late for the same reason.
"""
