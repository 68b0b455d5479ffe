"""A message as it should look: what rendering produces and delivery compares and sends."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Button:
    label: str
    custom_id: str
    primary: bool = False
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file to attach, UTF-8."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """One Discord message: text, one row of buttons, at most one file."""

    content: str
    buttons: tuple[Button, ...] = ()
    file: TextFile | None = None
