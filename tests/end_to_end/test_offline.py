"""The program that was given neither a key nor a model server."""

from pathlib import Path

from cc_bot.llm.offline import EN, JA
from tests.end_to_end.heartbeats import beat, begin, day
from tests.end_to_end.stage import running_stage


async def test_the_offline_model_says_what_it_is_and_knows_what_it_was_told(tmp_path: Path) -> None:
    async with running_stage(tmp_path, {"OPENAI_BASE_URL": ""}) as stage:
        aiko, ben = stage.discord.user("Aiko", locale="ja"), stage.discord.user("Ben", locale="en-US")
        channel, dm = stage.discord.guild_channel(), stage.discord.dm(aiko)
        assert "OPENAI_API_KEY" in (await stage.ask(ben, channel, "Hello")).text
        assert "OPENAI_API_KEY" in (await stage.ask(aiko, channel, "こんにちは")).text
        said = await stage.discord.post(ben, channel, "My boat is called Petrel")
        for user, wish, answer in (
            (aiko, "犬の名前はポチ。覚えて", JA["remembered"].format(text="犬の名前はポチ")),
            (ben, "remember that my cat is Tama", EN["remembered"].format(text="my cat is Tama")),
            (ben, "forget my cat", EN["forgotten"].format(text="my cat is Tama")),
            (aiko, "これ覚えて", JA["remember_what"]),
            (aiko, "明日9時に薬って知らせて", JA["scheduled"]),
        ):
            await stage.says(await stage.write(user, channel, wish, reply_to=said), answer)
        await stage.restart()
        assert "ポチ" in (await stage.ask(aiko, stage.discord.guild_channel(), "私の犬の名前は？")).text
        assert "ポチ" in await stage.told(aiko, channel, "memory list")
        await stage.told(aiko, dm, "memory add", content=f"{day(2)}に歯医者")
        await begin(stage, aiko, dm)
        await beat(stage, aiko, ends="skipped")
        assert stage.model.requests == []
        stage.check()
