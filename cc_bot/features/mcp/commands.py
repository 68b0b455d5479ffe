"""The buttons of forms."""

import hikari
import lightbulb

from cc_bot.discord.handlers import Press, Submission, on_press
from cc_bot.discord.interactions import is_acknowledged, tell
from cc_bot.discord.pages.page import NO_PINGS, build_rows
from cc_bot.domain.errors import InputError
from cc_bot.domain.text import shorten
from cc_bot.features.mcp.discord import (
    MAX_TITLE_LENGTH,
    FormButton,
    FormModal,
    OpenForms,
    form_buttons,
    modal_fields,
    read_entries,
)
from cc_bot.features.mcp.model import read_form
from cc_bot.features.mcp.texts import FormTexts
from cc_bot.texts import explain

loader = lightbulb.Loader()  # without one, lightbulb skips the module


@on_press(FormButton, not_yours=lambda words: words[FormTexts].not_yours, response="later")
async def open_form(press: Press[FormButton], forms: OpenForms) -> None:
    interaction, button, recipient = press
    words, opened = recipient.words, forms.find(button.form)
    if is_acknowledged(interaction):
        return  # pressed twice
    if opened is None:
        await _close(interaction, words[FormTexts].over)
    elif button.action == "skip":
        opened.answer(None)
        await _close(interaction, words[FormTexts].declined.format(server=opened.form.server))
    else:
        fields = modal_fields(opened.form, opened.entries, words)
        shown = FormModal(recipient.user_id, button.form).custom_id()
        title = shorten(words[FormTexts].title.format(server=opened.form.server), MAX_TITLE_LENGTH)
        await interaction.create_modal_response(title, shown, components=fields)


@on_press(FormModal, not_yours=lambda words: words[FormTexts].not_yours, response="later")
async def submit_form(press: Submission[FormModal], forms: OpenForms) -> None:
    interaction, sent, recipient = press
    words, opened = recipient.words, forms.find(sent.form)
    if opened is None:
        if interaction.message and not interaction.message.components:
            await tell(interaction, words[FormTexts].over)  # the message shows the outcome
        else:
            await _close(interaction, words[FormTexts].over)
        return
    entries = read_entries(opened.form, press.values)
    try:
        read_form(opened.form, entries)
    except InputError as error:
        opened.entries = entries
        await interaction.create_initial_response(
            hikari.ResponseType.MESSAGE_CREATE,
            explain(error, words),
            components=build_rows(form_buttons(sent.form, recipient.user_id, words)),
            flags=hikari.MessageFlag.EPHEMERAL,
            **NO_PINGS,
        )
        return
    opened.answer(entries)
    await _close(interaction, words[FormTexts].answered.format(server=opened.form.server))


async def _close(interaction: hikari.ComponentInteraction | hikari.ModalInteraction, sentence: str) -> None:
    await interaction.create_initial_response(
        hikari.ResponseType.MESSAGE_UPDATE, sentence, components=[], **NO_PINGS
    )
