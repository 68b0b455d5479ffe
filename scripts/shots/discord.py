"""Messages of the bot on Discord, of a program that runs, drawn by `drawing.py`."""

import re
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from scripts.shots.drawing import HEAD, answer, command_line
from scripts.shots.shooting import Shooter, due_at, read_data
from tests.end_to_end.reminders import comes_due, reminder, says_by_itself
from tests.end_to_end.stage import Stage, ended, running_stage, stop_label, streaming
from tests.end_to_end.test_tool_servers import accept, name_servers, until_ready
from tests.loopback.discord import Channel, Shown, User
from tests.loopback.model_server import Call, Hang, Say, calls, fails, says
from tests.loopback.model_server import Reply as Answer
from tests.loopback.web import Answer as WebAnswer
from tests.loopback.web import LoopbackWeb
from tests.web.pages import free_port

ROOT: Final = Path(__file__).parents[2]
TIME: Final = {
    "command": sys.executable,
    "args": ["-m", "mcp_server_time", "--local-timezone", "Asia/Tokyo"],
    "cc_bot": {"approve": "always"},
}
STYLE: Final = "<style>body { padding: 16px }</style>"
SCALE: Final = 0.8  # the letters of the documentation's pictures are large
COMMANDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "memory list": {},
    "memory show": {"id": 2},
    "memory search": {"query": "{find}"},
    "remind list": {},
    "settings": {},
    "help": {},
    "usage": {},
    "agent list": {},
    "privacy show": {},
    "privacy erase": {},
    "canvas show": {},
    "heartbeat status": {},
    "web": {},
    "summary": {},
    "search": {"query": "{find}"},
}
OWNERS: Final = tuple(
    f"admin {each}" for each in ("status", "limits show", "access list", "model list", "tools show")
)


@dataclass
class Chat:
    """A user with a stage. Each method that draws returns what is to be seen: a line above, and messages."""

    stage: Stage
    data: Mapping[str, Any]
    user: User
    channel: Channel

    async def ask(self, question: str, *replies: Answer) -> Sequence[Shown]:
        self.stage.model.script(*replies)
        return (await self.stage.ask(self.user, self.channel, question)).messages

    async def receipt(self) -> Sequence[Shown]:
        asked, said, memory, text = self.data["receipt"]
        when = {"ja": "来週の木曜の20時", "en-US": "next Thursday at 20:00"}[self.user.locale]
        wanted = Call("remember", {"content": memory}), Call("schedule", {"when": when, "text": text})
        return await self.ask(asked, calls(*wanted), says(said))

    async def proposals(self) -> Sequence[Shown]:
        asked, said, *memories = self.data["page"]
        page = Call("read_page", {"url": "http://news.example/1"})
        wanted = [Call("remember", {"content": each}) for each in memories]
        return await self.ask(f"http://news.example/1 {asked}", calls(page), calls(*wanted), says(said))

    async def tool(self) -> Sequence[Shown]:
        wanted = Call("time__get_current_time", {"timezone": "Asia/Tokyo"})
        return await self.ask(self.data["tool"][0], calls(wanted), says(self.data["tool"][1]))

    async def stopped(self) -> Sequence[Shown]:
        asked, *parts = self.data["stopped"]
        self.stage.model.script(Answer(*map(Say, parts), Hang()))
        reply = await self.stage.begin(self.user, self.channel, asked)
        await streaming(reply, parts[-1])
        await self.stage.discord.click(self.user, reply.message, stop_label(reply))
        return (await ended(reply)).messages

    async def failed(self) -> Sequence[Shown]:
        self.stage.model.responder = lambda _: fails(503)
        try:
            return (await ended(await self.stage.begin(self.user, self.channel))).messages
        finally:
            self.stage.model.responder = None

    async def long(self) -> Sequence[Shown]:
        asked, said = self.data["long"]
        paragraphs = "\n\n".join([said, "```python\nprint('味噌')\n```", *[said] * 4] * 8)
        return await self.ask(asked, says(paragraphs[: paragraphs.rindex("\n\n", 0, 2600)]))

    async def canvas(self) -> Sequence[Shown]:
        title, name, *labels = self.data["budget"]
        series = [{"name": name, "values": [27760, 33000, 18000, 9200, 6000]}]
        chart = Call("canvas_add_chart", {"title": title, "kind": "bar", "labels": labels, "series": series})
        cards = [
            Call("canvas_add_card", {"title": name, "content": text}) for name, text in self.data["cards"]
        ]
        return await self.ask(self.data["drawn"][0], calls(*cards, chart), says(self.data["drawn"][1]))

    async def reminder(self) -> Sequence[Shown]:
        dm, text = self.stage.discord.dm(self.user), self.data["dm"]
        await comes_due(self.stage, self.user, await reminder(self.stage, self.user, dm, text))
        return [await says_by_itself(self.stage, dm, text)]

    async def command(self, name: str, options: Mapping[str, Any]) -> Sequence[Shown]:
        given = {
            key: value.format_map(self.data) if value == "{find}" else value for key, value in options.items()
        }
        reply = await self.stage.discord.slash(self.user, self.channel, name, **given)
        await reply.finished()
        others = self.stage.discord.messages(self.channel)
        posted = [each for each in others if each.id > reply.message.id and each.author.is_bot]
        return [*reply.messages, *(each for each in posted if name == "canvas show" and not each.ephemeral)]


