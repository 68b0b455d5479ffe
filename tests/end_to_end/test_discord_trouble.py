"""When Discord has a bad moment: nothing is lost, nothing is said twice."""

import pytest

from cc_bot.domain import Locale
from cc_bot.domain.errors import CcBotError
from cc_bot.texts import explain, texts
from tests.end_to_end.stage import Stage, answered, streaming
from tests.end_to_end.test_long_replies import long_text, own_words
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import End, Pause, Reply, Say, says

ACKNOWLEDGE = "POST /interactions/{interaction}/{token}/callback"
EDIT = "PATCH /webhooks/{application}/{token}/messages/@original"
FOLLOW_UP = "POST /webhooks/{application}/{token}"

ALREADY_ACKNOWLEDGED = 40060
UNKNOWN_MESSAGE = 10008
UNKNOWN_WEBHOOK = 10015

SOMETHING_WENT_WRONG = explain(CcBotError(), texts(Locale.EN))


class TestAcknowledgement:
    @pytest.mark.parametrize("status", [503, None])
    async def test_is_tried_again(
        self, stage: Stage, ben: User, channel: Channel, status: int | None
    ) -> None:
        stage.discord.fail_next(ACKNOWLEDGE, status)
        reply = await stage.ask_in_words(ben, channel, "Here I am.")
        assert reply.text.startswith("Here I am.")

    async def test_that_took_effect_after_all_is_one(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.excused.add(ALREADY_ACKNOWLEDGED)
        stage.discord.fail_next(ACKNOWLEDGE, 503, take_effect=True)
        reply = await stage.ask_in_words(ben, channel, "Here I am.")
        assert reply.text.startswith("Here I am.")

    async def test_that_comes_too_late_costs_nothing(self, stage: Stage, ben: User, channel: Channel) -> None:
        """The user reads that the bot did not respond; the model is not asked for nobody."""
        stage.excused.add(10062)
        stage.discord.fail_next(ACKNOWLEDGE, 200, delay_s=3.1)
        reply = await stage.discord.slash(ben, channel, "ask", question="Anybody there?")
        await stage.discord.wait(
            lambda: stage.discord.calls(ACKNOWLEDGE, status=404), "a refused acknowledgement"
        )
        assert not reply.is_acknowledged
        await stage.ask_in_words(ben, channel, "Here I am.")
        assert len(stage.model.requests) == 1

    async def test_that_fails_as_often_as_it_is_tried_is_told_and_costs_nothing(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(UNKNOWN_WEBHOOK)
        stage.discord.fail_next(ACKNOWLEDGE, 503, times=3)
        reply = await stage.discord.slash(ben, channel, "ask", question="Anybody there?")
        await reply.finished(lambda shown: SOMETHING_WENT_WRONG in shown.text)
        assert stage.model.requests == []


class TestEdit:
    @pytest.mark.parametrize("status", [503, None])
    async def test_of_the_end_is_repeated(
        self, stage: Stage, aiko: User, channel: Channel, status: int | None
    ) -> None:
        stage.model.script(Reply(Say("始まりと"), Pause(0.5), *says("終わりです。").steps))
        reply = await stage.begin(aiko, channel)
        await streaming(reply, "考えています")
        stage.discord.fail_next(EDIT, status, times=2)
        await answered(reply)
        assert reply.text.startswith("始まりと終わりです。")

    async def test_while_it_streams_may_fail(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.script(says(*(f"{number} " for number in range(15)), delay_s=0.1))
        reply = await stage.begin(ben, channel)
        await streaming(reply, "Thinking…")
        stage.discord.fail_next(EDIT, 502)
        await answered(reply)
        assert reply.text.startswith(" ".join(map(str, range(15))))

    async def test_that_comes_too_often_waits(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.script(says(*(f"{number} " for number in range(15)), delay_s=0.1))
        reply = await stage.begin(ben, channel)
        await streaming(reply, "Thinking…")
        stage.discord.fail_next(EDIT, 429, retry_after_s=1.0)
        await answered(reply)
        assert reply.text.startswith(" ".join(map(str, range(15))))

    async def test_of_a_message_that_somebody_deleted(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(UNKNOWN_MESSAGE)
        stage.model.script(Reply(Say("One moment"), Pause(1.5), *says(", please.").steps))
        reply = await stage.begin(ben, channel)
        await streaming(reply, "One moment")
        await stage.discord.world.delete(reply.stored[0])
        await stage.discord.wait(lambda: stage.discord.calls(EDIT, status=404), "an edit that is refused")
        await stage.ask_in_words(ben, channel, "Still here.")
        assert [row[1] for row in stage.stored(channel)][1] == "One moment, please."


async def late(stage: Stage, route: str) -> None:
    """Wait until the request that was held up has taken effect."""
    await stage.discord.wait(
        lambda: any(call.took_s > 0.5 for call in stage.discord.calls(route)), "the late request"
    )


class TestSlowDiscord:
    async def test_does_not_show_an_older_state_last(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.script(Reply(Say("The beginning"), Pause(1.5), *says(" and the end.").steps))
        reply = await stage.begin(ben, channel)
        await streaming(reply, "Thinking…")
        stage.discord.fail_next(EDIT, 200, delay_s=0.6)
        await answered(reply)
        await late(stage, EDIT)
        assert reply.text.startswith("The beginning and the end.")

    async def test_gets_no_message_twice(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.discord.fail_next(FOLLOW_UP, 200, delay_s=0.6)
        stage.model.script(Reply(Say(long_text(3000)), Pause(1.5), End()))
        reply = await stage.begin(aiko, channel)
        await answered(reply)
        await late(stage, FOLLOW_UP)
        shown = stage.discord.messages(channel)
        assert "".join(own_words(message) for message in shown) == long_text(3000)


class TestFollowUp:
    @pytest.mark.parametrize("status", [503, None])
    async def test_that_took_effect_is_not_posted_twice(
        self, stage: Stage, aiko: User, channel: Channel, status: int | None
    ) -> None:
        stage.discord.fail_next(FOLLOW_UP, status, take_effect=True)
        stage.model.script(says(long_text(3000)))
        reply = await stage.ask(aiko, channel)
        shown = stage.discord.messages(channel)
        assert "".join(own_words(message) for message in shown) == long_text(3000)
        assert reply.messages[-1].labels == ["もう一度答える"]

    async def test_that_did_not_is_posted_again(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.discord.fail_next(FOLLOW_UP, 503)
        stage.model.script(says(long_text(3000)))
        await stage.ask(aiko, channel)
        shown = stage.discord.messages(channel)
        assert "".join(own_words(message) for message in shown) == long_text(3000)

    @pytest.mark.parametrize("take_effect", [True, False])
    async def test_that_nobody_can_look_for_leaves_the_whole_text_in_a_file(
        self, stage: Stage, aiko: User, channel: Channel, *, take_effect: bool
    ) -> None:
        stage.discord.fail_next(FOLLOW_UP, 503, take_effect=take_effect)
        stage.model.script(says(long_text(3000)))
        reply = await stage.begin(aiko, channel, private=True)
        await reply.finished(lambda shown: shown.message.attachments and shown.labels)
        assert reply.message.attachments[0].file.data.decode() == long_text(3000)


class TestContinueInPrivate:
    @pytest.mark.parametrize("take_effect", [True, False])
    async def test_is_not_posted_again_and_again(
        self, stage: Stage, ben: User, channel: Channel, *, take_effect: bool
    ) -> None:
        stage.model.script(Reply(Say("Once upon")), says("a time."))
        reply = await stage.ask(ben, channel, private=True)
        stage.discord.fail_next(FOLLOW_UP, 503, take_effect=take_effect)
        press = await stage.discord.click(ben, reply.message, "Continue")
        await press.until(lambda shown: "a time." in shown.text)
        await stage.ask_in_words(ben, channel, "Done.")
        shown = "\n".join(message.text for message in stage.discord.messages(channel))
        assert shown.count("a time.") == 1


class TestGateway:
    async def test_drops_in_the_middle_of_an_answer(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(Reply(Say("途中で"), Pause(1.5), *says("切れません。").steps))
        reply = await stage.begin(aiko, channel)
        await streaming(reply, "途中で")
        before = stage.discord.world.gateway.resumes
        await stage.discord.drop_gateway()
        await answered(reply)
        assert reply.text.startswith("途中で切れません。")
        await stage.discord.resumed(before + 1)
        await stage.ask_in_words(aiko, channel, "まだいます。")

    async def test_delays_a_stop_until_the_answer_has_ended(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("The whole"), Pause(1.6), *says(" answer.").steps))
        reply = await stage.begin(ben, channel)
        await streaming(reply, "The whole")
        with stage.discord.resumes_held():
            await stage.discord.drop_gateway()
            press = await stage.discord.click(ben, reply.message, "Stop")
            await answered(reply)
            assert not press.is_acknowledged
        await press.acknowledged()
        await stage.ask_in_words(ben, stage.discord.dm(ben), "Next.")
        assert reply.text.startswith("The whole answer.")
        assert reply.labels == ["Answer again"]
