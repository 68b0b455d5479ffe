"""A channel with people in it, as the core sees it: its archive, and the prompts of its turns."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from cc_bot.chat.context.prompt import PromptSettings
from cc_bot.chat.conversations import ChannelTurn, Conversations
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.turn import Calibration, TurnOptions, TurnPrompt
from cc_bot.db import Database, apply_pending, open_database
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.domain.text import Locale
from cc_bot.llm.model import AssistantPart, ChatRequest, UserPart
from tests.databases import laid_out
from tests.stores.backends import Recorder, stores_over

CHANNEL = ChannelKey(1000)
MARK = re.compile(r"#\d{6}(?=: )")
BOT = 99
NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)


@dataclass
class Room:
    """Channels of one database; `restart` closes and opens it."""

    folder: Path
    style: PromptSettings = PromptSettings()
    page_size: int = 1000
    now: datetime = NOW
    newest_id: int = 0
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def restart(self) -> None:
        await self._open.aclose()
        url = laid_out(self.folder / "channels.db")
        self.database: Database = await self._open.enter_async_context(open_database(url))
        await apply_pending(self.database)
        self.recorder = Recorder(self.database)
        self.stores: Stores = stores_over(self.recorder)

    async def close(self) -> None:
        await self._open.aclose()

    async def say(
        self,
        content: str,
        *,
        key: ChannelKey = CHANNEL,
        name: str = "花子",
        at: int = 0,
        waiting: bool = False,
    ) -> Message:
        """A member says something."""
        self.newest_id = max(self.newest_id + 10, key.thread_id + 10) if not at else max(self.newest_id, at)
        message = Message("user", content, author_id=7, author_name=name, discord_id=at or self.newest_id)
        await self.stores.channels.add(key, message, is_question=waiting)
        return message

    async def prompt(self, *questions: Message, key: ChannelKey = CHANNEL) -> TurnPrompt:
        zone = ZoneInfo("Asia/Tokyo")
        options = TurnOptions(Locale.JA, zone, bot_id=BOT, answer_discord_id=self.newest_id + 5)
        turns = Conversations(
            self.stores,
            Calibration(self.stores.token_factors, "m"),
            self.style,
            lambda: self.now,
            page_size=self.page_size,
        )
        return await ChannelTurn(turns, key, questions, options, replaced=None).prompt(())

    async def request(self, *questions: Message, key: ChannelKey = CHANNEL) -> ChatRequest:
        return (await self.prompt(*questions, key=key)).request((), answer_begun=False, model="")

    async def ask(self, content: str = "どう思う？", *, key: ChannelKey = CHANNEL) -> ChatRequest:
        return await self.request(await self.say(content, key=key, waiting=True), key=key)

    async def answer(self, question: Message, content: str, *, key: ChannelKey = CHANNEL) -> None:
        self.newest_id += 10
        answer = Message("assistant", content, author_id=BOT, discord_id=self.newest_id)
        await self.stores.channels.archive_answer(key, answer, [question])


@asynccontextmanager
async def opened(
    folder: Path, *, budget: int = 80_000, block: int = 4_000, page_size: int = 1000
) -> AsyncIterator[Room]:
    room = Room(folder, PromptSettings(budget_tokens=budget, block_tokens=block), page_size)
    await room.restart()
    try:
        yield room
    finally:
        await room.close()


def history(request: ChatRequest) -> list[str]:
    parts = request.prompt[1:-2]
    assert all(isinstance(part, UserPart | AssistantPart) for part in parts)
    return [MARK.sub("", part.text) for part in parts]
