"""The buttons and modals of MCP servers' forms."""

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

loader = lightbulb.Loader()  # without a loader, lightbulb skips the module


@on_press(FormButton, not_yours=lambda words: words[FormTexts].not_yours, response="later")
async def fill_or_skip_form(press: Press[FormButton], forms: OpenForms) -> None:
    interaction, button, recipient = press
    words, open_form = recipient.words, forms.find(button.form_key)
    if is_acknowledged(interaction):
        return  # pressed twice
    if open_form is None:
        await _close(interaction, words[FormTexts].ended)
    elif button.action == "skip":
        open_form.answer(None)
        await _close(interaction, words[FormTexts].declined.format(server=open_form.form.server))
    else:
        fields = modal_fields(open_form.form, open_form.entries, words)
        custom_id = FormModal(recipient.user_id, button.form_key).custom_id()
        title = shorten(words[FormTexts].title.format(server=open_form.form.server), MAX_TITLE_LENGTH)
        await interaction.create_modal_response(title, custom_id, components=fields)


@on_press(FormModal, not_yours=lambda words: words[FormTexts].not_yours, response="later")
async def submit_form(press: Submission[FormModal], forms: OpenForms) -> None:
    interaction, modal, recipient = press
    words, open_form = recipient.words, forms.find(modal.form_key)
    if open_form is None:
        if interaction.message and not interaction.message.components:
            await tell(interaction, words[FormTexts].ended)  # the message already shows the outcome
        else:
            await _close(interaction, words[FormTexts].ended)
        return
    entries = read_entries(open_form.form, press.values)
    try:
        read_form(open_form.form, entries)
    except InputError as error:
        open_form.entries = entries
        await interaction.create_initial_response(
            hikari.ResponseType.MESSAGE_CREATE,
            explain(error, words),
            components=build_rows(form_buttons(modal.form_key, recipient.user_id, words)),
            flags=hikari.MessageFlag.EPHEMERAL,
            **NO_PINGS,
        )
        return
    open_form.answer(entries)
    await _close(interaction, words[FormTexts].answered.format(server=open_form.form.server))


async def _close(interaction: hikari.ComponentInteraction | hikari.ModalInteraction, sentence: str) -> None:
    await interaction.create_initial_response(
        hikari.ResponseType.MESSAGE_UPDATE, sentence, components=[], **NO_PINGS
    )
