"""The gateway spoken to by hand: handshake, intents, resuming, and each way of being shown the door."""

import json
import zlib
from collections.abc import AsyncIterator
from typing import Any, Self

import aiohttp
import pytest

from tests.loopback.discord import Intent, LoopbackDiscord
from tests.loopback.discord.raw import RawBot

UNPRIVILEGED = Intent.GUILDS | Intent.GUILD_MESSAGES | Intent.DIRECT_MESSAGES
Payload = dict[str, Any]


class Socket:
    """One connection that has read HELLO. `read` gives the next payload, `closed` the close code."""

    def __init__(self, discord: LoopbackDiscord, query: str = "?v=10&encoding=json") -> None:
        self._discord = discord
        self._query = query
        self._session: aiohttp.ClientSession
        self._socket: aiohttp.ClientWebSocketResponse[bool]
        self.seq = 0

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession()
        url = f"{self._discord.world.base_url}/gateway{self._query}"
        self._socket = await self._session.ws_connect(url)
        assert (await self.read())["d"]["heartbeat_interval"] > 1000
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()
        await self._session.close()

    async def read(self) -> Payload:
        message = await self._socket.receive(timeout=2)
        assert message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY), message
        raw = zlib.decompress(message.data) if isinstance(message.data, bytes) else message.data
        payload: Payload = json.loads(raw)
        self.seq = payload.get("s") or self.seq
        return payload

    async def event(self, name: str) -> Payload:
        """The data of the next event of that name; others are passed over."""
        while (payload := await self.read())["t"] != name:
            pass
        data: Payload = payload["d"]
        return data

    async def send(self, opcode: int, data: Any) -> None:
        await self._socket.send_str(json.dumps({"op": opcode, "d": data}))

    async def send_text(self, text: str) -> None:
        await self._socket.send_str(text)

    async def identify(self, intents: int = UNPRIVILEGED, **fields: Any) -> Payload:
        await self.send(2, {"token": self._discord.token, "intents": intents, "properties": {}, **fields})
        return await self.event("READY")

    async def closed(self) -> int | None:
        while (message := await self._socket.receive(timeout=2)).type is aiohttp.WSMsgType.TEXT:
            pass
        assert message.type is aiohttp.WSMsgType.CLOSE, message
        return self._socket.close_code


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord() as double:
        yield double


class TestHandshake:
    async def test_ready_comes_first_and_then_each_guild(self, discord: LoopbackDiscord) -> None:
        channel = discord.guild_channel("雑談")
        thread = discord.thread(channel)
        async with Socket(discord) as socket:
            ready = await socket.identify()
            guild = await socket.event("GUILD_CREATE")
        assert ready["user"]["bot"] is True
        assert ready["guilds"] == [{"id": str(discord.guild.id), "unavailable": True}]
        assert [c["id"] for c in guild["channels"]] == [str(channel.id)]
        assert [t["id"] for t in guild["threads"]] == [str(thread.id)]

    async def test_a_heartbeat_is_acknowledged(self, discord: LoopbackDiscord) -> None:
        async with Socket(discord) as socket:
            await socket.send(1, None)
            assert (await socket.read())["op"] == 11

    async def test_payloads_are_compressed_on_request(self, discord: LoopbackDiscord) -> None:
        async with Socket(discord) as socket:
            assert (await socket.identify(compress=True))["v"] == 10

    async def test_an_interaction_goes_to_the_shard_of_its_guild(self, discord: LoopbackDiscord) -> None:
        asker = discord.user("Diego")
        async with Socket(discord) as first, Socket(discord) as second:
            await first.identify(shard=[0, 2])
            await second.identify(shard=[1, 2])
            await discord.post(asker, discord.dm(asker), "hello")
            assert (await first.event("MESSAGE_CREATE"))["content"] == "hello"
            await discord.post(asker, discord.guild_channel(), "hello")
            shard = (first, second)[(discord.guild.id >> 22) % 2]
            assert (await shard.event("MESSAGE_CREATE"))["guild_id"] == str(discord.guild.id)


