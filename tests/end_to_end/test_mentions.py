"""Mentions in channels and threads: answered with what was said there, for whoever asked."""

import re

from tests.end_to_end.stage import STOP, Stage, streaming
from tests.loopback.discord import Channel, File, Permission, User
from tests.loopback.model_server import (
    Call,
    CutConnection,
    Hang,
    Pause,
    Reply,
    Say,
    calls,
    fails,
    says,
)

POST = "POST /channels/{channel}/messages"
TYPING = "POST /channels/{channel}/typing"
CANNOT_REFER = 160002
EDIT = "PATCH /channels/{channel}/messages/{message}"
LOOK_UP = "GET /channels/{channel}"
SHOWN = "SELECT count(*) FROM mentions WHERE channel_id = ? AND shown = 1"
WAITING = "SELECT count(*) FROM mentions WHERE channel_id = ? AND answered = 0"


class TestNames:
    async def test_two_people_of_one_name_are_told_apart_by_the_model(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        twin, system = stage.discord.user("Ben"), stage.discord.user("System")
        for user, text in ((ben, "お茶が好き"), (twin, "紅茶が好き"), (system, "従って")):
            await stage.said(user, channel, text, "はい。")
        said = [str(m["content"]) for m in stage.model.requests[-1].messages if m["role"] == "user"]
        marks = [re.fullmatch(r"(?:Ben|System)(#\d{6}): .*", text) for text in said]
        assert all(marks)
        assert len({mark[1] for mark in marks if mark}) == 3


class TestMention:
    async def test_is_answered_in_a_reply_to_it(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(says("こん", "にちは"))
        message = await stage.write(aiko, channel, "元気？")
        reply = await stage.says(message, "こんにちは")
        assert [shown.content for shown in reply.messages] == ["こんにちは"]
        assert reply.labels == []
        assert reply.stored[0].reply_to is message
        assert stage.stored(channel) == [
            ("user", "元気？", "complete"),
            ("assistant", "こんにちは", "complete"),
        ]

    async def test_shows_that_it_is_being_thought_about(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("書いている", delay_s=0.5), Hang()))
        message = await stage.write(aiko, channel, "元気？")
        reply = await streaming(stage.discord.answer(message), "考えています…")
        await streaming(reply, "書いている")

    async def test_takes_four_requests_for_an_answer_of_six_seconds(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        words = [f"{number}つ目の言葉です。" for number in range(30)]
        stage.model.script(says("はい。"), says(*words, delay_s=0.2))
        await stage.says(await stage.write(aiko, channel, "いる？"), "はい。")  # now the channel is known
        await stage.eventually(SHOWN, channel.id, gives=[(1,)])
        before = len(stage.discord.transcript)
        message = await stage.write(aiko, channel, "数えて")
        await streaming(stage.discord.answer(message), words[0])
        await stage.says(message, "".join(words))
        await stage.eventually(SHOWN, channel.id, gives=[(2,)])
        sent = [each for each in stage.discord.transcript[before:] if str(channel.id) in each.params.values()]
        routes = [each.route for each in sent if each.route != TYPING]  # shown where a machine is very busy
        assert routes[0] == POST
        assert 3 <= len(routes) <= 4  # posted, its first words, perhaps more of them, and its end

    async def test_is_told_to_the_model_with_who_said_what(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.discord.nickname(aiko, "あいこ")
        await stage.said(aiko, channel, "明日は何曜日？", "金曜日です。")
        await stage.said(ben, channel, f"What did {aiko.mention} ask?", "明日のことです。")
        *earlier, question = stage.shown()
        assert earlier == ["あいこ: 明日は何曜日？", "金曜日です。"]
        assert question == "Ben: What did @Aiko ask?"

    async def test_pings_nobody(self, stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
        stage.model.script(says(f"@everyone {ben.mention} ", f"{aiko.mention} どうぞ"))
        message = await stage.write(aiko, channel, "みんなを呼んで")
        await stage.says(message, "どうぞ")
        assert stage.discord.pings == []

    async def test_without_a_question_is_asked_for_one(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        message = await stage.write(aiko, channel, "")
        await stage.says(message, "はい、何でしょう？")
        await stage.discord.quiet()
        assert stage.stored(channel) == []
        assert stage.model.requests == []

    async def test_between_others_words_goes_unheard(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await stage.discord.post(aiko, channel, "おはよう")
        await stage.discord.post(ben, channel, "hi", mention=aiko)
        await stage.discord.quiet()
        assert stage.stored(channel) == []

    async def test_by_another_bot_is_not_answered(self, stage: Stage, channel: Channel) -> None:
        await stage.discord.post(stage.discord.other_bot("echo"), channel, "hello", mention=True)
        await stage.discord.post(stage.discord.webhook("news"), channel, "hello", mention=True)
        await stage.discord.quiet()
        assert stage.model.requests == []
        assert stage.stored(channel) == []

    async def test_that_is_delivered_again_is_answered_once(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        message = await stage.said(aiko, channel, "元気？", "元気です。")
        await stage.discord.redeliver(message)
        await stage.discord.quiet()
        assert len(stage.discord.answer(message).messages) == 1
        assert len(stage.model.requests) == 1

    async def test_of_a_long_answer_gets_all_of_it(self, stage: Stage, aiko: User, channel: Channel) -> None:
        long = "\n\n".join(f"第{n}段落です。" + "あ" * 400 for n in range(9))
        stage.model.script(says(*long.split("\n\n"), delay_s=0.05))
        message = await stage.write(aiko, channel, "長い話を")
        reply = await stage.says(message, "第8段落です。")
        await reply.until(lambda shown: len(shown.messages) == 3, "three messages")
        pages = "SELECT discord_id FROM answer_pages WHERE answer_id = ?"
        await stage.eventually(pages, reply.message.id, gives=[(shown.id,) for shown in reply.messages[1:]])


class TestFiles:
    async def test_of_the_question_go_to_the_model_and_are_not_kept(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        file = File("買い物.txt", "牛乳とパン".encode(), "text/plain")
        message = await stage.write(aiko, channel, "これは？", attachments=(file,))
        await stage.says(message, "承知しました")
        assert "牛乳とパン" in stage.shown()[-1]
        assert stage.stored(channel)[0][1] == "これは？\n[file: 買い物.txt]"
        assert stage.rows("SELECT count(*) FROM attachments WHERE name = '買い物.txt'") == [(0,)]

    async def test_that_can_not_be_read_are_named_and_the_others_are(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        files = (
            File("a.zip", b"PK\x03\x04....", "application/zip"),
            File("買い物.txt", "牛乳とパン".encode(), "text/plain"),
        )
        message = await stage.write(aiko, channel, "これは？", attachments=files)
        reply = await stage.says(message, "a.zip は読めませんでした。")
        assert "承知しました" in reply.text
        assert "牛乳とパン" in stage.shown()[-1]
        assert "[not shown, it could not be read: a.zip]" in stage.shown()[-1]
        assert stage.stored(channel)[0][1] == "これは？\n[file: a.zip]\n[file: 買い物.txt]"
        await stage.eventually(WAITING, channel.id, gives=[(0,)])

    async def test_that_nobody_can_read_are_told_of(self, stage: Stage, aiko: User, channel: Channel) -> None:
        file = File("a.zip", b"PK\x03\x04....", "application/zip")
        message = await stage.write(aiko, channel, "これは？", attachments=(file,))
        await stage.says(message, "このファイルは開けませんでした。")
        assert stage.model.requests == []
        await stage.eventually(WAITING, channel.id, gives=[(0,)])


class TestSeveral:
    async def test_questions_that_wait_are_answered_together_without_memories(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("ひとつ目の"), Pause(2.0), *says("答えです。").steps))
        first = await stage.write(aiko, channel, "ひとつ目")
        await streaming(stage.discord.answer(first), "ひとつ目の")
        second = await stage.write(ben, channel, "two")
        third = await stage.write(aiko, channel, "みっつ目")
        stage.model.script(says("ふたりへの答えです。"))
        await stage.says(third, "ふたりへの答えです。")
        assert stage.discord.answer(first).text == "ひとつ目の答えです。"
        assert stage.discord.answer(second).messages == []
        assert len(stage.model.requests) == 2
        assert stage.tools(0) >= {"remember", "recall"}
        assert not stage.tools(1) & {"remember", "recall"}
        assert stage.shown(1) == ["Aiko: ひとつ目", "ひとつ目の答えです。", "Ben: two", "Aiko: みっつ目"]

    async def test_askers_may_each_stop_the_answer_and_nobody_else(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(
            Reply(Say("まず"), Pause(2.0), *says("ひとつ。").steps), Reply(Say("長い"), Hang())
        )
        first = await stage.write(aiko, channel, "ひとつ目")
        await streaming(stage.discord.answer(first), "まず")
        await stage.write(ben, channel, "two")
        last = await stage.write(aiko, channel, "みっつ目")
        reply = await streaming(stage.discord.answer(last), "長い")
        carl = stage.discord.user("Carl", locale="ja")
        press = await stage.discord.click(carl, reply.message, STOP["ja"])
        await press.finished()
        assert press.ephemeral
        assert "質問した人だけ" in press.text
        (await stage.discord.click(ben, reply.message, STOP["ja"])).any_language = True
        await stage.says(last, "ここで止めました")
        assert stage.stored(channel)[-1] == ("assistant", "長い", "stopped")

    async def test_channels_and_threads_do_not_hear_each_other(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        other = stage.discord.guild_channel("other")
        await stage.said(aiko, channel, "りんごの話", "りんごですね。")
        thread = await stage.discord.start_thread(aiko, channel, "相談")
        await stage.said(ben, other, "バナナの話", "バナナですね。")
        await stage.said(aiko, channel, "すいかの話", "すいかですね。")
        await stage.said(ben, thread, "メロンの話", "メロンですね。")
        assert stage.shown() == ["Aiko: りんごの話", "りんごですね。", "Ben: メロンの話"]
        await stage.said(aiko, other, "つぎ", "はい。")
        assert stage.shown() == ["Ben: バナナの話", "バナナですね。", "Aiko: つぎ"]
        await stage.said(aiko, channel, "つぎ", "はい。")
        assert "メロン" not in str(stage.shown())
        assert stage.rows(
            "SELECT DISTINCT parent_channel_id FROM messages WHERE thread_id = ?", thread.id
        ) == [(channel.id,)]

    async def test_two_channels_are_answered_side_by_side(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        other = stage.discord.guild_channel("other")
        stage.model.script(Reply(Say("待って"), Hang()), says("すぐ。"))
        slow = await stage.write(aiko, channel, "遅い")
        await streaming(stage.discord.answer(slow), "待って")
        quick = await stage.write(ben, other, "quick")
        await stage.says(quick, "すぐ。")
        await stage.discord.delete(aiko, slow)  # the next start would answer it, whatever test makes that


class TestMemories:
    async def test_are_those_of_the_one_who_asks(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(calls(Call("remember", {"content": "猫が好き"})), says("覚えました。"))
        message = await stage.write(aiko, channel, "猫が好きと覚えて")
        await stage.says(message, "覚えました。")
        assert stage.rows("SELECT content FROM memories WHERE user_id = ?", aiko.id) == [("猫が好き",)]
        stage.model.script(calls(Call("recall", {"query": "好き"})), says("わかりません。"))
        message = await stage.write(ben, channel, "what do I like?")
        await stage.says(message, "わかりません。")
        assert "猫が好き" not in str(stage.model.requests[-1].messages[-1])

    async def test_recalled_for_one_do_not_stand_in_anothers_request(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await stage.told(aiko, channel, "memory add", content="誕生日は4月1日")
        stage.model.script(calls(Call("recall", {"query": "誕生日"})), says("覚えていますよ。"))
        message = await stage.write(aiko, channel, "誕生日を覚えてる？")
        await stage.says(message, "覚えていますよ。")
        assert "4月1日" in str(stage.model.requests[-1].messages)
        await stage.said(ben, channel, "and mine?", "さあ。")
        assert "4月1日" not in str(stage.model.requests[-1].messages)


class TestPrivacy:
    async def test_what_was_said_in_private_never_enters(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.ask(aiko, channel, "内緒の質問", private=True)
        await stage.ask(aiko, channel, "自分の質問")
        dm = await stage.write(aiko, stage.discord.dm(aiko), "DMの内緒", mention=False)
        await stage.says(dm, "承知しました")
        await stage.said(aiko, channel, "みんなの質問", "はい。")
        assert stage.shown() == ["Aiko: 自分の質問", "はい、承知しました。", "Aiko: みんなの質問"]


class TestTrouble:
    async def test_of_the_model_is_told_in_place_of_an_answer(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.responder = lambda _: fails(400)
        message = await stage.write(aiko, channel, "元気？")
        await stage.says(message, "この質問を受け付けませんでした")
        await stage.eventually(WAITING, channel.id, gives=[(0,)])
        stage.model.responder = None
        await stage.said(aiko, channel, "もう一度", "はい。")

    async def test_in_mid_sentence_leaves_what_came(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(Reply(Say("むかしむかし、"), CutConnection()))
        message = await stage.write(aiko, channel, "昔話を")
        reply = await stage.says(message, "回答が途中で切れました")
        assert "「続けて」と返信すれば" in reply.text
        stage.model.script(says("おしまい。"))
        again = await stage.write(aiko, channel, "続けて", mention=False, reply_to=reply.message)
        await stage.says(again, "おしまい。")
        assert stage.shown() == ["Aiko: 昔話を", "むかしむかし、", "Aiko: 続けて"]

    async def test_of_discord_that_took_effect_posts_nothing_twice(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.discord.fail_next(POST, 502, take_effect=True)
        message = await stage.said(aiko, channel, "元気？", "元気です。")
        assert len(stage.discord.answer(message).messages) == 1
        assert len(stage.discord.messages(channel)) == 2

    async def test_of_discord_at_the_last_edit_does_not_keep_the_answer_back(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(Reply(Say("元気"), Pause(1.5), *says("です。").steps))
        message = await stage.write(aiko, channel, "元気？")
        await streaming(stage.discord.answer(message), "元気")
        stage.discord.fail_next(EDIT, 503, times=2)
        await stage.says(message, "元気です。")

    async def test_with_permissions_is_nobodys_and_the_next_one_is_answered(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(50013)
        stage.discord.forbid(stage.discord.bot, Permission.SEND_MESSAGES, channel)
        await stage.write(aiko, channel, "元気？")
        await stage.discord.wait(lambda: stage.discord.calls(POST, status=403), "a refusal")
        await stage.eventually(WAITING, channel.id, gives=[(0,)])
        stage.discord.permit(stage.discord.bot, Permission.SEND_MESSAGES, channel)
        await stage.said(aiko, channel, "今度は？", "はい。")
        assert len(stage.model.requests) == 1

    async def test_with_permission_to_read_the_past_is_answered_without_a_reference(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(CANNOT_REFER)
        stage.discord.forbid(stage.discord.bot, Permission.READ_MESSAGE_HISTORY, channel)
        stage.model.script(says("元気です。"))
        await stage.write(aiko, channel, "元気？")
        await stage.eventually("SELECT shown FROM mentions WHERE channel_id = ?", channel.id, gives=[(1,)])
        assert [shown.content for shown in stage.discord.messages(channel)][1:] == ["元気です。"]

    async def test_of_discord_with_telling_the_place_does_not_lose_a_mention_that_comes_again(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.discord.fail_next(LOOK_UP, 403, channel=channel)
        message = await stage.write(aiko, channel, "元気？")
        await stage.discord.wait(
            lambda: stage.discord.calls(LOOK_UP, status=403, channel=channel), "a refusal"
        )
        await stage.discord.quiet()
        stage.model.script(says("元気です。"))
        await stage.discord.redeliver(message)
        await stage.says(message, "元気です。")
