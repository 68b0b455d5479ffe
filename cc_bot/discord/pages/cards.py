"""The card below an answer: receipts of its changes, and its proposals, as the database has them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from cc_bot.discord.pages.page import Box, Page, Paragraph, small_print
from cc_bot.discord.pages.proposals import proposal_boxes, see_box
from cc_bot.discord.pages.receipts import join_receipts, receipts_box
from cc_bot.domain.change import Change
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.text import shorten
from cc_bot.texts import Texts

_MAX_NOTES_CHARACTERS: Final = 1500


@dataclass(frozen=True, slots=True)
class Card:
    user_id: int
    private: bool = False  # only the user sees it
    changes: tuple[Change, ...] = ()
    proposals: tuple[Proposal, ...] = ()  # open ones, and those that are being done
    notes: tuple[str, ...] = ()  # lines, such as the outcomes of proposals

    def with_changes(self, changes: Sequence[Change]) -> "Card":
        return replace(self, changes=join_receipts(self.changes, changes))

    def with_notes(self, *sentences: str) -> "Card":
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *small_print(*sentences)))))

    def pages(self, words: Texts) -> tuple[Page, ...]:
        """Return the message; none without content."""
        boxes = list[Box]()
        if self.notes:
            boxes.append(Box((Paragraph(shorten("\n".join(self.notes), _MAX_NOTES_CHARACTERS)),)))
        if self.changes:
            boxes.append(receipts_box(self.changes, words, self.user_id, private=self.private))
        if self.proposals:
            page = Page(boxes=(*boxes, *proposal_boxes(self.proposals, words)))
            return (page if page.fits_in_card else Page(boxes=(*boxes, see_box(self.proposals, words))),)
        return (Page(boxes=tuple(boxes)),) if boxes else ()
