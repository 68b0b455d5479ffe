"""`/privacy erase`: everything of a user's goes for good, after one question."""

import lightbulb

from cc_bot.discord.access.ways_in import Pressed
from cc_bot.discord.delivery.receipt_upkeep import ReceiptUpkeep
from cc_bot.discord.delivery.reply import components
from cc_bot.discord.extensions.privacy.group import loader
from cc_bot.discord.extensions.privacy.group import privacy as group
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import Answerable, defer, defer_update
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.memory_view import View
from cc_bot.discord.pages.privacy_view import PrivacyButton, erase_question, parse_privacy_id
from cc_bot.privacy import Privacy


@group.register
class Erase(
    lightbulb.SlashCommand, name="privacy_erase", description="privacy_erase_description", localize=True
):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, privacy: Privacy, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        held = await privacy.overview(reader.user_id)
        view = View(reader.words.privacy.nothing_to_erase(held))
        if not held.nothing_to_erase:
            view = erase_question(held, reader.user_id, reader.words, readers.clock())
        await _show(ctx.interaction, view)


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_press(event: Pressed, privacy: Privacy, readers: Readers, upkeep: ReceiptUpkeep) -> None:
    """Erase, or leave it. Never raises: hikari would only log it, and the user would not know."""
    interaction = event.interaction
    button = parse_privacy_id(interaction.custom_id)
    if button is None:
        return
    try:
        reader = await readers.of(interaction)
        if button.user_id != reader.user_id:
            await tell(interaction, reader.words.privacy.not_yours)
            return
        await defer_update(interaction)
        told = await upkeep.newest(reader.user_id)  # by then nobody knows of them
        await _show(interaction, View(await _decided(button, reader, privacy, readers)))
        upkeep.refresh_these(told, reader.words)
    except Exception as error:  # noqa: BLE001 - see above
        await tell_failure(interaction, error, readers)


async def _decided(button: PrivacyButton, reader: Reader, privacy: Privacy, readers: Readers) -> str:
    words = reader.words.privacy
    if button.decision == "keep":
        return words.kept
    if button.until < readers.clock().timestamp():
        return words.too_late
    return words.told(await privacy.erase(reader.user_id))


async def _show(interaction: Answerable, view: View) -> None:
    await interaction.edit_initial_response(view.content, components=components(view.buttons))
