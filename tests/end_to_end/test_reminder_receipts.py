"""Reminders that the model sets when its user asks for it: told under the answer, and taken back there."""

from tests.end_to_end.reminders import called, comes_due, said, says_by_itself
from tests.end_to_end.stage import AGAIN, Stage
from tests.end_to_end.test_receipts import told
from tests.loopback.discord import Channel, User
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
    async def test_says_when_and_cancels_for_the_asker_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(scheduling(when=soon()), says("はい。"))
        reply = await stage.ask(aiko, channel, ASK)
        assert "はい。\n⏰ <t:1826928000:F>（<t:1826928000:R>）にお知らせします: 薬\n" in reply.text
        stage.model.script(scheduling(when=soon()), says("承りました。"))
        await stage.discord.click(aiko, reply.message, AGAIN["ja"])
        await reply.until(lambda r: "承りました。" in r.text and AGAIN["ja"] in r.labels, "the new answer")
        assert (reply.text.count("⏰"), reply.labels.count(CANCEL)) == (1, 1)
        denied = await (await stage.discord.click(ben, reply.message, CANCEL)).finished()
        assert "Only the person who set the reminder" in denied.text
        assert len(stage.rows(SCHEDULES, aiko.id)) == 1
        assert await told(stage, aiko, reply.message, CANCEL) == "🔕 お知らせを取り消しました: 薬"
        assert stage.rows(SCHEDULES, aiko.id) == []
        assert reply.text.startswith("承りました。\n↩️ 取り消しました。")
        assert CANCEL not in reply.labels

        stage.model.script(scheduling(when=soon()), says("はい。"))
        message = await stage.write(aiko, stage.discord.guild_channel(), ASK)
        mention = await stage.says(message, "にお知らせします: 薬")
        await mention.until(lambda r: CANCEL in r.labels, "the button")
        assert await told(stage, aiko, mention.message, CANCEL) == "🔕 お知らせを取り消しました: 薬"


class TestPrivateQuestion:
    async def test_leads_to_a_dm_and_never_to_the_channel(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(50007)
        chie = stage.discord.user("Chie", locale="ja", accepts_dms=False)
        rows = {}
        for user in (aiko, chie):
            stage.model.script(scheduling(when=soon()), says("はい。"))
            await stage.ask(user, channel, ASK, private=True)
            [(rows[user.id], *rest)] = stage.rows(SCHEDULES, user.id)
            assert rest == ["薬", "dm", "private"]
            await comes_due(stage, user, rows[user.id])
        await says_by_itself(stage, stage.discord.dm(aiko), "薬")
        paused = "SELECT status, obstacle FROM schedules WHERE id = ?"
        await stage.eventually(paused, rows[chie.id], gives=[("paused", "dms_closed")])
        assert said(stage, channel) == []
        called(stage)


class TestPromise:
    async def test_of_a_reminder_is_kept_or_owned_up_to(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(
            scheduling(when="3日おきに8時"), says("はい、予約しておきました。"), says("何もしません。")
        )
        refused = await stage.ask(aiko, channel, "3日おきに8時に薬って知らせて")
        assert NOT_SCHEDULED in refused.text
        assert "何もしません" not in refused.text
        assert "繰り返しが読み取れませんでした" in str(stage.model.requests[1])
        stage.model.script(says("9時にお知らせしますね。"))
        temporary = await stage.discord.slash(aiko, channel, "ask", question=ASK, temporary=True)
        await temporary.finished(lambda shown: NOT_SCHEDULED in shown.text)
        assert stage.rows(SCHEDULES, aiko.id) == []
        stage.model.script(says("9時にお知らせしますね。"), scheduling(when=soon()))
        kept = await stage.ask(aiko, channel, ASK)
        assert NOT_SCHEDULED not in kept.text
        assert "にお知らせします: 薬" in kept.text
        assert len(stage.rows(SCHEDULES, aiko.id)) == 1
        asked = len(stage.model.requests)
        stage.model.script(calls(Call("list_schedules", {})), says("先週予約しました。9時にお知らせします。"))
        listed = await stage.ask(aiko, channel, "何が予約してある？")
        assert len(stage.model.requests) == asked + 2
        assert NOT_SCHEDULED not in listed.text
