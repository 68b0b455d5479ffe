"""`/settings`, `/help` and `/usage`: a user's language, time zone, voice and usage."""

from collections.abc import Sequence

import lightbulb

from cc_bot.commands.reply import Reply
from cc_bot.commands.usage import show_usage
from cc_bot.discord.declaring import Choice, choices, reply_command, suggesting, switch_option, text_option
from cc_bot.discord.delivery.turns import RunningTurns
from cc_bot.discord.gate import Owners
from cc_bot.discord.gateway import GrantedReading
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Reading, UserSettings
from cc_bot.domain.timezones import suggest_zones
from cc_bot.preferences import choose
from cc_bot.stores import Keep, Stores
from cc_bot.texts.session import SessionTexts

loader = lightbulb.Loader()


async def suggest_timezones(
    ctx: lightbulb.AutocompleteContext[str], recipients: Recipients = lightbulb.di.INJECTED
) -> Sequence[Choice]:
    own = (await recipients.of(ctx.interaction)).timezone.key
    return suggest_zones(str(ctx.focused.value or ""), own)


async def settings(
    caller: Recipient,
    language: str | None,
    timezone: str | None,
    voice: str | None,
    *,
    ctx: lightbulb.Context,
    stores: Stores,
    recipients: Recipients,
    running: RunningTurns,
) -> Reply:
    """Change the given settings, and show all. Raises UnknownTimezone."""
    may_speak = running.spoken is not None and running.spoken.possible
    in_vain = voice == "on" and not may_speak
    if in_vain:
        voice = None
    changes = any(choice is not None for choice in (language, timezone, voice))
    if changes:
        await choose(
            stores,
            caller.user_id,
            locale=Keep.AS_IS if language is None else Locale(language),
            zone=Keep.AS_IS if timezone is None else timezone,
            spoken=Keep.AS_IS if voice is None else voice == "on",
            default_zone=recipients.timezone.key,
        )
        caller = await recipients.of(ctx.interaction)
    texts = caller.words.session
    saved = [texts.settings_saved] if changes else []
    lines = _overview(caller, await stores.settings.get(caller.user_id), may_speak=may_speak)
    notes = (texts.voice_unset,) if in_vain else ()
    return Reply((*saved, *lines), title=texts.settings_title, notes=notes)


def _overview(caller: Recipient, chosen: UserSettings, *, may_speak: bool) -> Sequence[str]:
    texts, zone = caller.words.session, caller.timezone.key
    language = texts.language_ja if caller.locale is Locale.JA else texts.language_en
    if not chosen.locale:
        language = texts.settings_default.format(value=language)
    if not chosen.timezone:
        zone = texts.settings_default.format(value=zone)
    lines = [f"{texts.settings_language}: {language}", f"{texts.settings_timezone}: {zone}"]
    voice = texts.voice_on if caller.spoken else texts.voice_off
    return [*lines, f"{texts.settings_voice}: {voice}"] if may_speak else lines


reply_command(
    loader.command,
    "settings",
    settings,
    language=text_option(
        "settings_language",
        default=None,
        choices=[lightbulb.Choice("日本語", "ja"), lightbulb.Choice("English", "en")],
    ),
    timezone=text_option(
        "settings_timezone", default=None, max_length=64, autocomplete=suggesting(suggest_timezones)
    ),
    voice=text_option("settings_voice", default=None, choices=choices("settings_voice", "on", "off")),
)


async def show_help(caller: Recipient, *, granted: GrantedReading, owners: Owners) -> Reply:
    owner = caller.user_id in await owners.ids()
    return Reply((help_text(caller.words.session, granted.reading, owner=owner),))


def help_text(words: SessionTexts, reading: Reading, *, owner: bool = False) -> str:
    """Return the help, with what the bot stores given what it may read. For an embed: it exceeds the limit of
    message contents."""
    mention = "" if reading == "off" else words.help_mention
    stored = {"off": "", "mentions": words.help_stored_mentions, "all": words.help_stored_all}
    admin = words.help_admin if owner else ""
    return words.help.format(mention=mention, admin=admin, stored=stored[reading])


reply_command(loader.command, "help", show_help)
reply_command(loader.command, "usage", show_usage, server=switch_option("usage_server", default=False))
