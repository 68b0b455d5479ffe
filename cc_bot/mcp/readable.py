"""Text from servers that holds what is no character: half an emoji, cut off in between, or bytes of another
encoding. The rest of the message is as good as before.
"""

import json
import re
from typing import Final

_MARK: Final = "\ufffd"
_HALF: Final = re.compile("[\ud800-\udfff]")
_ESCAPED_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def mended(text: bytes) -> bytes:
    """Return JSON with U+FFFD for each of these; what is no JSON is returned as it is."""
    try:
        written = json.dumps(json.loads(text.decode("utf-8", "replace")), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    return _HALF.sub(_MARK, written).encode("utf-8")


def mended_if_needed(text: bytes) -> bytes:
    """Return JSON as `mended` does, looked at only where there may be something to mend."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return mended(text)
    return mended(text) if _ESCAPED_HALF.search(text) else text
