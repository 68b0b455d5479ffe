"""cc-bot: a self-hosted Discord assistant that remembers."""

from importlib.metadata import version

__version__ = version("cc-bot")
