"""What the doubles promise: what the real services refuse is refused here, with the same codes.

What the program needs of a double, every test over it notices. A double that takes too much hides a fault of
the program, and that nobody notices but here.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import aiohttp
import pytest

from tests.loopback.discord import Allowance, Channel, File, Intent, LoopbackDiscord, Permission, User
from tests.loopback.discord.interactions import Callback
from tests.loopback.discord.raw import RawBot
from tests.loopback.model_server import LoopbackModelServer, fails, says
from tests.loopback.speech_server import Heard, LoopbackSpeechServer

Body = dict[str, Any]
ROOMY: Final = Allowance(1000, 5.0)
INVALID: Final = 50035
X: Final[Body] = {"content": "x"}
UNPRIVILEGED: Final = Intent.GUILDS | Intent.GUILD_MESSAGES | Intent.DIRECT_MESSAGES


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(channel_rate=ROOMY, webhook_rate=ROOMY, global_rate=ROOMY) as double:
        yield double


@pytest.fixture
async def bot(discord: LoopbackDiscord) -> AsyncIterator[RawBot]:
    async with RawBot(discord) as bot:
        await bot.register(ASK, MEMORY, {"type": 3, "name": "Keep"})
        yield bot


@pytest.fixture
def aiko(discord: LoopbackDiscord) -> User:
    return discord.user("Aiko", locale="ja")


@pytest.fixture
def channel(discord: LoopbackDiscord) -> Channel:
    return discord.guild_channel()


async def code(called: Awaitable[tuple[int, Any]]) -> int:
    """Discord's error code, or the status where it has none; 0 for what was taken."""
    status, answer = await called
    return 0 if status < 300 else int(answer["code"]) or status


async def check(answers: dict[str, tuple[int, Awaitable[tuple[int, Any]]]]) -> None:
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


ASK: Final[Body] = command(
    name="ask",
    integration_types=[0, 1],
    options=[
        option(required=True, max_length=10),
        option(type=4, name="id", autocomplete=True),
        option(type=11, name="file"),
    ],
)
ADD: Final[Body] = option(type=1, name="add", name_localizations={"ja": "追加"}, options=[option()])
MEMORY: Final[Body] = command(name="memory", name_localizations={"ja": "メモリ"}, contexts=[0], options=[ADD])
FORM: Final[Body] = {
    "title": "編集",
    "custom_id": "form",
    "components": [row({"type": 4, "custom_id": "text", "label": "文", "style": 1, "value": "前"})],
}

