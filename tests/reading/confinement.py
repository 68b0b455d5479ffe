"""Whether this system confines the reading process, and how to simulate one that does not."""

import sys
from pathlib import Path
from typing import Final

UNCONFINED: Final = sys.platform != "linux"
"""Elsewhere the tests read as an operator does who permits it."""

WITHOUT_SECCOMP: Final = (sys.executable, str(Path(__file__).with_name("without_seccomp.py")))
"""What to write before a command, so that it runs as on a kernel without seccomp."""
