"""`/privacy …`: a user's control over the stored data. All replies are ephemeral."""

from collections.abc import AsyncIterator
from contextlib import nullcontext
from datetime import datetime

import hikari
import lightbulb
import structlog

from cc_bot.commands.reply import Reply
from cc_bot.discord.declaring import choices, command, reply_command, text_option
from cc_bot.discord.delivery.receipts import ReceiptUpkeep
from cc_bot.discord.delivery.reply import RETRY_PAUSES_S, open_dm, repeat
from cc_bot.discord.pages.custom_ids import PrivacyButton, base36
from cc_bot.discord.pages.memory import EphemeralView, timestamp
from cc_bot.discord.pages.page import Button
from cc_bot.discord.presses import on_press, show_view
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.errors import ErasureUnfinished
from cc_bot.domain.privacy import CONFIRM_WITHIN, Holdings
from cc_bot.in_order import ExportQueue
from cc_bot.privacy import Privacy
from cc_bot.texts import explain

_log = structlog.get_logger(__name__)

# ---- group -----------------------------------------------------------------------------------------------

loader = lightbulb.Loader()
privacy = lightbulb.Group("privacy", "privacy_description", localize=True)
loader.command(privacy)

# ---- erasing ---------------------------------------------------------------------------------------------
# `/privacy erase`: erases all of a user's data for good, after a question.


async def erase(caller: Recipient, *, privacy: Privacy, recipients: Recipients) -> EphemeralView:
    held = await privacy.overview(caller.user_id)
    if held.nothing_to_erase:
        return EphemeralView(caller.words.privacy.nothing_to_erase(held))
    return erase_question(held, caller, recipients.clock())


def erase_question(held: Holdings, caller: Recipient, now: datetime) -> EphemeralView:
    texts, until = caller.words.privacy, now + CONFIRM_WITHIN
    moment = int(until.timestamp())
    return EphemeralView(
        f"{texts.asked(held)}\n{texts.confirm_within.format(until=timestamp(until, 't'))}",
        buttons=(
            Button(texts.erase, PrivacyButton(caller.user_id, "erase", moment).custom_id(), danger=True),
            Button(texts.keep, PrivacyButton(caller.user_id, "keep", moment).custom_id()),
        ),
    )


reply_command(privacy.register, "privacy_erase", erase)


@on_press(PrivacyButton, not_yours=lambda words: words.privacy.not_yours)
async def decide(
    interaction: hikari.ComponentInteraction,
    button: PrivacyButton,
    recipient: Recipient,
    *,
    privacy: Privacy,
    recipients: Recipients,
    upkeep: ReceiptUpkeep,
) -> str | None:
    words = recipient.words
    if privacy.closed:
        return words.privacy.restarting
    with privacy.answering():
        erasing = upkeep.erasing(recipient.user_id, words) if button.decision == "erase" else nullcontext()
        try:
            async with erasing:
                said = await _decide(button, recipient, privacy, recipients)
        except ErasureUnfinished as error:  # it continues by itself, so the buttons go
            _log.warning("interaction_failed", error=type(error).__name__)
            said = explain(error, words)
        await show_view(interaction, EphemeralView(said))
    return None


async def _decide(
    button: PrivacyButton, recipient: Recipient, privacy: Privacy, recipients: Recipients
) -> str:
    words = recipient.words.privacy
    if button.decision == "keep":
        if await privacy.is_erasing(recipient.user_id):
            raise ErasureUnfinished
        return words.gone if (await privacy.overview(recipient.user_id)).nothing_to_erase else words.kept
    if button.until < recipients.clock().timestamp():
        return words.too_late
    return words.told(await privacy.erase(recipient.user_id))


# ---- exporting -------------------------------------------------------------------------------------------
# `/privacy export`: all data of a user as JSON files, here or by DM.
#
# Each file is made and sent before the next one, so memory use does not grow with the history. A
# user-installed bot has five follow-ups; an incomplete export says so.


@command(privacy.register, "privacy_export")
class ExportPrivacyCommand:
    where = text_option("privacy_where", default="here", choices=choices("privacy", "here", "dm"))

    async def invoke(
        self, ctx: lightbulb.Context, privacy: Privacy, line: ExportQueue, recipients: Recipients
    ) -> None:
        recipient = await recipients.defer(ctx.interaction)
        day = recipients.clock().astimezone(recipient.timezone).date().isoformat()
        async with line.of(recipient.user_id):
            parts = line.one_by_one(privacy.export(recipient.user_id))
            told = await _send(parts, ctx.interaction, recipient, day, by_dm=self.where == "dm")
            await ctx.interaction.edit_initial_response(told)


async def _send(
    parts: AsyncIterator[bytes],
    interaction: hikari.CommandInteraction,
    recipient: Recipient,
    day: str,
    *,
    by_dm: bool,
) -> str:
    """Send the files as ephemeral follow-ups or by DM, and return the result."""
    texts, sent = recipient.words.privacy, 0
    try:
        async for part in parts:
            file = hikari.Bytes(part, f"cc-bot-{day}-{sent + 1}.json")
            if by_dm:
                await _send_by_dm(file, sent, interaction, recipient)
            elif sent:
                await interaction.execute(attachment=file, flags=hikari.MessageFlag.EPHEMERAL)
            else:
                await interaction.edit_initial_response(texts.exported, attachment=file)
            sent += 1
    except hikari.ClientHTTPResponseError as error:
        _log.warning("export_cut_short", sent=sent, error=type(error).__name__)
        told = texts.cut_short.format(sent=sent)
        if by_dm:
            return told if sent else texts.dm_closed
        return f"{texts.exported}\n{told}"
    if not sent:
        return texts.nothing
    if by_dm:
        return texts.exported_by_dm
    return f"{texts.exported}\n{texts.exported_parts.format(parts=sent)}" if sent > 1 else texts.exported


async def _send_by_dm(
    file: hikari.Bytes, number: int, interaction: hikari.CommandInteraction, recipient: Recipient
) -> None:
    """A nonce makes each post safe to retry."""
    rest, nonce = interaction.app.rest, f"x{base36(int(interaction.id))}-{number}"
    content = hikari.UNDEFINED if number else recipient.words.privacy.exported
    dm_id = await open_dm(rest, recipient.user_id)
    await repeat(lambda: rest.create_message(dm_id, content, attachment=file, nonce=nonce), RETRY_PAUSES_S)


# ---- showing ---------------------------------------------------------------------------------------------
# `/privacy show`: how much data is stored, since when, and for how long.


async def show(caller: Recipient, *, privacy: Privacy) -> Reply:
    held = await privacy.overview(caller.user_id)
    return Reply((caller.words.privacy.overview(held, privacy.retention, caller.timezone),))


reply_command(privacy.register, "privacy_show", show)
