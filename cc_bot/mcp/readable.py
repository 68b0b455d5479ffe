"""Text from servers that holds what is no character: half an emoji, cut off in between, or bytes of another
encoding. The rest of the message is as good as before.
"""

import json
import re
from typing import Final

_MARK: Final = "\ufffd"
_HALF: Final = re.compile("[\ud800-\udfff]")
_ESCAPED_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def mend(text: bytes) -> bytes:
    """Return JSON with U+FFFD for each of these; what is no JSON, or has none, is returned as it is."""
    try:
        text.decode("utf-8")
        if not _ESCAPED_HALF.search(text):
            return text
    except UnicodeDecodeError:
        pass
    try:
        written = json.dumps(json.loads(text.decode("utf-8", "replace")), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    return _HALF.sub(_MARK, written).encode("utf-8")
