"""Edits and deletions on Discord: the archive follows them, and so does the newest answer."""

from tests.end_to_end.stage import Stage, streaming
from tests.loopback.discord import Channel, Permission, User
from tests.loopback.model_server import Hang, Pause, Reply, Say, fails, says

UNKNOWN_CHANNEL = 10003
UNKNOWN_MESSAGE = 10008


class TestEditedQuestion:
    async def test_is_answered_anew_in_place(self, stage: Stage, aiko: User, channel: Channel) -> None:
        message = await stage.said(aiko, channel, "今日は？", "月曜日です。")
        stage.model.script(says("火曜日です。"))
        await stage.discord.edit(aiko, message, f"{stage.discord.bot.mention} 明日は？")
        reply = await stage.says(message, "火曜日です。")
        assert [shown.content for shown in reply.messages] == ["火曜日です。"]
        assert stage.shown() == ["Aiko: 明日は？"]
        assert [row[:2] for row in stage.stored(channel)] == [
            ("user", "明日は？"),
            ("assistant", "火曜日です。"),
        ]

    async def test_shows_the_old_answer_until_the_new_one_begins(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        message = await stage.said(aiko, channel, "今日は？", "月曜日です。")
        stage.model.script(Reply(Pause(1.5), *says("火曜日です。").steps))
        await stage.discord.edit(aiko, message, f"{stage.discord.bot.mention} 明日は？")
        reply = stage.discord.answer(message)
        await reply.until(lambda r: r.text == "月曜日です。\n-# 考えています…", "both")
        await stage.says(message, "火曜日です。")

    async def test_keeps_its_answer_when_the_model_fails(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        message = await stage.said(aiko, channel, "今日は？", "月曜日です。")
        stage.model.responder = lambda _: fails(400)
        await stage.discord.edit(aiko, message, f"{stage.discord.bot.mention} 明日は？")
        reply = await stage.says(message, "この質問を受け付けませんでした")
        assert reply.text.startswith("月曜日です。\n-# ")
        assert stage.stored(channel)[-1][1] == "月曜日です。"

    async def test_of_earlier_on_changes_what_is_read_and_no_answer(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        first = await stage.said(aiko, channel, "今日は？", "月曜日です。")
        await stage.said(aiko, channel, "元気？", "はい。")
        await stage.discord.edit(aiko, first, f"{stage.discord.bot.mention} 明日は？")
        await stage.eventually(
            "SELECT content FROM messages WHERE discord_id = ?", first.id, gives=[("明日は？",)]
        )
        await stage.discord.quiet()
        assert len(stage.model.requests) == 2
        await stage.said(aiko, channel, "次", "はい。")
        assert stage.shown()[0] == "Aiko: 明日は？"

    async def test_while_it_is_answered_is_answered_once_more(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("月曜日"), Pause(2.0), *says("です。").steps), says("火曜日です。"))
        message = await stage.write(aiko, channel, "今日は？")
        await streaming(stage.discord.answer(message), "月曜日")
        await stage.discord.edit(aiko, message, f"{stage.discord.bot.mention} 明日は？")
        await stage.says(message, "火曜日です。")
        assert stage.shown() == ["Aiko: 明日は？"]

    async def test_with_a_preview_alone_is_no_edit(self, stage: Stage, aiko: User, channel: Channel) -> None:
        message = await stage.said(aiko, channel, "https://example.com を見て", "はい。")
        await stage.discord.unfurl(message, {"title": "Example"})
        await stage.discord.quiet()
        assert len(stage.model.requests) == 1

    async def test_without_its_mention_can_no_longer_be_read(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        message = await stage.said(aiko, channel, "今日は？", "月曜日です。")
        await stage.discord.edit(aiko, message, "明日は？")
        await stage.discord.quiet()
        assert stage.stored(channel)[0][1] == "今日は？"

    async def test_that_leaves_nothing_but_the_call_takes_back_what_it_said(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        message = await stage.said(aiko, channel, "電話番号は090-1111", "はい。")
        await stage.discord.edit(aiko, message, stage.discord.bot.mention)
        gone = "SELECT count(*) FROM messages WHERE discord_id = ?"
        await stage.eventually(gone, message.id, gives=[(0,)])
        await stage.eventually("SELECT count(*) FROM mentions WHERE discord_id = ?", message.id, gives=[(0,)])
        await stage.said(aiko, channel, "次", "はい。")
        assert stage.shown() == ["Aiko: 次"]

    async def test_that_leaves_nothing_but_the_call_withdraws_the_answer_on_its_way(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("答えはじめ"), Hang()))
        message = await stage.write(aiko, channel, "電話番号は090-1111")
        reply = await streaming(stage.discord.answer(message), "答えはじめ")
        await stage.discord.edit(aiko, message, stage.discord.bot.mention)
        await reply.until(lambda shown: not shown.messages, "the answer to vanish")
        await stage.eventually("SELECT count(*) FROM messages WHERE channel_id = ?", channel.id, gives=[(0,)])

    async def test_of_a_long_answer_takes_its_further_messages_down(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("\n\n".join(["あ" * 1000] * 3)))
        message = await stage.write(aiko, channel, "長い話を")
        reply = stage.discord.answer(message)
        await reply.until(lambda r: len(r.messages) > 1, "the second message")
        pages = "SELECT count(*) FROM answer_pages WHERE answer_id = ?"
        await stage.eventually(pages, reply.message.id, gives=[(len(reply.messages) - 1,)])
        stage.model.script(says("短い話です。"))
        await stage.discord.edit(aiko, message, f"{stage.discord.bot.mention} 短い話を")
        await stage.says(message, "短い話です。")
        await reply.until(lambda r: len(r.messages) == 1, "one message")
        await stage.eventually(pages, reply.message.id, gives=[(0,)])
        await stage.discord.quiet()
        assert stage.stored(channel)[-1][1] == "短い話です。"


class TestDeletion:
    async def test_of_a_question_takes_it_out_of_the_conversation_with_its_answer(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.said(aiko, channel, "元気？", "元気です。")
        message = await stage.said(aiko, channel, "秘密の番号は1234", "1234は覚えません。")
        answer = stage.discord.answer(message)
        await stage.discord.delete(aiko, message)
        await answer.until(lambda shown: not shown.messages, "the answer to vanish")
        await stage.said(aiko, channel, "次", "はい。")
        assert stage.shown() == ["Aiko: 元気？", "元気です。", "Aiko: 次"]

    async def test_of_a_question_takes_all_messages_of_a_long_answer_along(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("\n\n".join(["あ" * 1000] * 3)))
        message = await stage.write(aiko, channel, "長い話を")
        reply = stage.discord.answer(message)
        await reply.until(lambda shown: len(shown.messages) > 1, "the second message")
        shown = "SELECT count(*) FROM mentions WHERE discord_id = ? AND shown = 1"
        await stage.eventually(shown, message.id, gives=[(1,)])
        await stage.discord.delete(aiko, message)
        await reply.until(lambda shown: not shown.messages, "the answer to vanish")
        assert stage.stored(channel) == []

    async def test_of_a_question_in_a_dm_takes_its_answer_along(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        answers = []
        for number in (1, 2):
            stage.model.script(says(f"答え{number}。"))
            message = await stage.write(aiko, dm, f"質問{number}", mention=False)
            answers.append((message, await stage.says(message, f"答え{number}。")))
        first, answer = answers[0]
        await stage.discord.delete(aiko, first)
        await answer.until(lambda shown: not shown.messages, "the answer to vanish")
        assert [text for _, text, _ in stage.stored(dm)] == ["質問2", "答え2。"]
        assert "答え2。" in answers[1][1].text

    async def test_of_one_of_two_questions_leaves_the_answer_to_both(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("はい"), Pause(2.0), *says("。").steps), says("ふたりに答えます。"))
        begun = await stage.write(aiko, channel, "はじめの質問")
        await streaming(stage.discord.answer(begun), "はい")
        first = await stage.write(aiko, channel, "愛子の質問")
        second = await stage.write(ben, channel, "ベンの質問")
        await stage.says(second, "ふたりに答えます。")
        await stage.discord.delete(aiko, first)
        gone = "SELECT count(*) FROM messages WHERE discord_id = ?"
        await stage.eventually(gone, first.id, gives=[(0,)])
        assert "ふたりに答えます。" in stage.discord.answer(second).text
        await stage.discord.delete(ben, second)
        await stage.discord.answer(second).until(lambda shown: not shown.messages, "the answer to vanish")

    async def test_of_an_answer_takes_all_of_it_out(self, stage: Stage, aiko: User, channel: Channel) -> None:
        moderator = stage.discord.user("Mori", locale="ja")
        stage.discord.permit(moderator, Permission.MANAGE_MESSAGES)
        message = await stage.said(aiko, channel, "質問", "消される答え。")
        await stage.discord.delete(moderator, stage.discord.answer(message).message)
        await stage.eventually(
            "SELECT role FROM messages WHERE channel_id = ?", channel.id, gives=[("user",)]
        )
        await stage.said(aiko, channel, "次", "はい。")
        assert "消される答え" not in str(stage.shown())

    async def test_in_bulk(self, stage: Stage, aiko: User, channel: Channel) -> None:
        moderator = stage.discord.user("Mori", locale="ja")
        stage.discord.permit(moderator, Permission.MANAGE_MESSAGES)
        message = await stage.said(aiko, channel, "質問", "答え。")
        answer = stage.discord.answer(message).message
        await stage.discord.delete_in_bulk(moderator, message, answer)
        await stage.eventually("SELECT count(*) FROM messages WHERE channel_id = ?", channel.id, gives=[(0,)])

    async def test_of_a_question_while_it_is_answered_leaves_nothing(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("答えはじめ"), Hang()))
        message = await stage.write(aiko, channel, "やっぱりなし")
        reply = await streaming(stage.discord.answer(message), "答えはじめ")
        await stage.discord.delete(aiko, message)
        await reply.until(lambda r: not r.messages, "the answer to vanish")
        await stage.eventually("SELECT count(*) FROM messages WHERE channel_id = ?", channel.id, gives=[(0,)])
        await stage.said(aiko, channel, "次", "はい。")

    async def test_of_an_answer_on_its_way_stops_it(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.excused.add(10008)
        moderator = stage.discord.user("Mori", locale="ja")
        stage.discord.permit(moderator, Permission.MANAGE_MESSAGES)
        stage.model.script(Reply(Say("答えはじめ"), Hang()))
        message = await stage.write(aiko, channel, "質問")
        reply = await streaming(stage.discord.answer(message), "答えはじめ")
        await stage.discord.delete(moderator, reply.message)
        waiting = "SELECT count(*) FROM mentions WHERE channel_id = ? AND answered = 0"
        await stage.eventually(waiting, channel.id, gives=[(0,)])
        await stage.said(aiko, channel, "次", "はい。")
        assert "答えはじめ" not in str(stage.shown())

    async def test_of_a_further_message_of_an_answer_on_its_way_takes_all_of_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(UNKNOWN_MESSAGE)
        moderator = stage.discord.user("Mori", locale="ja")
        stage.discord.permit(moderator, Permission.MANAGE_MESSAGES)
        stage.model.script(Reply(Say("答えはじめ。" * 400), Hang()))
        message = await stage.write(aiko, channel, "質問")
        reply = stage.discord.answer(message)
        await reply.until(lambda shown: len(shown.messages) == 2, "a second message")
        await stage.discord.delete(moderator, reply.messages[1])
        await reply.until(lambda shown: not shown.messages, "the answer to vanish")
        await stage.eventually(
            "SELECT role FROM messages WHERE channel_id = ?", channel.id, gives=[("user",)]
        )

    async def test_of_a_thread_while_a_question_is_answered_there_leaves_nothing(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(UNKNOWN_CHANNEL)
        thread = await stage.discord.start_thread(aiko, channel)
        stage.model.script(Reply(Say("答えはじめ"), Hang()))
        message = await stage.write(aiko, thread, "スレッドの質問")
        await streaming(stage.discord.answer(message), "答えはじめ")
        await stage.discord.delete_channel(thread)
        await stage.eventually("SELECT count(*) FROM messages WHERE channel_id = ?", thread.id, gives=[(0,)])
        await stage.discord.quiet()
        assert stage.stored(thread) == []

    async def test_of_a_thread_takes_its_messages_along(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.said(aiko, channel, "チャンネルの質問", "はい。")
        thread = await stage.discord.start_thread(aiko, channel)
        await stage.said(aiko, thread, "スレッドの質問", "はい。")
        await stage.discord.delete_channel(thread)
        await stage.eventually("SELECT count(*) FROM messages WHERE channel_id = ?", thread.id, gives=[(0,)])
        assert len(stage.stored(channel)) == 2
        await stage.discord.delete_channel(channel)
        await stage.eventually("SELECT count(*) FROM messages WHERE channel_id = ?", channel.id, gives=[(0,)])
