"""Reminders that the model sets when its user asks for it: told under the answer, and taken back there."""

import pytest

from tests.end_to_end.reminders import called, comes_due, said, says_by_itself
from tests.end_to_end.stage import AGAIN, Stage
from tests.end_to_end.test_receipts import told
from tests.loopback.discord import Channel, Permission, User
from tests.loopback.model_server import Call, Reply, calls, says

EDIT = "PATCH /channels/{channel}/messages/{message}"
CANCEL = "お知らせを取り消す"
ASK = "明日の9時に薬って知らせて"
NOT_SCHEDULED = "⚠️ お知らせは予約していません。"
SCHEDULES = "SELECT id, text, place, visibility FROM schedules WHERE user_id = ?"


def scheduling(text: str = "薬", when: str = "2099-11-23T09:00", **more: str) -> Reply:
    return calls(Call("schedule", {"when": when, "text": text} | more))


def soon() -> str:
    return "2027-11-23T09:00"


class TestReceipt:
    async def test_says_when_and_cancels(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(scheduling(when=soon()), says("はい。"))
        reply = await stage.ask(aiko, channel, ASK)
        assert "はい。\n⏰ <t:1826928000:F>（<t:1826928000:R>）にお知らせします: 薬\n" in reply.text
        assert await told(stage, aiko, reply.message, CANCEL) == "🔕 お知らせを取り消しました: 薬"
        assert stage.rows(SCHEDULES, aiko.id) == []
        assert "はい。\n↩️ 取り消しました。\n" in reply.text
        assert CANCEL not in reply.labels

    async def test_is_for_the_asker_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(scheduling(when=soon()), says("はい。"))
        reply = await stage.ask(aiko, channel, ASK)
        press = await stage.discord.click(ben, reply.message, CANCEL)
        await press.finished()
        assert "Only the person who set the reminder" in press.text
        assert len(stage.rows(SCHEDULES, aiko.id)) == 1

    async def test_stays_under_an_answer_that_is_given_anew(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(scheduling(when=soon()), says("はい。"))
        reply = await stage.ask(aiko, channel, ASK)
        stage.model.script(scheduling(when=soon()), says("承りました。"))
        await stage.discord.click(aiko, reply.message, AGAIN["ja"])
        await reply.until(lambda r: "承りました。" in r.text and AGAIN["ja"] in r.labels, "the new answer")
        assert reply.text.count("⏰") == 1
        assert reply.labels.count(CANCEL) == 1
        assert len(stage.rows(SCHEDULES, aiko.id)) == 1

    async def test_that_was_cancelled_is_gone_from_an_answer_that_is_given_anew(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(scheduling(when=soon()), says("はい。"))
        reply = await stage.ask(aiko, channel, ASK)
        await told(stage, aiko, reply.message, CANCEL)
        stage.model.script(says("やめました。"))
        await stage.discord.click(aiko, reply.message, AGAIN["ja"])
        await reply.until(lambda r: "やめました。" in r.text and AGAIN["ja"] in r.labels, "the new answer")
        assert reply.text == "やめました。"
        assert CANCEL not in reply.labels

    async def test_under_an_answer_in_a_channel_is_the_askers(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(scheduling(when=soon()), says("はい。"))
        message = await stage.write(aiko, channel, ASK)
        reply = await stage.says(message, "にお知らせします: 薬")
        await reply.until(lambda r: CANCEL in r.labels, "the button")
        assert await told(stage, aiko, reply.message, CANCEL) == "🔕 お知らせを取り消しました: 薬"

    @pytest.mark.restarts
    async def test_is_there_after_a_kill_before_it_was_shown(self, stage: Stage, aiko: User) -> None:
        stage.model.script(scheduling(when=soon()), says("はい。"))
        stage.discord.fail_next(EDIT, 503, times=99)
        message = await stage.write(aiko, stage.discord.dm(aiko), ASK, mention=False)
        stored = "SELECT content FROM messages WHERE author_id <> ? AND user_id = ? AND role = 'assistant'"
        await stage.eventually(stored, aiko.id, aiko.id, gives=[("はい。",)])
        await stage.program.kill()
        await stage.discord.gone()
        stage.discord.faults.forget()
        await stage.start()
        reply = await stage.says(message, "にお知らせします: 薬")
        await reply.until(lambda r: CANCEL in r.labels, "the button")
        await told(stage, aiko, reply.message, CANCEL)
        assert stage.rows(SCHEDULES, aiko.id) == []


class TestPrivateQuestion:
    async def test_leads_to_a_dm_and_never_to_the_channel(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(scheduling(when=soon()), says("はい。"))
        await stage.ask(aiko, channel, ASK, private=True)
        [(number, *rest)] = stage.rows(SCHEDULES, aiko.id)
        assert rest == ["薬", "dm", "private"]
        await comes_due(stage, aiko, number)
        await says_by_itself(stage, stage.discord.dm(aiko), "薬")
        assert said(stage, channel) == []
        called(stage)

    async def test_is_kept_from_the_channel_even_where_dms_are_closed(self, stage: Stage) -> None:
        stage.excused.add(50007)
        chie = stage.discord.user("Chie", locale="ja", accepts_dms=False)
        channel = stage.discord.guild_channel()
        stage.model.script(scheduling(when=soon()), says("はい。"))
        await stage.ask(chie, channel, ASK, private=True)
        [(number, *_)] = stage.rows(SCHEDULES, chie.id)
        await comes_due(stage, chie, number)
        paused = "SELECT status, obstacle FROM schedules WHERE id = ?"
        await stage.eventually(paused, number, gives=[("paused", "dms_closed")])
        assert said(stage, channel) == []

    async def test_of_who_may_not_write_in_the_channel_leads_to_a_dm(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.discord.forbid(aiko, Permission.SEND_MESSAGES, channel)
        stage.model.script(scheduling(when=soon()), says("はい。"))
        await stage.ask(aiko, channel, ASK)
        [(_, *rest)] = stage.rows(SCHEDULES, aiko.id)
        assert rest[:2] == ["薬", "dm"]

    async def test_where_the_bot_was_only_brought_along_leads_to_a_dm(self, stage: Stage, aiko: User) -> None:
        elsewhere = stage.discord.user_installed_channel(aiko)
        stage.model.script(scheduling(when=soon()), says("はい。"))
        await stage.ask(aiko, elsewhere, ASK)
        [(_, *rest)] = stage.rows(SCHEDULES, aiko.id)
        assert rest == ["薬", "dm", "public"]


class TestPromise:
    async def test_after_a_refusal_is_owned_up_to(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(
            scheduling(when="3日おきに8時"), says("はい、予約しておきました。"), says("何もしません。")
        )
        reply = await stage.ask(aiko, channel, "3日おきに8時に薬って知らせて")
        assert NOT_SCHEDULED in reply.text
        assert "保存していません" not in reply.text
        assert "何もしません" not in reply.text
        assert "繰り返しが読み取れませんでした" in str(stage.model.requests[1])
        assert stage.rows(SCHEDULES, aiko.id) == []

    async def test_without_a_reminder_gets_one_more_round(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("9時にお知らせしますね。"), scheduling(when=soon()))
        reply = await stage.ask(aiko, channel, ASK)
        assert NOT_SCHEDULED not in reply.text
        assert "にお知らせします: 薬" in reply.text
        assert len(stage.rows(SCHEDULES, aiko.id)) == 1

    async def test_that_was_kept_costs_nothing(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(scheduling(when=soon()), says("予定を登録しました。"))
        reply = await stage.ask(aiko, channel, ASK)
        assert len(stage.model.requests) == 2
        assert "⚠️" not in reply.text

    async def test_of_what_was_looked_up_is_none(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(calls(Call("list_schedules", {})), says("先週予約しました。9時にお知らせします。"))
        reply = await stage.ask(aiko, channel, "何が予約してある？")
        assert len(stage.model.requests) == 2
        assert NOT_SCHEDULED not in reply.text

    async def test_where_nothing_can_be_scheduled_is_owned_up_to(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("9時にお知らせしますね。"))
        reply = await stage.discord.slash(aiko, channel, "ask", question=ASK, temporary=True)
        await reply.finished(lambda shown: NOT_SCHEDULED in shown.text)
        assert len(stage.model.requests) == 1
