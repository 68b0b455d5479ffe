"""`/settings`, `/help`, `/usage`, `/web` and `/privacy …`: a user's own settings and data."""

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

import hikari
import lightbulb
import structlog
from hikari.impl import ModalActionRowBuilder

from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.settings import WebSessionStore
from cc_bot.concurrency import ExportQueue
from cc_bot.discord.delivery.receipts import ReceiptUpdater
from cc_bot.discord.delivery.turns import RunningTurns
from cc_bot.discord.gate import Owners
from cc_bot.discord.gateway import GrantedReading
from cc_bot.discord.handlers import (
    Choice,
    Press,
    Submission,
    choices,
    on_press,
    reply_command,
    show,
    suggest_from,
    switch_option,
    text_option,
)
from cc_bot.discord.interactions import MAX_AUTOCOMPLETE_CHOICES, Answerable
from cc_bot.discord.pages.custom_ids import (
    BrowserMenu,
    PrivacyButton,
    Setting,
    SettingsButton,
    ShowButton,
    TimezoneForm,
)
from cc_bot.discord.pages.page import Button, EphemeralView, Menu, Paragraph, timestamp
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.discord.services import BotDependencies
from cc_bot.domain.access import SignInOrigin, WebSession
from cc_bot.domain.clock import suggest_zones
from cc_bot.domain.errors import ErasureUnfinished
from cc_bot.domain.message import ChannelReading, UserSettings
from cc_bot.domain.text import Locale
from cc_bot.features.privacy.model import CONFIRM_WITHIN, Holdings
from cc_bot.features.privacy.service import Privacy
from cc_bot.features.privacy.texts import PrivacyTexts
from cc_bot.features.settings.service import change_settings, describe_settings, show_usage
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.texts import Texts, explain
from cc_bot.texts.commands import command_namer, command_names
from cc_bot.texts.web import WebCommandTexts, WebSettingsTexts

_log = structlog.get_logger(__name__)

loader = lightbulb.Loader()

LANGUAGES: Final = {"ja": "日本語", "en": "English"}
MAX_ZONE_CHARACTERS: Final = 64


async def suggest_timezones(
    ctx: lightbulb.AutocompleteContext[str], recipients: Recipients = lightbulb.di.INJECTED
) -> Sequence[Choice]:
    current = (await recipients.find(ctx.interaction)).timezone.key
    return suggest_zones(str(ctx.focused.value or ""), current)


async def settings(
    caller: Recipient,
    language: str | None = None,
    timezone: str | None = None,
    voice: str | None = None,
    *,
    ctx: lightbulb.Context | Press[ShowButton],
    stores: Stores,
    recipients: Recipients,
    running: RunningTurns,
) -> EphemeralView:
    options = {"language": language, "timezone": timezone, "voice": voice}
    given = {name: value for name, value in options.items() if value is not None}
    return await _apply(ctx.interaction, caller, given, stores=stores, recipients=recipients, running=running)


async def _apply(
    interaction: hikari.PartialInteraction,
    caller: Recipient,
    given: Mapping[str, str],
    *,
    stores: Stores,
    recipients: Recipients,
    running: RunningTurns,
) -> EphemeralView:
    """Change the given settings, and show all. An empty time zone resets it. Raises UnknownTimezone."""
    has_voice, changes = running.spoken_answers is not None, dict[str, Any]()
    voice_is_missing = given.get("voice") == "on" and not has_voice
    if "language" in given:
        changes["locale"] = Locale(given["language"])
    if "timezone" in given:
        changes["zone"] = given["timezone"].strip() or None
    if "voice" in given and not voice_is_missing:
        changes["spoken"] = given["voice"] == "on"
    if changes:
        await change_settings(stores, caller.user_id, **changes, default_zone=recipients.timezone.key)
        caller = await recipients.find(interaction)
    texts, stored = caller.words[SessionTexts], await stores.settings.get(caller.user_id)
    return EphemeralView(
        texts.settings_saved if changes else "",
        title=texts.settings_title,
        paragraphs=tuple(_describe_settings(caller, stored, recipients.clock(), has_voice=has_voice)),
        footer=texts.voice_unset if voice_is_missing else "",
    )


