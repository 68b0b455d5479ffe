"""Commands that the bot names: mentions that Discord shows and opens, and plain names where it shows none."""

import re

import pytest

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User

MENTION = re.compile(r"</[^:>]+:\d+>")


def sent(stage: Stage) -> str:
    """All that the bot sent, as it sent it."""
    return str([entry.body for entry in stage.discord.transcript])


def mention(stage: Stage, name: str) -> str:
    [command] = [each for each in stage.discord.commands if each.name == name.split(maxsplit=1)[0]]
    return f"</{name}:{command.id}>"


class TestMention:
    @pytest.mark.restarts
    async def test_is_read_in_the_language_of_its_reader_wherever_it_stands(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        """In a list, in a refusal and in an embed, also after a restart."""
        await stage.restart()
        told = await stage.told(aiko, channel, "memory list")
        assert "メモリはまだありません。/メモリ 追加 か" in told
        told = await stage.told(ben, channel, "memory list")
        assert "There are no memories yet. Save one with /memory add or" in told
        assert "/リマインド 一覧" in await stage.told(aiko, channel, "remind delete", id=987654321)
        assert "/エージェント 使う" in await stage.told(aiko, channel, "help")
        for name in ("memory add", "remind list", "agent use"):
            assert mention(stage, name) in sent(stage)


class TestPlainName:
    async def test_is_what_the_model_reads_and_what_is_remembered(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        message = await stage.write(aiko, channel, "</memory add:1234567890123456789> って何？")
        await stage.says(message, "承知しました")
        assert stage.shown()[-1].endswith("/memory add って何？")
        assert stage.stored(channel)[0][1] == "/memory add って何？"
        message = await stage.discord.post(aiko, channel, "犬は </memory add:1234567890123456789> で")
        reply = await stage.discord.message_command(aiko, channel, "Remember this", message)
        await reply.finished(lambda shown: "覚えました" in shown.text)
        rows = stage.rows("SELECT content FROM memories WHERE user_id = ?", aiko.id)
        assert rows == [("犬は /memory add で",)]
        await stage.told(aiko, channel, "memory pause")
        await stage.ask(aiko, channel, "覚えて")
        asked = str(stage.model.requests[-1].body)
        assert "/メモリ 再開" in asked
        assert not MENTION.search(asked)
