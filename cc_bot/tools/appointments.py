"""Whether a user asked in this turn for what a model is about to do to their reminders.

As with memories (consent.py): a model obeys whatever it reads, so what it wants is held against the user's
own words. That something is wished for, words tell; what it is about, shared terms. A short yes says what the
bot had asked, and a time alone answers the question when.
"""

import re
from dataclasses import dataclass

from cc_bot.search.terms import written_terms
from cc_bot.tools.consent import Asked, points_elsewhere
from cc_bot.tools.reminder_wishes import (
    ABOUT_CANCELLING,
    ABOUT_REMINDING,
    CANCEL,
    CHANGE,
    EVERYTHING,
    REPEATING,
    TIME,
    wants_no_reminder,
    wants_reminder,
    without_frame,
)
from cc_bot.tools.wishes import asks, says_yes


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a user said, as far as it is consent to what is done to their reminders."""

    asked: Asked

    def scheduled(self, text: str, *, repeating: bool) -> bool:
        """Whether they want to be reminded of this."""
        question, before = self.asked.question, self.asked.previous_answer
        if wants_reminder(question):
            about, said = _terms(question), question
        elif self._goes_on():
            about, said = frozenset[str](), f"{question}\n{before}\n{self.asked.earlier}"
        else:
            return False
        if repeating and not REPEATING.search(said):
            return False
        if about:
            return bool(_terms(text) & about)
        # `10分後に教えて` names nothing itself: what it is about was said before, or the model finds words.
        before_that = _terms(f"{before}\n{self.asked.earlier}")
        return not self.asked.informed or not _terms(text) or bool(_terms(text) & before_that)

    def cancelled(self, text: str, number: int, *, alone: bool) -> bool:
        """Whether they want this reminder cancelled; `alone`: it is the only one they have."""
        question, before = self.asked.question, self.asked.previous_answer
        if says_yes(question) and asks(ABOUT_CANCELLING, before):
            return _names(number, before) or bool(_terms(text) & _terms(before))
        if not wants_no_reminder(question):
            return False
        if _names(number, question) or _terms(text) & _terms(question) or EVERYTHING.search(question):
            return True
        left = CANCEL.sub(" ", question)
        if _terms(left) and not points_elsewhere(left):
            return False
        return alone or bool(_terms(text) & _terms(f"{before}\n{self.asked.earlier}"))

    def _goes_on(self) -> bool:
        """Whether the question goes on with what was asked before: a yes, a time, or another time."""
        question, before = self.asked.question, self.asked.previous_answer
        if asks(ABOUT_REMINDING, before) and (says_yes(question) or TIME.search(question)):
            return True
        return bool(CHANGE.search(question) and TIME.search(question) and wants_reminder(self.asked.earlier))


def _terms(text: str) -> frozenset[str]:
    return written_terms(without_frame(text))


def _names(number: int, said: str) -> bool:
    return bool(re.search(rf"[#＃]\s*{number}(?!\d)|(?<!\d){number}\s*(?:番|つ目|個目)", said))
