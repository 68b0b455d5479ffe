"""`/web`: a sign-in link to the user's pages, and the signed-in browsers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from urllib.parse import urlencode

import hikari
import lightbulb

from cc_bot.discord.declaring import reply_command
from cc_bot.discord.interactions import defer_update
from cc_bot.discord.pages.custom_ids import BrowserMenu
from cc_bot.discord.pages.memory import EphemeralView, timestamp
from cc_bot.discord.pages.page import Button, Menu, MenuOption
from cc_bot.discord.presses import on_press, show_view
from cc_bot.discord.recipients import Recipient
from cc_bot.discord.web import PagesUrl
from cc_bot.domain.web import WebPlace, WebSession
from cc_bot.stores import WebSessionStore

loader = lightbulb.Loader()

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


@on_press(loader, BrowserMenu, not_yours=lambda words: words.privacy.not_yours)
async def sign_out(
    interaction: hikari.ComponentInteraction, _: BrowserMenu, recipient: Recipient, browsers: WebSessionStore
) -> None:
    await defer_update(interaction)
    [chosen] = interaction.values
    if chosen == ALL:
        ended = await browsers.end_all(recipient.user_id)
    else:
        ended = int(await browsers.end(recipient.user_id, int(chosen)))
    words, left = recipient.words.web_command, await browsers.list(recipient.user_id)
    told = words.ended.format(count=ended) if ended else words.ended_already
    lines = (told, *_list(left, recipient))
    await show_view(interaction, EphemeralView("\n".join(lines), menu=_menu(left, recipient)))


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
