"""A tiny bot on the real hikari and lightbulb, so that the double is held to what the libraries need."""

import asyncio
from collections.abc import AsyncIterator

import hikari
import lightbulb
import pytest
from hikari.api.shard import GatewayCompression
from hikari.impl.shard import GatewayShardImpl

from tests.loopback.discord import Allowance, Choice, File, LoopbackDiscord

NAMES: dict[hikari.Locale, dict[str, str]] = {
    hikari.Locale.EN_US: {
        "tell": "tell",
        "tell.about": "Tells a story",
        "topic": "topic",
        "number": "number",
    },
    hikari.Locale.JA: {"tell": "話して", "tell.about": "話をします", "topic": "お題", "number": "番号"},
}
EDIT = "PATCH /webhooks/{application}/{token}/messages/@original"
STORY = {"ja": "むかしむかし、", "en-US": "Once upon a time, "}


async def suggest(ctx: lightbulb.AutocompleteContext[int]) -> None:
    typed = ctx.focused.value
    assert isinstance(typed, str)
    await ctx.respond([(f"{typed}を選ぶ", 7)])


def make_bot(
    discord: LoopbackDiscord,
    *,
    token: str | None = None,
    intents: hikari.Intents = hikari.Intents.ALL_UNPRIVILEGED,
) -> hikari.GatewayBot:
    bot = hikari.GatewayBot(
        token or discord.token,
        banner=None,
        logs=None,
        suppress_optimization_warning=True,
        intents=intents,
        rest_url=discord.api_url,
    )
    client = lightbulb.client_from_app(
        bot,
        default_locale=hikari.Locale.EN_US,
        localization_provider=lightbulb.DictLocalizationProvider(NAMES),
    )

    @client.register
    class Tell(lightbulb.SlashCommand, name="tell", description="tell.about", localize=True):
        topic = lightbulb.string("topic", "tell.about", localize=True)
        number = lightbulb.integer("number", "tell.about", localize=True, default=0, autocomplete=suggest)
        file = lightbulb.attachment("file", "a file", default=None)

        @lightbulb.invoke
        async def invoke(self, ctx: lightbulb.Context) -> None:
            await ctx.defer()
            start = STORY[str(ctx.interaction.locale)]
            size = 0 if self.file is None else len(await self.file.read())
            await ctx.interaction.edit_initial_response(f"{start}{self.topic} {size}")
            row = bot.rest.build_message_action_row()
            row.add_interactive_button(hikari.ButtonStyle.PRIMARY, "more", label="More")
            await ctx.interaction.execute("…", components=[row])

    @client.register
    class Keep(lightbulb.MessageCommand, name="Keep this"):
        @lightbulb.invoke
        async def invoke(self, ctx: lightbulb.Context) -> None:
            await ctx.respond(f"kept: {self.target.content}", ephemeral=True)

    @bot.listen(hikari.ComponentInteractionCreateEvent)
    async def on_click(event: hikari.ComponentInteractionCreateEvent) -> None:
        await event.interaction.create_initial_response(
            hikari.ResponseType.MESSAGE_UPDATE, "the end", components=[]
        )

    bot.subscribe(hikari.StartedEvent, client.start)
    return bot


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord() as double:
        yield double


@pytest.fixture
async def bot(discord: LoopbackDiscord) -> AsyncIterator[hikari.GatewayBot]:
    bot = make_bot(discord)
    await bot.start(check_for_updates=False)
    await discord.ready()
    yield bot
    if bot.is_alive:
        await bot.close()


class TestCommands:
    async def test_are_registered_in_both_languages(
        self, discord: LoopbackDiscord, bot: hikari.GatewayBot
    ) -> None:
        tell = next(command for command in discord.commands if command.name == "tell")
        assert tell.names["ja"] == "話して"
        assert tell.descriptions["ja"] == "話をします"
        assert tell.options[0]["name_localizations"]["ja"] == "お題"
        assert discord.command_writes == 1
        assert discord.violations == []

    async def test_are_read_back_by_the_next_start(
        self, discord: LoopbackDiscord, bot: hikari.GatewayBot
    ) -> None:
        ids = {command.name: command.id for command in discord.commands}
        await bot.close()
        second = make_bot(discord)
        await second.start(check_for_updates=False)
        await discord.ready()
        assert discord.command_writes == 2
        await second.close()
        assert {command.name: command.id for command in discord.commands} == ids
        assert discord.violations == []


class TestSlashCommand:
    async def test_is_deferred_then_edited_then_followed_up(
        self, discord: LoopbackDiscord, bot: hikari.GatewayBot
    ) -> None:
        asker, channel = discord.user("Aiko", locale="ja"), discord.guild_channel()
        reply = await discord.slash(asker, channel, "tell", topic="桃太郎")
        await reply.acknowledged()
        await reply.finished(lambda reply: len(reply.messages) == 2)
        assert [shown.content for shown in reply.messages] == ["むかしむかし、桃太郎 0", "…"]
        assert [shown.loading for shown in reply.history] == [True, False, False]
        assert reply.labels == ["More"]
        assert not reply.ephemeral
        assert discord.violations == []
        assert discord.pings == []

    async def test_brings_its_attachment_under_a_url_that_serves_it(
        self, discord: LoopbackDiscord, bot: hikari.GatewayBot
    ) -> None:
        asker = discord.user("Diego")
        file = File("note.txt", b"12345", "text/plain")
        reply = await discord.slash(asker, discord.dm(asker), "tell", topic="cats", file=file)
        await reply.finished(lambda reply: reply.messages)
        assert reply.message.content == "Once upon a time, cats 5"

    async def test_in_every_kind_of_place(self, discord: LoopbackDiscord, bot: hikari.GatewayBot) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        places = [discord.thread(channel), discord.dm(asker), discord.user_installed_channel(asker)]
        places.append(discord.group_dm(asker, discord.user("Aiko")))
        replies = [await discord.slash(asker, place, "tell", topic="cats") for place in places]
        for reply in replies:
            await reply.finished(lambda reply: len(reply.messages) == 2)
        assert [reply.text for reply in replies] == ["Once upon a time, cats 0\n…"] * 4
        assert discord.violations == []


