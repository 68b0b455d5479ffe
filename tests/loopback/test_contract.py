import json
from collections.abc import AsyncIterator, Awaitable
from io import BytesIO
from typing import Any, Final, Self

import aiohttp
import pytest

from tests.loopback.discord import Allowance, Channel, File, LoopbackDiscord, Permission, Reply
from tests.loopback.discord.interactions import Callback
from tests.loopback.model_server import LoopbackModelServer, fails, says

Body = dict[str, Any]
Answered = tuple[int, Any]
ROOMY: Final = Allowance(1000, 5.0)
INVALID: Final = 50035
X: Final[Body] = {"content": "x"}


class RawBot:
    def __init__(self, discord: LoopbackDiscord, token: str | None = None) -> None:
        self.discord = discord
        self.aiko, self.channel = discord.user("Aiko", locale="ja"), discord.guild_channel()
        self._headers = {"Authorization": f"Bot {token or discord.token}"}

    async def __aenter__(self) -> Self:
        self.session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.close()

    async def call(self, method: str, path: str, body: Any = None, *files: File) -> Answered:
        url, sent = self.discord.api_url + path, {"json": body}
        if files:
            form = aiohttp.FormData()
            form.add_field("payload_json", json.dumps(body), content_type="application/json")
            for number, file in enumerate(files):
                data = BytesIO(file.data)  # aiohttp warns about large bytes, not about streams
                form.add_field(f"files[{number}]", data, filename=file.name, content_type=file.content_type)
            sent = {"data": form}
        async with self.session.request(method, url, headers=self._headers, **sent) as response:
            return response.status, await response.json() if response.status != 204 else None

    async def register(self, *commands: Body) -> Answered:
        path = f"/applications/{self.discord.application_id}/commands"
        return await self.call("PUT", path, list(commands))

    async def answer(self, reply: Reply, callback: Callback, data: Body | None = None) -> Answered:
        path = f"/interactions/{reply.interaction.id}/{reply.interaction.token}/callback?with_response=true"
        return await self.call("POST", path, {"type": int(callback), "data": data or {}})

    async def edit(self, reply: Reply, body: Body, message: str = "@original") -> Answered:
        return await self.call("PATCH", f"{self._webhook(reply)}/messages/{message}", body)

    async def follow_up(self, reply: Reply, body: Body) -> Answered:
        return await self.call("POST", self._webhook(reply), body)

    def _webhook(self, reply: Reply) -> str:
        return f"/webhooks/{self.discord.application_id}/{reply.interaction.token}"


@pytest.fixture
async def bot() -> AsyncIterator[RawBot]:
    double = LoopbackDiscord(channel_rate=ROOMY, webhook_rate=ROOMY, global_rate=ROOMY)
    async with double as discord, RawBot(discord) as bot:
        await bot.register(ASK, MEMORY)
        yield bot


async def code(called: Awaitable[Answered]) -> int:
    """Discord's error code, or the status where it has none; 0 for what was taken."""
    status, answer = await called
    return 0 if status < 300 else int(answer["code"]) or status


async def check(answers: dict[str, tuple[int, Awaitable[Answered]]]) -> None:
    """Await each answer in turn, and compare its code with the expected one."""
    found = {name: await code(called) for name, (_, called) in answers.items()}
    assert found == {name: expected for name, (expected, _) in answers.items()}


def path_of(channel: Channel, message_id: object = None) -> str:
    return f"/channels/{channel.id}/messages" + (f"/{message_id}" if message_id else "")


def command(**fields: Any) -> Body:
    return {"name": "fine", "description": "Asks", **fields}


def option(**fields: Any) -> Body:
    return {"type": 3, "name": "question", "description": "What", **fields}


def button(custom_id: str, **fields: Any) -> Body:
    return {"type": 2, "style": 1, "label": "押す", "custom_id": custom_id, **fields}


def row(*components: Body) -> Body:
    return {"type": 1, "components": list(components)}


def menu(options: int) -> Body:
    choices = [{"label": f"{n}", "value": f"{n}"} for n in range(options)]
    return {"type": 3, "custom_id": "which", "placeholder": "選ぶ", "options": choices}


def embeds(*each: Body) -> Body:
    return {"embeds": list(each)}


def rows(*each: Body) -> Body:
    return {"content": "x", "components": list(each)}


