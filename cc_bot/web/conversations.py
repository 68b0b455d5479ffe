"""A user's conversations by channel and agent, to read and delete."""

import asyncio
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from typing import Final
from urllib.parse import quote, urlencode

from aiohttp import web

from cc_bot.domain.clock import DISCORD_EPOCH_MS, utc_now
from cc_bot.domain.errors import ConversationNotFound, NothingHere
from cc_bot.domain.message import DEFAULT_AGENT
from cc_bot.domain.session import ArchivedSession, SessionKey
from cc_bot.domain.text import contains_words, one_line, shorten
from cc_bot.domain.tool_calls import list_sources
from cc_bot.texts import Texts
from cc_bot.texts.replies import MomentTexts
from cc_bot.texts.web import WebConversationTexts, WebTexts
from cc_bot.web.form import PageNumber
from cc_bot.web.markdown import to_html
from cc_bot.web.page import (
    BOT,
    MAX_FOUND,
    MAX_SEARCH_CHARACTERS,
    Found,
    Hit,
    Pages,
    redirect,
    render,
    search_words,
    send_file,
)
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import WebVisitor, visitor_of

SESSIONS_PER_PAGE: Final = 20
MESSAGES_PER_PAGE: Final = 40
MAX_CHOICES: Final = 50
MAX_TITLE_CHARACTERS: Final = 80
_ID: Final = "{id:[0-9a-f-]{36}}"


class ConversationPages(Pages):
    path = "/conversations"
    menu_position = 2

    def title(self, words: Texts) -> str:
        return words[WebTexts].conversations

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/conversations", self.list),
            web.get(f"/conversations/{_ID}", self.read),
            web.get(f"/conversations/{_ID}/export", self.export),
            web.post(f"/conversations/{_ID}/delete", self.delete),
            web.post(f"/conversations/{_ID}/restore", self.restore),
        )

    async def list(self, request: web.Request) -> web.Response:
        """List all conversations, or those of one channel and agent with their summary."""
        visitor, stores = visitor_of(request), self._services.stores
        all_keys = await stores.archive.list_keys(visitor.user_id)
        place = request.query.get("place", "")
        selected = next((key for key in all_keys if key_text(key) == place), None)
        if place and selected is None:
            raise NothingHere
        search = search_words(request)
        counts = Counter(
            await stores.archive.list_keys(visitor.user_id, search=search) if search else all_keys
        )
        count = counts[selected] if selected else counts.total()
        page = PageNumber.parse(request.query.get("page", "1"), count, SESSIONS_PER_PAGE)
        sessions = await stores.archive.list_sessions(
            visitor.user_id,
            channel_id=selected.channel_id if selected else None,
            agent=selected.agent if selected else None,
            search=search,
            limit=SESSIONS_PER_PAGE,
            offset=page.offset(SESSIONS_PER_PAGE),
        )
        choices = [*dict.fromkeys(all_keys)][:MAX_CHOICES]
        agents = await self._services.agents.get_all()
        keys = [*choices, *(session.key for session in sessions), *filter(None, [selected])]
        return render(
            request,
            "conversations.html",
            counts=counts,
            choices=choices,
            selected=selected,
            groups=[(age, [*some]) for age, some in groupby(sessions, partial(_name_age, visitor))],
            search=search,
            max_search=MAX_SEARCH_CHARACTERS,
            session_path=session_path,
            plain_title=plain_title,
            excerpts=await self._find_excerpts(sessions, search),
            summaries=await stores.summaries.list_current(selected) if selected else (),
            channels=await channel_names(self._services, (key.channel_id for key in keys), visitor),
            agents={name: agent.display_name(visitor.locale) for name, agent in agents.items()},
            page=page,
            hidden=[
                (each.id, _title(each, visitor.words[WebConversationTexts]))
                for each in await stores.archive.list_hidden(visitor.user_id)
            ],
            key_text=key_text,
        )

    async def search(self, request: web.Request, words: str) -> Found:
        visitor, archive = visitor_of(request), self._services.stores.archive
        sessions = await archive.list_sessions(visitor.user_id, search=words, limit=MAX_FOUND)
        texts, excerpts = visitor.words[WebConversationTexts], await self._find_excerpts(sessions, words)
        channels = await channel_names(self._services, (each.key.channel_id for each in sessions), visitor)
        items = [
            Hit(
                session_path(each, words),
                _title(each, texts),
                channels[each.key.channel_id],
                each.created_at,
                excerpts.get(each.id, ""),
            )
            for each in sessions
        ]
        count = len(await archive.list_keys(visitor.user_id, search=words))
        return Found(items, count, f"{self.path}?{urlencode({'q': words})}")

    async def _find_excerpts(self, sessions: Sequence[ArchivedSession], words: str) -> Mapping[str, str]:
        """Return, by id, a message with the first word for each conversation whose title lacks it."""
        word = words.partition(" ")[0]
        ids = [each.id for each in sessions if not contains_words(plain_title(each.opening), word)]
        if not ids:
            return {}
        found = await self._services.stores.archive.find_messages(sessions[0].key.user_id, ids, word)
        return {id_: plain_title(content) for id_, content in found.items()}

    async def read(self, request: web.Request) -> web.Response:
        """Raises ConversationNotFound, and NothingHere for a page that does not exist."""
        visitor, stores = visitor_of(request), self._services.stores
        session = await self._find(request)
        page = PageNumber.parse(request.query.get("page", "1"), session.messages, MESSAGES_PER_PAGE)
        messages = await stores.archive.list_messages(
            visitor.user_id, session.id, limit=MESSAGES_PER_PAGE, offset=page.offset(MESSAGES_PER_PAGE)
        )
        return render(
            request,
            "conversation.html",
            session=session,
            title=_title(session, visitor.words[WebConversationTexts]),
            messages=messages,
            agent=await self._name_agent(request, session),
            discord_path=await self._discord_path(session.key.channel_id),
            channels=await channel_names(self._services, [session.key.channel_id], visitor),
            page=page,
            key_text=key_text,
            to_html=to_html,
            list_sources=list_sources,
        )

    async def export(self, request: web.Request) -> web.StreamResponse:
        """Send a conversation as a Markdown file. Raises ConversationNotFound."""
        visitor, archive = visitor_of(request), self._services.stores.archive
        session = await self._find(request)
        texts = visitor.words[WebConversationTexts]
        names = {"user": texts.you, "assistant": await self._name_agent(request, session)}

        async def write() -> AsyncIterator[bytes]:
            yield f"# {_title(session, texts)}\n".encode("utf-8", "replace")
            for offset in range(0, session.messages, MESSAGES_PER_PAGE):
                for each in await archive.list_messages(
                    visitor.user_id, session.id, limit=MESSAGES_PER_PAGE, offset=offset
                ):
                    at = visitor.format_time(each.created_at or session.created_at)
                    part = f"\n## {names[each.role]} ({at})\n\n{each.content or texts.no_words}\n"
                    yield part.encode("utf-8", "replace")

        name = texts.export_name.format(
            day=f"{session.created_at.astimezone(visitor.timezone):%Y-%m-%d-%H%M}"
        )
        return await send_file(request, write(), f"{name}.md", "text/markdown")

    async def _find(self, request: web.Request) -> ArchivedSession:
        """Raises ConversationNotFound."""
        user_id, id_ = visitor_of(request).user_id, request.match_info["id"]
        session = await self._services.stores.archive.get_session(user_id, id_)
        if session is None:
            raise ConversationNotFound
        return session

    async def _name_agent(self, request: web.Request, session: ArchivedSession) -> str:
        name = session.key.agent
        if name == DEFAULT_AGENT:
            return request[BOT].name
        agent = (await self._services.agents.get_all()).get(name)
        return agent.display_name(visitor_of(request).locale) if agent else name

    async def _discord_path(self, channel_id: int) -> str:
        """Return the address of the channel's messages on Discord; empty for the terminal."""
        if not channel_id:
            return ""
        is_dm = await self._services.discord.is_dm(channel_id)
        guild_id = None if is_dm else (await self._services.discord.location_of(channel_id)).guild_id
        return f"https://discord.com/channels/{guild_id or '@me'}/{channel_id}" if is_dm or guild_id else ""

    async def delete(self, request: web.Request) -> web.StreamResponse:
        """Raises ConversationNotFound, or StorageError if nothing was deleted."""
        user_id, id_ = visitor_of(request).user_id, request.match_info["id"]
        key = await self._services.stores.archive.hide_session(user_id, id_)
        if key is None:
            raise ConversationNotFound
        await self._services.discord.refresh_canvas(key)
        return redirect(request, self.path, "conversation_deleted", f"{self.path}/{id_}/restore")

    async def restore(self, request: web.Request) -> web.Response:
        user_id, id_ = visitor_of(request).user_id, request.match_info["id"]
        key = await self._services.stores.archive.restore_session(user_id, id_)
        if key is None:
            return redirect(request, self.path, "undo_too_late")
        await self._services.discord.refresh_canvas(key)
        return redirect(request, self.path, "conversation_restored")


