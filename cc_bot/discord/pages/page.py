"""A message as it should look: what rendering produces and delivery compares and sends."""

from dataclasses import dataclass, replace
from typing import Final

import hikari

from cc_bot.discord.pages.facts import NO_FACTS, Facts

PROPOSAL_COLOUR: Final = 0xC27C0E
PROPOSALS_CHARACTERS: Final = 1800
"""Of all proposals of a message together: with the 4096 of the facts they keep below the 6000 that Discord
takes in the embeds of a message."""


@dataclass(frozen=True, slots=True)
class Button:
    label: str
    custom_id: str
    primary: bool = False
    enabled: bool = True
    danger: bool = False
    """For what can't be undone."""


@dataclass(frozen=True, slots=True)
class MenuOption:
    label: str
    """At most 100 characters, as the others."""
    value: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Menu:
    """A list to choose one of; at most 25."""

    custom_id: str
    placeholder: str
    options: tuple[MenuOption, ...]


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file to attach, UTF-8."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownProposal:
    """A change that waits for its user's word, in an embed of its own."""

    title: str
    text: str
    buttons: tuple[Button, ...]
    """To have it done, or not."""


@dataclass(frozen=True, slots=True)
class Page:
    """One Discord message: text, what the bot states about it, rows of buttons, at most one file."""

    content: str
    """The model's words, or the bot's own; never both."""
    buttons: tuple[Button, ...] = ()
    """What can be done with the answer."""
    file: TextFile | None = None
    receipts: tuple[Button, ...] = ()
    """A row of its own, right under the facts: what can be done about the memories told of there."""
    facts: Facts = NO_FACTS
    proposals: tuple[ShownProposal, ...] = ()
    see: Button | None = None
    """In place of the proposals where there is no room for them."""
    why: str = ""
    """Why they are there, below the last of them."""

    @property
    def embeds(self) -> list[hikari.Embed]:
        """What the bot states, and what it proposes."""
        proposed = [
            hikari.Embed(title=each.title, description=each.text, colour=PROPOSAL_COLOUR)
            for each in self._inline
        ]
        if proposed and self.why:
            proposed[-1].set_footer(self.why)
        return [*self.facts.embeds(), *proposed]

    @property
    def proposal_rows(self) -> tuple[tuple[Button, ...], ...]:
        """The buttons of two proposals in a row: five of them take three of a message's five rows."""
        buttons = [each.buttons for each in self._inline]
        return tuple(sum(buttons[at : at + 2], ()) for at in range(0, len(buttons), 2))

    @property
    def last_row(self) -> tuple[Button, ...]:
        """What can be done with the answer, and seen of what there is no room for."""
        hidden = self.proposals and not self._inline and self.see
        return (*self.buttons, self.see) if hidden and self.see else self.buttons

    @property
    def _inline(self) -> tuple[ShownProposal, ...]:
        """All of the proposals, or none where they take too much room or no embed is taken."""
        length = sum(len(each.title) + len(each.text) for each in self.proposals)
        return () if self.facts.in_buttons or length > PROPOSALS_CHARACTERS else self.proposals

    def without_embeds(self) -> "Page":
        """The same for a place where the bot may not post them."""
        return replace(self, facts=replace(self.facts, in_buttons=True))