class TestComponents:
    async def test_a_click_updates_the_message(
        self, discord: LoopbackDiscord, bot: hikari.GatewayBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        reply = await discord.slash(asker, channel, "tell", topic="cats")
        await reply.finished(lambda reply: len(reply.messages) == 2)
        clicked = await discord.click(asker, reply.messages[1], "More")
        await clicked.finished()
        assert clicked.message.content == "the end"
        assert clicked.labels == []
        assert reply.messages[1] == clicked.message


class TestAutocomplete:
    async def test_receives_what_was_typed_as_text_also_for_a_number(
        self, discord: LoopbackDiscord, bot: hikari.GatewayBot
    ) -> None:
        asker, channel = discord.user("Aiko", locale="ja"), discord.guild_channel()
        choices = await discord.autocomplete(asker, channel, "tell", number="3月")
        assert choices == [Choice("3月を選ぶ", 7)]


class TestMessageCommand:
    async def test_sees_the_content_that_the_gateway_withheld(
        self, discord: LoopbackDiscord, bot: hikari.GatewayBot
    ) -> None:
        seen: list[str | None] = []

        @bot.listen(hikari.GuildMessageCreateEvent)
        async def on_message(event: hikari.GuildMessageCreateEvent) -> None:
            seen.append(event.content)

        asker, channel = discord.user("Diego"), discord.guild_channel()
        message = await discord.post(asker, channel, "my birthday is in March")
        reply = await discord.message_command(asker, channel, "Keep this", message)
        await reply.finished()
        assert reply.message.content == "kept: my birthday is in March"
        assert reply.ephemeral
        assert seen == [None]


class TestGateway:
    async def test_a_dropped_connection_is_resumed_with_what_was_missed(
        self, discord: LoopbackDiscord, bot: hikari.GatewayBot
    ) -> None:
        asker, channel = discord.user("Diego"), discord.guild_channel()
        await discord.drop_gateway()
        reply = await discord.slash(asker, channel, "tell", topic="cats")
        await discord.resumed()
        await reply.finished(lambda reply: len(reply.messages) == 2)
        assert discord.world.gateway.identifies == 1

    @pytest.mark.parametrize("compression", [None, *GatewayCompression])
    async def test_every_compression_is_understood(
        self, discord: LoopbackDiscord, compression: GatewayCompression | None
    ) -> None:
        """GatewayBot does not offer the choice, so the shard is built by hand."""
        bot = make_bot(discord)
        shard = GatewayShardImpl(
            compression=compression,
            intents=hikari.Intents.ALL_UNPRIVILEGED,
            http_settings=bot.http_settings,
            proxy_settings=bot.proxy_settings,
            event_manager=bot.event_manager,
            event_factory=bot.event_factory,
            token=discord.token,
            url=f"{discord.world.base_url.replace('http', 'ws', 1)}/gateway",
        )
        await shard.start()
        assert shard.get_user_id() == discord.application_id
        await shard.close()
        assert discord.violations == []

    async def test_a_wrong_token_is_401_before_the_gateway_is_reached(self, discord: LoopbackDiscord) -> None:
        bot = make_bot(discord, token=discord.other_token)
        with pytest.raises(hikari.UnauthorizedError):
            await bot.start(check_for_updates=False)
        await bot.close()
        assert discord.violations[0].status == 401

    async def test_an_intent_that_was_not_granted_closes_with_4014(self, discord: LoopbackDiscord) -> None:
        bot = make_bot(discord, intents=hikari.Intents.ALL_UNPRIVILEGED | hikari.Intents.MESSAGE_CONTENT)
        with pytest.raises(hikari.GatewayServerClosedConnectionError) as caught:
            await bot.start(check_for_updates=False)
        await bot.close()
        assert caught.value.code == 4014


class TestLibraryAndLimits:
    async def test_a_webhook_flood_is_paced_by_the_headers(self) -> None:
        """hikari reads the bucket's headers and waits, so a flood costs windows and no refusal."""
        async with LoopbackDiscord(webhook_rate=Allowance(2, 0.2)) as discord:
            bot = make_bot(discord)
            await bot.start(check_for_updates=False)
            await discord.ready()
            reply = await discord.slash(discord.user("Diego"), discord.guild_channel(), "tell", topic="cats")
            await reply.finished(lambda reply: len(reply.messages) == 2)
            where = discord.application_id, reply.interaction.token
            await asyncio.gather(*(bot.rest.edit_interaction_response(*where, str(n)) for n in range(5)))
            await bot.close()
            assert len(discord.calls(EDIT, status=200)) == 6
            assert discord.violations == []

    async def test_a_failure_that_took_effect_makes_hikari_post_twice(
        self, discord: LoopbackDiscord, bot: hikari.GatewayBot
    ) -> None:
        discord.fail_next("POST /webhooks/{application}/{token}", 502, take_effect=True)
        asker, channel = discord.user("Diego"), discord.guild_channel()
        reply = await discord.slash(asker, channel, "tell", topic="cats")
        await reply.until(lambda reply: len(reply.messages) == 3, "the twin of the follow-up")
        assert discord.violations == []
