"""A page of the web that is text or JSON."""

import json

from cc_bot.encodings import decode_declared


def read_page(data: bytes, declared: str = "") -> tuple[str, str]:
    """Return no title and the text, empty if the bytes are none. `declared` is the encoding that the server
    named, if any."""
    text = decode_declared(data, declared) or ""
    return "", _unescaped(text) if "\\u" in text else text


def _unescaped(text: str) -> str:
    """Return JSON with its characters as they are: as numbers they take six times the room. What is no JSON
    stays."""
    try:
        written = json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    return written.encode("utf-8", "ignore").decode()  # without halves of characters
