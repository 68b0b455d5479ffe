"""`/settings`, `/help` and `/clear`: what each user decides and reads."""

import re

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import says


class TestSettings:
    async def test_change_the_language_of_every_reply(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        assert "English (default)" in await stage.told(ben, channel, "settings")
        reply = await stage.discord.slash(ben, channel, "settings", language="ja")
        reply.any_language = True
        await reply.finished(lambda shown: "設定を保存しました" in shown.text)
        assert "タイムゾーン: Asia/Tokyo" in reply.text
        stage.model.script(says("はい。"))
        answer = await stage.discord.slash(ben, channel, "ask", question="?")
        answer.any_language = True
        await answer.finished(lambda shown: "もう一度答える" in shown.labels)
        assert "/help で、できること" in answer.text  # as Ben's own Discord shows the command
        assert "アシスタント" in stage.model.requests[0].messages[0]["content"]

    async def test_take_time_zones_that_there_are_and_suggest_them(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        async def offered(user: User, word: str) -> list[str | int | float]:
            choices = await stage.discord.autocomplete(user, channel, "settings", timezone=word)
            return [choice.value for choice in choices]

        for wrong in ("江戸", "Asia/Edo", "../../etc/passwd", "Asia"):
            text = await stage.told(aiko, channel, "settings", timezone=wrong)
            assert text.startswith("そのタイムゾーンは見つかりません。")
        assert "Asia/Tokyo（既定）" in await stage.told(aiko, channel, "settings")
        told = await stage.told(aiko, channel, "settings", timezone="韓国")  # sent without choosing
        assert told.endswith("タイムゾーン: Asia/Seoul")
        for word, first in (("東京", "Asia/Tokyo"), ("jst", "Asia/Tokyo"), ("new york", "America/New_York")):
            assert (await offered(ben, word))[0] == first
        assert (await offered(ben, ""))[:2] == ["Asia/Tokyo", "Asia/Seoul"]
        assert len(await offered(ben, "")) == 25
        await stage.told(ben, channel, "settings", timezone="America/Denver")
        assert (await offered(ben, ""))[:2] == ["America/Denver", "Asia/Tokyo"]


async def test_commands_work_everywhere_that_discord_has_under_japanese_names(stage: Stage) -> None:
    """In servers, in the bot's DM and in other private channels; installed by a server or by a user. Only
    conversations of several people that the bot takes part in can be reset."""
    for command in stage.discord.commands:
        assert re.search(r"[ぁ-んァ-ヶ一-龠]", command.names["ja"])
        everywhere = ({0}, {0}) if command.name == "reset" else ({0, 1, 2}, {0, 1})
        assert (command.contexts, command.integration_types) == everywhere
