"""The question whether to erase everything, and what its buttons know: see custom_ids.py."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from cc_bot.discord.pages.custom_ids import base36
from cc_bot.discord.pages.memory_view import View, timestamp
from cc_bot.discord.pages.page import Button
from cc_bot.domain.privacy import Holdings
from cc_bot.texts import Texts

CONFIRM_WITHIN: Final = timedelta(minutes=5)
"""A question whether to erase everything must not lie around."""


@dataclass(frozen=True, slots=True)
class PrivacyButton:
    """Erase everything, or leave it."""

    user_id: int
    decision: Literal["erase", "keep"]
    until: int
    """Unix seconds; after that the question has to be asked again."""

    def custom_id(self) -> str:
        return f"privacy:{base36(self.user_id)}:{self.decision}:{base36(self.until)}"


def parse_privacy_id(custom_id: str) -> PrivacyButton | None:
    """The button that a custom id stands for; None for anything that is not of /privacy."""
    match custom_id.split(":"):
        case ["privacy", user_id, ("erase" | "keep") as decision, until]:
            try:
                return PrivacyButton(int(user_id, 36), _DECISIONS[decision], int(until, 36))
            except ValueError:
                return None
        case _:
            return None


def erase_question(held: Holdings, user_id: int, words: Texts, now: datetime) -> View:
    """Of a user about whom something is stored."""
    until = now + CONFIRM_WITHIN
    moment = int(until.timestamp())
    erase, keep = PrivacyButton(user_id, "erase", moment), PrivacyButton(user_id, "keep", moment)
    told = words.privacy
    return View(
        f"{told.asked(held)}\n{told.confirm_within.format(until=timestamp(until, 't'))}",
        buttons=(
            Button(told.erase, erase.custom_id(), danger=True),
            Button(told.keep, keep.custom_id()),
        ),
    )


_DECISIONS: Final[dict[str, Literal["erase", "keep"]]] = {"erase": "erase", "keep": "keep"}
