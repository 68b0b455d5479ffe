"""Reminders on Discord: set by a command, said at their time, once, to their owner."""

import pytest_asyncio

from tests.end_to_end.reminders import (
    POST,
    called,
    comes_due,
    firings,
    number_of,
    reminder,
    said,
    says_by_itself,
)
from tests.end_to_end.stage import AGAIN, Stage
from tests.end_to_end.test_receipts import told
from tests.loopback.discord import Channel, Permission, Shown, User
from tests.loopback.model_server import Call, calls, says

STATE = "SELECT state FROM firings WHERE schedule_id = ?"
STATUS = "SELECT status, obstacle FROM schedules WHERE id = ?"


class TestReminder:
    async def test_is_said_in_the_channel_and_calls_its_owner_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        number = await reminder(stage, aiko, channel, f"@everyone {ben.mention} 薬を飲む")
        await comes_due(stage, aiko, number)
        shown = await says_by_itself(stage, channel, "薬を飲む")
        assert shown.content == f"{aiko.mention} ⏰ @everyone {ben.mention} 薬を飲む"
        assert called(stage) == [{aiko.id}]
        await stage.eventually(STATE, number, gives=[("sent",)])
        assert len(said(stage, channel)) == 1

    async def test_is_said_by_dm_where_its_owner_wants_that(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        number = await reminder(stage, aiko, channel, "内緒の薬", where="dm")
        await comes_due(stage, aiko, number)
        await says_by_itself(stage, stage.discord.dm(aiko), "内緒の薬")
        assert called(stage) == [{aiko.id}]
        assert said(stage, channel) == []

    async def test_that_was_set_in_a_dm_is_said_there(self, stage: Stage, ben: User) -> None:
        dm = stage.discord.dm(ben)
        number = await reminder(stage, ben, dm, "take the pills")
        await comes_due(stage, ben, number)
        shown = await says_by_itself(stage, dm, "take the pills")
        called(stage)
        assert shown.content == f"{ben.mention} ⏰ take the pills"
        assert shown.labels == ["Again in 10 minutes", "Again in an hour"]

    async def test_that_is_late_says_so(self, stage: Stage, aiko: User, channel: Channel) -> None:
        number = await reminder(stage, aiko, channel, "薬")
        await comes_due(stage, aiko, number, late_s=1800)
        shown = await says_by_itself(stage, channel, "薬")
        called(stage)
        assert "お知らせが遅れてすみません" in shown.text
        assert "お知らせが遅れて" not in shown.content

    async def test_that_is_more_than_an_hour_late_is_told_as_missed(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        number = await reminder(stage, aiko, channel, "*薬*")
        await comes_due(stage, aiko, number, late_s=3700)
        shown = await says_by_itself(stage, stage.discord.dm(aiko), "薬")
        assert "お知らせの時刻が過ぎていました" in shown.content
        assert "\\*薬\\*" in shown.content
        assert said(stage, channel) == []
        assert firings(stage, number) == ["missed"]

    async def test_enters_no_history_and_no_channels_conversation(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        number = await reminder(stage, aiko, channel, "秘密の合言葉")
        await comes_due(stage, aiko, number)
        await says_by_itself(stage, channel, "秘密の合言葉")
        called(stage)
        await stage.eventually(STATE, number, gives=[("sent",)])
        await stage.ask(aiko, channel, "元気？")
        await stage.said(ben, channel, "hello", "どうも。")
        assert all("合言葉" not in str(request.messages) for request in stage.model.requests)
        assert stage.rows(
            "SELECT user_id, session_id, content FROM messages WHERE content LIKE '%秘密の合言葉'"
        ) == [(aiko.id, None, "⏰ 秘密の合言葉")]


class TestTrouble:
    async def test_on_discords_side_leads_to_no_second_message(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        number = await reminder(stage, aiko, channel, "薬")
        stage.discord.fail_next(POST, 502, take_effect=True)
        await comes_due(stage, aiko, number)
        await says_by_itself(stage, channel, "薬")
        await stage.eventually(STATE, number, gives=[("sent",)])
        called(stage)
        assert len(said(stage, channel)) == 1

    async def test_a_deleted_channel_pauses_it_and_its_owner_is_told(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(10003)
        number = await reminder(stage, aiko, channel, "薬")
        await stage.discord.delete_channel(channel)
        await comes_due(stage, aiko, number)
        shown = await says_by_itself(stage, stage.discord.dm(aiko), "薬")
        assert "チャンネルがなくなったので止めています" in shown.content
        assert stage.rows(STATUS, number) == [("paused", "channel_gone")]

    async def test_a_channel_that_the_bot_no_longer_sees_pauses_it(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(50001)
        number = await reminder(stage, ben, channel, "pills")
        stage.discord.forbid(stage.discord.bot, Permission.VIEW_CHANNEL, channel)
        await comes_due(stage, ben, number)
        await says_by_itself(stage, stage.discord.dm(ben), "pills")
        assert stage.rows(STATUS, number) == [("paused", "bot_removed")]

    async def test_a_missing_permission_pauses_it_until_it_is_resumed(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(50013)
        number = await reminder(stage, aiko, channel, "薬")
        stage.discord.forbid(stage.discord.bot, Permission.SEND_MESSAGES, channel)
        await comes_due(stage, aiko, number)
        await says_by_itself(stage, stage.discord.dm(aiko), "書き込む権限がない")
        stage.discord.permit(stage.discord.bot, Permission.SEND_MESSAGES, channel)
        assert "再開しました" in await stage.told(aiko, channel, "remind resume", id=number_of(stage, number))
        await says_by_itself(stage, channel, "薬")
        called(stage)

    async def test_who_left_the_server_is_reminded_there_no_more_until_they_are_back(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        stage.excused.add(10007)
        number = await reminder(stage, ben, channel, "pills")
        stage.discord.leave(ben)
        await comes_due(stage, ben, number)
        told = await says_by_itself(stage, stage.discord.dm(ben), "pills")
        assert "you are no longer a member of that server" in told.content
        assert said(stage, channel) == []
        assert "no longer a member" in await stage.told(ben, stage.discord.dm(ben), "remind list")
        stage.discord.join(ben)
        await stage.told(ben, channel, "remind resume", id=number_of(stage, number))
        await says_by_itself(stage, channel, "pills")
        called(stage)

    async def test_is_not_said_any_more_once_it_is_cancelled(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        number = await reminder(stage, aiko, channel, "薬", repeat="毎朝8時")
        stage.discord.fail_next(POST, 503, delay_s=1.0)
        await comes_due(stage, aiko, number)
        await stage.discord.wait(lambda: not stage.discord.faults.outstanding, "the first try")
        assert "取り消しました" in await stage.told(
            aiko, channel, "remind delete", id=number_of(stage, number)
        )
        await stage.discord.wait(lambda: stage.discord.calls(POST, status=503), "its failure")
        await stage.discord.quiet(1.5)  # another try would come after a second
        assert said(stage, channel) == []

    async def test_closed_dms_pause_it_which_the_next_reply_and_the_list_tell(self, stage: Stage) -> None:
        stage.excused.add(50007)
        chie = stage.discord.user("Chie", locale="ja", accepts_dms=False)
        channel = stage.discord.guild_channel()
        number = await reminder(stage, chie, channel, "薬", where="dm")
        await comes_due(stage, chie, number)
        await stage.eventually(STATUS, number, gives=[("paused", "dms_closed")])
        assert said(stage, channel) == []
        reply = await stage.told(chie, channel, "remind add", when="10分後", text="次")
        assert "止まっているお知らせが 1 件あります" in reply
        assert "DM を受け取らない設定" in await stage.told(chie, channel, "remind list")

    async def test_is_told_by_the_next_reply_in_english(self, stage: Stage) -> None:
        stage.excused.add(50007)
        dan = stage.discord.user("Dan", locale="en-US", accepts_dms=False)
        channel = stage.discord.guild_channel()
        number = await reminder(stage, dan, channel, "pills", where="dm")
        await comes_due(stage, dan, number)
        await stage.eventually(STATUS, number, gives=[("paused", "dms_closed")])
        reply = await stage.told(dan, channel, "remind add", when="10m", text="tea")
        assert "Paused reminders: 1." in reply

    async def test_what_was_missed_is_told_in_the_channel_where_dms_are_closed(self, stage: Stage) -> None:
        stage.excused.add(50007)
        chie = stage.discord.user("Chie", locale="ja", accepts_dms=False)
        channel = stage.discord.guild_channel()
        open_, hidden = (
            await reminder(stage, chie, channel, "公園に行く"),
            await reminder(stage, chie, channel, "内緒", where="dm"),
        )
        await comes_due(stage, chie, hidden, late_s=7200)
        await comes_due(stage, chie, open_, late_s=7200)
        shown = await says_by_itself(stage, channel, "公園に行く")
        assert called(stage) == [{chie.id}]
        assert "内緒" not in shown.content


class TestReply:
    async def test_by_its_owner_goes_on_with_their_session_and_quotes_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.ask_in_words(aiko, channel, "りんごです。")
        number = await reminder(stage, aiko, channel, "薬を飲む")
        await comes_due(stage, aiko, number)
        shown = await says_by_itself(stage, channel, "薬を飲む")
        called(stage)
        await stage.eventually(STATE, number, gives=[("sent",)])
        stage.model.script(says("えらいです。"))
        message = await stage.write(aiko, channel, "飲んだよ", mention=False, reply_to=shown)
        reply = await stage.says(message, "えらいです。")
        assert stage.shown() == ["?", "りんごです。", "> ⏰ 薬を飲む\n飲んだよ"]
        await reply.until(lambda r: AGAIN["ja"] in r.labels, "the buttons")

    async def test_by_somebody_else_is_a_question_in_the_channel_that_quotes_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await stage.ask_in_words(aiko, channel, "りんごです。")
        number = await reminder(stage, aiko, channel, "会議")
        await comes_due(stage, aiko, number)
        shown = await says_by_itself(stage, channel, "会議")
        called(stage)
        await stage.eventually(STATE, number, gives=[("sent",)])
        stage.model.script(says("はい、会議です。"))
        message = await stage.write(ben, channel, "which one?", mention=False, reply_to=shown)
        reply = await stage.says(message, "はい、会議です。")
        assert stage.shown() == ["Aiko: ?", "りんごです。", "Ben: > ⏰ 会議\n  which one?"]
        assert reply.labels == []

    async def test_in_a_dm_needs_no_reply_to_be_understood_once(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        number = await reminder(stage, aiko, dm, "薬を飲む")
        await comes_due(stage, aiko, number)
        await says_by_itself(stage, dm, "薬を飲む")
        called(stage)
        await stage.eventually(STATE, number, gives=[("sent",)])
        for text in ("飲んだ", "もう寝る"):
            message = await stage.write(aiko, dm, text, mention=False)
            await stage.says(message, "承知しました")
        assert stage.shown() == ["> ⏰ 薬を飲む\n飲んだ", "はい、承知しました。", "もう寝る"]

    async def test_does_not_ask_for_what_the_reminder_says(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        number = await reminder(stage, aiko, dm, "猫が好きだと覚えておいて")
        await comes_due(stage, aiko, number)
        shown = await says_by_itself(stage, dm, "猫が好き")
        called(stage)
        await stage.eventually(STATE, number, gives=[("sent",)])
        stage.model.script(calls(Call("remember", {"content": "猫が好き"})), says("はい。"))
        message = await stage.write(aiko, dm, "どういう意味？", mention=False, reply_to=shown)
        await stage.says(message, "はい。")
        assert stage.rows("SELECT content FROM memories WHERE user_id = ?", aiko.id) == []

    async def test_may_be_a_command_in_a_dm(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        number = await reminder(stage, aiko, dm, "薬を飲む")
        await comes_due(stage, aiko, number)
        await says_by_itself(stage, dm, "薬を飲む")
        called(stage)
        await stage.eventually(STATE, number, gives=[("sent",)])
        await stage.ask(aiko, dm, "飲んだ")
        assert stage.shown() == ["> ⏰ 薬を飲む\n飲んだ"]


class TestButtons:
    @pytest_asyncio.fixture(loop_scope="session")
    async def shown(self, stage: Stage, aiko: User, channel: Channel) -> Shown:
        number = await reminder(stage, aiko, channel, "薬")
        await comes_due(stage, aiko, number)
        shown = await says_by_itself(stage, channel, "薬")
        called(stage)
        return shown

    async def test_once_more_after_ten_minutes(
        self, stage: Stage, aiko: User, channel: Channel, shown: Shown
    ) -> None:
        reply = await stage.discord.click(aiko, shown, "10分後にもう一度")
        await reply.finished(lambda r: "にもう一度お知らせします" in r.text)
        assert reply.labels == ["お知らせを取り消す"]
        [(number, due_in_s)] = stage.rows(
            "SELECT id, due_at / 1000 - unixepoch() FROM schedules WHERE user_id = ? AND status = 'active'",
            aiko.id,
        )
        assert 590 <= due_in_s <= 600
        await comes_due(stage, aiko, number)
        await stage.discord.wait(lambda: len(said(stage, channel)) == 2, "the second reminder")
        assert called(stage) == [{aiko.id}]

    async def test_are_for_their_owner_alone(
        self, stage: Stage, ben: User, channel: Channel, shown: Shown
    ) -> None:
        reply = await stage.discord.click(ben, shown, "1時間後にもう一度")
        await reply.finished()
        assert reply.ephemeral
        assert "Only the person who set the reminder" in reply.text

    async def test_cancel_what_was_just_set(self, stage: Stage, aiko: User, channel: Channel) -> None:
        reply = await stage.discord.slash(aiko, channel, "remind add", when="10分後", text="薬")
        await reply.finished()
        answer = await told(stage, aiko, reply.message, "お知らせを取り消す")
        assert answer == "🔕 お知らせを取り消しました: 薬"
        assert "予約したお知らせはありません" in await stage.told(aiko, channel, "remind list")
        assert "↩️ 取り消しました。" in reply.text
        assert reply.labels == []
