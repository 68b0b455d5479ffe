"""`/settings`, `/usage` and `/privacy …` in the terminal."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cc_bot.chat.reply import Reply
from cc_bot.domain.clock import utc_now
from cc_bot.domain.text import Locale
from cc_bot.features.privacy.model import NOT_ERASED
from cc_bot.features.privacy.texts import PrivacyTexts
from cc_bot.features.settings.service import change_settings, describe_settings, show_usage
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.terminal.commands import Chat, Command, InvalidCommand, describe_command
from cc_bot.texts.cli import TerminalTexts


async def run_settings(chat: Chat, text: str, options: Mapping[str, str]) -> None:
    """Change the given settings, for this chat too, and show all. Raises UnknownTimezone, InvalidCommand."""
    if text:
        raise InvalidCommand(chat.texts[SessionTexts].settings_usage_in_terminal)
    changes = dict[str, Any]({"zone": options["timezone"]} if "timezone" in options else {})
    if language := options.get("language"):
        if language not in (*Locale,):
            raise InvalidCommand(chat.texts[SessionTexts].language_needed)
        changes["locale"] = Locale(language)
    default_zone = chat.defaults.timezone.key
    stored = await change_settings(chat.stores, chat.user_id, **changes, default_zone=default_zone)
    await chat.load_settings()
    texts = chat.texts[SessionTexts]
    language, zone_line = describe_settings(chat.profile.caller, stored, utc_now())
    rows = [("", texts.settings_language, language), ("", texts.settings_timezone, zone_line)]
    title = texts.settings_saved if changes else texts.settings_title
    moved = (texts.reminders_stay,) if "zone" in changes else ()
    chat.view.show_reply(Reply(title=title, notes=(*moved, texts.settings_usage_in_terminal)), rows)


async def run_usage(chat: Chat, _text: str, _options: Mapping[str, str]) -> Reply:
    return await show_usage(chat.profile.caller, server=False, spending=chat.parts.spending)


async def show_holdings(chat: Chat, _text: str, _options: Mapping[str, str]) -> str | None:
    texts, holdings = chat.texts[PrivacyTexts], await chat.parts.privacy.get_overview(chat.user_id)
    if holdings.is_empty:
        return texts.nothing
    kept = texts.retention_lines(chat.parts.privacy.retention, holdings)
    chat.view.show_reply(Reply(title=texts.title.removeprefix("🔒 ")), texts.count_rows(holdings))
    chat.view.show_reply(Reply(tuple(f"  {each}" for each in kept), title=texts.retention_title))
    chat.view.say(texts.web_note)
    next_steps = ("privacy export", "privacy erase")
    chat.view.show_reply(Reply(), [(f"/{name}", describe_command(name, chat.texts)) for name in next_steps])
    return None


async def export(chat: Chat, _text: str, _options: Mapping[str, str]) -> str:
    texts, privacy = chat.texts[PrivacyTexts], chat.parts.privacy
    folder = (chat.profile.history_file or Path.cwd() / "chat_history").parent
    path = folder / f"cc-bot-{utc_now().astimezone(chat.profile.timezone):%Y%m%d-%H%M%S}.json"
    if (await privacy.get_overview(chat.user_id)).is_empty:
        return texts.nothing
    try:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            async for chunk in privacy.export_whole(chat.user_id):
                file.write(chunk)
    except OSError:
        raise InvalidCommand(chat.texts[TerminalTexts].not_written.format(path=path)) from None
    return f"{texts.exported}\n{path}"


async def erase(chat: Chat, _text: str, _options: Mapping[str, str]) -> str:
    texts, privacy = chat.texts[PrivacyTexts], chat.parts.privacy
    holdings = await privacy.get_overview(chat.user_id)
    if holdings.has_nothing_to_erase:
        return texts.nothing_erased
    remaining = texts.list_remaining(holdings)
    if not chat.user_id:  # not a user of Discord
        remaining = [remaining[1], remaining[-1]]
    chat.view.show_reply(
        Reply(title=texts.question, notes=(texts.for_good,)), texts.count_rows(holdings, without=NOT_ERASED)
    )
    chat.view.show_reply(Reply(tuple(f"  {each}" for each in remaining), title=texts.remains))
    if not await chat.confirm(chat.texts[TerminalTexts].confirm):
        return texts.cancelled
    return texts.say_erased(await privacy.erase(chat.user_id))


COMMANDS: Final[Mapping[str, Command]] = {
    "settings": Command(run_settings, options=("settings_language", "settings_timezone")),
    "usage": Command(run_usage),
    "privacy show": Command(show_holdings, short="privacy"),
    "privacy export": Command(export),
    "privacy erase": Command(erase),
}
