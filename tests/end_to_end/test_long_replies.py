"""Answers that do not fit one message: further messages, then a file."""

import re

import pytest

from tests.end_to_end.stage import Stage, answered, streaming
from tests.loopback.discord import Channel, Shown, User
from tests.loopback.model_server import Hang, Pause, Reply, Say, says

SENTENCE = "これは長い話の一文で、句点までが一つのまとまりです。"


def long_text(characters: int) -> str:
    """Numbered sentences, so that a lost or doubled one is noticed."""
    return "".join(f"{number}番目。{SENTENCE}" for number in range(characters // len(SENTENCE)))[:characters]


def own_words(message: Shown) -> str:
    """A message without what the bot states under it."""
    return message.content


class TestSeveralMessages:
    @pytest.mark.parametrize(("characters", "messages"), [(3000, 2), (8000, 5)])
    async def test_hold_the_whole_text(
        self, stage: Stage, aiko: User, channel: Channel, characters: int, messages: int
    ) -> None:
        text = long_text(characters)
        stage.model.script(says(text))
        reply = await stage.ask(aiko, channel)
        assert len(reply.messages) == messages
        assert "".join(own_words(message) for message in reply.messages) == text
        assert all(message.content.endswith("。") for message in reply.messages[:-1])

    async def test_have_their_buttons_under_the_last_one(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says(long_text(3000)))
        reply = await stage.ask(aiko, channel)
        assert [message.labels for message in reply.messages] == [[], ["もう一度答える"]]

    async def test_grow_while_the_answer_streams(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(Reply(Say(long_text(2500)), Hang()))
        reply = await stage.begin(aiko, channel)
        await reply.until(lambda shown: len(shown.messages) == 2, "a second message")
        await stage.discord.click(aiko, reply.messages[1], "止める")
        await answered(reply)
        assert "".join(own_words(message) for message in reply.messages) == long_text(2500)

    async def test_reopen_a_code_fence(self, stage: Stage, ben: User, channel: Channel) -> None:
        lines = "\n".join(f"print({number})  # 数を出す" for number in range(150))
        stage.model.script(says(f"Here:\n```python\n{lines}\n```\nDone."))
        reply = await stage.begin(ben, channel)
        reply.any_language = True
        await answered(reply)
        assert len(reply.messages) > 1
        assert all(message.content.count("```") % 2 == 0 for message in reply.messages)
        assert reply.messages[1].content.startswith("```python\n")
        shown = "\n".join(own_words(message) for message in reply.messages)
        assert re.findall(r"print\((\d+)\)", shown) == [str(number) for number in range(150)]

    async def test_are_private_all_of_them(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(says(long_text(3000)))
        reply = await stage.ask(aiko, channel, private=True)
        assert [message.ephemeral for message in reply.messages] == [True, True]

    async def test_are_all_replaced_by_another_answer(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says(long_text(5000)), says("短くしました。"))
        reply = await stage.ask(aiko, channel)
        assert len(reply.messages) == 3
        press = await stage.discord.click(aiko, reply.messages[-1], "もう一度答える")
        await answered(press)
        await stage.discord.wait(
            lambda: [shown.text for shown in stage.discord.messages(channel)] == ["短くしました。"],
            "the short answer alone",
        )

    async def test_may_replace_a_short_answer(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(says("短い答えです。"), says(long_text(3000)), says("また短い答えです。"))
        reply = await stage.ask(aiko, channel)
        press = await answered(await stage.discord.click(aiko, reply.message, "もう一度答える"))
        assert "".join(own_words(message) for message in press.messages) == long_text(3000)
        again = await stage.discord.click(aiko, press.messages[-1], "もう一度答える")
        await answered(again)
        await stage.discord.wait(
            lambda: [shown.text for shown in stage.discord.messages(channel)] == ["また短い答えです。"],
            "the short answer alone",
        )


class TestFile:
    async def test_holds_what_five_messages_can_not(self, stage: Stage, aiko: User, channel: Channel) -> None:
        text = long_text(12000)
        stage.model.script(says(text))
        reply = await stage.ask(aiko, channel)
        [message] = reply.messages
        [attachment] = message.attachments
        assert attachment.file.data.decode() == text
        assert attachment.file.name.endswith(".md")
        assert "全文をファイルで" in message.text
        assert text.startswith(own_words(message))
        assert len(own_words(message)) > 1000

    async def test_takes_the_place_of_messages_that_were_streamed(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        text = long_text(12000)
        stage.model.script(Reply(Say(text[:5000]), Pause(1.5), *says(text[5000:]).steps))
        reply = await stage.begin(aiko, channel)
        await reply.until(lambda shown: len(shown.messages) == 3, "three messages")
        await reply.finished(lambda shown: shown.message.attachments and len(shown.messages) == 1)
        assert reply.message.attachments[0].file.data.decode() == text

    async def test_comes_where_the_app_is_installed_by_its_user_alone(self, stage: Stage, aiko: User) -> None:
        elsewhere = stage.discord.user_installed_channel(aiko)
        stage.model.script(says(long_text(12000)))
        reply = await stage.ask(aiko, elsewhere)
        assert reply.message.attachments[0].file.data.decode() == long_text(12000)

    async def test_goes_when_a_short_answer_replaces_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says(long_text(12000)), says("短くしました。"))
        reply = await stage.ask(aiko, channel)
        press = await answered(await stage.discord.click(aiko, reply.message, "もう一度答える"))
        assert press.text == "短くしました。"
        assert press.message.attachments == ()

    async def test_stays_when_nothing_replaces_it(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(says(long_text(12000)), Reply(Hang()))
        reply = await stage.ask(aiko, channel)
        press = await stage.discord.click(aiko, reply.message, "もう一度答える")
        await streaming(press, "考えています")
        await stage.discord.click(aiko, press.message, "止める")
        await press.finished(lambda shown: len(shown.messages) == 2)
        assert press.messages[0].attachments[0].file.data.decode() == long_text(12000)
        assert press.messages[0].labels == ["もう一度答える"]


class TestUserInstalledApp:
    async def test_sends_five_messages_at_most(self, stage: Stage, aiko: User) -> None:
        """Discord refuses the sixth follow-up there."""
        elsewhere = stage.discord.user_installed_channel(aiko)
        stage.model.script(says(long_text(8000)))
        reply = await stage.ask(aiko, elsewhere)
        assert len(reply.messages) == 5

    async def test_leaves_a_long_answer_whole_and_answers_again_below(self, stage: Stage, aiko: User) -> None:
        """Discord lets the bot delete nothing there, so half an old answer would stay above the new one."""
        elsewhere = stage.discord.user_installed_channel(aiko)
        stage.model.script(says(long_text(3000)), says(long_text(8000)))
        reply = await stage.ask(aiko, elsewhere)
        press = await stage.discord.click(aiko, reply.messages[-1], "もう一度答える")
        await press.finished(lambda shown: len(shown.messages) == 6 and shown.messages[-1].labels)
        shown = stage.discord.messages(elsewhere)
        assert "".join(own_words(message) for message in shown[:2]) == long_text(3000)
        assert "".join(own_words(message) for message in shown[2:]) == long_text(8000)
        await stage.discord.wait(
            lambda: stage.discord.messages(elsewhere)[1].labels == [], "no buttons under the old answer"
        )


class TestPrivateAnswer:
    async def test_of_several_messages_stays_whole_and_is_answered_again_below(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says(long_text(3000)), says("短くしました。"))
        reply = await stage.ask(aiko, channel, private=True)
        press = await stage.discord.click(aiko, reply.messages[-1], "もう一度答える")
        await press.finished(lambda shown: "短くしました。" in shown.text and shown.messages[-1].labels)
        await stage.discord.wait(
            lambda: [bool(shown.labels) for shown in stage.discord.messages(channel)] == [False, False, True],
            "buttons under the new answer alone",
        )
        assert press.ephemeral
