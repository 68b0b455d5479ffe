"""`/ask`, from a user's keyboard to the database and back."""

import pytest

from tests.end_to_end.stage import Stage, answered
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import says


class TestAsk:
    async def test_is_answered_in_japanese(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(says("こんにちは。", "お元気ですか。"))
        reply = await stage.ask(aiko, channel, "やあ")
        assert reply.text.startswith("こんにちは。お元気ですか。")
        assert not reply.ephemeral
        assert stage.model.requests[0].last_user_text == "やあ"

    async def test_is_answered_in_english(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.script(says("Hello", ", Ben."))
        reply = await stage.ask(ben, channel, "Hi")
        assert reply.text.startswith("Hello, Ben.")
        assert reply.labels == ["Answer again"]

    async def test_speaks_english_to_whoever_reads_neither(self, stage: Stage, channel: Channel) -> None:
        chloe = stage.discord.user("Chloé", locale="fr")
        stage.model.script(says("Bonjour."))
        reply = await stage.ask(chloe, channel, "Salut")
        assert reply.labels == ["Answer again"]

    async def test_knows_what_was_said_before(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(says("いい名前ですね。"), says("ポチです。"))
        await stage.ask(aiko, channel, "犬の名前はポチです")
        await stage.ask(aiko, channel, "犬の名前は？")
        said = [(m["role"], m["content"]) for m in stage.model.requests[1].messages if m["role"] != "system"]
        assert said == [
            ("user", "犬の名前はポチです"),
            ("assistant", "いい名前ですね。"),
            ("user", "犬の名前は？"),
        ]

    async def test_mentions_help_under_a_users_first_answer_only(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("一つ目です。"), says("二つ目です。"))
        first = await stage.ask(aiko, channel, "1")
        second = await stage.ask(aiko, stage.discord.dm(aiko), "2")
        assert "/ヘルプ で" in first.text
        assert second.text == "二つ目です。"

    async def test_never_pings_anyone(self, stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
        stage.model.script(says(f"@everyone {ben.mention} さん、", "こんにちは。", delay_s=0.1))
        reply = await stage.ask(aiko, channel, "みんなに挨拶して")
        assert "@everyone" in reply.text
        assert stage.discord.pings == []

    async def test_waits_for_the_users_earlier_question(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("一つ目", "です。", delay_s=0.4), says("二つ目です。"))
        first = await stage.begin(aiko, channel, "1")
        await stage.model.arrived(1)
        second = await stage.begin(aiko, channel, "2")
        await second.until(lambda reply: "待っています" in reply.text, "a word on why it waits")
        await answered(first)
        await answered(second)
        asked = [m["content"] for m in stage.model.requests[1].messages if m["role"] == "user"]
        assert asked == ["1", "2"]

    async def test_refuses_a_question_of_white_space(self, stage: Stage, ben: User, channel: Channel) -> None:
        reply = await stage.begin(ben, channel, " \n ")
        await reply.finished(lambda shown: "empty" in shown.text)
        assert stage.model.requests == []

    @pytest.mark.parametrize("reader", ["ja", "en-US"])
    async def test_gives_the_model_instructions_in_the_users_language(
        self, stage: Stage, channel: Channel, reader: str
    ) -> None:
        user = stage.discord.user("Reader", locale=reader)
        stage.model.script(says("はい。" if reader == "ja" else "Yes."))
        await stage.ask(user, channel, "?")
        system = stage.model.requests[0].messages[0]["content"]
        assert ("アシスタント" in system) is (reader == "ja")
