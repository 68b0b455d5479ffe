"""`/settings`, `/help` and `/clear`: what each user decides and reads."""

import re

import pytest

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User
from tests.loopback.discord.commands import CHAT_INPUT, SUB_COMMAND
from tests.loopback.model_server import says


class TestSettings:
    async def test_show_the_defaults(self, stage: Stage, aiko: User, channel: Channel) -> None:
        text = await stage.told(aiko, channel, "settings")
        assert "日本語（既定）" in text
        assert "Asia/Tokyo（既定）" in text

    async def test_show_them_in_english(self, stage: Stage, ben: User, channel: Channel) -> None:
        text = await stage.told(ben, channel, "settings")
        assert "English (default)" in text

    async def test_change_the_language_of_every_reply(self, stage: Stage, channel: Channel) -> None:
        erika = stage.discord.user("Erika", locale="en-US")
        reply = await stage.discord.slash(erika, channel, "settings", language="ja")
        reply.any_language = True
        await reply.finished(lambda shown: "設定を保存しました" in shown.text)
        stage.model.script(says("はい。"))
        answer = await stage.discord.slash(erika, channel, "ask", question="?")
        answer.any_language = True
        await answer.finished(lambda shown: "もう一度答える" in shown.labels)
        assert "/help で、できること" in answer.text  # as her own Discord shows the command
        assert "アシスタント" in stage.model.requests[0].messages[0]["content"]

    async def test_change_the_time_zone_that_the_model_is_told(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        await stage.told(ben, channel, "settings", timezone="Europe/London")
        stage.model.script(says("Noon."))
        await stage.ask(ben, channel, "What time is it?")
        now = [m["content"] for m in stage.model.requests[0].messages if m["role"] == "system"][-1]
        assert "time zone Europe/London" in now

    async def test_refuse_a_time_zone_that_does_not_exist(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        for wrong in ("江戸", "Asia/Edo", "../../etc/passwd", "Asia"):
            text = await stage.told(aiko, channel, "settings", timezone=wrong)
            assert text.startswith("そのタイムゾーンは見つかりません。")
        assert "Asia/Tokyo（既定）" in await stage.told(aiko, channel, "settings")

    async def test_suggest_time_zones(self, stage: Stage, ben: User, channel: Channel) -> None:
        london = await stage.discord.autocomplete(ben, channel, "settings", timezone="lond")
        assert london[0].value == "Europe/London"
        york = await stage.discord.autocomplete(ben, channel, "settings", timezone="new york")
        assert york[0].value == "America/New_York"
        everything = await stage.discord.autocomplete(ben, channel, "settings", timezone="")
        assert len(everything) == 25
        assert [choice.value for choice in everything[:2]] == ["Asia/Tokyo", "Asia/Seoul"]
        await stage.told(ben, channel, "settings", timezone="America/Denver")
        own = await stage.discord.autocomplete(ben, channel, "settings", timezone="")
        assert [choice.value for choice in own[:2]] == ["America/Denver", "Asia/Tokyo"]

    async def test_know_time_zones_by_what_people_call_them(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        for word in ("東京", "にほん", "jst"):
            offered = await stage.discord.autocomplete(aiko, channel, "settings", timezone=word)
            assert offered[0].value == "Asia/Tokyo"
        told = await stage.told(aiko, channel, "settings", timezone="韓国")  # sent without choosing
        assert told.endswith("タイムゾーン: Asia/Seoul")
        told = await stage.told(aiko, channel, "settings", timezone=" 東京 ")
        assert told.endswith("タイムゾーン: Asia/Tokyo")

    @pytest.mark.restarts
    async def test_outlive_a_restart(self, stage: Stage, ben: User, channel: Channel) -> None:
        await stage.told(ben, channel, "settings", timezone="Europe/Paris")
        await stage.restart()
        assert "Europe/Paris" in await stage.told(ben, channel, "settings")


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

    async def test_names_the_commands_of_owners_to_them_alone(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        assert "/admin" in await stage.told(stage.discord.owner, channel, "help")
        assert "/admin" not in await stage.told(ben, channel, "help")

    async def test_speaks_english_to_whoever_reads_neither(self, stage: Stage, channel: Channel) -> None:
        chloe = stage.discord.user("Chloé", locale="fr")
        assert "What I can do" in await stage.told(chloe, channel, "help")


class TestClear:
    async def test_starts_afresh_and_keeps_memories(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await stage.told(aiko, channel, "memory add", content="残るメモ")
        await stage.ask_in_words(aiko, channel, "前の話です。")
        assert "まっさらにしました" in await stage.told(aiko, channel, "clear")
        await stage.ask_in_words(aiko, channel, "新しい話です。")
        assert "前の話です。" not in str(stage.model.requests[-1].messages)
        assert "残るメモ" in await stage.told(aiko, channel, "memory list")

    async def test_is_told_in_english(self, stage: Stage, ben: User, channel: Channel) -> None:
        text = await stage.told(ben, channel, "clear")
        assert text == "🧹 Started afresh. Your memories are still there."

    async def test_leaves_other_people_and_channels_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        elsewhere = stage.discord.guild_channel()
        await stage.ask_in_words(ben, channel, "Kept for Ben.")
        await stage.ask_in_words(aiko, elsewhere, "愛子の別の話です。")
        await stage.told(aiko, channel, "clear")
        await stage.ask_in_words(ben, channel, "Yes.")
        assert "Kept for Ben." in str(stage.model.requests[-1].messages)
        await stage.ask_in_words(aiko, elsewhere, "はい。")
        assert "愛子の別の話です。" in str(stage.model.requests[-1].messages)


class TestCommands:
    async def test_have_japanese_names(self, stage: Stage) -> None:
        names = {command.name: command.names.get("ja") for command in stage.discord.commands}
        assert names == {
            "ask": "質問",
            "admin": "管理",
            "memory": "メモリ",
            "clear": "クリア",
            "summary": "要約",
            "reset": "リセット",
            "help": "ヘルプ",
            "settings": "設定",
            "usage": "使用量",
            "privacy": "プライバシー",
            "agent": "エージェント",
            "web": "マイページ",
            "canvas": "キャンバス",
            "heartbeat": "声かけ",
            "remind": "リマインド",
            "Remember this": "これを覚える",
            "Ask about this": "これについて聞く",
            "Translate": "翻訳する",
            "Summarise from here": "ここから要約する",
        }

    async def test_work_everywhere_that_discord_has(self, stage: Stage) -> None:
        """In servers, in the bot's DM and in other private channels; installed by a server or by a user.

        Only conversations of several people that the bot takes part in can be reset.
        """
        for command in stage.discord.commands:
            if command.name == "reset":
                assert (command.contexts, command.integration_types) == ({0}, {0})
                continue
            assert command.contexts == {0, 1, 2}
            assert command.integration_types == {0, 1}
