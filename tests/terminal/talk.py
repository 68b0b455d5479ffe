"""A chat in front of the plain view, line by line."""

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from cc_bot.assistant import Assistant
from cc_bot.domain import Locale, Message, SessionKey
from cc_bot.stores import Stores
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.runner import Runner
from tests.terminal.program import chat_of, profile

KEY = SessionKey(0, 0)


class Talk:
    """What one run of the chat says to each line."""

    def __init__(
        self,
        stores: Stores,
        locale: Locale = Locale.JA,
        *,
        key: SessionKey = KEY,
        answering: Assistant | None = None,
        agents_file: Path = Path("no agents"),
        forget_typed: Callable[[], None] = lambda: None,
    ) -> None:
        self.stores = stores
        self.out, self.err = io.StringIO(), io.StringIO()
        self.chat = chat_of(
            stores,
            replace(profile(locale), key=key),
            PlainView(self.out, self.err),
            answering=answering,
            agents_file=agents_file,
            forget_typed=forget_typed,
        )
        self.runner = Runner(self.chat)

    async def say(self, line: str) -> str:
        """Everything that one line brought up."""
        self.taken()
        assert await self.runner.run(line)
        return self.taken()

    async def lines(self, line: str) -> list[str]:
        return (await self.say(line)).splitlines()

    async def reminded(self) -> str:
        """Everything that is due."""

        async def show(print_: Callable[[], None]) -> None:
            print_()

        await self.runner.remind(show)
        return self.taken()

    async def history(self) -> Sequence[Message]:
        return (await self.stores.sessions.open(KEY, visibility="private")).history

    async def kept(self) -> list[str]:
        return [memory.content for memory in await self.stores.memories.list(0)]

    @property
    def attached(self) -> list[str]:
        return [attachment.name for attachment in self.chat.attachments]

    def taken(self) -> str:
        """What was written since."""
        text = self.out.getvalue() + self.err.getvalue()
        for stream in (self.out, self.err):
            stream.seek(0)
            stream.truncate()
        return text