def _describe_settings(
    caller: Recipient, stored: UserSettings, now: datetime, *, has_voice: bool
) -> Iterator[Paragraph]:
    texts, other = caller.words[SessionTexts], "ja" if caller.locale is Locale.EN else "en"
    language, zone = describe_settings(caller, stored, now)

    def section(name: str, shown: str, label: str, setting: Setting, value: str = "") -> Paragraph:
        button = Button(label, SettingsButton(caller.user_id, setting, value).custom_id())
        return Paragraph(f"**{name}**\n-# {shown}", button)

    yield section(texts.settings_language, language, texts.change_language, "language", other)
    yield section(texts.settings_timezone, zone, texts.change, "timezone")
    if has_voice and caller.spoken:
        yield section(texts.settings_voice, texts.voice_on, texts.turn_off, "voice", "off")
    elif has_voice:
        yield section(texts.settings_voice, texts.voice_off, texts.turn_on, "voice", "on")


def _opens_form(control: object) -> bool:
    return isinstance(control, SettingsButton) and control.setting == "timezone"


@on_press(SettingsButton, TimezoneForm, not_yours=None, matches=lambda each: not _opens_form(each))
async def change_setting(
    press: Press[SettingsButton] | Submission[TimezoneForm],
    stores: Stores,
    recipients: Recipients,
    running: RunningTurns,
) -> EphemeralView:
    interaction, _, caller = press
    given = press.values if isinstance(press, Submission) else {str(press.button.setting): press.button.value}
    return await _apply(interaction, caller, given, stores=stores, recipients=recipients, running=running)


@on_press(SettingsButton, not_yours=None, matches=_opens_form, response="by_handler")
async def open_timezone_form(press: Press[SettingsButton]) -> None:
    texts, zone = press.user.words[SessionTexts], press.user.timezone.key
    row = ModalActionRowBuilder()
    row.add_text_input(
        "timezone", texts.timezone_form, value=zone, required=False, max_length=MAX_ZONE_CHARACTERS
    )
    custom_id = TimezoneForm(press.user.user_id).custom_id()
    await press.interaction.create_modal_response(texts.settings_timezone, custom_id, components=[row])


reply_command(
    loader.command,
    "settings",
    settings,
    shown_as="settings",
    language=text_option(
        "settings_language",
        default=None,
        choices=[lightbulb.Choice(name, value) for value, name in LANGUAGES.items()],
    ),
    timezone=text_option(
        "settings_timezone",
        default=None,
        max_length=MAX_ZONE_CHARACTERS,
        autocomplete=suggest_from(suggest_timezones),
    ),
    voice=text_option("settings_voice", default=None, choices=choices("settings_voice", "on", "off")),
)


_COMMAND: Final = re.compile(r"</([a-z]+)")


async def show_help(caller: Recipient) -> EphemeralView:
    texts, names = caller.words[SessionTexts], command_names(caller.words.locale).keys()
    templates = SessionTexts.help_first.in_locale(caller.words.locale).split("\n\n")

    def button(key: str) -> Button | None:
        label = texts.help_buttons.get(key, "")
        return Button(label, ShowButton(caller.user_id, key).custom_id()) if label else None

    paragraphs = [
        Paragraph(topic, button(commands[0]))
        for template, topic in zip(templates, texts.help_first.split("\n\n"), strict=True)
        if names >= {*(commands := _COMMAND.findall(template))}
    ]
    all_commands = Button(texts.help_all, ShowButton(caller.user_id, "help").custom_id())
    return EphemeralView(title=texts.help_title, paragraphs=tuple(paragraphs), buttons=(all_commands,))


@on_press(ShowButton, not_yours=None, matches=lambda each: each.command == "help", response="message")
async def show_commands(press: Press[ShowButton], granted: GrantedReading, owners: Owners) -> EphemeralView:
    words, is_owner = press.user.words, press.user.user_id in await owners.ids()
    sections = help_sections(words, granted.reading, is_owner=is_owner)
    return EphemeralView(title=words[SessionTexts].help_all, paragraphs=sections)