REFUSED_COMMANDS: Final[dict[str, Body]] = {
    "a name in capitals": command(name="Ask"),
    "a name of 33": command(name="x" * 33),
    "no description": command(description=""),
    "a description of 101": command(description_localizations={"ja": "あ" * 101}),
    "a localized name with a space": command(name_localizations={"ja": "聞く の"}),
    "a locale that does not exist": command(name_localizations={"jp": "聞く"}),
    "26 options": command(options=[option(name=f"o{n}") for n in range(26)]),
    "two options of one name": command(options=[option(), option()]),
    "required after optional": command(options=[option(name="a"), option(name="b", required=True)]),
    "26 choices": command(options=[option(choices=choices(26))]),
    "choices and autocomplete": command(options=[option(choices=choices(1), autocomplete=True)]),
    "a subcommand beside an option": command(options=[option(type=1, name="add"), option()]),
    "a maximum length of 6001": command(options=[option(max_length=6001)]),
    "a context that does not exist": command(contexts=[3]),
    "a described menu command": {"type": 3, "name": "Keep", "description": "no"},
    "8001 characters": command(
        options=[option(name=f"o{n}", choices=choices(25, name="x" * 80)) for n in range(4)]
    ),
    "the name of another": command(name="ask"),
    "another's name in Japanese": command(name="other", name_localizations={"ja": "メモリ"}),
}
REFUSED_MESSAGES: Final[dict[str, Body]] = {
    "2001 characters": {"content": "あ" * 2001},
    "an embed description of 4097": embeds({"description": "x" * 4097}),
    "an embed title of 257": embeds({"title": "x" * 257}),
    "embeds of 6001 in all": embeds({"description": "x" * 4000}, {"description": "x" * 2001}),
    "an embed field of blanks": embeds({"fields": [{"name": "x", "value": " "}]}),
    "an embed of a colour alone": embeds({"color": 1}),
    "a colour that is none": embeds({"title": "x", "color": 0x1000000}),
    "a picture on no server": embeds({"image": {"url": "file:///a.png"}}),
    "26 embed fields": embeds({"fields": [{"name": "x", "value": "x"}] * 26}),
    "11 embeds": embeds(*[{"title": "x"}] * 11),
    "6 buttons in a row": rows(row(*[button(str(n)) for n in range(6)])),
    "6 rows": rows(*[row(button(str(n))) for n in range(6)]),
    "an empty row": rows(row()),
    "a button outside a row": rows(button("a")),
    "a custom id of 101": rows(row(button("x" * 101))),
    "the same custom id twice": rows(row(button("a")), row(button("a"))),
    "a label of 81": rows(row(button("a", label="x" * 81))),
    "a menu of 26": rows(row(menu(26))),
    "a menu beside a button": rows(row(menu(2), button("a"))),
    "components that are not modelled": {"components": [{"type": 10, "content": "x"}]},
    "both parse and users": {**X, "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
    "a nonce of 26": {**X, "nonce": "x" * 26},
    "a file that did not come": {**X, "attachments": [{"id": 0, "filename": "a.txt"}]},
    "a reply to nothing": {**X, "message_reference": {"message_id": "1"}},
}
EMPTY_MESSAGES: Final[list[Body]] = [{}, {"content": " \n　"}, {"embeds": []}]
LARGEST_MESSAGES: Final[dict[str, Body]] = {
    "2000 characters": {"content": "あ" * 2000},
    "embeds of 6000": embeds({"description": "x" * 4000}, {"description": "x" * 2000}),
    "25 buttons": rows(*[row(*[button(f"{r}{n}") for n in range(5)]) for r in range(5)]),
    "a menu of 25": rows(row(menu(25))),
}


class TestForms:
    async def test_of_commands_are_refused_as_discord_refuses_them(self, bot: RawBot) -> None:
        found = {name: await code(bot.register(ASK, MEMORY, each)) for name, each in REFUSED_COMMANDS.items()}
        assert found == dict.fromkeys(REFUSED_COMMANDS, INVALID)
        assert await code(bot.register(command(name="聞く", options=[option(name="ファイル名_2")]))) == 0

    async def test_of_messages_are_refused_as_discord_refuses_them(
        self, discord: LoopbackDiscord, bot: RawBot, channel: Channel
    ) -> None:
        async def posted(body: Body, *files: File) -> int:
            return await code(bot.call("POST", path_of(channel), body, *files))

        refused = {name: await posted(each) for name, each in REFUSED_MESSAGES.items()}
        assert refused == dict.fromkeys(REFUSED_MESSAGES, INVALID)
        assert [await posted(each) for each in EMPTY_MESSAGES] == [50006] * len(EMPTY_MESSAGES)
        assert await posted({}, File("a.bin", bytes(10 * 2**20 + 1))) == 40005
        assert len(discord.violations) == len(REFUSED_MESSAGES) + len(EMPTY_MESSAGES) + 1
        taken = {name: await posted(each) for name, each in LARGEST_MESSAGES.items()}
        assert taken == dict.fromkeys(LARGEST_MESSAGES, 0)

    async def test_of_autocompletes_and_modals_are_refused_as_discord_refuses_them(
        self, discord: LoopbackDiscord, bot: RawBot, aiko: User, channel: Channel
    ) -> None:
        offers = [choices(26), choices(1, name="x" * 101), choices(1, name=""), choices(25)]
        found = list[int]()
        for offered in offers:
            typing = asyncio.create_task(discord.autocomplete(aiko, channel, "ask", id="3月"))
            await discord.wait(lambda: len(discord.replies) > len(found), "the autocomplete")
            reply = discord.replies[-1]
            found.append(await code(bot.answer(reply, Callback.CHOICES, {"choices": offered})))
            if found[-1]:
                typing.cancel()
        assert found == [INVALID, INVALID, INVALID, 0]
        assert len(await typing) == 25
        asked = await discord.slash(aiko, channel, "ask", question="?")
        assert await code(bot.answer(asked, Callback.MODAL, {**FORM, "title": "x" * 46})) == INVALID


class TestInteractions:
    async def test_that_are_answered_wrongly_have_discords_codes(
        self, discord: LoopbackDiscord, bot: RawBot, aiko: User, channel: Channel
    ) -> None:
        async def ask(callback: Callback | None = None, data: Body = X, place: Channel = channel) -> Any:
            reply = await discord.slash(aiko, place, "ask", question="?")
            assert callback is None or await code(bot.answer(reply, callback, data)) == 0
            return reply

        late, old, done = await ask(), await ask(Callback.MESSAGE), await ask(Callback.MESSAGE)
        late.age(3.0)
        old.age(15 * 60)
        private = await ask(Callback.MESSAGE, {**X, "flags": 64})
        elsewhere = await ask(Callback.MESSAGE, place=discord.user_installed_channel(aiko))
        opened = await discord.submit_modal(await ask(Callback.MODAL, FORM))
        _, other = await bot.call("POST", path_of(channel), X)
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
                "a private one without its token": (
                    10008,
                    bot.call("PATCH", path_of(channel, private.message.id), X),
                ),
            }
        )
        more = [await code(bot.follow_up(elsewhere, X)) for _ in range(6)]
        assert more == [0] * 5 + [40094]  # of an app that the user brought along

    async def test_have_as_much_longer_as_the_double_itself_stood_still(
        self, discord: LoopbackDiscord, bot: RawBot, aiko: User, channel: Channel
    ) -> None:
        reply = await discord.slash(aiko, channel, "ask", question="?")
        await asyncio.sleep(0)  # so that it ticks
        time.sleep(3.5)  # noqa: ASYNC251 - as a busy machine does, now and then
        await asyncio.sleep(0.01)
        await bot.answer(reply, Callback.DEFERRED_MESSAGE)
        assert reply.is_acknowledged

    async def test_keep_every_state_that_was_seen_and_are_private_from_the_deferral_on(
        self, discord: LoopbackDiscord, bot: RawBot, aiko: User, channel: Channel
    ) -> None:
        reply = await discord.slash(aiko, channel, "ask", question="?")
        await bot.answer(reply, Callback.DEFERRED_MESSAGE, {"flags": 64})
        assert reply.loading
        for content in ("a", "ab"):
            await bot.edit(reply, {"content": content, "flags": 0})
        await bot.follow_up(reply, X)
        assert [shown.ephemeral for shown in reply.messages] == [True, False]
        await bot.delete(reply)
        assert [shown.content for shown in reply.history] == ["", "a", "ab", "x", "ab"]
        assert reply.text == "x"

    async def test_that_no_client_would_send_are_the_tests_mistake(
        self, discord: LoopbackDiscord, bot: RawBot, aiko: User, channel: Channel
    ) -> None:
        reply = await discord.slash(aiko, channel, "ask", question="?")
        components = rows(row(button("go", label="続ける"), button("no", label="止める", disabled=True)))
        await bot.answer(reply, Callback.MESSAGE, {**components, "flags": 64})
        other, gone = discord.user("Ben"), await discord.post(aiko, channel, "gone")
        await discord.delete(aiko, gone)
        left = discord.user("Carl")
        discord.leave(left)
        mistakes: dict[str, Callable[[], Awaitable[object]]] = {
            "a required option left out": lambda: discord.slash(aiko, channel, "ask"),
            "too long an option": lambda: discord.slash(aiko, channel, "ask", question="x" * 11),
            "an option of another type": lambda: discord.slash(aiko, channel, "ask", question=1),
            "an unknown option": lambda: discord.slash(aiko, channel, "ask", question="x", other="x"),
            "an unknown command": lambda: discord.slash(aiko, channel, "forget"),
            "no subcommand": lambda: discord.slash(aiko, channel, "memory"),
            "a command in another context": lambda: discord.slash(aiko, discord.dm(aiko), "memory add"),
            "a disabled button": lambda: discord.click(aiko, reply.message, "止める"),
            "a button that is not there": lambda: discord.click(aiko, reply.message, "消す"),
            "another's private message": lambda: discord.click(other, reply.message, "続ける"),
            "a menu of a deleted message": lambda: discord.message_command(aiko, channel, "Keep", gone),
            "a reply to a private message": lambda: discord.post(aiko, channel, "?", reply_to=reply.message),
            "an edit of another's message": lambda: discord.edit(other, gone, "x"),
            "a member who left": lambda: discord.post(left, channel, "x"),
            "a route that does not exist": lambda: asyncio.to_thread(discord.fail_next, "POST /nowhere"),
        }
        for name, do in mistakes.items():
            with pytest.raises(AssertionError):
                pytest.fail(f"taken: {name}: {await do()}")
        assert discord.violations == []


