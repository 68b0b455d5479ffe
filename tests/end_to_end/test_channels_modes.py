"""`CC_BOT_CHANNELS`: which messages the program asks Discord for, and what it does when it may not."""

from pathlib import Path

import pytest

from tests.end_to_end.kills import pull_the_plug
from tests.end_to_end.stage import Stage, running_stage, set_stage
from tests.loopback.discord import Intent, LoopbackDiscord
from tests.loopback.model_server import says

pytestmark = pytest.mark.slow

ADDRESSED = Intent.GUILDS | Intent.GUILD_MESSAGES | Intent.DIRECT_MESSAGES
EVERYTHING = ADDRESSED | Intent.MESSAGE_CONTENT
ALL = {"CC_BOT_CHANNELS": "all", "CC_BOT_LOCALE": "en"}


def asked_for(stage: Stage) -> Intent:
    """The intents of the program's connection."""
    [session] = stage.discord.world.gateway.live()
    return session.intents


async def last_words(stage: Stage) -> str:
    assert await stage.program.ended() == 2, stage.program.output
    assert "Traceback" not in stage.program.output
    return stage.program.output.strip().splitlines()[-1]


async def test_off_answers_commands_alone(tmp_path: Path) -> None:
    async with running_stage(tmp_path, {"CC_BOT_CHANNELS": "off"}) as stage:
        assert asked_for(stage) == Intent(0)
        assert "ntent" not in stage.program.output  # hikari warns of listeners that hear nothing
        aiko, channel = stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel()
        posts = [
            await stage.discord.post(aiko, channel, "聞こえますか？", mention=True),
            await stage.discord.post(aiko, stage.discord.dm(aiko), "聞こえますか？"),
        ]
        stage.model.script(says("コマンドだけ聞こえます。"))
        await stage.ask(aiko, channel, "コマンドは？")
        await pull_the_plug(stage)
        posts.append(await stage.discord.post(aiko, channel, "留守中に", mention=True))
        await stage.start()
        await stage.discord.quiet(0.3)
        assert len(stage.model.requests) == 1
        assert stage.rows("SELECT content FROM messages WHERE role = 'user'") == [("コマンドは？",)]
        assert [stage.discord.answer(post).messages for post in posts] == [[], [], []]
        stage.check()


async def test_all_reads_nothing_of_before_it(tmp_path: Path) -> None:
    discord = LoopbackDiscord(message_content=True)
    async with running_stage(tmp_path, {}, discord) as stage:
        assert asked_for(stage) == ADDRESSED
        aiko, channel = stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel()
        await stage.said(aiko, channel, "元気？", "元気です。")
        await stage.discord.post(aiko, channel, "二人だけの話")
        stage.program.environment["CC_BOT_CHANNELS"] = "all"
        await stage.restart()
        assert asked_for(stage) == EVERYTHING
        assert "Message Content Intent" not in stage.program.output
        await stage.said(aiko, channel, "何の話？", "分かりません。")
        assert stage.shown() == ["Aiko: 元気？", "元気です。", "Aiko: 何の話？"]
        stage.check()
        await stage.discord.drop_gateway(4014, resumable=False)  # switched off while the program runs
        assert "Message Content Intent を有効にする" in await last_words(stage)


async def test_a_refused_intent_ends_the_start(tmp_path: Path) -> None:
    discord = LoopbackDiscord(message_content=True, privileged=Intent(0))
    async with set_stage(tmp_path, ALL, discord) as stage:
        await stage.program.start("run")
        assert (await last_words(stage)).startswith("Discord does not let this bot read all messages.")