_MARKDOWN: Final = re.compile(r"```\w*|`|\*\*|^[#>]+ ", re.MULTILINE)


def _title(session: ArchivedSession, texts: WebConversationTexts) -> str:
    return shorten(plain_title(session.opening), MAX_TITLE_CHARACTERS) or texts.no_words


def _name_age(visitor: WebVisitor, session: ArchivedSession) -> str:
    today, day = (each.astimezone(visitor.timezone).date() for each in (utc_now(), session.created_at))
    names = (*visitor.words[MomentTexts].recent_days, *visitor.words[WebConversationTexts].ages)
    return names[bisect_left((0, 1, 6), (today - day).days)]


def plain_title(opening: str) -> str:
    return one_line(_MARKDOWN.sub(" ", opening))


def session_path(session: ArchivedSession, search: str) -> str:
    """Return the path of a conversation; the browser scrolls to the first word of `search`."""
    fragment = quote(search.partition(" ")[0], safe="").replace("-", "%2D")
    return f"/conversations/{session.id}" + (f"#:~:text={fragment}" if search else "")


def key_text(key: SessionKey) -> str:
    return f"{key.channel_id}/{key.agent}"


async def channel_names(services: WebServices, ids: Iterable[int], visitor: WebVisitor) -> Mapping[int, str]:
    channel_ids = sorted(set(ids) - {0})  # 0: the terminal
    names = await asyncio.gather(*(_channel_name(services, id_, visitor) for id_ in channel_ids))
    return {0: visitor.words[WebConversationTexts].terminal} | dict(zip(channel_ids, names, strict=True))


async def _channel_name(services: WebServices, channel_id: int, visitor: WebVisitor) -> str:
    """Name an unknown channel by its creation date."""
    words = visitor.words[WebConversationTexts]
    if name := await services.discord.channel_name(channel_id):
        return name
    if await services.discord.is_dm(channel_id):
        return words.dm
    created_ms = (channel_id >> 22) + DISCORD_EPOCH_MS  # Discord's reference, "Snowflakes"
    made = visitor.format_day(datetime.fromtimestamp(created_ms / 1000, UTC))
    return words.unknown_channel.format(made=made)