class TestChannels:
    async def test_refuse_what_the_bot_may_not_do_there(
        self, discord: LoopbackDiscord, bot: RawBot, aiko: User, channel: Channel
    ) -> None:
        hidden, silent, blind = (discord.guild_channel() for _ in range(3))
        discord.forbid(discord.bot, Permission.VIEW_CHANNEL, hidden)
        discord.forbid(discord.bot, Permission.SEND_MESSAGES | Permission.ATTACH_FILES, silent)
        discord.forbid(discord.bot, Permission.READ_MESSAGE_HISTORY, blind)
        theirs, unseen = await discord.post(aiko, channel, "mine"), await discord.post(aiko, blind, "mine")
        gone = await discord.post(aiko, channel, "gone")
        await discord.delete(aiko, gone)
        closed = discord.dm(discord.user("Ben", accepts_dms=False))
        to_unseen = {**X, "message_reference": {"message_id": str(unseen.id)}}

        def post(where: Channel, body: Body = X, *files: File) -> Awaitable[tuple[int, Any]]:
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

    async def test_are_read_in_pages_newest_first(
        self, discord: LoopbackDiscord, bot: RawBot, aiko: User, channel: Channel
    ) -> None:
        posted = [(await discord.post(aiko, channel, f"{number}")).id for number in range(7)]
        pages = {
            "limit=3": [6, 5, 4],
            "limit=2&before={3}": [2, 1],
            "limit=2&after={3}": [5, 4],
            "limit=3&around={3}": [4, 3, 2],
            "after=0&limit=2": [1, 0],
        }
        for query, expected in pages.items():
            _, page = await bot.call("GET", f"{path_of(channel)}?{query.format(*posted)}")
            assert [posted.index(int(each["id"])) for each in page] == expected, query

    async def test_show_others_words_only_with_the_intent_or_to_whom_they_mention(
        self, discord: LoopbackDiscord, bot: RawBot, aiko: User, channel: Channel
    ) -> None:
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
        async with LoopbackDiscord(message_content=True) as granted, RawBot(granted) as reader:
            message = await granted.post(granted.user("Ben"), granted.guild_channel(), "secret")
            assert (await reader.call("GET", path_of(message.channel, message.id)))[1]["content"] == "secret"

    async def test_have_one_message_for_a_nonce_and_files_until_they_expire(
        self, discord: LoopbackDiscord, bot: RawBot, channel: Channel
    ) -> None:
        body = {**X, "nonce": "7", "enforce_nonce": True}
        answers = [await bot.call("POST", path_of(channel), body, File("a", b"12")) for _ in range(2)]
        assert answers[0][1]["id"] == answers[1][1]["id"]
        discord.forget_nonces()
        await bot.call("POST", path_of(channel), body)
        assert len(discord.messages(channel)) == 2
        url = answers[0][1]["attachments"][0]["url"]
        async with bot.fetch(url) as response:
            assert await response.read() == b"12"
        discord.expire_attachments()
        async with bot.fetch(url) as response:
            assert response.status == 404

    async def test_show_which_messages_answer_which_question(
        self, discord: LoopbackDiscord, bot: RawBot, aiko: User, channel: Channel
    ) -> None:
        async def post(content: str, to: object = None) -> Any:
            reference = {"message_reference": {"message_id": str(to)}} if to else {}
            return (await bot.call("POST", path_of(channel), {"content": content, **reference}))[1]["id"]

        one, two = [await discord.post(aiko, channel, f"{n}?", mention=True) for n in range(2)]
        begun = await post("one", one.id)
        await post("one, more")
        await post("two", two.id)
        await post("one, at last", begun)
        assert (await discord.reply_to(one)).text == "one\none, more\none, at last"
        assert discord.answer(two).text == "two"
        with pytest.raises(AssertionError, match="nobody"):
            await discord.reply_to(await discord.post(aiko, channel, "nobody?"), timeout_s=0.01)


