"""Answers that do not fit one message: further messages, then a file."""

from tests.end_to_end.stage import Stage, again_label, answered, stop_label
from tests.loopback.discord import Channel, Reply, Shown, User
from tests.loopback.model_server import Hang, Say, says
from tests.loopback.model_server import Reply as Answer

SENTENCE = "これは長い話の一文で、句点までが一つのまとまりです。"


def long_text(characters: int) -> str:
    """Numbered sentences, so that a lost or doubled one is noticed."""
    return "".join(f"{number}番目。{SENTENCE}" for number in range(characters // len(SENTENCE)))[:characters]


def own_words(message: Shown) -> str:
    """A message without what the bot states under it."""
    return message.content


def file_of(message: Shown) -> str:
    [attachment] = message.attachments
    assert attachment.file.name.endswith(".md")
    return attachment.file.data.decode()


async def again(stage: Stage, user: User, message: Shown, answer: str) -> Reply:
    stage.model.script(says(answer))
    return await stage.discord.click(user, message, again_label(user))


class TestAnswer:
    async def test_of_any_length_takes_the_place_of_another_of_any_length(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Answer(Say(long_text(2500)), Hang()))
        reply = await stage.begin(aiko, channel)
        await reply.until(lambda shown: len(shown.messages) == 2, "a second message")
        await stage.discord.click(aiko, reply.messages[1], stop_label(aiko))
        await answered(reply)
        assert "".join(own_words(message) for message in reply.messages) == long_text(2500)
        last: Shown = reply.messages[-1]
        for length, count in ((30, 1), (8000, 5), (12000, 1), (3000, 2), (12000, 1), (30, 1)):
            press = await again(stage, aiko, last, long_text(length))
            await answered(press)
            await stage.discord.wait(
                lambda count=count: len(stage.discord.messages(channel)) == count,  # type: ignore[misc]
                f"{count} messages",
            )
            *above, last = stage.discord.messages(channel)
            assert [message.labels for message in above] == [[]] * len(above)
            assert last.labels == [again_label(aiko)]
            if length == 12000:
                assert file_of(last) == long_text(length)
                assert "全文をファイルで" in last.text
                assert long_text(length).startswith(own_words(last))
                assert len(own_words(last)) > 1000
            else:
                assert "".join(map(own_words, (*above, last))) == long_text(length)
                assert last.attachments == ()


class TestWhatTheBotCanNotDelete:
    async def test_is_left_whole_and_answered_again_below(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        """Half an old answer would stay above the new one: in private, and where the app is installed by its
        user alone, where Discord refuses a sixth follow-up."""
        elsewhere = stage.discord.user_installed_channel(aiko)
        for place, private in ((channel, True), (elsewhere, False)):
            stage.model.script(says(long_text(3000)))
            reply = await stage.ask(aiko, place, private=private)
            assert [message.ephemeral for message in reply.messages] == [private, private]
            press = await again(stage, aiko, reply.messages[-1], long_text(8000))
            await stage.discord.wait(
                lambda place=place: (  # type: ignore[misc]
                    [bool(each.labels) for each in stage.discord.messages(place)][-7:] == [*[False] * 6, True]
                ),
                "buttons under the new answer alone",
            )
            await answered(press)
            shown = stage.discord.messages(place)
            assert "".join(own_words(message) for message in shown[:2]) == long_text(3000)
            assert "".join(own_words(message) for message in shown[2:]) == long_text(8000)
