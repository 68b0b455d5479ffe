"""The version of the installed program. Apart from the package, for what reads it takes 6 MB to load."""

from importlib.metadata import version
from typing import Final

__version__: Final = version("cc-bot")
