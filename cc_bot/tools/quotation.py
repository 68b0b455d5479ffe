"""Whose words a message holds: a line behind `> ` was said by somebody else, and is no wish of its author."""

_MARK = "> "


def own_words(text: str) -> str:
    """The text without what it quotes."""
    return "\n".join(line for line in text.splitlines() if not line.startswith(_MARK)).strip()


def quoted_words(text: str) -> str:
    """What the text quotes; empty for nothing."""
    quoted = (line.removeprefix(_MARK) for line in text.splitlines() if line.startswith(_MARK))
    return "\n".join(quoted).strip()
