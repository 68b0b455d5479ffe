"""Reads documents as text in a sandboxed process. This module imports nothing, so that the process starts
fast. `reader` is the bot's side, `__main__` the process."""
