"""Tables of phrases: a cell is a phrase, and what it means may stand behind an arrow."""


def phrases(table: str) -> list[str]:
    """The cells of a table."""
    return [phrase.strip() for line in table.strip().splitlines() for phrase in line.split(" | ")]


def meanings(table: str) -> dict[str, str]:
    """The cells of a table, each with what it means."""
    pairs = (phrase.split(" → ") for phrase in phrases(table))
    return {phrase.strip(): meaning.strip() for phrase, meaning in pairs}
