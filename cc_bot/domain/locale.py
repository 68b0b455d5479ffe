"""The languages cc-bot speaks."""

from enum import StrEnum


class Locale(StrEnum):
    JA = "ja"
    EN = "en"

    @classmethod
    def of(cls, tag: str) -> "Locale":
        """Return the language for a BCP 47 tag (`ja`, `en-GB`); English for other languages."""
        return cls.JA if tag.lower().replace("_", "-").split("-")[0] == "ja" else cls.EN


def language_of(text: str) -> Locale | None:
    """Guess the language of a user's text by its letters; None if unclear: kanji alone may be Chinese."""
    words = (word for word in text.split() if "://" not in word and not word.startswith(("@", "<", ":")))
    letters = [character for word in words for character in word if character.isalpha()]
    if any("ぁ" <= letter <= "ヿ" or "ｦ" <= letter <= "ﾟ" for letter in letters):
        return Locale.JA
    return Locale.EN if any(map(str.isascii, letters)) and max(letters) < "\u2e80" else None
