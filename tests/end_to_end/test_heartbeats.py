"""Heartbeats on Discord: the bot speaks without being asked, for who wants that, when there is something to
say."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.end_to_end.canvases import SHOPPING, board, titles
from tests.end_to_end.heartbeats import TOKYO, beat, begin, day, is_due, states
from tests.end_to_end.memories import press
from tests.end_to_end.reminders import called, said, says_by_itself
from tests.end_to_end.stage import Stage, answered
from tests.loopback.discord import Channel, Permission, User
from tests.loopback.model_server import Call, calls, fails, says

CLOSED = 50007
NO_MEMBER = 10007
NO_PERMISSION = 50013


async def remembers(stage: Stage, user: User, content: str, place: Channel | None = None) -> None:
    """`/memory add`; in a DM, and so for private answers alone, unless a place is named."""
    await stage.told(user, place or stage.discord.dm(user), "memory add", content=content)


class TestHeartbeat:
    async def test_says_by_dm_what_is_coming_up(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await begin(stage, aiko, channel)
        await remembers(stage, aiko, f"{day(2)}に歯医者")
        stage.model.script(says("あさっては歯医者ですね。"))
        await beat(stage, aiko, ends="sent")
        shown = await says_by_itself(stage, stage.discord.dm(aiko), "歯医者")
        assert shown.content == "あさっては歯医者ですね。"
        assert said(stage, channel) == []

    async def test_asks_no_model_when_there_is_nothing_new(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        await remembers(stage, aiko, "猫の名前はモチ")
        await begin(stage, aiko, dm)
        for _ in range(2):
            await beat(stage, aiko, ends="skipped")
        assert stage.model.requests == []
        assert said(stage, dm) == []

    async def test_speaks_of_each_thing_once(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        await begin(stage, aiko, dm)
        await remembers(stage, aiko, f"{day(3)}に歯医者")
        stage.model.script(says("歯医者です。"))
        await beat(stage, aiko, ends="sent")
        await beat(stage, aiko, ends="skipped")
        await stage.told(aiko, dm, "remind add", when="3時間後", text="薬")
        stage.model.script(says("薬の時間が近いです。"))
        await beat(stage, aiko, ends="sent")
        assert [shown.content for shown in said(stage, dm)] == ["歯医者です。", "薬の時間が近いです。"]
        assert len(stage.model.requests) == 2
        assert "歯医者" not in stage.shown()[-1]

    async def test_says_nothing_when_the_model_has_nothing_to_say(self, stage: Stage, ben: User) -> None:
        dm = stage.discord.dm(ben)
        await begin(stage, ben, dm)
        await remembers(stage, ben, "I like cats")
        stage.model.script(says("[silent]"))
        await beat(stage, ben, ends="skipped")
        await beat(stage, ben, ends="skipped")
        assert said(stage, dm) == []
        assert len(stage.model.requests) == 1

    async def test_keeps_quiet_in_quiet_hours(self, stage: Stage, aiko: User) -> None:
        now, hour = datetime.now(TOKYO), timedelta(hours=1)
        quiet = {"quiet_from": f"{now - hour:%H:%M}", "quiet_to": f"{now + hour:%H:%M}"}
        answer = await begin(stage, aiko, stage.discord.dm(aiko), **quiet)
        assert "は静かにしています" in answer
        await remembers(stage, aiko, f"{day(2)}に歯医者")
        await beat(stage, aiko, ends="skipped")
        assert stage.model.requests == []

    async def test_comes_again_after_its_hours(self, stage: Stage, aiko: User) -> None:
        await begin(stage, aiko, stage.discord.dm(aiko), every=12)
        await beat(stage, aiko, ends="skipped")
        [(due_in_s,)] = stage.rows(
            "SELECT due_at / 1000.0 - unixepoch() FROM schedules WHERE user_id = ?", aiko.id
        )
        assert 12 * 3600 - 60 < due_in_s < 12 * 3600 + 60

    async def test_looks_again_when_the_model_failed(self, stage: Stage, aiko: User) -> None:
        await begin(stage, aiko, stage.discord.dm(aiko))
        await remembers(stage, aiko, f"{day(2)}に歯医者")
        stage.model.script(*[fails(500)] * 9)
        await beat(stage, aiko, ends="skipped")
        stage.model.reset()
        stage.model.script(says("歯医者です。"))
        await beat(stage, aiko, ends="sent")
        assert [shown.content for shown in said(stage, stage.discord.dm(aiko))] == ["歯医者です。"]


class TestChannel:
    async def test_is_spoken_in_with_a_call_to_its_user_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        answer = await begin(stage, aiko, channel, where="channel")
        assert f"<#{channel.id}>" in answer
        await remembers(stage, aiko, f"{day(2)}に集まり", channel)
        stage.model.script(says(f"@everyone {ben.mention} 集まりです。"))
        await beat(stage, aiko, ends="sent")
        shown = await says_by_itself(stage, channel, "集まりです。")
        assert shown.content.startswith(aiko.mention)
        assert called(stage) == [{aiko.id}]

    async def test_is_told_nothing_private(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await begin(stage, aiko, channel, where="channel")
        await remembers(stage, aiko, f"{day(2)}に検査")
        await stage.told(aiko, channel, "remind add", when="3時間後", text="内緒の薬", where="dm")
        await beat(stage, aiko, ends="skipped")
        assert stage.model.requests == []
        await remembers(stage, aiko, f"{day(3)}に集まり", channel)
        recall = Call("recall", {"query": "検査"})
        stage.model.script(calls(recall), says("集まりです。"))
        await beat(stage, aiko, ends="sent")
        called(stage)
        asked = str([request.messages for request in stage.model.requests])
        assert "集まり" in asked
        assert "に検査" not in asked
        assert "内緒の薬" not in asked

    async def test_that_the_bot_may_not_write_in_pauses_it_and_its_user_is_told(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(NO_PERMISSION)
        await begin(stage, aiko, channel, where="channel")
        await remembers(stage, aiko, f"{day(2)}に集まり", channel)
        stage.discord.forbid(stage.discord.bot, Permission.SEND_MESSAGES, channel)
        await beat(stage, aiko, ends="failed")
        told = await says_by_itself(stage, stage.discord.dm(aiko), "声かけができませんでした")
        assert "/声かけ オン で" in told.content
        assert "権限がないので止めています" in await stage.told(aiko, channel, "heartbeat status")

    async def test_shows_and_says_nothing_for_who_left_the_server(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(NO_MEMBER)
        await stage.ask(aiko, channel, "やあ")
        await begin(stage, aiko, channel, where="channel")
        await remembers(stage, aiko, f"{day(2)}に集まり", channel)
        before = len(said(stage, channel))
        stage.discord.leave(aiko)
        stage.model.script(calls(TestCanvas.CARD), says("集まりです。"))
        await beat(stage, aiko, ends="failed")
        dm = stage.discord.dm(aiko)
        await says_by_itself(stage, dm, "そのサーバーのメンバーではなくなったので止めています")
        assert "メンバーではなくなった" in await stage.told(aiko, dm, "heartbeat status")
        assert len(said(stage, channel)) == before

    async def test_where_the_bot_may_not_write_is_not_promised(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.discord.forbid(stage.discord.bot, Permission.SEND_MESSAGES, channel)
        answer = await begin(stage, aiko, channel, where="channel")
        assert "DM にしました" in answer

    async def test_where_who_asks_may_not_write_is_not_spoken_in(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.discord.forbid(aiko, Permission.SEND_MESSAGES, channel)
        answer = await begin(stage, aiko, channel, where="channel")
        assert "DM にしました" in answer

    async def test_may_be_a_thread(self, stage: Stage, aiko: User, channel: Channel) -> None:
        thread = stage.discord.thread(channel)
        await begin(stage, aiko, thread, where="channel")
        await remembers(stage, aiko, f"{day(2)}に集まり", thread)
        stage.model.script(says("集まりです。"))
        await beat(stage, aiko, ends="sent")
        await says_by_itself(stage, thread, "集まりです。")
        assert called(stage) == [{aiko.id}]

    async def test_without_the_bot_is_not_promised(self, stage: Stage, ben: User) -> None:
        stage.discord.install(ben)
        elsewhere = stage.discord.user_installed_channel(ben)
        assert "I’ll use your DMs" in await begin(stage, ben, elsewhere, where="channel")


class TestMemory:
    async def test_that_is_paused_is_not_looked_at(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        await remembers(stage, aiko, f"{day(2)}に歯医者")
        await stage.told(aiko, dm, "memory pause")
        assert "メモリを一時停止している" in await begin(stage, aiko, dm)
        await beat(stage, aiko, ends="skipped")
        assert stage.model.requests == []
        await stage.told(aiko, dm, "remind add", when="3時間後", text="薬")
        await beat(stage, aiko, ends="sent")
        assert stage.tools() == set()
        assert "歯医者" not in str(stage.model.requests[-1].messages)

    async def test_of_somebody_else_is_not_looked_at(self, stage: Stage, aiko: User, ben: User) -> None:
        await remembers(stage, ben, f"Dentist on {datetime.now(TOKYO) + timedelta(days=2):%b %d}")
        await begin(stage, aiko, stage.discord.dm(aiko))
        await beat(stage, aiko, ends="skipped")
        assert stage.model.requests == []


class TestWords:
    async def test_enter_no_conversation(self, stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
        await stage.ask(aiko, channel, "やあ")
        await begin(stage, aiko, channel, where="channel")
        await remembers(stage, aiko, f"{day(2)}に集まり", channel)
        stage.model.script(says("合言葉は山です。"))
        await beat(stage, aiko, ends="sent")
        called(stage)
        await stage.ask(aiko, channel, "元気？")
        await stage.said(ben, channel, "hello", "どうも。")
        assert len(stage.model.requests) == 4
        assert all("合言葉" not in str(request.messages) for request in stage.model.requests)
        kept = "SELECT session_id FROM messages WHERE channel_id = ? AND content LIKE '%合言葉%'"
        assert stage.rows(kept, channel.id) == [(None,)]
        await stage.told(aiko, channel, "clear")

    async def test_can_be_answered(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await begin(stage, aiko, channel, where="channel")
        await remembers(stage, aiko, f"{day(2)}に集まり", channel)
        stage.model.script(says("集まりがありますね。"), says("楽しんで。"))
        await beat(stage, aiko, ends="sent")
        shown = await says_by_itself(stage, channel, "集まり")
        called(stage)
        message = await stage.write(aiko, channel, "ありがとう", mention=False, reply_to=shown)
        await stage.says(message, "楽しんで。")
        assert stage.shown() == ["> 集まりがありますね。\nありがとう"]

    async def test_in_a_dm_are_answered_without_a_reply(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        await begin(stage, aiko, dm)
        await remembers(stage, aiko, f"{day(2)}に歯医者")
        stage.model.script(says("歯医者ですね。"), says("お大事に。"))
        await beat(stage, aiko, ends="sent")
        message = await stage.write(aiko, dm, "そうだった", mention=False)
        await stage.says(message, "お大事に。")
        assert stage.shown() == ["> 歯医者ですね。\nそうだった"]

    async def test_are_emptied_with_the_memory_that_they_were_about(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        await begin(stage, aiko, dm)
        await remembers(stage, aiko, f"{day(2)}に歯医者")
        stage.model.script(says("病院の日が近いです。"))
        await beat(stage, aiko, ends="sent")
        question = await (await stage.discord.slash(aiko, dm, "memory delete-all")).finished()
        await press(stage, aiko, question, "会話の記録からも消す")
        await stage.eventually("SELECT count(*) FROM messages WHERE content LIKE '%病院の日%'", gives=[(0,)])


class TestSettings:
    async def test_move_the_quiet_hours_with_their_user(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        now, hour = datetime.now(ZoneInfo("America/New_York")), timedelta(hours=1)
        quiet = {"quiet_from": f"{now - hour:%H:%M}", "quiet_to": f"{now + hour:%H:%M}"}
        await begin(stage, aiko, dm, **quiet)
        await remembers(stage, aiko, f"{day(2)}に歯医者")
        await stage.told(aiko, dm, "settings", timezone="America/New_York")
        await beat(stage, aiko, ends="skipped")
        assert stage.model.requests == []
        await stage.told(aiko, dm, "settings", timezone="Asia/Tokyo")
        await beat(stage, aiko, ends="sent")


class TestCanvas:
    CARD = Call("canvas_add_card", {"title": "歯医者", "content": "10時から"})

    async def test_of_an_open_session_shows_what_a_heartbeat_put_up(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        await stage.ask(aiko, dm, "やあ")
        await begin(stage, aiko, dm)
        await remembers(stage, aiko, f"{day(2)}に歯医者")
        stage.model.script(calls(self.CARD), says("カードを出しました。"))
        await beat(stage, aiko, ends="sent")
        await says_by_itself(stage, dm, "10時から")
        assert [shown.content for shown in said(stage, dm)].count("カードを出しました。") == 1

    async def test_may_be_all_that_changes(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await stage.ask(aiko, channel, "やあ")
        await begin(stage, aiko, channel, where="channel")
        await remembers(stage, aiko, f"{day(2)}に歯医者", channel)
        stage.model.script(calls(self.CARD), says("[silent]"))
        await beat(stage, aiko, ends="skipped")
        await says_by_itself(stage, channel, "10時から")

    async def test_keeps_what_a_turn_drew_at_the_same_time(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await stage.ask(aiko, channel, "やあ")
        await begin(stage, aiko, channel, where="channel")
        await remembers(stage, aiko, f"{day(2)}に歯医者", channel)
        stage.model.script(calls(SHOPPING), says("はい、どうぞ。", delay_s=1.0))
        reply = await stage.begin(aiko, channel, "買い物リストを出して")
        await stage.model.arrived(3)
        stage.model.script(calls(self.CARD), says("[silent]"))
        await beat(stage, aiko, ends="skipped")
        await answered(reply)
        await board(stage, channel, lambda shown: sorted(titles(shown)) == ["歯医者", "買い物"])

    async def test_is_not_offered_without_a_session(self, stage: Stage, aiko: User) -> None:
        await begin(stage, aiko, stage.discord.dm(aiko))
        await remembers(stage, aiko, f"{day(2)}に歯医者")
        await beat(stage, aiko, ends="sent")
        assert stage.tools() == {"recall", "list_memories"}


class TestCommands:
    async def test_say_that_heartbeats_are_off_until_somebody_wants_them(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        assert await stage.told(ben, channel, "heartbeat status") == (
            "Heartbeats are off. /heartbeat on starts them."
        )
        assert "are off" in await stage.told(ben, channel, "heartbeat off")

    async def test_tell_how_it_is_and_when_next(self, stage: Stage, ben: User, channel: Channel) -> None:
        answer = await stage.told(ben, channel, "heartbeat on", every=6, quiet_to="8:30")
        assert "I look every 6 h and tell you by DM. I keep quiet from 22:00 to 8:30." in answer
        answer = await stage.told(ben, channel, "heartbeat status")
        assert "I look every 6 h and tell you by DM. I keep quiet from 22:00 to 8:30." in answer
        assert "Next: <t:" in answer

    async def test_change_what_there_is(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await begin(stage, aiko, channel)
        await begin(stage, aiko, channel, every=24, where="channel")
        assert stage.rows(
            "SELECT repeat, place FROM schedules WHERE user_id = ? AND kind = 'heartbeat'", aiko.id
        ) == [("every 24h", "channel")]

    async def test_stop_it(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await begin(stage, aiko, channel)
        assert "声かけをやめました" in await stage.told(aiko, channel, "heartbeat off")
        assert "オフです" in await stage.told(aiko, channel, "heartbeat status")
        assert stage.rows("SELECT 1 FROM schedules WHERE user_id = ?", aiko.id) == []

    @pytest.mark.parametrize("given", ["よる", "25:00", "7:60"])
    async def test_understand_no_other_times_than_those_of_a_day(
        self, stage: Stage, aiko: User, channel: Channel, given: str
    ) -> None:
        assert f"時刻「{given}」が分かりませんでした" in await begin(stage, aiko, channel, quiet_from=given)
        assert stage.rows("SELECT 1 FROM schedules WHERE user_id = ?", aiko.id) == []

    async def test_show_no_heartbeat_among_reminders(self, stage: Stage, ben: User, channel: Channel) -> None:
        await begin(stage, ben, channel)
        assert "You have no reminders" in await stage.told(ben, channel, "remind list")


class TestDms:
    async def test_that_are_closed_pause_it(self, stage: Stage, channel: Channel) -> None:
        stage.excused.add(CLOSED)
        chie = stage.discord.user("Chie", locale="ja", accepts_dms=False)
        await begin(stage, chie, channel)
        await remembers(stage, chie, f"{day(2)}に歯医者", channel)
        await beat(stage, chie, ends="failed")
        assert "DM を受け取らない設定" in await stage.told(chie, channel, "heartbeat status")
        assert states(stage, chie) == ["failed"]
        await is_due(stage, chie)
        await stage.discord.quiet()
        assert states(stage, chie) == ["failed"]