class TestWhatEveryTestIsCheckedFor:
    async def test_pings_of_the_bot_are_recorded(
        self, discord: LoopbackDiscord, bot: RawBot, aiko: User, channel: Channel
    ) -> None:
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

    async def test_a_language_that_is_not_the_askers_is_found(
        self, discord: LoopbackDiscord, bot: RawBot, channel: Channel
    ) -> None:
        wrong = [("ja", "Here you are"), ("en-US", "Here: カレー")]
        for locale, content in [*wrong, ("ja", "お答えします"), ("en-US", "漢字 only"), ("ja", "1 / 2")]:
            reply = await discord.slash(discord.user("Ben", locale=locale), channel, "ask", question="?")
            await bot.answer(reply, Callback.MESSAGE, {"content": content})
        assert discord.wrong_language == wrong

    async def test_a_command_that_discord_would_not_show_is_found(
        self, discord: LoopbackDiscord, bot: RawBot, aiko: User, channel: Channel
    ) -> None:
        good = f"</memory add:{discord.commands[1].id}>"
        for body in ({"content": good}, embeds({"description": good})):
            reply = await discord.slash(aiko, channel, "ask", question="?")
            await bot.answer(reply, Callback.MESSAGE, body)
            assert reply.text == "/メモリ 追加"
        assert discord.misnamed_commands == []
        wrong: list[Body] = [
            {"content": "</memory add>"},
            {"content": "</memory add:1>"},
            {"content": good.replace("add", "drop")},
            {"content": f"`{good}`"},
            embeds({"title": good}),
        ]
        for body in wrong:
            await bot.call("POST", path_of(channel), body)
        assert len(discord.misnamed_commands) == len(wrong)


