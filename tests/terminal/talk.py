"""A chat in front of the plain view, line by line."""

import io
from collections.abc import Sequence

from cc_bot.chat.assistant import Assistant
from cc_bot.chat.stores.opening import Stores
from cc_bot.domain.message import Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.features.reminders.terminal import DueReminders
from cc_bot.terminal.chat import Conversation
from cc_bot.terminal.view import PlainView
from tests.terminal.program import chat_of, profile

KEY = SessionKey(0, 0)


class Talk:
    def __init__(
        self, stores: Stores, locale: Locale = Locale.JA, *, answering: Assistant | None = None
    ) -> None:
        self.stores = stores
        self.out, self.err = io.StringIO(), io.StringIO()
        self.chat = chat_of(stores, profile(locale), PlainView(self.out, self.err), answering)
        self.texts = self.chat.texts
        self.conversation = Conversation(self.chat)
        self.due = DueReminders(self.conversation)
        self.shown_before_deciding: list[str] = []

    def decides(self, *answers: bool) -> None:
        """Answer the next questions whether to do what is proposed."""
        left = [*answers]

        async def confirm(_question: str) -> bool:
            self.shown_before_deciding = self.out.getvalue().splitlines()
            self.taken()
            return left.pop(0)

        self.chat.confirm = confirm

    async def say(self, line: str) -> str:
        """Everything that one line brought up."""
        self.taken()
        assert await self.conversation.run(line)
        return self.taken()

    async def lines(self, line: str) -> list[str]:
        return (await self.say(line)).splitlines()

    async def reminded(self) -> str:
        """Everything that is due."""
        await self.due.show()
        return self.taken()

    async def history(self) -> Sequence[Message]:
        return (await self.stores.sessions.open(KEY, visibility="private")).history

    async def kept(self) -> list[str]:
        return [memory.content for memory in await self.stores.memories.list(0)]

    def taken(self) -> str:
        text = self.out.getvalue() + self.err.getvalue()
        for stream in (self.out, self.err):
            stream.seek(0)
            stream.truncate()
        return text
