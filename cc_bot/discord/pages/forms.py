"""The message for an MCP server's elicitation, and its form."""

from collections.abc import Mapping
from typing import Final

import hikari
from hikari.impl import ModalActionRowBuilder

from cc_bot.discord.pages.custom_ids import FormButton, FormSheet
from cc_bot.discord.pages.links import without_previews
from cc_bot.discord.pages.page import Button, Page
from cc_bot.discord.pages.proposals import quote
from cc_bot.domain.form import MAX_ENTRY_LENGTH, OPEN_FOR_S, Form, FormField
from cc_bot.domain.text import one_line, shorten
from cc_bot.texts import Texts

SHOWN_CHARACTERS: Final = 600
"""Of the server's message."""
MAX_TITLE_LENGTH: Final = 45
"""Discord's limit for titles and labels."""
MAX_PLACEHOLDER_LENGTH: Final = 100
_PARAGRAPH_FROM: Final = 200
"""Fields that allow more get several lines."""


def form_page(form: Form, key: str, user_id: int, words: Texts) -> Page:
    """Return the message, with the server's text quoted."""
    asks = words.form.asks.format(server=form.server, minutes=OPEN_FOR_S // 60)
    said = quote(shorten(form.message.strip(), SHOWN_CHARACTERS))
    return Page(without_previews(f"{asks}\n{said}"), form_buttons(key, user_id, words))


def form_buttons(key: str, user_id: int, words: Texts) -> tuple[Button, ...]:
    return (
        Button(words.form.fill, FormButton("fill", user_id, key).custom_id(), primary=True),
        Button(words.form.skip, FormButton("skip", user_id, key).custom_id()),
    )


def sheet_id(key: str, user_id: int) -> str:
    return FormSheet(user_id, key).custom_id()


def sheet_title(form: Form, words: Texts) -> str:
    return shorten(words.form.title.format(server=form.server), MAX_TITLE_LENGTH)


def sheet(form: Form, entered: Mapping[str, str], words: Texts) -> list[ModalActionRowBuilder]:
    """Return the form's fields with earlier input. Their ids are positions, since names are the server's."""
    return [
        ModalActionRowBuilder().add_text_input(
            str(number),
            shorten(one_line(field.title), MAX_TITLE_LENGTH) or "?",
            style=_style(field),
            value=entered.get(field.name, _default(field))[:MAX_ENTRY_LENGTH] or hikari.UNDEFINED,
            placeholder=_placeholder(field, words) or hikari.UNDEFINED,
            required=field.required,
            max_length=MAX_ENTRY_LENGTH,
        )
        for number, field in enumerate(form.fields)
    ]


def entered_in(form: Form, values: Mapping[str, str]) -> Mapping[str, str]:
    """Return the input by field name; `values` are by position."""
    return {field.name: values.get(str(number), "") for number, field in enumerate(form.fields)}


def _default(field: FormField) -> str:
    return next((each.label for each in field.choices if each.value == field.default), field.default)


def _style(field: FormField) -> hikari.TextInputStyle:
    long = field.kind == "text" and (field.most or 0) > _PARAGRAPH_FROM
    return hikari.TextInputStyle.PARAGRAPH if long else hikari.TextInputStyle.SHORT


def _placeholder(field: FormField, words: Texts) -> str:
    if field.kind == "yes_or_no":
        told = words.form.yes_or_no
    else:
        told = " / ".join(choice.label for choice in field.choices)
    both = f"{field.hint} ({told})" if field.hint and told else field.hint or told
    return shorten(one_line(both), MAX_PLACEHOLDER_LENGTH)
