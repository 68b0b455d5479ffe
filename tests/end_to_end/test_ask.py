"""`/ask` and the buttons below its answer: what happens to the answer, and who may press."""

from cc_bot.domain import Locale
from cc_bot.texts import texts
from tests.end_to_end.stage import Stage, stop_label, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import CutConnection, Hang, Reply, Say, fails, says

JA, EN = texts(Locale.JA).answer, texts(Locale.EN).answer


class TestAsk:
    async def test_never_pings_anyone(self, stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
        stage.model.script(says(f"@everyone {ben.mention} さん、", "こんにちは。", delay_s=0.1))
        reply = await stage.ask(aiko, channel, "みんなに挨拶して")
        assert "@everyone" in reply.text
        assert stage.discord.pings == []

    async def test_speaks_its_users_language_and_english_to_whoever_reads_neither(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        """And mentions `/help` under a user's first answer only."""
        chloe = stage.discord.user("Chloé", locale="fr")
        for user, answer, words in ((aiko, "はい。", JA), (ben, "Yes.", EN), (chloe, "Oui.", EN)):
            first = await stage.ask_in_words(user, channel, answer)
            assert first.labels == [words.regenerate]
            assert ("/ヘルプ で" if user is aiko else "/help") in first.text
            system = stage.model.requests[-1].messages[0]["content"]
            assert ("アシスタント" in system) is (user is aiko)
            second = await stage.ask_in_words(user, stage.discord.dm(user), answer)
            assert second.text == answer
        asked = len(stage.model.requests)
        reply = await stage.begin(ben, channel, " \n ")
        await reply.finished(lambda shown: "empty" in shown.text)
        assert len(stage.model.requests) == asked


class TestAnswerAgain:
    async def test_keeps_the_old_answer_if_there_is_no_new_one(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(says("The old answer."), Reply(Hang()))
        reply = await stage.ask(ben, channel)
        press = await stage.discord.click(ben, reply.message, EN.regenerate)
        await streaming(press, EN.thinking)
        assert "The old answer." in press.text
        await stage.model.arrived(2)
        await stage.discord.click(ben, press.message, stop_label(ben))
        await press.finished(lambda shown: len(shown.messages) == 2)
        assert press.messages[1].ephemeral
        assert press.messages[1].text == "⏹️ Stopped. The earlier answer stays."
        [old] = [shown for shown in stage.discord.messages(channel) if not shown.ephemeral]
        assert old.text.startswith("The old answer.")
        assert old.labels == [EN.regenerate]
        assert stage.stored(channel)[-1] == ("assistant", "The old answer.", "complete")

        reply = await stage.ask_in_words(aiko, channel, "元の答えです。")
        stage.model.script(fails(401))
        press = await stage.discord.click(aiko, reply.message, JA.regenerate)
        await press.finished(lambda shown: len(shown.messages) == 2)
        assert "元の答えです。" in press.messages[0].text
        assert press.messages[0].labels == [JA.regenerate]
        assert "APIキー" in press.messages[1].text

    async def test_is_refused_once_something_was_said_since_or_cleared(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        old = await stage.ask_in_words(ben, channel, "Old.")
        new = await stage.ask_in_words(ben, channel, "New.")
        press = await stage.discord.click(ben, old.message, EN.regenerate)
        await press.finished(lambda shown: "no longer the newest" in shown.text)
        assert press.messages[-1].ephemeral
        assert old.message.text.startswith("Old.")
        await stage.told(ben, channel, "clear")
        press = await stage.discord.click(ben, new.message, EN.regenerate)
        await press.finished(lambda shown: "no longer the newest" in shown.text)
        assert len(stage.model.requests) == 2


class TestButtons:
    async def test_are_for_the_asker_only(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("Once upon"), CutConnection()))
        reply = await stage.ask(ben, channel)
        for label in (EN.continue_, EN.regenerate):
            press = await stage.discord.click(aiko, reply.message, label)
            await press.finished()
            assert press.ephemeral
            assert "質問した人だけ" in press.text
        assert len(stage.model.requests) == 1
