"""DMs: a plain message is a turn of its author's session, with all that `/ask` offers."""

import pytest

from tests.end_to_end.stage import AGAIN, CONTINUE, STOP, Stage, streaming
from tests.loopback.discord import Channel, ChannelReply, File, Permission, Shown, User
from tests.loopback.model_server import CutConnection, Hang, Pause, Reply, Say, fails, says

POST = "POST /channels/{channel}/messages"
CURRENT_ANSWERS = (
    "SELECT count(*) FROM messages WHERE channel_id = ? AND role = 'assistant' AND status <> 'replaced'"
)


async def answered(stage: Stage, user: User, text: str, answer: str) -> ChannelReply:
    """A DM that the model answers in these words, until its buttons are there."""
    stage.model.script(says(answer))
    message = await stage.write(user, stage.discord.dm(user), text, mention=False)
    reply = stage.discord.answer(message)
    return await reply.until(lambda shown: AGAIN["ja"] in shown.labels, "the buttons")


async def pages_noted(stage: Stage, answer: Shown, pages: int) -> None:
    """Wait until the further messages of an answer are on record."""
    count = "SELECT count(*) FROM answer_pages WHERE answer_id = ?"
    await stage.eventually(count, answer.id, gives=[(pages,)])


class TestMessage:
    async def test_goes_on_with_the_session(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        await stage.ask(aiko, dm, "ひとつ目")
        reply = await answered(stage, aiko, "ふたつ目", "はい。")
        assert stage.shown() == ["ひとつ目", "はい、承知しました。", "ふたつ目"]
        assert reply.text == "はい。"
        assert [row[:2] for row in stage.stored(dm)][2:] == [("user", "ふたつ目"), ("assistant", "はい。")]

    async def test_is_private(self, stage: Stage, aiko: User) -> None:
        await answered(stage, aiko, "内緒の話", "はい。")
        dm = stage.discord.dm(aiko)
        assert stage.rows("SELECT DISTINCT visibility FROM messages WHERE channel_id = ?", dm.id) == [
            ("private",)
        ]

    async def test_stays_between_its_author_and_the_bot(self, stage: Stage, aiko: User, ben: User) -> None:
        await answered(stage, aiko, "内緒の話", "はい。")
        await answered(stage, ben, "hello", "はい。")
        assert stage.shown() == ["hello"]

    async def test_brings_its_files(self, stage: Stage, aiko: User) -> None:
        file = File("メモ.txt", "牛乳とパン".encode(), "text/plain")
        dm = stage.discord.dm(aiko)
        message = await stage.write(aiko, dm, "これは？", mention=False, attachments=(file,))
        await stage.says(message, "承知しました")
        assert "牛乳とパン" in stage.shown()[-1]
        await answered(stage, aiko, "もう一度見て", "はい。")
        assert "牛乳とパン" in stage.shown()[0]

    async def test_with_a_file_among_others_that_nobody_can_read_is_answered_with_the_others(
        self, stage: Stage, aiko: User
    ) -> None:
        files = (
            File("a_b.zip", b"PK\x03\x04....", "application/zip"),
            File("メモ.txt", "牛乳とパン".encode(), "text/plain"),
        )
        dm = stage.discord.dm(aiko)
        message = await stage.write(aiko, dm, "これは？", mention=False, attachments=files)
        reply = await stage.says(message, "a\\_b.zip は読めませんでした。")
        assert "承知しました" in reply.text
        assert "8 MB までの画像、256 KB までのテキスト、20 MB までの文書" in reply.text
        assert "牛乳とパン" in stage.shown()[-1]
        assert "[not shown, it could not be read: a_b.zip]" in stage.shown()[-1]

    async def test_with_a_file_that_nobody_can_read_is_refused(self, stage: Stage, aiko: User) -> None:
        file = File("a.zip", b"PK\x03\x04....", "application/zip")
        dm = stage.discord.dm(aiko)
        message = await stage.write(aiko, dm, "これは？", mention=False, attachments=(file,))
        await stage.says(message, "このファイルは開けませんでした。")
        assert stage.stored(dm) == []

    async def test_that_is_delivered_again_is_answered_once(self, stage: Stage, aiko: User) -> None:
        reply = await answered(stage, aiko, "元気？", "はい。")
        await stage.discord.redeliver(reply.post)
        await stage.discord.quiet()
        assert len(stage.model.requests) == 1

    async def test_waits_for_the_one_before(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        stage.model.script(Reply(Say("ひとつ"), Pause(2.0), *says("め。").steps), says("ふたつめ。"))
        first = await stage.write(aiko, dm, "一", mention=False)
        await streaming(stage.discord.answer(first), "ひとつ")
        second = await stage.write(aiko, dm, "二", mention=False)
        await streaming(stage.discord.answer(second), "前の質問が終わるのを待っています")
        await stage.says(second, "ふたつめ。")
        assert stage.shown() == ["一", "ひとつめ。", "二"]

    async def test_meets_trouble_of_the_model_in_words(self, stage: Stage, aiko: User) -> None:
        stage.model.responder = lambda _: fails(400)
        dm = stage.discord.dm(aiko)
        message = await stage.write(aiko, dm, "元気？", mention=False)
        await stage.says(message, "この質問を受け付けませんでした")
        assert stage.stored(dm) == []

    async def test_posts_nothing_twice(self, stage: Stage, aiko: User) -> None:
        stage.discord.fail_next(POST, 502, take_effect=True)
        await answered(stage, aiko, "元気？", "はい。")
        assert len(stage.discord.messages(stage.discord.dm(aiko))) == 2

    async def test_welcomes_a_new_user_once(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        message = await stage.write(aiko, dm, "はじめまして", mention=False)
        await stage.says(message, "/ヘルプ で、できることの一覧")
        assert "/ヘルプ" not in (await answered(stage, aiko, "もう一度", "はい。")).text

    async def test_follows_its_authors_own_language(self, stage: Stage, ben: User) -> None:
        await stage.told(ben, stage.discord.dm(ben), "settings", language="en")
        stage.model.script(says("Fine."))
        message = await stage.discord.post(ben, stage.discord.dm(ben), "How are you?")
        await stage.discord.answer(message).until(lambda r: "Answer again" in r.labels, "English buttons")


class TestSlowFile:
    """Held up by whoever hosts it: it may take as long as Discord's own files never do."""

    FILE = File("メモ.txt", "牛乳とパン".encode(), "text/plain")

    async def test_holds_up_nobody_else_in_the_channel(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        answer = await stage.ask_in_words(aiko, channel, "りんごです。")
        with stage.discord.files_held():
            slow = await stage.write(
                aiko, channel, "これは？", mention=False, reply_to=answer.message, attachments=(self.FILE,)
            )
            await streaming(stage.discord.answer(slow), "考えています")
            await stage.said(ben, channel, "hello", "どうも。")
        await stage.says(slow, "承知しました")
        assert "牛乳とパン" in stage.shown()[-1]

    async def test_keeps_its_question_before_its_users_next_one(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        with stage.discord.files_held():
            slow = await stage.write(aiko, dm, "一", mention=False, attachments=(self.FILE,))
            await streaming(stage.discord.answer(slow), "考えています")
            quick = await stage.write(aiko, dm, "二", mention=False)
            await streaming(stage.discord.answer(quick), "考えています")
        await stage.says(quick, "承知しました")
        assert [text.splitlines()[0] for text in stage.shown()][::2] == ["一", "二"]


class TestButtons:
    async def test_answer_again(self, stage: Stage, aiko: User) -> None:
        reply = await answered(stage, aiko, "元気？", "前の答え。")
        stage.model.script(says("新しい答え。"))
        await stage.discord.click(aiko, reply.message, AGAIN["ja"])
        await reply.until(lambda r: r.text == "新しい答え。" and AGAIN["ja"] in r.labels, "the new answer")
        await answered(stage, aiko, "次", "はい。")
        assert stage.shown() == ["元気？", "新しい答え。", "次"]

    async def test_answer_again_of_a_long_answer_leaves_one_short_one(self, stage: Stage, aiko: User) -> None:
        reply = await answered(stage, aiko, "長い話を", "\n\n".join(["あ" * 1000] * 3))
        assert len(reply.messages) > 1
        stage.model.script(says("短い答え。"))
        await stage.discord.click(aiko, reply.messages[-1], AGAIN["ja"])
        await reply.until(lambda r: r.text == "短い答え。" and AGAIN["ja"] in r.labels, "the new answer")
        await stage.discord.quiet()
        await answered(stage, aiko, "次", "はい。")
        assert stage.shown() == ["長い話を", "短い答え。", "次"]

    async def test_continue(self, stage: Stage, aiko: User) -> None:
        stage.model.script(Reply(Say("むかしむかし、"), CutConnection()))
        message = await stage.write(aiko, stage.discord.dm(aiko), "昔話を", mention=False)
        reply = await stage.says(message, "むかしむかし、")
        await reply.until(lambda r: CONTINUE["ja"] in r.labels, "the buttons")
        stage.model.script(says("おしまい。"))
        press = await stage.discord.click(aiko, reply.message, CONTINUE["ja"])
        await press.finished(lambda r: "おしまい。" in r.text and AGAIN["ja"] in r.labels)

    async def test_stop(self, stage: Stage, aiko: User) -> None:
        stage.model.script(Reply(Say("終わらない"), Hang()))
        dm = stage.discord.dm(aiko)
        message = await stage.write(aiko, dm, "話して", mention=False)
        reply = await streaming(stage.discord.answer(message), "終わらない")
        await stage.discord.click(aiko, reply.message, STOP["ja"])
        await stage.says(message, "ここで止めました")
        assert stage.stored(dm)[-1] == ("assistant", "終わらない", "stopped")


class TestChanges:
    async def test_an_edited_question_is_read_as_it_is_now(self, stage: Stage, aiko: User) -> None:
        reply = await answered(stage, aiko, "今日は？", "はい。")
        await stage.discord.edit(aiko, reply.post, "明日は？")
        changed = "SELECT content FROM messages WHERE discord_id = ?"
        await stage.eventually(changed, reply.post.id, gives=[("明日は？",)])
        await answered(stage, aiko, "次", "はい。")
        assert stage.shown()[0] == "明日は？"

    async def test_a_deleted_question_is_gone(self, stage: Stage, aiko: User) -> None:
        reply = await answered(stage, aiko, "忘れて", "はい。")
        await stage.discord.delete(aiko, reply.post)
        gone = "SELECT count(*) FROM messages WHERE discord_id = ?"
        await stage.eventually(gone, reply.post.id, gives=[(0,)])
        await answered(stage, aiko, "次", "はい。")
        assert "忘れて" not in str(stage.shown())

    async def test_a_question_that_is_deleted_while_it_is_answered_leaves_nothing(
        self, stage: Stage, aiko: User
    ) -> None:
        stage.model.script(Reply(Say("答えはじめ"), Hang()))
        dm = stage.discord.dm(aiko)
        message = await stage.write(aiko, dm, "忘れて", mention=False)
        reply = await streaming(stage.discord.answer(message), "答えはじめ")
        await stage.discord.delete(aiko, message)
        await reply.until(lambda r: not r.messages, "the answer to vanish")
        await stage.eventually("SELECT count(*) FROM messages WHERE channel_id = ?", dm.id, gives=[(0,)])


class TestReply:
    async def test_by_the_asker_goes_on_with_their_session(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        answer = await stage.ask_in_words(aiko, channel, "りんごです。")
        stage.model.script(says("赤いです。"))
        message = await stage.write(aiko, channel, "何色？", mention=False, reply_to=answer.message)
        reply = await stage.says(message, "赤いです。")
        assert stage.shown() == ["?", "りんごです。", "何色？"]
        await reply.until(lambda r: AGAIN["ja"] in r.labels, "the buttons")
        stage.model.script(says("青です。"))
        again = await stage.write(aiko, channel, "本当？", mention=False, reply_to=reply.message)
        await stage.says(again, "青です。")
        assert stage.shown() == ["?", "りんごです。", "何色？", "赤いです。", "本当？"]
        assert stage.rows(
            "SELECT count(*) FROM messages WHERE channel_id = ? AND session_id IS NULL", channel.id
        ) == [(0,)]

    async def test_by_somebody_else_is_a_question_in_the_channel_below_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        answer = await stage.ask_in_words(aiko, channel, "りんごです。")
        stage.model.script(says("はい、りんごです。"))
        message = await stage.write(ben, channel, "really?", mention=False, reply_to=answer.message)
        reply = await stage.says(message, "はい、りんごです。")
        assert stage.shown() == ["Aiko: ?", "りんごです。", "Ben: really?"]
        await stage.said(aiko, channel, "ちがう話", "はい。")
        stage.model.script(says("赤いです。"))
        message = await stage.write(ben, channel, "red?", mention=False, reply_to=answer.message)
        await stage.says(message, "赤いです。")
        assert stage.shown()[-1] == "[In reply to your own answer:]\n> りんごです。\n\nBen: red?"
        assert reply.labels == []

    async def test_to_the_first_page_of_ones_own_answer_goes_on_with_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        answer = await stage.ask_in_words(aiko, channel, "\n\n".join(["あ" * 1000] * 2))
        stage.model.script(says("はい。"))
        message = await stage.write(aiko, channel, "本当？", mention=False, reply_to=answer.messages[0])
        await stage.says(message, "はい。")
        assert stage.shown()[0] == "?"
        assert stage.shown()[-1] == "本当？"

    async def test_to_the_notice_of_a_reset_is_a_question_in_the_channel(
        self, stage: Stage, channel: Channel
    ) -> None:
        keeper = stage.discord.user("Keeper", locale="ja")
        stage.discord.permit(keeper, Permission.MANAGE_MESSAGES, channel)
        await stage.ask_in_words(keeper, channel, "りんごです。")
        notice = await stage.discord.slash(keeper, channel, "reset")
        await notice.finished()
        stage.model.script(says("はい。"))
        message = await stage.write(keeper, channel, "何が？", mention=False, reply_to=notice.message)
        reply = await stage.says(message, "はい。")
        assert reply.labels == []
        assert "りんごです。" not in stage.shown()

    async def test_to_an_answer_in_the_channel_quotes_nothing(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        message = await stage.said(aiko, channel, "何の話？", "りんごの話です。")
        answer = stage.discord.answer(message).message
        stage.model.script(says("はい。"))
        reply = await stage.write(ben, channel, "more", mention=False, reply_to=answer)
        await stage.says(reply, "はい。")
        assert stage.shown() == ["Aiko: 何の話？", "りんごの話です。", "Ben: more"]

    async def test_without_a_ping_is_not_for_the_bot(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        answer = await stage.ask_in_words(aiko, channel, "りんごです。")
        await stage.discord.post(aiko, channel, "ふうん", reply_to=answer.message, ping=False)
        await stage.discord.quiet()
        assert len(stage.model.requests) == 1


class TestDeletedPage:
    """Of an answer in a server: whichever message of it somebody takes down, it is gone."""

    @pytest.fixture
    def keeper(self, stage: Stage, channel: Channel) -> User:
        keeper = stage.discord.user("Keeper", locale="ja")
        stage.discord.permit(keeper, Permission.MANAGE_MESSAGES, channel)
        return keeper

    @pytest.mark.parametrize("page", [0, 1])
    async def test_takes_an_answer_to_a_command_with_it(
        self, stage: Stage, keeper: User, channel: Channel, page: int
    ) -> None:
        answer = await stage.ask_in_words(keeper, channel, "\n\n".join(["あ" * 1000] * 2))
        await pages_noted(stage, answer.messages[0], 1)
        await stage.discord.delete(keeper, answer.messages[page])
        await stage.eventually(CURRENT_ANSWERS, channel.id, gives=[(0,)])

    async def test_takes_an_answer_with_it_that_was_made_anew(
        self, stage: Stage, keeper: User, channel: Channel
    ) -> None:
        answer = await stage.ask_in_words(keeper, channel, "前の答え。")
        stage.model.script(says("\n\n".join(["あ" * 1000] * 2)))
        press = await stage.discord.click(keeper, answer.message, AGAIN["ja"])
        await press.finished(lambda r: len(r.messages) == 2 and AGAIN["ja"] in r.labels)
        await pages_noted(stage, press.messages[0], 1)
        await stage.discord.delete(keeper, press.messages[1])
        await stage.eventually(CURRENT_ANSWERS, channel.id, gives=[(0,)])

    async def test_takes_an_answer_with_it_that_was_made_anew_below_its_first_page(
        self, stage: Stage, keeper: User, channel: Channel
    ) -> None:
        answer = await stage.ask_in_words(keeper, channel, "\n\n".join(["あ" * 1000] * 2))
        stage.model.script(says("短い答え。"))
        press = await stage.discord.click(keeper, answer.messages[1], AGAIN["ja"])
        await press.finished(lambda r: r.text == "短い答え。" and AGAIN["ja"] in r.labels)
        await pages_noted(stage, answer.messages[0], 1)
        await stage.discord.delete(keeper, press.messages[0])
        await stage.eventually(CURRENT_ANSWERS, channel.id, gives=[(0,)])

    @pytest.mark.parametrize("page", [1, 2])
    async def test_takes_what_continued_an_answer_with_it(
        self, stage: Stage, keeper: User, channel: Channel, page: int
    ) -> None:
        stage.model.script(Reply(Say("むかしむかし、"), CutConnection()))
        cut = await stage.ask(keeper, channel)
        stage.model.script(says("\n\n".join(["い" * 1000] * 2)))
        press = await stage.discord.click(keeper, cut.message, CONTINUE["ja"])
        await press.finished(lambda r: len(r.messages) == 3 and AGAIN["ja"] in r.labels)
        await pages_noted(stage, press.messages[1], 1)
        await stage.discord.delete(keeper, press.messages[page])
        await stage.eventually(CURRENT_ANSWERS, channel.id, gives=[(1,)])
