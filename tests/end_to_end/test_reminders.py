"""Reminders on Discord: set by a command, said at their time, once, to their owner."""

import pytest

from cc_bot.discord.pages.custom_ids import RemindersButton
from cc_bot.domain.text import Locale
from cc_bot.features.reminders.texts import ReminderTexts
from cc_bot.texts import texts
from tests.end_to_end.reminders import called, comes_due, number_of, reminder, said, says_by_itself
from tests.end_to_end.stage import AGAIN, Stage
from tests.loopback.discord import Channel, Permission, Shown, User
from tests.loopback.model_server import says

JA = texts(Locale.JA)
STATE = "SELECT state FROM firings WHERE schedule_id = ?"
SCHEDULES = "SELECT text, repeat, place, visibility FROM schedules WHERE user_id = ?"


async def add(stage: Stage, user: User, target: Channel, when: str, **options: str) -> str:
    return await stage.told(user, target, "remind add", **({"when": when, "text": "薬"} | options))


async def test_repeats_and_several_times_are_taken(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    assert "🔁 平日 9:00 に" in await add(stage, aiko, channel, "明日", repeat="平日9時")
    assert stage.rows(SCHEDULES, aiko.id) == [("薬", "0 9 * * 1-5", "channel", "public")]
    assert "2週間ごとの火曜 10:00" in await add(stage, aiko, channel, "隔週の火曜 10時")
    listed = await stage.told(aiko, channel, "remind list")
    assert "🔁 2週間ごとの火曜 10:00" in listed.replace("\N{WORD JOINER}", "")
    await add(stage, aiko, channel, "明日9時", text="散歩")
    [walk] = await stage.discord.autocomplete(aiko, channel, "remind delete", id="散歩")
    assert await stage.discord.autocomplete(ben, channel, "remind delete", id="散歩") == []
    cancelled = JA[ReminderTexts].cancelled.format(text="散歩")
    assert await stage.told(aiko, channel, "remind delete", id=int(walk.value)) == cancelled
    reply = await stage.discord.slash(aiko, channel, "remind add", when="明日9時と18時", text="薬")
    await reply.finished(lambda shown: "に届きます" in shown.text)
    assert reply.text.count("⏰ ") == 2
    assert sum("取り消す: " in label for label in reply.labels) == 2
    assert len(stage.rows(SCHEDULES, aiko.id)) == 4
    press = await stage.discord.click(aiko, reply.message, reply.labels[1])
    await press.finished(lambda shown: "取り消しました" in shown.text)
    assert len(stage.rows(SCHEDULES, aiko.id)) == 3
    assert sum("取り消す: " in label for label in reply.labels) == 1


async def test_a_list_has_a_button_beside_each(stage: Stage, aiko: User, channel: Channel) -> None:
    texts = ("薬", "散歩")
    numbers = [number_of(stage, await reminder(stage, aiko, channel, text)) for text in texts]
    listed = await (await stage.discord.slash(aiko, channel, "remind list")).finished()
    for text, number, left in zip(texts, numbers, (1, 0), strict=True):
        button = RemindersButton(aiko.id, 1, number).custom_id()
        await stage.discord.click(aiko, listed.message, button)
        cancelled = JA[ReminderTexts].cancelled.format(text=text)
        await listed.until(lambda shown, told=cancelled: told in shown.text, "the list")  # type: ignore[misc]
        assert (listed.labels, len(stage.rows(SCHEDULES, aiko.id))) == (["取り消す"] * left, left)
    assert JA[ReminderTexts].none in listed.text


async def test_a_reminder_calls_its_owner_alone(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    number = await reminder(stage, aiko, channel, f"@everyone {ben.mention} 秘密の合言葉")
    await comes_due(stage, aiko, number)
    shown = await says_by_itself(stage, channel, "秘密の合言葉")
    assert shown.content == f"{aiko.mention} ⏰ @everyone {ben.mention} 秘密の合言葉"
    assert called(stage) == [{aiko.id}]
    await stage.eventually(STATE, number, gives=[("sent",)])
    assert len(said(stage, channel)) == 1
    await stage.ask(aiko, channel, "元気？")  # it is in no history and no channel's conversation
    await stage.said(ben, channel, "hello", "Hi.")
    assert all("合言葉" not in str(request.messages) for request in stage.model.requests)
    stored = "SELECT user_id, session_id FROM messages WHERE content LIKE '%秘密の合言葉'"
    assert stage.rows(stored) == [(aiko.id, None)]


async def test_obstacles_pause_it(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.excused |= {50013, 10007}
    discord, number = stage.discord, await reminder(stage, aiko, channel, "薬")
    discord.forbid(discord.bot, Permission.SEND_MESSAGES, channel)
    await comes_due(stage, aiko, number)
    await says_by_itself(stage, discord.dm(aiko), "書き込む権限が")
    discord.permit(discord.bot, Permission.SEND_MESSAGES, channel)
    listed = await (await stage.discord.slash(aiko, channel, "remind list")).finished()
    assert listed.labels == [JA[ReminderTexts].resume_listed, JA[ReminderTexts].cancel]
    await stage.discord.click(aiko, listed.message, listed.labels[0])
    await listed.until(lambda shown: "再開しました" in shown.text, "the list")
    assert listed.labels == [JA[ReminderTexts].cancel]
    await says_by_itself(stage, channel, "薬")
    number = await reminder(stage, ben, channel, "pills")
    discord.leave(ben)
    await comes_due(stage, ben, number)
    shown = await says_by_itself(stage, discord.dm(ben), "pills")
    assert "you left that server" in shown.content
    assert len(said(stage, channel)) == 1
    assert "left that server" in await stage.told(ben, discord.dm(ben), "remind list")
    discord.join(ben)
    await stage.told(ben, channel, "remind resume", id=number_of(stage, number))
    await says_by_itself(stage, channel, "pills")
    called(stage)


async def was_said(stage: Stage, user: User, target: Channel, text: str, **options: str) -> Shown:
    number = await reminder(stage, user, target, text, **options)
    await comes_due(stage, user, number)
    shown = await says_by_itself(stage, target, text)
    called(stage)
    await stage.eventually(STATE, number, gives=[("sent",)])
    return shown


async def test_a_reply_is_understood(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    await stage.ask_in_words(aiko, channel, "りんごです。")
    shown = await was_said(stage, aiko, channel, "薬を飲む")
    stage.model.script(says("はい、薬です。"), says("えらいです。"))
    message = await stage.write(ben, channel, "which one?", mention=False, reply_to=shown)
    reply = await stage.says(message, "はい、薬です。")
    assert stage.shown() == ["Aiko: ?", "りんごです。", "Ben: > ⏰ 薬を飲む\n  which one?"]
    assert reply.labels == []
    message = await stage.write(aiko, channel, "飲んだよ", mention=False, reply_to=shown)
    reply = await stage.says(message, "えらいです。")
    assert stage.shown() == ["?", "りんごです。", "> ⏰ 薬を飲む\n飲んだよ"]
    await reply.until(lambda r: AGAIN["ja"] in r.labels, "the buttons")


async def test_in_a_dm_no_reply_is_needed(stage: Stage, aiko: User, ben: User) -> None:
    dm = stage.discord.dm(aiko)
    await was_said(stage, aiko, dm, "薬を飲む")
    for text in ("飲んだ", "もう寝る"):
        message = await stage.write(aiko, dm, text, mention=False)
        await stage.says(message, "承知しました")
    assert stage.shown() == ["> ⏰ 薬を飲む\n飲んだ", "はい、承知しました。", "もう寝る"]
    dm = stage.discord.dm(ben)
    await was_said(stage, ben, dm, "take the pills")
    stage.model.script(says("Well done."))
    await stage.ask(ben, dm, "I did")
    assert stage.shown() == ["> ⏰ take the pills\nI did"]


async def test_buttons_are_its_owners_alone(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    shown = await was_said(stage, aiko, channel, "薬", repeat="毎日")
    reply = await (await stage.discord.click(ben, shown, "1時間後にもう一度")).finished()
    assert reply.ephemeral
    assert "Only the person who set the reminder" in reply.text
    reply = await stage.discord.click(aiko, shown, "10分後にもう一度")
    await reply.finished(lambda r: "にもう一度お知らせします" in r.text)
    assert JA[ReminderTexts].cancel in reply.labels
    once = "SELECT id, due_at / 1000 - unixepoch() FROM schedules WHERE user_id = ? AND repeat = ''"
    [(number, due_in_s)] = stage.rows(once, aiko.id)
    assert due_in_s == pytest.approx(600, abs=60)
    await comes_due(stage, aiko, number)
    await stage.discord.wait(lambda: len(said(stage, channel)) == 2, "the second reminder")
    assert called(stage) == [{aiko.id}]
