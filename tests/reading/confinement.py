import sys
from pathlib import Path
from typing import Final

UNCONFINED: Final = sys.platform != "linux"
"""Elsewhere the tests read as an operator does who permits it."""

WITHOUT_SECCOMP: Final = (sys.executable, str(Path(__file__).with_name("without_seccomp.py")))
