"""`/settings`, `/help` and `/clear`: what each user decides and reads."""

import re

import pytest

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User
from tests.loopback.discord.commands import CHAT_INPUT, SUB_COMMAND
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

    @pytest.mark.restarts
    async def test_outlive_a_restart_and_are_told_to_the_model(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        await stage.told(ben, channel, "settings", timezone="Europe/Paris")
        await stage.restart()
        stage.model.script(says("Noon."))
        await stage.ask(ben, channel, "What time is it?")
        now = [m["content"] for m in stage.model.requests[0].messages if m["role"] == "system"][-1]
        assert "time zone Europe/Paris" in now


class TestHelp:
    async def test_names_every_command_as_its_reader_sees_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        english = await stage.told(ben, channel, "help")
        japanese = await stage.told(aiko, channel, "help")
        for command in stage.discord.commands:
            if command.name in ("help", "admin"):  # which they have found, and which is not for them
                continue
            if command.kind != CHAT_INPUT:
                assert command.name in english
                assert command.names["ja"] in japanese
                continue
            parts = [option for option in command.options if option["type"] == SUB_COMMAND]
            for name, own_name in [
                (f" {part['name']}", f" {part['name_localizations']['ja']}") for part in parts
            ] or [("", "")]:
                assert re.search(rf"/{command.name}{name}[ ,:]", english)
                assert re.search(rf"/{command.names['ja']}{own_name}[ ・]", japanese)
        assert "/admin" in await stage.told(stage.discord.owner, channel, "help")
        assert "/admin" not in english
        chloe = stage.discord.user("Chloé", locale="fr")
        assert "What I can do" in await stage.told(chloe, channel, "help")


class TestClear:
    async def test_leaves_memories_and_other_people_and_channels_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        elsewhere = stage.discord.guild_channel()
        await stage.told(aiko, channel, "memory add", content="残るメモ")
        await stage.ask_in_words(ben, channel, "Kept for Ben.")
        await stage.ask_in_words(aiko, elsewhere, "愛子の別の話です。")
        await stage.ask_in_words(aiko, channel, "前の話です。")
        assert "まっさらにしました" in await stage.told(aiko, channel, "clear")
        for user, place, known in (
            (ben, channel, "Kept for Ben."),
            (aiko, elsewhere, "愛子の別の話です。"),
            (aiko, channel, ""),
        ):
            await stage.ask_in_words(user, place, "はい。" if user is aiko else "Yes.")
            assert known in str(stage.model.requests[-1].messages)
        assert "前の話です。" not in str(stage.model.requests[-1].messages)
        assert "残るメモ" in await stage.told(aiko, channel, "memory list")


async def test_commands_work_everywhere_that_discord_has_under_japanese_names(stage: Stage) -> None:
    """In servers, in the bot's DM and in other private channels; installed by a server or by a user. Only
    conversations of several people that the bot takes part in can be reset."""
    for command in stage.discord.commands:
        assert re.search(r"[ぁ-んァ-ヶ一-龠]", command.names["ja"])
        everywhere = ({0}, {0}) if command.name == "reset" else ({0, 1, 2}, {0, 1})
        assert (command.contexts, command.integration_types) == everywhere
