"""Apart from the package, since reading it takes 6 MB."""

from importlib.metadata import version
from typing import Final

__version__: Final = version("cc-bot")