class TestIntents:
    async def test_without_message_content_only_what_concerns_the_bot_is_readable(
        self, discord: LoopbackDiscord
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        mention = discord.world.bot.mention
        async with Socket(discord) as socket:
            await socket.identify()
            await discord.post(asker, channel, "secret")
            await discord.post(asker, channel, f"{mention} hello")
            await discord.post(asker, discord.dm(asker), "private")
            contents = [(await socket.event("MESSAGE_CREATE"))["content"] for _ in range(3)]
        assert contents == ["", f"{mention} hello", "private"]

    async def test_with_message_content_everything_is(self) -> None:
        async with LoopbackDiscord(message_content=True) as discord, Socket(discord) as socket:
            await socket.identify(UNPRIVILEGED | Intent.MESSAGE_CONTENT)
            await discord.post(discord.user("Diego"), discord.guild_channel(), "secret")
            assert (await socket.event("MESSAGE_CREATE"))["content"] == "secret"

    async def test_messages_that_were_not_asked_for_do_not_come(self, discord: LoopbackDiscord) -> None:
        asker = discord.user("Diego")
        async with Socket(discord) as socket:
            await socket.identify(Intent.DIRECT_MESSAGES)
            await discord.post(asker, discord.guild_channel(), "here")
            await discord.post(asker, discord.guild_channel("staff", bot_present=False), "there")
            await discord.post(asker, discord.dm(asker), "in private")
            assert (await socket.event("MESSAGE_CREATE"))["content"] == "in private"

    @pytest.mark.parametrize(
        "privileged", [Intent.MESSAGE_CONTENT, Intent.GUILD_MEMBERS, Intent.GUILD_PRESENCES]
    )
    async def test_that_were_not_granted_close_with_4014(
        self, discord: LoopbackDiscord, privileged: Intent
    ) -> None:
        async with Socket(discord) as socket:
            data = {"token": discord.token, "intents": UNPRIVILEGED | privileged, "properties": {}}
            await socket.send(2, data)
            assert await socket.closed() == 4014
        assert discord.violations[0].code == 4014


class TestClosing:
    async def test_a_wrong_token_is_4004(self, discord: LoopbackDiscord) -> None:
        async with Socket(discord) as socket:
            await socket.send(2, {"token": discord.other_token, "intents": 0, "properties": {}})
            assert await socket.closed() == 4004

    @pytest.mark.parametrize(
        ("text", "code"),
        [("no json", 4002), ('{"op": 99, "d": null}', 4001), ('{"op": 3, "d": {}}', 4003)],
    )
    async def test_nonsense_has_a_code_of_its_own(
        self, discord: LoopbackDiscord, text: str, code: int
    ) -> None:
        async with Socket(discord) as socket:
            await socket.send_text(text)
            assert await socket.closed() == code

    async def test_identifying_twice_is_4005(self, discord: LoopbackDiscord) -> None:
        async with Socket(discord) as socket:
            await socket.identify(0)
            await socket.send(2, {"token": discord.token, "intents": 0, "properties": {}})
            assert await socket.closed() == 4005

    @pytest.mark.parametrize(("fields", "code"), [({"shard": [2, 2]}, 4010), ({"intents": 1 << 27}, 4013)])
    async def test_what_identify_cannot_say(
        self, discord: LoopbackDiscord, fields: Payload, code: int
    ) -> None:
        async with Socket(discord) as socket:
            await socket.send(2, {"token": discord.token, "intents": 0, "properties": {}, **fields})
            assert await socket.closed() == code

    async def test_the_121st_payload_of_a_minute_is_4008(self, discord: LoopbackDiscord) -> None:
        async with Socket(discord) as socket:
            for _ in range(121):
                await socket.send(1, None)
            assert await socket.closed() == 4008


class TestResume:
    async def test_replays_what_was_missed(self, discord: LoopbackDiscord) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        async with Socket(discord) as socket:
            ready = await socket.identify(UNPRIVILEGED)
            await socket.event("GUILD_CREATE")
        await discord.gone()
        await discord.post(asker, channel, "missed")
        async with Socket(discord) as again:
            await again.send(
                6, {"token": discord.token, "session_id": ready["session_id"], "seq": socket.seq}
            )
            assert (await again.read())["t"] == "MESSAGE_CREATE"
            assert (await again.read())["t"] == "RESUMED"
            await discord.post(asker, channel, "next")
            assert (await again.read())["t"] == "MESSAGE_CREATE"
        assert discord.world.gateway.resumes == 1

    async def test_of_a_session_that_is_gone_is_an_invalid_session(self, discord: LoopbackDiscord) -> None:
        async with Socket(discord) as socket:
            ready = await socket.identify(0)
            await discord.drop_gateway(1001, resumable=False)
            assert await socket.closed() == 1001
        async with Socket(discord) as again:
            await again.send(6, {"token": discord.token, "session_id": ready["session_id"], "seq": 1})
            answer = await again.read()
            assert (answer["op"], answer["d"]) == (9, False)
            await again.identify(0)

    async def test_from_the_future_is_4007(self, discord: LoopbackDiscord) -> None:
        async with Socket(discord) as socket:
            ready = await socket.identify(0)
        await discord.gone()
        async with Socket(discord) as again:
            await again.send(6, {"token": discord.token, "session_id": ready["session_id"], "seq": 99})
            assert await again.closed() == 4007

    async def test_is_asked_for_by_opcode_7(self, discord: LoopbackDiscord) -> None:
        async with Socket(discord) as socket:
            await socket.identify(0)
            await discord.ask_to_reconnect()
            assert (await socket.read())["op"] == 7


class TestWaiting:
    async def test_ready_needs_the_gateway_and_the_commands(self) -> None:
        async with LoopbackDiscord(patience_s=0.05) as discord, RawBot(discord) as bot:
            await bot.call("GET", "/gateway/bot")
            async with Socket(discord) as socket:
                await socket.identify(0)
                with pytest.raises(AssertionError, match="GET /gateway/bot -> 200"):
                    await discord.ready(timeout_s=0.05)
                await bot.register()
                await discord.ready()

    async def test_ready_again_after_a_new_session_of_the_same_program(
        self, discord: LoopbackDiscord
    ) -> None:
        async with RawBot(discord) as bot:
            await bot.call("GET", "/gateway/bot")
            async with Socket(discord) as socket:
                await socket.identify(0)
                await bot.register()
                await discord.ready()
                await discord.drop_gateway(resumable=False)
            async with Socket(discord) as again:
                await again.identify(0)
                await discord.ready()

    async def test_for_a_bot_that_never_comes_says_what_was_seen(self) -> None:
        async with LoopbackDiscord(patience_s=0.01) as discord:
            with pytest.raises(AssertionError, match="no REST call at all"):
                await discord.ready(timeout_s=0.01)
