"""Whom a client of the tests trusts: nobody.

What they speak with is on this machine and speaks no TLS. To load the authorities of the web takes twenty
milliseconds of processor time, for each client that is made.
"""

from pathlib import Path
from typing import Final

TRUSTED: Final = str(Path(__file__).parent)
"""For SSL_CERT_DIR: a folder in which no certificate is."""
