"""The languages cc-bot speaks."""

from enum import StrEnum


class Locale(StrEnum):
    """A language in which every text of cc-bot exists."""

    JA = "ja"
    EN = "en"

    @classmethod
    def of(cls, tag: str) -> "Locale":
        """The language to use for a BCP 47 tag (`ja`, `en-GB`, `fr`).

        Whoever reads neither Japanese nor English is more likely to read English.
        """
        return cls.JA if tag.lower().replace("_", "-").split("-")[0] == "ja" else cls.EN


def language_of(text: str) -> Locale | None:
    """Return the language that what a user typed is in, by its letters; None where these do not tell: kanji
    alone may be Chinese, and links, names and codes of Discord are in no language."""
    words = (word for word in text.split() if "://" not in word and not word.startswith(("@", "<", ":")))
    letters = [character for word in words for character in word if character.isalpha()]
    if any("ぁ" <= letter <= "ヿ" or "ｦ" <= letter <= "ﾟ" for letter in letters):
        return Locale.JA
    return Locale.EN if any(map(str.isascii, letters)) and max(letters) < "\u2e80" else None
