from pathlib import Path
from typing import Final

TRUSTED: Final = str(Path(__file__).parent)
"""For SSL_CERT_DIR: a folder in which no certificate is."""
