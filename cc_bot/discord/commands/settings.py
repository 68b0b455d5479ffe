"""`/settings`, `/help`, `/usage` and `/web`, which opens the user's pages in a browser."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from urllib.parse import urlencode

import hikari
import lightbulb

from cc_bot.commands.reply import Reply
from cc_bot.commands.usage import show_usage
from cc_bot.discord.declaring import Choice, choices, reply_command, suggesting, switch_option, text_option
from cc_bot.discord.delivery.turns import RunningTurns
from cc_bot.discord.gate import Owners
from cc_bot.discord.gateway import GrantedReading
from cc_bot.discord.pages.custom_ids import BrowserMenu
from cc_bot.discord.pages.memory import EphemeralView, timestamp
from cc_bot.discord.pages.page import Button, Menu, MenuOption
from cc_bot.discord.presses import on_press
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.discord.web import PagesUrl
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Reading, UserSettings
from cc_bot.domain.timezones import suggest_zones
from cc_bot.domain.web import WebPlace, WebSession
from cc_bot.preferences import choose
from cc_bot.stores import Keep, Stores, WebSessionStore
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

ALL: Final = "all"
MAX_LISTED: Final = 5
"""Browsers in the text; the menu has more."""


async def open_pages(caller: Recipient, *, browsers: WebSessionStore, pages: PagesUrl) -> EphemeralView:
    texts, links = caller.words.web_command, list[Button]()
    if pages.url:
        code = await browsers.make_code(WebPlace(caller.user_id, caller.channel_id, caller.guild_id))
        links = [Button(texts.open, "", url=f"{pages.url}/sign-in?{urlencode({'code': code})}")]
    signed_in = await browsers.list(caller.user_id)
    lines = [texts.link if links else texts.not_served, *_list(signed_in, caller)]
    return EphemeralView("\n".join(lines), buttons=tuple(links), menu=_menu(signed_in, caller))


reply_command(loader.command, "web", open_pages)


@on_press(BrowserMenu, not_yours=lambda words: words.privacy.not_yours)
async def sign_out(
    interaction: hikari.ComponentInteraction, _: BrowserMenu, recipient: Recipient, browsers: WebSessionStore
) -> EphemeralView:
    [chosen] = interaction.values
    if chosen == ALL:
        ended = await browsers.end_all(recipient.user_id)
    else:
        ended = int(await browsers.end(recipient.user_id, int(chosen)))
    words, left = recipient.words.web_command, await browsers.list(recipient.user_id)
    told = words.ended.format(count=ended) if ended else words.ended_already
    lines = (told, *_list(left, recipient))
    return EphemeralView("\n".join(lines), menu=_menu(left, recipient))


def _list(signed_in: Sequence[WebSession], recipient: Recipient) -> Sequence[str]:
    words = recipient.words.web_command
    if not signed_in:
        return ()
    lines = [
        words.session.format(made=timestamp(each.made_at, "f"), used=timestamp(each.used_at, "f"))
        for each in signed_in[:MAX_LISTED]
    ]
    left = len(signed_in) - len(lines)
    heading = words.signed_in.format(count=len(signed_in))
    return ["", heading, *lines, *([words.more.format(count=left)] if left else [])]


def _menu(signed_in: Sequence[WebSession], recipient: Recipient) -> Menu | None:
    if not signed_in:
        return None
    words = recipient.words.web_command
    options = [
        MenuOption(words.end_choice.format(made=_local(each.made_at, recipient)), str(each.id))
        for each in signed_in[:24]
    ]
    everything = MenuOption(words.end_all, ALL)
    return Menu(BrowserMenu(recipient.user_id).custom_id(), words.end_one, (everything, *options))


def _local(moment: datetime, recipient: Recipient) -> str:
    """Return the time as plain text, where Discord shows no timestamps."""
    return f"{moment.astimezone(recipient.timezone):%Y-%m-%d %H:%M}"
