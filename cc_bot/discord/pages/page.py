"""A message as it should look: what rendering produces and delivery compares and sends."""

from dataclasses import dataclass

from cc_bot.discord.pages.facts import NO_FACTS, Facts


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