def choices(count: int, **fields: Any) -> list[Body]:
    return [{"name": f"{n}", "value": f"{n}", **fields} for n in range(count)]


def text(length: int = 1) -> Body:
    return {"type": 10, "content": "x" * length}


def section(*texts: Body, accessory: Body | None = None) -> Body:
    return {"type": 9, "components": list(texts), **({"accessory": accessory} if accessory else {})}


def cards(*each: Body, **more: Any) -> Body:
    return {"flags": 1 << 15, "components": [{"type": 17, "components": list(each)}], **more}


FIELDS: Final = [option(required=True), option(type=4, name="id", autocomplete=True)]
ASK: Final[Body] = command(name="ask", integration_types=[0, 1], options=FIELDS)
ADD: Final[Body] = option(type=1, name="add", name_localizations={"ja": "追加"}, options=[option()])
MEMORY: Final[Body] = command(name="memory", name_localizations={"ja": "メモリ"}, options=[ADD])
INPUT: Final[Body] = {"type": 4, "custom_id": "text", "label": "文", "style": 1, "value": "前"}
FORM: Final[Body] = {"title": "編集", "custom_id": "form", "components": [row(INPUT)]}

REFUSED_COMMANDS: Final[dict[str, Body]] = {
    "a name in capitals": command(name="Ask"),
    "no description": command(description=""),
    "a description of 101": command(description_localizations={"ja": "あ" * 101}),
    "a localized name with a space": command(name_localizations={"ja": "聞く の"}),
    "a locale that does not exist": command(name_localizations={"jp": "聞く"}),
    "26 options": command(options=[option(name=f"o{n}") for n in range(26)]),
    "required after optional": command(options=[option(name="a"), option(name="b", required=True)]),
    "26 choices": command(options=[option(choices=choices(26))]),
    "choices and autocomplete": command(options=[option(choices=choices(1), autocomplete=True)]),
    "a subcommand beside an option": command(options=[option(type=1, name="add"), option()]),
    "a described menu command": {"type": 3, "name": "Keep", "description": "no"},
    "8001 characters": command(
        options=[option(name=f"o{n}", choices=choices(25, name="x" * 80)) for n in range(4)]
    ),
    "another's name in Japanese": command(name="other", name_localizations={"ja": "メモリ"}),
}
REFUSED_MESSAGES: Final[dict[str, Body]] = {
    "2001 characters": {"content": "あ" * 2001},
    "an embed description of 4097": embeds({"description": "x" * 4097}),
    "embeds of 6001 in all": embeds({"description": "x" * 4000}, {"description": "x" * 2001}),
    "an embed field of blanks": embeds({"fields": [{"name": "x", "value": " "}]}),
    "an embed of a colour alone": embeds({"color": 1}),
    "a picture on no server": embeds({"image": {"url": "file:///a.png"}}),
    "11 embeds": embeds(*[{"title": "x"}] * 11),
    "6 buttons in a row": rows(row(*[button(str(n)) for n in range(6)])),
    "a button outside a row": rows(button("a")),
    "a custom id of 101": rows(row(button("x" * 101))),
    "the same custom id twice": rows(row(button("a")), row(button("a"))),
    "a menu of 26": rows(row(menu(26))),
    "a menu beside a button": rows(row(menu(2), button("a"))),
    "a text component without the flag": {"components": [text()]},
    "content beside a card": cards(text(), content="x"),
    "41 components in a card": cards(*[text()] * 40),
    "4001 characters in a card": cards(text(4000), text()),
    "a section without anything beside it": cards(section(text())),
    "a section of four texts": cards(section(*[text()] * 4, accessory=button("a"))),
    "a file of a card that did not come": cards({"type": 13, "file": {"url": "attachment://a.txt"}}),
    "both parse and users": {**X, "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
    "a nonce of 26": {**X, "nonce": "x" * 26},
    "a file that did not come": {**X, "attachments": [{"id": 0, "filename": "a.txt"}]},
    "a reply to nothing": {**X, "message_reference": {"message_id": "1"}},
}
EMPTY_MESSAGES: Final[list[Body]] = [{}, {"content": " \n　"}, {"embeds": []}]
LARGEST_MESSAGES: Final[list[Body]] = [
    {"content": "あ" * 2000},
    embeds({"description": "x" * 4000}, {"description": "x" * 2000}),
    rows(*[row(*[button(f"{r}{n}") for n in range(5)]) for r in range(5)]),
    rows(row(menu(25))),
    cards(text(4000)),
    cards(*[section(text(), accessory=button(f"{n}")) for n in range(12)], row(button("a"))),
]


class TestForms:
    async def test_of_commands_are_refused_as_discord_refuses_them(self, bot: RawBot) -> None:
        found = {name: await code(bot.register(ASK, MEMORY, each)) for name, each in REFUSED_COMMANDS.items()}
        assert found == dict.fromkeys(REFUSED_COMMANDS, INVALID)
        assert await code(bot.register(command(name="聞く", options=[option(name="ファイル名_2")]))) == 0

    async def test_of_messages_are_refused_as_discord_refuses_them(self, bot: RawBot) -> None:
        discord, channel = bot.discord, bot.channel

        async def posted(body: Body, *files: File) -> int:
            return await code(bot.call("POST", path_of(channel), body, *files))

        refused = {name: await posted(each) for name, each in REFUSED_MESSAGES.items()}
        assert refused == dict.fromkeys(REFUSED_MESSAGES, INVALID)
        assert [await posted(each) for each in EMPTY_MESSAGES] == [50006] * len(EMPTY_MESSAGES)
        assert await posted({}, File("a.bin", bytes(10 * 2**20 + 1))) == 40005
        assert len(discord.violations) == len(REFUSED_MESSAGES) + len(EMPTY_MESSAGES) + 1
        assert [await posted(each) for each in LARGEST_MESSAGES] == [0] * len(LARGEST_MESSAGES)


async def test_interactions_that_are_answered_wrongly_have_discords_codes(bot: RawBot) -> None:
    discord, aiko, channel = bot.discord, bot.aiko, bot.channel

    async def ask(callback: Callback | None = None, data: Body = X, location: Channel = channel) -> Reply:
        reply = await discord.slash(aiko, location, "ask", question="?")
        assert callback is None or await code(bot.answer(reply, callback, data)) == 0
        return reply

    late, old, done = await ask(), await ask(Callback.MESSAGE), await ask(Callback.MESSAGE)
    late.age(3.0)
    old.age(15 * 60)
    private = await ask(Callback.DEFERRED_MESSAGE, {"flags": 64})
    await bot.edit(private, {**X, "flags": 0})
    assert private.ephemeral, "from the deferral on"
    elsewhere = await ask(Callback.MESSAGE, location=discord.user_installed_channel(aiko))
    opened = await discord.submit_modal(await ask(Callback.MODAL, FORM))
    _, other = await bot.call("POST", path_of(channel), X)
    seen = bot.call("PATCH", path_of(channel, private.message.id), X)
    await check(
        {
            "after three seconds": (10062, bot.answer(late, Callback.DEFERRED_MESSAGE)),
            "a second time": (40060, bot.answer(done, Callback.MESSAGE, X)),
            "an update of nothing": (INVALID, bot.answer(await ask(), Callback.UPDATE, X)),
            "choices for a command": (INVALID, bot.answer(await ask(), Callback.CHOICES)),
            "a form for a form": (INVALID, bot.answer(opened, Callback.MODAL, FORM)),
            "a follow-up before the answer": (10015, bot.follow_up(await ask(), X)),
            "an edit after 15 minutes": (50027, bot.edit(old, X)),
            "a follow-up after 15 minutes": (50027, bot.follow_up(old, X)),
            "an edit to nothing": (50006, bot.edit(done, {"content": ""})),
            "a message of another token": (10008, bot.edit(done, X, other["id"])),
            "a private one without its token": (10008, seen),
        }
    )
    more = [await code(bot.follow_up(elsewhere, X)) for _ in range(6)]
    assert more == [0] * 5 + [40094]  # of an app that the user brought along


class TestChannels:
    async def test_refuse_what_the_bot_may_not_do_there(self, bot: RawBot) -> None:
        discord, aiko, channel = bot.discord, bot.aiko, bot.channel
        hidden, silent, blind = (discord.guild_channel() for _ in range(3))
        discord.forbid(discord.bot, Permission.VIEW_CHANNEL, hidden)
        discord.forbid(discord.bot, Permission.SEND_MESSAGES | Permission.ATTACH_FILES, silent)
        discord.forbid(discord.bot, Permission.ADD_REACTIONS, silent)
        discord.forbid(discord.bot, Permission.READ_MESSAGE_HISTORY, blind)
        theirs, unseen = await discord.post(aiko, channel, "mine"), await discord.post(aiko, blind, "mine")
        gone, quiet = await discord.post(aiko, channel, "gone"), await discord.post(aiko, silent, "mine")
        reaction = "reactions/%F0%9F%94%87/@me"
        await discord.delete(aiko, gone)
        closed = discord.dm(discord.user("Ben", accepts_dms=False))
        to_unseen = {**X, "message_reference": {"message_id": str(unseen.id)}}

        def post(where: Channel, body: Body = X, *files: File) -> Awaitable[Answered]:
            return bot.call("POST", path_of(where), body, *files)

        await check(
            {
                "a channel that is not there": (10003, bot.call("GET", "/channels/1")),
                "one that the bot may not see": (50001, post(hidden)),
                "a thread of it": (50001, bot.call("GET", f"/channels/{discord.thread(hidden).id}")),
                "a server without the bot": (50001, post(discord.user_installed_channel(aiko))),
                "a group": (50001, post(discord.group_dm(aiko))),
                "where it may not write": (50013, post(silent)),
                "typing there": (50013, bot.call("POST", f"/channels/{silent.id}/typing")),
                "a reaction there": (50013, bot.call("PUT", f"{path_of(silent, quiet.id)}/{reaction}")),
                "a reaction elsewhere": (0, bot.call("PUT", f"{path_of(channel, theirs.id)}/{reaction}")),
                "a thread of where it may not write": (0, post(discord.thread(silent))),
                "a file where it may not attach": (50013, post(discord.thread(silent), X, File("a", b"x"))),
                "a reply to what it may not read": (160002, post(blind, to_unseen)),
                "a closed DM": (50007, post(closed)),
                "another's message": (50005, bot.call("PATCH", path_of(channel, theirs.id), X)),
                "a deleted message": (10008, bot.call("GET", path_of(channel, gone.id))),
                "a page of 101": (INVALID, bot.call("GET", f"{path_of(channel)}?limit=101")),
            }
        )
        assert await bot.call("GET", path_of(blind)) == (200, [])
        thread = discord.thread(channel)
        _, sent = await post(thread)
        edit, thread.archived, thread.locked = path_of(thread, sent["id"]), True, True
        opened = {"archived": False}
        await check(
            {
                "an edit in an archived thread": (50083, bot.call("PATCH", edit, X)),
                "opening a locked one": (160005, bot.call("PATCH", f"/channels/{thread.id}", opened)),
                "a post in it": (160005, post(thread)),
            }
        )
        thread.locked = False
        assert await code(bot.call("PATCH", f"/channels/{thread.id}", opened)) == 0
        assert await code(bot.call("PATCH", edit, X)) == 0

    async def test_show_others_words_only_with_the_intent_or_to_whom_they_mention(self, bot: RawBot) -> None:
        discord, aiko, channel = bot.discord, bot.aiko, bot.channel
        said = [
            await discord.post(aiko, channel, "secret", attachments=(File("a.txt", b"x"),)),
            await discord.post(aiko, channel, "hello", mention=True),
            await discord.post(aiko, discord.dm(aiko), "private"),
        ]
        said.append(await discord.post(aiko, channel, "?", mention=True, reply_to=said[0]))
        said.append(await discord.forward(aiko, channel, said[0]))
        seen = [(await bot.call("GET", path_of(each.channel, each.id)))[1] for each in said]
        mention = discord.bot.mention
        contents = [each["content"] for each in seen]
        assert contents == ["", f"{mention} hello", "private", f"{mention} ?", ""]
        assert (seen[0]["attachments"], seen[3]["referenced_message"]["content"]) == ([], "")
        assert seen[4]["message_snapshots"][0]["message"]["content"] == ""


class TestWhatEveryTestIsCheckedFor:
    async def test_pings_of_the_bot_are_recorded(self, bot: RawBot) -> None:
        discord, aiko, channel = bot.discord, bot.aiko, bot.channel
        question = await discord.post(aiko, channel, "?", mention=True)
        quiet: Body = {"allowed_mentions": {"parse": []}}
        reply: Body = {**X, "message_reference": {"message_id": str(question.id)}}
        loud: Body = {"content": f"@everyone {aiko.mention}"}
        for body in ({**loud, **quiet}, {**reply, **quiet}):
            await bot.call("POST", path_of(channel), body)
        assert discord.pings == []
        _, sent = await bot.call("POST", path_of(channel), reply)
        await bot.call("PATCH", path_of(channel, sent["id"]), loud)
        pinged = [(set(each.whom.user_ids), each.whom.everyone, each.edited) for each in discord.pings]
        assert pinged == [({aiko.id}, False, False), ({aiko.id}, True, True)]

    async def test_a_language_that_is_not_the_askers_is_found(self, bot: RawBot) -> None:
        discord, channel = bot.discord, bot.channel
        wrong = [("ja", "Here you are"), ("en-US", "Here: カレー")]
        for locale, content in [*wrong, ("ja", "お答えします"), ("en-US", "漢字 only"), ("ja", "1 / 2")]:
            reply = await discord.slash(discord.user("Ben", locale=locale), channel, "ask", question="?")
            await bot.answer(reply, Callback.MESSAGE, {"content": content})
        assert discord.wrong_language == wrong

    async def test_a_command_that_discord_would_not_show_is_found(self, bot: RawBot) -> None:
        discord, aiko, channel = bot.discord, bot.aiko, bot.channel
        good = f"</memory add:{discord.commands[1].id}>"
        for body in ({"content": good}, embeds({"description": good})):
            reply = await discord.slash(aiko, channel, "ask", question="?")
            await bot.answer(reply, Callback.MESSAGE, body)
            assert reply.text == "/メモリ 追加"
        assert discord.misnamed_commands == []
        wrong = ["</memory add>", "</memory add:1>", good.replace("add", "drop"), f"`{good}`"]
        for body in (*({"content": text} for text in wrong), embeds({"title": good})):
            await bot.call("POST", path_of(channel), body)
        assert len(discord.misnamed_commands) == len(wrong) + 1


async def test_rates_and_tokens_are_discords() -> None:
    async with LoopbackDiscord(channel_rate=Allowance(2, 60.0)) as discord, RawBot(discord) as bot:
        first, second = discord.guild_channel(), discord.guild_channel()
        answers = [await bot.call("POST", path_of(each), X) for each in (first, first, first, second)]
        assert [status for status, _ in answers] == [200, 200, 429, 200]
        assert 0 < answers[2][1]["retry_after"] <= 60
    async with LoopbackDiscord(global_rate=Allowance(2, 60.0)) as discord, RawBot(discord) as bot:
        answers = [await bot.call("GET", "/users/@me") for _ in range(3)]
        assert (answers[2][0], answers[2][1]["global"]) == (429, True)
        async with RawBot(discord, token=discord.other_token) as stranger:
            assert await code(stranger.call("GET", "/users/@me")) == 401


USER: Final = {"role": "user", "content": "元気？"}
CALLED: Final = {"id": "call_1", "type": "function", "function": {"name": "recall", "arguments": "{}"}}
CALL: Final[Body] = {"role": "assistant", "content": None, "tool_calls": [CALLED]}
RESULT: Final = {"role": "tool", "tool_call_id": "call_1", "content": "3月15日"}


async def test_a_model_answers_by_the_script_and_refuses_what_no_server_takes() -> None:
    async with LoopbackModelServer(says("一"), fails(429)) as server, aiohttp.ClientSession() as session:

        async def chat(*messages: object, **more: object) -> tuple[int, str]:
            body = {"model": "m", "stream": True, "messages": messages, **more}
            async with session.post(f"{server.base_url}/chat/completions", json=body) as response:
                return response.status, await response.text()

        server.responder = lambda body: f"{len(body['messages'])}件"
        with_usage = {"stream_options": {"include_usage": True}}
        answers = [await chat(USER), await chat(USER), await chat(USER, CALL, RESULT, **with_usage)]
        assert [status for status, _ in answers] == [200, 429, 200]
        assert ("一" in answers[0][1], "usage" in answers[0][1]) == (True, False)
        assert ("3件" in answers[2][1], "usage" in answers[2][1]) == (True, True)
        refused = [[USER, RESULT], [USER, CALL], [USER, CALL, USER], [USER, CALL, RESULT, RESULT]]
        assert [(await chat(*messages))[0] for messages in refused] == [400] * len(refused)
        assert (await chat(USER, tools=[]))[0] == 400