def help_sections(words: Texts, reading: ChannelReading, *, is_owner: bool = False) -> tuple[Paragraph, ...]:
    """Return the help by topic. Commands that no topic names are listed with their descriptions."""
    texts, names, name_command = words[SessionTexts], command_names(words.locale), command_namer(words.locale)
    templates = SessionTexts.help.in_locale(words.locale)
    described = {"admin", "help", *_COMMAND.findall(templates)}
    others = "".join(
        f"`{name_command(key)}` {names[f'{key}_description']}\n"
        for key in names
        if "_" not in key and f"{key}_description" in names and key not in described
    )
    values = {
        "mention": "" if reading == "off" else texts.help_mention,
        "admin": others + (texts.help_admin if is_owner and "admin" in names else ""),
        "stored": {"off": "", "mentions": texts.help_stored_mentions, "all": texts.help_stored_all}[reading],
    }
    sections = list[Paragraph]()
    for template, section in zip(templates.split("\n\n"), texts.help.split("\n\n"), strict=True):
        commands = [_COMMAND.search(line) for line in template.splitlines()]
        lines = [
            line
            for command, line in zip(commands, section.splitlines(), strict=True)
            if command is None or command[1] in names
        ]
        if len(lines) < 2:  # the feature with these commands is missing
            continue
        sections.append(Paragraph("\n".join(lines).format(**values).strip()))
    return tuple(sections)


reply_command(loader.command, "help", show_help)
reply_command(loader.command, "usage", show_usage, server=switch_option("usage_server", default=False))

ALL_BROWSERS: Final = "all"


async def open_pages(caller: Recipient, *, browsers: WebSessionStore, bot: BotDependencies) -> EphemeralView:
    texts, links = caller.words[WebCommandTexts], tuple[Button, ...]()
    if bot.pages_url:
        code = await browsers.make_code(SignInOrigin(caller.user_id, caller.channel_id, caller.guild_id))
        links = (Button(texts.open, "", url=f"{bot.pages_url}/sign-in?{urlencode({'code': code})}"),)
    sentence = texts.link if links else texts.not_served
    return _browsers_view(sentence, await browsers.list(caller.user_id), caller, links)


reply_command(loader.command, "web", open_pages)


@on_press(BrowserMenu, not_yours=lambda words: words[PrivacyTexts].not_yours)
async def sign_out(press: Press[BrowserMenu], browsers: WebSessionStore) -> EphemeralView:
    interaction, _, recipient = press
    [choice] = interaction.values
    if choice == ALL_BROWSERS:
        count = await browsers.end_all(recipient.user_id)
    else:
        count = int(await browsers.end(recipient.user_id, int(choice)))
    texts = recipient.words[WebCommandTexts]
    sentence = texts.ended.format(count=count) if count else texts.ended_already
    return _browsers_view(sentence, await browsers.list(recipient.user_id), recipient)


def _browsers_view(
    sentence: str, sessions: Sequence[WebSession], reader: Recipient, links: tuple[Button, ...] = ()
) -> EphemeralView:
    if not sessions:
        return EphemeralView(sentence, buttons=links)
    texts = reader.words[WebCommandTexts]
    options = [(texts.end_all, ALL_BROWSERS)]
    for each in sessions[: MAX_AUTOCOMPLETE_CHOICES - 1]:
        name = each.browser or reader.words[WebSettingsTexts].unknown_browser
        made = reader.format_time(each.made_at)
        options.append((texts.end_choice.format(browser=name, made=made), str(each.id)))
    placeholder = texts.end_one.format(count=len(sessions))
    menu = Menu(BrowserMenu(reader.user_id).custom_id(), placeholder, tuple(options))
    return EphemeralView(sentence, buttons=links, menu=menu)


privacy = lightbulb.Group("privacy", "privacy_description", localize=True)
loader.command(privacy)


async def erase(caller: Recipient, *, privacy: Privacy, recipients: Recipients) -> EphemeralView:
    holdings = await privacy.get_overview(caller.user_id)
    if holdings.has_nothing_to_erase:
        return EphemeralView(caller.words[PrivacyTexts].nothing_to_erase(holdings))
    return erase_question(holdings, caller, recipients.clock())


