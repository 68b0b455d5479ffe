"""A running cc-bot between a loopback Discord and a loopback model, as most tests want it.

Starting the program costs more than a second, so tests share one. They stay independent because each brings
users and channels of its own; what the doubles recorded is forgotten between tests.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from cc_bot.domain.errors import CcBotError
from cc_bot.domain.text import Locale, guess_language
from cc_bot.texts import explain, texts
from tests.end_to_end.program import Program
from tests.inspection import Inspector
from tests.loopback.discord import Channel, ChannelReply, File, LoopbackDiscord, Message, Reply, Shown, User
from tests.loopback.model_server import SCRIBE, End, LoopbackModelServer, Say, message_text, says
from tests.loopback.model_server import Reply as ModelReply

AnyReply = TypeVar("AnyReply", Reply, ChannelReply)

UNKNOWN_MESSAGE = 10008
ASKS = "GET /channels/{channel}/messages/{message}"
"""A message may be deleted before the bot asks for it, also by the test before."""
TOO_MANY_REQUESTS = 429
STOOD_STILL_S = 5.0
MENTION = re.compile(rb"</[a-z][a-z -]*:\d+>")
UNFORESEEN = [explain(CcBotError(), texts(locale)) for locale in Locale]
_MARK = re.compile(r"#\d{6}(?=:)")
STOP = {"ja": "止める"}
AGAIN = {"ja": "もう一度答える"}
CONTINUE = {"ja": "続ける"}


def stop_label(reader: User | Reply | ChannelReply) -> str:
    return STOP.get(reader.locale, "Stop")


def again_label(user: User) -> str:
    return AGAIN.get(user.locale, "Answer again")


def continue_label(user: User) -> str:
    return CONTINUE.get(user.locale, "Continue")


@dataclass(slots=True)
class Stage:
    """`excused` are Discord's error codes that this test provokes; any other refusal fails it."""

    discord: LoopbackDiscord
    model: LoopbackModelServer
    program: Program
    excused: set[int] = field(default_factory=set)
    starts: int = 0
    left_at_s: float | None = None
    """When the last test ended, by the loop's clock."""

    async def come_back(self) -> None:
        now = asyncio.get_running_loop().time()
        if self.left_at_s is not None and now - self.left_at_s > STOOD_STILL_S:
            await self.discord.quiet()
            await self.discord.ready()

    async def ask(
        self, user: User, channel: Channel, question: str = "?", **options: str | bool | File
    ) -> Reply:
        """`/ask`, until the answer is there with its buttons."""
        return await answered(await self.begin(user, channel, question, **options))

    async def begin(
        self, user: User, channel: Channel, question: str = "?", **options: str | bool | File
    ) -> Reply:
        """`/ask`, acknowledged."""
        reply = await self.discord.slash(user, channel, "ask", question=question, **options)
        return await reply.acknowledged()

    async def ask_in_words(self, user: User, channel: Channel, answer: str) -> Reply:
        """`/ask` something that the model answers in these words."""
        self.model.script(says(answer))
        return await self.ask(user, channel)

    async def write(
        self,
        user: User,
        channel: Channel,
        text: str,
        *,
        mention: bool = True,
        reply_to: Shown | Message | None = None,
        attachments: tuple[File, ...] = (),
    ) -> Message:
        message = await self.discord.post(
            user, channel, text, mention=mention, reply_to=reply_to, attachments=attachments
        )
        answer, written = self.discord.answer(message), guess_language(text)
        answer.locale, answer.any_language = written or "ja", (user.locale, written) != ("ja", Locale.JA)
        return message

    async def says(self, message: Message, text: str) -> ChannelReply:
        """Wait until the answer to a message ends, with this text in it."""
        answer = self.discord.answer(message)
        label = stop_label(answer)
        return await answer.until(
            lambda shown: text in shown.text and label not in shown.labels, f"an answer with {text!r}"
        )

    async def said(self, user: User, channel: Channel, text: str, answer: str) -> Message:
        """A mention that was answered in these words."""
        self.model.script(says(answer))
        message = await self.write(user, channel, text)
        await self.says(message, answer)
        return message

    def shown(self, number: int = -1) -> list[str]:
        messages = self.model.requests[number].messages
        shown = [message_text(message) for message in messages if message["role"] != "system"]
        return [_MARK.sub("", text) for text in shown]

    def tools(self, number: int = -1) -> set[str]:
        """The names of the tools that were offered in the request with this number."""
        return {tool["function"]["name"] for tool in self.model.requests[number].body.get("tools", ())}

    async def told(self, user: User, channel: Channel, command: str, /, **options: str | int) -> str:
        reply = await self.discord.slash(user, channel, command, **options)
        await reply.finished()
        assert reply.ephemeral
        return reply.text

    async def restart(self) -> None:
        """Pull the plug and start it again."""
        await self.program.kill()
        await self.discord.gone()
        await self.start()

    async def start(self) -> None:
        self.starts += 1
        await self.program.start("run")
        await self.program.lives_until(self.discord.ready())

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self.inspector.rows(sql, *values)

    def change(self, sql: str, *values: object) -> None:
        """Put the database into a state that a kill at the right moment leaves."""
        self.inspector.change(sql, *values)

    async def eventually(self, sql: str, *values: object, gives: list[tuple[Any, ...]]) -> None:
        """Wait until the database says so: of what is written after the user has seen the answer."""
        async with self.patience():
            while self.rows(sql, *values) != gives:  # noqa: ASYNC110 - no event comes out of a database
                await asyncio.sleep(0.02)

    async def logs(self, event: str) -> None:
        async with self.patience():
            while event not in self.program.output:  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.02)

    def stored(self, channel: Channel) -> list[tuple[Any, ...]]:
        """Role, text and status of what the archive has of a channel."""
        return self.rows(
            "SELECT role, content, status FROM messages WHERE channel_id = ? ORDER BY id", channel.id
        )

    def patience(self) -> asyncio.Timeout:
        return asyncio.timeout(self.discord.patience_s)

    @property
    def inspector(self) -> Inspector:
        return Inspector(self.program.environment.get("CC_BOT_DATABASE_URL", f"sqlite:///{self.database}"))

    @property
    def database(self) -> Path:
        return self.program.folder / "data" / "sessions.db"

    def forget(self) -> None:
        """Start a test with nothing recorded."""
        self.starts = 0
        self.excused.clear()
        self.model.reset()
        told = self.discord
        for record in (told.violations, told.pings, told.replies, told.transcript):
            record.clear()

    def quieten(self) -> None:
        """Let nothing that a test has set come due in one that runs ten minutes later."""
        self.left_at_s = asyncio.get_running_loop().time()
        self.change("UPDATE schedules SET status = 'paused' WHERE status = 'active'")

    def check(self) -> None:
        ours = {"", *(reply.interaction.token for reply in self.discord.replies)}
        refused = [
            violation
            for violation in self.discord.violations
            if violation.code != UNKNOWN_MESSAGE or (violation.token in ours and violation.where != ASKS)
        ]
        limited = [v for v in refused if v.status == TOO_MANY_REQUESTS]
        assert len(limited) <= 1 + self.starts, limited
        assert [v for v in refused if v not in limited and v.code not in self.excused] == []
        assert self.discord.pings == []
        assert self.discord.wrong_language == []
        assert self.discord.misnamed_commands == []
        if not self.excused:  # else Discord was to fail, and its user reads that
            sent = str([entry.body for entry in self.discord.transcript])
            assert [sentence for sentence in UNFORESEEN if sentence in sent] == []

    def check_left_behind(self) -> None:
        kept = [file.read_bytes() for file in self.database.parent.rglob("*") if file.is_file()]
        found = [MENTION.findall(each) for each in (*kept, self.program.output.encode())]
        assert found == [[]] * len(found)