class TestTrouble:
    async def test_of_rates_and_tokens_is_discords(self) -> None:
        async with LoopbackDiscord(channel_rate=Allowance(2, 60.0)) as discord, RawBot(discord) as bot:
            first, second = discord.guild_channel(), discord.guild_channel()
            found = [await code(bot.call("POST", path_of(first), X)) for _ in range(3)]
            assert [*found, await code(bot.call("POST", path_of(second), X))] == [0, 0, 429, 0]
            async with bot.request("POST", path_of(first), X) as response:
                assert 0 < float(response.headers["Retry-After"]) <= 60
        async with LoopbackDiscord(global_rate=Allowance(2, 60.0)) as discord, RawBot(discord) as bot:
            answers = [await bot.call("GET", "/users/@me") for _ in range(3)]
            assert (answers[2][0], answers[2][1]["global"]) == (429, True)
            async with RawBot(discord, token=discord.other_token) as stranger:
                assert await code(stranger.call("GET", "/users/@me")) == 401

    async def test_on_order_has_effect_or_none_and_is_no_violation(
        self, discord: LoopbackDiscord, bot: RawBot, channel: Channel
    ) -> None:
        route = "POST /channels/{channel}/messages"
        discord.fail_next(route, 503, times=2)
        discord.fail_next(route, 502, take_effect=True)
        discord.fail_next(route, 429, retry_after_s=1.5)
        discord.fail_next(route, 503, channel=discord.guild_channel())  # which nobody writes to
        statuses = [(await bot.call("POST", path_of(channel), X))[0] for _ in range(5)]
        assert statuses == [503, 503, 502, 429, 200]
        assert (len(discord.messages(channel)), discord.faults.outstanding) == (2, 1)
        discord.fail_next(route, None)
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await bot.call("POST", path_of(channel), X)
        assert discord.violations == []


