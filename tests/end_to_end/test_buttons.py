"""Answer again and Continue: what happens to the answer, and who may press."""

from tests.end_to_end.kills import EDIT
from tests.end_to_end.stage import Stage, answered, ended, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import CutConnection, Hang, Pause, Reply, Say, fails, says


class TestAnswerAgain:
    async def test_replaces_the_newest_answer(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(says("一つ目の答えです。"), says("二つ目の答えです。"))
        reply = await stage.ask(aiko, channel, "何か言って")
        press = await stage.discord.click(aiko, reply.message, "もう一度答える")
        await answered(press)
        assert stage.discord.messages(channel)[-1].text == "二つ目の答えです。"
        assert len(stage.discord.messages(channel)) == 1
        assert stage.stored(channel) == [
            ("user", "何か言って", "complete"),
            ("assistant", "一つ目の答えです。", "replaced"),
            ("assistant", "二つ目の答えです。", "complete"),
        ]

    async def test_shows_the_model_neither_the_old_answer_nor_the_question_twice(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.script(says("Old."), says("New."), says("Later."))
        reply = await stage.ask(ben, channel, "Question one")
        press = await stage.discord.click(ben, reply.message, "Answer again")
        await answered(press)
        await stage.ask(ben, channel, "Question two")
        said = [
            [m["content"] for m in request.messages if m["role"] != "system"]
            for request in stage.model.requests
        ]
        assert said == [
            ["Question one"],
            ["Question one"],
            ["Question one", "New.", "Question two"],
        ]

    async def test_can_be_pressed_again_and_again(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.script(says("First."), says("Second."), says("Third."))
        reply = await stage.ask(ben, channel)
        second = await answered(await stage.discord.click(ben, reply.message, "Answer again"))
        third = await answered(await stage.discord.click(ben, second.message, "Answer again"))
        assert third.text == "Third."

    async def test_can_be_pressed_as_soon_as_the_new_answer_stands_there(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        """What goes with the first press, as noting that it was shown, is still on its way then."""
        stage.model.script(says("First."), Reply(Pause(0.5), *says("Second.").steps), says("Third."))
        reply = await stage.ask(ben, channel)
        press = await stage.discord.click(ben, reply.message, "Answer again")
        await streaming(press, "Thinking…")
        stage.discord.fail_next(EDIT, 500, take_effect=True)
        second = await answered(press)
        third = await stage.discord.click(ben, second.message, "Answer again")
        await third.finished(lambda shown: shown.text == "Third." and "Answer again" in shown.labels)

    async def test_keeps_the_old_answer_until_the_new_one_comes(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.script(says("The old answer."), Reply(Hang()))
        reply = await stage.ask(ben, channel)
        press = await stage.discord.click(ben, reply.message, "Answer again")
        await streaming(press, "Thinking…")
        assert "The old answer." in press.text
        await stage.discord.click(ben, press.message, "Stop")
        await press.finished(lambda shown: len(shown.messages) == 2)
        assert stage.discord.messages(channel)[0].labels == ["Answer again"]
        assert press.messages[1].ephemeral
        assert press.messages[1].text == "⏹️ Stopped. The earlier answer stays."
        assert stage.stored(channel)[-1] == ("assistant", "The old answer.", "complete")

    async def test_keeps_the_old_answer_when_the_model_fails(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("元の答えです。"), fails(401))
        reply = await stage.ask(aiko, channel)
        press = await stage.discord.click(aiko, reply.message, "もう一度答える")
        await press.finished(lambda shown: len(shown.messages) == 2)
        assert "元の答えです。" in press.messages[0].text
        assert press.messages[0].labels == ["もう一度答える"]
        assert "APIキー" in press.messages[1].text

    async def test_is_refused_once_something_was_said_since(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        old = await stage.ask_in_words(ben, channel, "Old.")
        await stage.ask_in_words(ben, channel, "New.")
        press = await stage.discord.click(ben, old.message, "Answer again")
        await press.finished(lambda shown: "no longer the newest" in shown.text)
        assert press.messages[-1].ephemeral
        assert old.message.text.startswith("Old.")
        assert len(stage.model.requests) == 2

    async def test_is_refused_after_clear(self, stage: Stage, ben: User, channel: Channel) -> None:
        old = await stage.ask_in_words(ben, channel, "Old.")
        await stage.told(ben, channel, "clear")
        press = await stage.discord.click(ben, old.message, "Answer again")
        await press.finished(lambda shown: "no longer the newest" in shown.text)

    async def test_pressed_twice_in_a_hurry_answers_once(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        old = await stage.ask_in_words(ben, channel, "Old.")
        stage.model.script(Reply(Pause(0.5), *says("New.").steps), says("Newer."))
        pressed = old.message
        first = await stage.discord.click(ben, pressed, "Answer again")
        second = await stage.discord.click(ben, pressed, "Answer again")
        await answered(first)
        await second.acknowledged()
        assert stage.discord.messages(channel)[0].text == "New."
        assert stage.stored(channel)[-1] == ("assistant", "New.", "complete")

    async def test_is_for_the_asker_only(self, stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
        reply = await stage.ask_in_words(ben, channel, "Mine.")
        press = await stage.discord.click(aiko, reply.message, "Answer again")
        await press.finished()
        assert press.ephemeral
        assert "質問した人だけ" in press.text
        assert len(stage.model.requests) == 1


class TestContinue:
    async def test_goes_on_where_the_answer_broke_off(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("むかしむかし、"), CutConnection()), says("おじいさんがいました。"))
        reply = await stage.ask(aiko, channel, "昔話をして")
        assert "むかしむかし、" in reply.text
        assert "回答が途中で切れました" in reply.text
        press = await stage.discord.click(aiko, reply.message, "続ける")
        await press.finished(lambda shown: "おじいさんがいました。" in shown.text and shown.labels)
        said = [m["content"] for m in stage.model.requests[1].messages if m["role"] != "system"]
        assert said == ["昔話をして", "むかしむかし、", "続けてください。"]
        texts = [shown.text for shown in stage.discord.messages(channel)]
        assert [text.splitlines()[0] for text in texts] == ["むかしむかし、", "おじいさんがいました。"]
        assert reply.labels == []

    async def test_pressed_twice_in_a_hurry_continues_once(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("Once upon"), CutConnection()))
        reply = await stage.ask(ben, channel)
        stage.model.script(Reply(Pause(0.5), *says("a time.").steps))
        pressed = reply.message
        first = await stage.discord.click(ben, pressed, "Continue")
        second = await stage.discord.click(ben, pressed, "Continue")
        await second.acknowledged()
        await first.finished(lambda shown: "a time." in shown.text and "Answer again" in shown.labels)
        assert [role for role, _, _ in stage.stored(channel)] == ["user", "assistant"] * 2
        assert len(stage.discord.messages(channel)) == 2

    async def test_is_for_the_asker_only(self, stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
        stage.model.script(Reply(Say("Once upon"), CutConnection()))
        reply = await stage.ask(ben, channel)
        press = await stage.discord.click(aiko, reply.message, "Continue")
        await press.finished()
        assert press.ephemeral
        assert len(stage.model.requests) == 1

    async def test_says_so_when_the_model_gives_nothing(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("Once upon"), CutConnection()), fails(401))
        reply = await stage.ask(ben, channel)
        press = await stage.discord.click(ben, reply.message, "Continue")
        await ended(press)
        await press.until(lambda shown: "API key" in shown.text)
