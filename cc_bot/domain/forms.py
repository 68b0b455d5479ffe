"""Forms that a running tool asks its user to fill in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from cc_bot.domain.errors import CcBotError

FieldKind = Literal["text", "number", "whole", "yes_or_no", "choice"]


@dataclass(frozen=True, slots=True)
class FormChoice:
    value: str
    label: str


@dataclass(frozen=True, slots=True)
class FormField:
    name: str
    title: str
    kind: FieldKind = "text"
    hint: str = ""
    required: bool = False
    default: str = ""
    choices: tuple[FormChoice, ...] = ()
    minimum: float | None = None  # a number's value, or a text's length
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class Form:
    server: str
    message: str
    fields: tuple[FormField, ...]


class FormAsker(Protocol):
    async def ask(self, form: Form) -> Mapping[str, str] | None:
        """Return the entries by field name; None if the user declines. Cancelling withdraws the form."""

    async def show_error(self, refusal: CcBotError) -> None: ...