class Socket:
    """A connection to the gateway that is spoken to by hand."""

    def __init__(self, session: aiohttp.ClientSession, discord: LoopbackDiscord) -> None:
        self._session, self._discord = session, discord

    async def open(self) -> "Socket":
        url = f"{self._discord.world.base_url}/gateway?v=10&encoding=json"
        self._socket = await self._session.ws_connect(url)
        assert (await self.read())["op"] == 10
        return self

    async def read(self) -> Body:
        payload: Body = await self._socket.receive_json(timeout=60)
        return payload

    async def event(self, name: str) -> Any:
        while (payload := await self.read())["t"] != name:
            pass
        return payload["d"]

    async def send(self, opcode: int, data: object) -> None:
        await self._socket.send_str(json.dumps({"op": opcode, "d": data}))

    async def identify(self, intents: int = UNPRIVILEGED, **fields: Any) -> None:
        await self.send(2, {"token": self._discord.token, "intents": intents, "properties": {}, **fields})

    async def closed(self) -> int | None:
        while (await self._socket.receive(timeout=60)).type is aiohttp.WSMsgType.TEXT:
            pass
        return self._socket.close_code


class TestGateway:
    @pytest.fixture
    async def session(self) -> AsyncIterator[aiohttp.ClientSession]:
        async with aiohttp.ClientSession() as session:
            yield session

    async def test_closes_with_discords_codes(
        self, discord: LoopbackDiscord, session: aiohttp.ClientSession
    ) -> None:
        ways: dict[int, Callable[[Socket], Awaitable[object]]] = {
            4004: lambda socket: socket.identify(token=discord.other_token),
            4014: lambda socket: socket.identify(UNPRIVILEGED | Intent.MESSAGE_CONTENT),
            4008: lambda socket: asyncio.gather(*(socket.send(1, None) for _ in range(121))),
        }
        for expected, do in ways.items():
            socket = await Socket(session, discord).open()
            await do(socket)
            assert await socket.closed() == expected
        assert [each.code for each in discord.violations] == [*ways]

    async def test_tells_what_the_intents_let_through_and_replays_what_was_missed(
        self, discord: LoopbackDiscord, session: aiohttp.ClientSession, aiko: User, channel: Channel
    ) -> None:
        socket = await Socket(session, discord).open()
        await socket.identify()
        ready = await socket.event("READY")
        hidden = discord.guild_channel(bot_present=False)
        for where, text in ((hidden, "hidden"), (channel, "secret"), (discord.dm(aiko), "private")):
            await discord.post(aiko, where, text)
        assert [(await socket.event("MESSAGE_CREATE"))["content"] for _ in range(2)] == ["", "private"]
        await discord.drop_gateway()
        await discord.post(aiko, channel, "missed", mention=True)
        for session_id, event in ((ready["session_id"], "MESSAGE_CREATE"), ("unknown", None)):
            again = await Socket(session, discord).open()
            await again.send(6, {"token": discord.token, "session_id": session_id, "seq": 4})
            assert (await again.read())["t"] == event
        assert discord.world.gateway.resumes == 1

    async def test_that_is_waited_for_in_vain_says_what_was_seen(self, discord: LoopbackDiscord) -> None:
        with pytest.raises(AssertionError, match="no REST call at all"):
            await discord.ready(timeout_s=0.01)


