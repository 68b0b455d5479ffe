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
