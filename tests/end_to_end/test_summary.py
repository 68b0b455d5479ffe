"""Summaries on Discord: a long conversation knows how it began; its user sees and deletes what is kept."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, Reply, User
from tests.loopback.model_server import says

PREVIOUSLY = {"ja": "前回までの会話の要約: ", "en-US": "Previous conversation summary: "}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """With room for four messages, so that two turns are a long conversation."""
    settings = {"CC_BOT_HISTORY_LIMIT": "4"}
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), settings) as stage:
        yield stage


async def stored(stage: Stage, channel: Channel, *contents: str) -> None:
    """Wait until that is what is kept of a channel."""
    async with stage.patience():
        while kept(stage, channel) != sorted(contents):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.02)


def kept(stage: Stage, channel: Channel) -> list[str]:
    rows = stage.rows("SELECT content FROM summaries WHERE channel_id = ?", channel.id)
    return sorted(content for (content,) in rows)


async def summarized(stage: Stage, user: User, channel: Channel, notes: str, **options: bool) -> None:
    """Two turns, and what is written down of them."""
    stage.model.script_notes(says(notes))
    for _ in range(2):
        stage.model.script(says("はい。" if user.locale == "ja" else "Yes."))
        await stage.ask(user, channel, "?", **options)
    await stored(stage, channel, notes)


async def shown(stage: Stage, user: User, channel: Channel) -> Reply:
    reply = await stage.discord.slash(user, channel, "summary")
    await reply.finished(lambda told: told.text)
    assert reply.ephemeral
    return reply


async def test_a_long_conversation_knows_its_first_fact_through_the_summary(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    for user, fact, notes in (
        (aiko, "犬の名前はポチです", "- 犬の名前はポチ"),
        (ben, "My dog is called Rex", "- The dog is called Rex"),
    ):
        place, before = stage.discord.guild_channel(), len(stage.model.notes)
        stage.model.script_notes(says(notes), says(notes))
        for number, question in enumerate((fact, "2", "3", "4", "5")):
            stage.model.script(says("はい。" if user is aiko else "Yes."))
            await stage.ask(user, place, question)
            if number == 1:
                assert fact in str((await stage.model.noted(before + 1)).messages)
                await stored(stage, place, notes)
        await stage.model.noted(before + 2)
        _, *history, changing, _ = stage.model.requests[-1].messages
        assert fact not in str(history)
        assert changing["content"].endswith(PREVIOUSLY[user.locale] + notes)


async def test_the_command_shows_what_is_kept_and_deletes_it_also_after_a_restart(
    stage: Stage, aiko: User, channel: Channel
) -> None:
    assert "要約はまだありません" in await stage.told(aiko, channel, "summary")
    await summarized(stage, aiko, channel, "- 犬が好き")
    reply = await shown(stage, aiko, channel)
    assert "会話の要約" in reply.text
    assert "- 犬が好き" in reply.text
    await stage.restart()
    press = await stage.discord.click(aiko, reply.message, "要約を消す")
    await press.finished(lambda told: "要約を消しました" in told.text)
    assert press.labels == []
    assert "犬が好き" not in press.text
    assert kept(stage, channel) == []
    stage.model.script(says("はい。"))
    await stage.ask(aiko, channel)
    assert PREVIOUSLY["ja"] not in str(stage.model.requests[-1].messages)
    other = stage.discord.guild_channel()
    await summarized(stage, aiko, other, "- 猫が好き")
    await stage.told(aiko, other, "clear")
    assert "要約はまだありません" in await stage.told(aiko, other, "summary")
