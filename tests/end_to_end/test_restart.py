"""Pulling the plug: what is still known afterwards, and what the old buttons do."""

import pytest

from tests.end_to_end.stage import Stage, answered, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import CutConnection, Hang, Reply, Say, says


async def without_entries(stage: Stage) -> None:
    """Restart as if the database had not taken the turns when they began."""
    await stage.program.kill()
    await stage.discord.gone()
    stage.change("DELETE FROM turns")
    await stage.start()


async def restarted(stage: Stage, channel: Channel) -> None:
    """Restart when what was answered there is noted as shown: else the start would show it once more."""
    await stage.eventually("SELECT count(*) FROM turns WHERE channel_id = ?", channel.id, gives=[(0,)])
    await stage.restart()


class TestConversation:
    @pytest.mark.restarts
    async def test_goes_on(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.script(says("Nice to meet you."), says("Diego."))
        await stage.ask(ben, channel, "My name is Diego")
        await stage.restart()
        reply = await stage.ask(ben, channel, "What is my name?")
        assert reply.text == "Diego."
        said = [(m["role"], m["content"]) for m in stage.model.requests[1].messages if m["role"] != "system"]
        assert said == [
            ("user", "My name is Diego"),
            ("assistant", "Nice to meet you."),
            ("user", "What is my name?"),
        ]

    @pytest.mark.restarts
    async def test_is_as_it_was_when_the_answer_was_still_coming(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.ask_in_words(aiko, channel, "前の答えです。")
        before = stage.stored(channel)
        stage.model.script(Reply(Say("書きかけの答え"), Hang()))
        reply = await stage.begin(aiko, channel, "次の質問")
        await streaming(reply, "書きかけの答え")
        await stage.restart()
        assert stage.stored(channel) == before
        await stage.ask_in_words(aiko, channel, "はい。")
        assert "次の質問" not in str(stage.model.requests[-1].messages)


class TestButtons:
    @pytest.mark.restarts
    async def test_stop_tells_that_the_answer_no_longer_runs(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("書きかけの答え"), Hang()))
        reply = await stage.begin(aiko, channel)
        await streaming(reply, "書きかけの答え")
        await without_entries(stage)
        press = await stage.discord.click(aiko, reply.message, "止める")
        await press.finished(lambda shown: shown.history)
        assert press.text.startswith("書きかけの答え\n-# この回答はもう動いていません。")
        assert press.labels == []

    @pytest.mark.restarts
    async def test_stop_of_an_answer_without_a_word_tells_to_ask_again(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Hang()))
        reply = await stage.begin(ben, channel)
        await streaming(reply, "Thinking…")
        await without_entries(stage)
        press = await stage.discord.click(ben, reply.message, "Stop")
        await press.finished(lambda shown: shown.history)
        assert press.text == "I restarted before I could answer this. Please ask again with /ask."

    @pytest.mark.restarts
    async def test_answer_again_still_works(self, stage: Stage, ben: User, channel: Channel) -> None:
        reply = await stage.ask_in_words(ben, channel, "Old.")
        await restarted(stage, channel)
        stage.model.script(says("New."))
        press = await stage.discord.click(ben, reply.message, "Answer again")
        await answered(press)
        assert press.text == "New."
        assert [status for _, _, status in stage.stored(channel)] == ["complete", "replaced", "complete"]

    @pytest.mark.restarts
    async def test_continue_still_works(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(Reply(Say("むかしむかし、"), CutConnection()), says("おしまい。"))
        reply = await stage.ask(aiko, channel)
        await restarted(stage, channel)
        press = await stage.discord.click(aiko, reply.message, "続ける")
        await press.finished(lambda shown: "おしまい。" in shown.text and "もう一度答える" in shown.labels)
        assert "むかしむかし、" in str(stage.model.requests[1].messages)

    @pytest.mark.restarts
    async def test_stay_the_askers_own(self, stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
        reply = await stage.ask_in_words(aiko, channel, "はい。")
        await stage.restart()
        press = await stage.discord.click(ben, reply.message, "もう一度答える")
        await press.finished()
        assert press.ephemeral
        assert len(stage.model.requests) == 1