async def fill(chat: Chat) -> None:
    stage, user, channel = chat.stage, chat.user, chat.channel
    await stage.ask_in_words(user, stage.discord.guild_channel(), "🙂")  # a user's first answer has a hint
    for line in chat.data["memories"]:
        _, category, tags, text = line.split("|")
        given = {"category": category, "tags": ",".join(tags.split())}
        await stage.told(user, channel, "memory add", content=text, **{k: v for k, v in given.items() if v})
    stage.change("UPDATE memories SET pinned = 1 WHERE user_id = ? AND number IN (9, 19)", user.id)
    for line in chat.data["reminders"][:4]:
        text, hours, repeat = line.split("|")
        row, due = await reminder(stage, user, channel, text), due_at(hours, repeat)
        due_ms = int(due.timestamp() * 1000)
        stage.change("UPDATE schedules SET repeat = ?, due_at = ? WHERE id = ?", repeat, due_ms, row)
    stage.change("UPDATE schedules SET status = 'paused', obstacle = 'dms_closed' WHERE id = ?", row)


async def accept_tools(chat: Chat) -> None:
    owner = chat.stage.discord.owner
    owner.locale = chat.user.locale
    await until_ready(chat.stage, owner, "time", {"ja": "使えます", "en-US": "ready"}[owner.locale])
    await accept(chat.stage, owner, "time")


async def shoot(shooter: Shooter, locale: str, folder: Path) -> None:
    data, letter = read_data(locale), WebAnswer(read_data(locale)["page_file"][1].encode(), "text/plain")
    name_servers(folder, time=TIME)
    async with LoopbackWeb({"/1": letter}) as web:
        settings = {
            "TEST_WEB_PORT": str(web.port),
            "CC_BOT_WEB_PORT": str(free_port()),
            "PYTHONPATH": str(ROOT),
        }
        async with running_stage(folder, settings, module="tests.end_to_end.reading_program") as stage:
            user = stage.discord.user(data["users"][0], locale="ja" if locale == "ja" else "en-US")
            stage.discord.guild.name = data["server"]
            chat = Chat(stage, data, user, stage.discord.guild_channel(data["channels"][1].strip("#")))
            with shooter.attempt("fill discord"):
                await fill(chat)
            with shooter.attempt("tools accept"):
                await accept_tools(chat)
            owner = stage.discord.owner
            await stage.told(owner, chat.channel, "admin limits set", limit="tokens_per_day", value=20_000)
            await shoot_all(shooter, chat, locale)
            stage.discord.pings.clear()


async def shoot_all(shooter: Shooter, chat: Chat, locale: str) -> None:
    async def shoot_one(name: str, line: str, act: Callable[[], Awaitable[Sequence[Shown]]]) -> None:
        with shooter.attempt(f"discord-{name}-{locale}"):
            shown = [each for each in await act() if not each.deleted]
            above = command_line(chat.user.name, line) if line else ""
            drawn = answer(shown, chat.user.locale, "21:40", above)
            drawn = re.sub(r"&lt;@\d+&gt;", f'<span class="mention">@{chat.user.name}</span>', drawn)
            for each in chat.stage.discord.world.channels.values():
                drawn = drawn.replace(f"&lt;#{each.id}&gt;", f'<span class="mention">#{each.name}</span>')
            for width in (390, 860):
                await shooter.draw(
                    f"{HEAD}{STYLE}{drawn}", f"discord-{name}-{locale}-{width}", width, scale=SCALE
                )

    answers = {
        "receipt": (chat.receipt, "receipt"),
        "proposals": (chat.proposals, "page"),
        "tool": (chat.tool, "tool"),
        "stopped": (chat.stopped, "stopped"),
        "failed": (chat.failed, "stopped"),
        "long": (chat.long, "long"),
        "canvas": (chat.canvas, "drawn"),  # the last: its channel is that of the commands
    }
    for number, (name, (act, asked)) in enumerate(answers.items()):  # each is another conversation
        channel_name = chat.data["channels"][number % 5].strip("#")
        chat.channel = chat.stage.discord.guild_channel(channel_name)
        await shoot_one(name, f"/ask {chat.data[asked][0]}", act)
    await shoot_one("reminder", "", chat.reminder)
    known = {each.name for each in chat.stage.discord.commands}
    for name, options in COMMANDS.items():
        if name.split()[0] in known:
            await shoot_one(name.replace(" ", "-"), f"/{name}", partial(chat.command, name, options))
    chat.user = chat.stage.discord.owner
    for name in OWNERS:
        await shoot_one(name.replace(" ", "-"), f"/{name}", partial(chat.command, name, {}))
