"""The program that was given neither a key nor a model server."""

from pathlib import Path

from tests.end_to_end.heartbeats import beat, begin, day
from tests.end_to_end.stage import running_stage


async def test_the_offline_model_says_what_it_is_and_knows_what_it_was_told(tmp_path: Path) -> None:
    async with running_stage(tmp_path, {"OPENAI_BASE_URL": ""}) as stage:
        aiko, ben = stage.discord.user("Aiko", locale="ja"), stage.discord.user("Ben", locale="en-US")
        channel, dm = stage.discord.guild_channel(), stage.discord.dm(aiko)
        assert "OPENAI_API_KEY" in (await stage.ask(ben, channel, "Hello")).text
        assert "OPENAI_API_KEY" in (await stage.ask(aiko, channel, "こんにちは")).text
        await stage.ask(aiko, channel, "私の犬の名前はポチです。覚えておいて")
        await stage.restart()
        assert "ポチ" in (await stage.ask(aiko, stage.discord.guild_channel(), "私の犬の名前は？")).text
        assert "ポチ" in await stage.told(aiko, channel, "memory list")
        await stage.told(aiko, dm, "memory add", content=f"{day(2)}に歯医者")
        await begin(stage, aiko, dm)
        await beat(stage, aiko, ends="skipped")
        assert stage.model.requests == []
        stage.check()
