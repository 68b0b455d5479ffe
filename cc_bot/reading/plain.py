"""Web pages that are text or JSON."""

import json

from cc_bot.encodings import decode_declared


def read_page(data: bytes, declared: str = "") -> tuple[str, str]:
    """Return no title and the text, empty if it is binary. `declared`: the server's encoding, if any."""
    text = decode_declared(data, declared) or ""
    return "", _unescaped(text) if "\\u" in text else text


def _unescaped(text: str) -> str:
    """Return JSON without escapes, which take six times the space; other text unchanged."""
    try:
        written = json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    return written.encode("utf-8", "ignore").decode()  # without halves of characters