USER: Final = {"role": "user", "content": "元気？"}
CALLED: Final = {"id": "call_1", "type": "function", "function": {"name": "recall", "arguments": "{}"}}
CALL: Final[Body] = {"role": "assistant", "content": None, "tool_calls": [CALLED]}
RESULT: Final = {"role": "tool", "tool_call_id": "call_1", "content": "3月15日"}


async def post(url: str, **sent: Any) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.post(url, **sent) as response:
        return response.status, await response.text(errors="replace")


class TestModels:
    async def test_that_chat_answer_by_the_script_and_refuse_what_no_server_takes(self) -> None:
        async with LoopbackModelServer(says("一"), fails(429)) as server:

            async def chat(*messages: object, **more: object) -> tuple[int, str]:
                body = {"model": "m", "stream": True, "messages": messages, **more}
                return await post(f"{server.base_url}/chat/completions", json=body)

            server.responder = lambda body: f"{len(body['messages'])}件"
            with_usage = {"stream_options": {"include_usage": True}}
            answers = [await chat(USER), await chat(USER), await chat(USER, CALL, RESULT, **with_usage)]
            assert [status for status, _ in answers] == [200, 429, 200]
            assert ("一" in answers[0][1], "usage" in answers[0][1]) == (True, False)
            assert ("3件" in answers[2][1], "usage" in answers[2][1]) == (True, True)
            refused = [[USER, RESULT], [USER, CALL], [USER, CALL, USER], [USER, CALL, RESULT, RESULT]]
            assert [(await chat(*messages))[0] for messages in refused] == [400] * len(refused)
            assert (await chat(USER, tools=[]))[0] == 400

    async def test_that_hear_and_speak_refuse_what_no_server_takes(self) -> None:
        async with LoopbackSpeechServer() as server:

            async def hear(data: bytes = b"OggS" + bytes(40), name: str = "a.ogg", **fields: str) -> int:
                form = aiohttp.FormData(fields)
                form.add_field("file", data, filename=name, content_type="audio/ogg")
                return (await post(f"{server.base_url}/audio/transcriptions", data=form))[0]

            async def speak(**fields: str) -> int:
                asked = {"model": "tiny", "input": "こんにちは", "voice": "alloy", **fields}
                return (await post(f"{server.base_url}/audio/speech", json=asked))[0]

            assert [await hear(model="tiny", language="ja"), await speak()] == [200, 200]
            assert [each.language for each in server.heard] == ["ja"]
            refused = {
                "no model": await hear(),
                "nothing": await hear(b"", model="tiny"),
                "no sound": await hear(name="voice.exe", model="tiny"),
                "a language with a country": await hear(model="tiny", language="ja-JP"),
                "a format of its own": await hear(model="tiny", response_format="xml"),
                "blanks": await speak(input=" "),
                "a long text": await speak(input="あ" * 4097),
                "no voice": await speak(voice=""),
                "no such format": await speak(response_format="exe"),
            }
            assert refused == dict.fromkeys(refused, 400)
            server.script(Heard(status=429))
            server.script_speech(Heard(status=500))
            assert [await hear(model="tiny"), await hear(model="tiny"), await speak()] == [429, 200, 500]
