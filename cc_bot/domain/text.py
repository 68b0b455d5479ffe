"""Any text, whatever it is about: cut to fit where it is shown."""


def shortened(text: str, limit: int) -> str:
    """The text in at most `limit` characters; an ellipsis, counted too, says where it went on."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