def erase_question(holdings: Holdings, caller: Recipient, now: datetime) -> EphemeralView:
    texts, until = caller.words[PrivacyTexts], now + CONFIRM_WITHIN
    erase_id, keep_id = (
        PrivacyButton(caller.user_id, decision, int(until.timestamp())).custom_id()
        for decision in ("erase", "keep")
    )
    return EphemeralView(
        title=texts.question,
        paragraphs=tuple(map(Paragraph, texts.say_what_goes(holdings).split("\n\n"))),
        footer=texts.confirm_within.format(until=timestamp(until, "t")),
        buttons=(Button(texts.erase, erase_id, danger=True), Button(texts.keep, keep_id)),
    )


reply_command(privacy.register, "privacy_erase", erase, shown_as="erase")


@on_press(PrivacyButton, not_yours=lambda words: words[PrivacyTexts].not_yours)
async def confirm_erasure(
    press: Press[PrivacyButton], privacy: Privacy, recipients: Recipients, updater: ReceiptUpdater
) -> str | None:
    interaction, button, recipient = press
    words = recipient.words
    is_kept = button.decision == "keep"
    if privacy.is_closed and not is_kept:
        return words[PrivacyTexts].restarting
    if is_kept or button.until < recipients.clock().timestamp():
        sentence = words[PrivacyTexts].cancelled if is_kept else words[PrivacyTexts].too_late
        await show(interaction, EphemeralView(sentence), recipient)
        return None
    with privacy.hold_shutdown():
        try:
            async with updater.erasing(recipient.user_id, words):
                sentence = words[PrivacyTexts].say_erased(await privacy.erase(recipient.user_id))
        except ErasureUnfinished as error:  # `keep_finishing` will finish it
            _log.warning("interaction_failed", error=type(error).__name__)
            sentence = explain(error, words)
        await show(interaction, EphemeralView(sentence), recipient)
    return None


# Files are made and sent one by one to limit memory. A user-installed bot may send only five follow-ups; a
# sentence says so if more would be needed.


async def export(
    caller: Recipient,
    *,
    ctx: lightbulb.Context | Press[ShowButton],
    privacy: Privacy,
    queue: ExportQueue,
    recipients: Recipients,
) -> None:
    day = recipients.clock().astimezone(caller.timezone).date().isoformat()
    async with queue.wait_for_earlier(caller.user_id):
        files = queue.alternate(privacy.export(caller.user_id))
        sentence = await _send_files(files, ctx.interaction, caller.words[PrivacyTexts], day)
        await ctx.interaction.edit_initial_response(sentence)


reply_command(privacy.register, "privacy_export", export, shown_as="export")


async def _send_files(
    files: AsyncIterator[bytes], interaction: Answerable, texts: PrivacyTexts, day: str
) -> str:
    sent = 0
    try:
        async for content in files:
            file = hikari.Bytes(content, f"cc-bot-{day}-{sent + 1}.json")
            if sent:
                await interaction.execute(attachment=file, flags=hikari.MessageFlag.EPHEMERAL)
            else:
                await interaction.edit_initial_response(texts.exported, attachment=file)
            sent += 1
    except hikari.ClientHTTPResponseError as error:
        _log.warning("export_cut_short", sent=sent, error=type(error).__name__)
        return f"{texts.exported}\n{texts.cut_short.format(sent=sent)}"
    if not sent:
        return texts.nothing
    return f"{texts.exported}\n{texts.exported_parts.format(parts=sent)}" if sent > 1 else texts.exported


async def show_privacy(caller: Recipient, *, privacy: Privacy) -> EphemeralView:
    texts, holdings = caller.words[PrivacyTexts], await privacy.get_overview(caller.user_id)
    if holdings.is_empty:
        return EphemeralView(texts.nothing)
    title, _, sections = texts.overview(holdings, privacy.retention).partition("\n")
    labels = {"export": texts.export, "erase": texts.erase_ask}
    buttons = tuple(Button(labels[key], ShowButton(caller.user_id, key).custom_id()) for key in labels)
    paragraphs = tuple(map(Paragraph, sections.split("\n\n")))
    return EphemeralView(title=title, paragraphs=paragraphs, buttons=buttons)


reply_command(privacy.register, "privacy_show", show_privacy, shown_as="privacy")
