"""`python -m cc_bot` is `cc-bot`."""

import sys

from cc_bot.cli import main

if __name__ == "__main__":
    sys.exit(main())