async def answered(reply: Reply) -> Reply:
    """Wait until an answer is complete and stored: then it can be asked for again, or has a card."""
    user = reply.interaction.user

    def is_answered(shown: Reply) -> bool:
        has_card = any(each.components and not each.content for each in shown.messages)
        done = has_card or again_label(user) in shown.labels
        return bool(shown.history) and done and stop_label(user) not in shown.labels

    return await reply.finished(is_answered)


def cut(text: str) -> ModelReply:
    """An answer that the model breaks off: it can be asked for again, also with a card."""
    return ModelReply(Say(text), End("length"))


async def ended(reply: Reply) -> Reply:
    """Wait until a reply is neither thinking nor streaming any more, however it ended."""
    label = stop_label(reply.interaction.user)
    return await reply.finished(lambda shown: label not in shown.labels)


async def streaming(reply: AnyReply, text: str) -> AnyReply:
    """Wait until a text is to be read while the answer still comes."""
    label = stop_label(reply)
    return await reply.until(
        lambda shown: text in shown.text and label in shown.labels, f"{text!r} streaming"
    )


@asynccontextmanager
async def running_stage(
    folder: Path,
    settings: Mapping[str, str],
    discord: LoopbackDiscord | None = None,
    *,
    strict: bool = False,
    module: str = "cc_bot",
) -> AsyncIterator[Stage]:
    """The program, started in a folder and pointed at doubles of its own. `strict`: the model takes one
    order of roles only, as many do that run at home. `module`: a program that puts cc-bot together itself."""
    async with set_stage(folder, settings, discord, strict=strict, module=module) as stage:
        await stage.start()
        yield stage


@asynccontextmanager
async def set_stage(
    folder: Path,
    settings: Mapping[str, str],
    discord: LoopbackDiscord | None = None,
    *,
    strict: bool = False,
    module: str = "cc_bot",
) -> AsyncIterator[Stage]:
    """The same, not started yet."""
    async with discord or LoopbackDiscord() as discord, LoopbackModelServer(strict=strict) as model:
        program = Program(
            folder,
            {
                "DISCORD_TOKEN": discord.token,
                "DISCORD_API_URL": discord.api_url,
                "OPENAI_BASE_URL": model.base_url,
                "CC_BOT_MODEL": "gemma" if strict else "loopback",
                "CC_BOT_SUMMARY_MODEL": SCRIBE,
                **settings,
            },
            module=module,
        )
        stage = Stage(discord, model, program)
        try:
            yield stage
        finally:
            await program.close()
        stage.check_left_behind()
