"""Documents as text, read in a process of its own: what a file does to its reader, it does to that alone.

This module imports nothing, so that the process starts fast: `reader` is the bot's side, `__main__` the
other.
"""
