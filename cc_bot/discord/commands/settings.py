"""`/settings`: a user's own language and time zone, and whether answers are read aloud. Discord tells the
language alone."""

from collections.abc import Sequence

import hikari
import lightbulb
import structlog

from cc_bot.discord.declaring import Choice, choices, command, suggesting, switch_option, text_option
from cc_bot.discord.delivery.live import RunningTurns
from cc_bot.discord.gateway import GrantedReading
from cc_bot.discord.interactions import defer, payer_of
from cc_bot.discord.owners import Owners
from cc_bot.discord.pages.admin import usage_view
from cc_bot.discord.pages.memory import COLOUR
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Reading, UserSettings
from cc_bot.domain.timezones import suggest_zones
from cc_bot.preferences import choose
from cc_bot.spending import Spending
from cc_bot.stores import Keep, Stores
from cc_bot.texts.session import SessionTexts

_log = structlog.get_logger(__name__)

loader = lightbulb.Loader()


async def suggest_timezones(
    ctx: lightbulb.AutocompleteContext[str], recipients: Recipients = lightbulb.di.INJECTED
) -> Sequence[Choice]:
    own = (await recipients.of(ctx.interaction)).timezone.key
    return suggest_zones(str(ctx.focused.value or ""), own)


@command(loader.command, "settings")
class SettingsCommand:
    language = text_option(
        "settings_language",
        default=None,
        choices=[lightbulb.Choice("日本語", "ja"), lightbulb.Choice("English", "en")],
    )
    timezone = text_option(
        "settings_timezone", default=None, max_length=64, autocomplete=suggesting(suggest_timezones)
    )
    voice = text_option("settings_voice", default=None, choices=choices("settings_voice", "on", "off"))

    async def invoke(
        self,
        ctx: lightbulb.Context,
        stores: Stores,
        recipients: Recipients,
        running: RunningTurns,
    ) -> None:
        await defer(ctx.interaction, ephemeral=True)
        user_id = int(ctx.user.id)
        may_speak = running.spoken is not None and running.spoken.possible
        in_vain = self.voice == "on" and not may_speak
        choices = (self.language, self.timezone, None if in_vain else self.voice)
        chosen = None
        if any(choice is not None for choice in choices):
            chosen = await choose(
                stores,
                user_id,
                locale=Keep.AS_IS if self.language is None else Locale(self.language),
                zone=Keep.AS_IS if self.timezone is None else self.timezone,
                spoken=Keep.AS_IS if self.voice is None or in_vain else self.voice == "on",
                default_zone=recipients.timezone.key,
            )
        recipient = await recipients.of(ctx.interaction)
        sentences = [recipient.words.session.voice_unset] if in_vain else []
        if chosen is not None:
            sentences.insert(0, _saved(recipient, may_speak=may_speak))
        elif not in_vain:
            sentences.append(_overview(recipient, await stores.settings.get(user_id), may_speak=may_speak))
        await ctx.interaction.edit_initial_response("\n".join(sentences))


def _saved(recipient: Recipient, *, may_speak: bool) -> str:
    words = recipient.words.session
    saved = words.settings_saved.format(language=_language(recipient), timezone=recipient.timezone.key)
    return words.voice_saved.format(saved=saved, voice=_voice(recipient)) if may_speak else saved


def _overview(recipient: Recipient, chosen: UserSettings, *, may_speak: bool) -> str:
    words = recipient.words.session
    language, timezone = _language(recipient), recipient.timezone.key
    shown_language = language if chosen.locale else words.settings_default.format(value=language)
    shown_timezone = timezone if chosen.timezone else words.settings_default.format(value=timezone)
    lines = [
        f"**{words.settings_title}**",
        f"{words.settings_language}: {shown_language}",
        f"{words.settings_timezone}: {shown_timezone}",
    ]
    if may_speak:
        lines.append(f"{words.settings_voice}: {_voice(recipient)}")
    return "\n".join(lines)


def _voice(recipient: Recipient) -> str:
    words = recipient.words.session
    return words.voice_on if recipient.spoken else words.voice_off


def _language(recipient: Recipient) -> str:
    words = recipient.words.session
    return words.language_ja if recipient.locale is Locale.JA else words.language_en


# ---- help ------------------------------------------------------------------------------------------------
# `/help`: what cc-bot can do.


@command(loader.command, "help")
class HelpCommand:
    async def invoke(
        self, ctx: lightbulb.Context, recipients: Recipients, granted: GrantedReading, owners: Owners
    ) -> None:
        words = (await recipients.defer(ctx.interaction)).words.session
        owner = int(ctx.user.id) in await owners.ids()
        told = help_text(words, granted.reading, owner=owner)
        await ctx.interaction.edit_initial_response(embed=hikari.Embed(description=told, colour=COLOUR))


def help_text(words: SessionTexts, reading: Reading, *, owner: bool = False) -> str:
    """Return what the bot can do, and what it stores, where it may read so much. For an embed: with all the
    commands it is longer than a message's content may be."""
    mention = "" if reading == "off" else words.help_mention
    stored = {"off": "", "mentions": words.help_stored_mentions, "all": words.help_stored_all}
    admin = words.help_admin if owner else ""
    return words.help.format(mention=mention, admin=admin, stored=stored[reading])


# ---- usage -----------------------------------------------------------------------------------------------
# `/usage`: a member's own tokens and cost; for those who manage the server, all of it together.

_MANAGERS = hikari.Permissions.MANAGE_GUILD | hikari.Permissions.ADMINISTRATOR


@command(loader.command, "usage")
class UsageCommand:
    server = switch_option("usage_server", default=False)

    async def invoke(self, ctx: lightbulb.Context, spending: Spending, recipients: Recipients) -> None:
        interaction = ctx.interaction
        words = (await recipients.defer(interaction)).words
        member, guild_id = interaction.member, interaction.guild_id
        if not self.server:
            report = await spending.report_of(payer_of(interaction))
        elif guild_id is None or member is None:
            await interaction.edit_initial_response(words.usage.servers_only)
            return
        elif not member.permissions & _MANAGERS:
            await interaction.edit_initial_response(words.usage.managers_only)
            return
        else:
            report = await spending.report_of_guild(int(guild_id))
        await interaction.edit_initial_response(embed=usage_view(report, words))
