"""Heartbeats on Discord: the bot speaks without being asked, for who wants that, when there is something to
say."""

from cc_bot.domain import Locale
from cc_bot.texts import texts
from tests.end_to_end.heartbeats import beat, begin, day
from tests.end_to_end.memories import press
from tests.end_to_end.reminders import called, said, says_by_itself
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, calls, says

JA, EN = texts(Locale.JA), texts(Locale.EN)
KEPT = "SELECT session_id FROM messages WHERE channel_id = ? AND content LIKE '%合言葉%'"


async def remembers(stage: Stage, user: User, content: str, place: Channel | None = None) -> None:
    """`/memory add`; in a DM, and so for private answers alone, unless a place is named."""
    await stage.told(user, place or stage.discord.dm(user), "memory add", content=content)


async def test_commands_start_change_show_and_stop_it(stage: Stage, ben: User, channel: Channel) -> None:
    off = "Heartbeats are off. /heartbeat on starts them."
    assert await stage.told(ben, channel, "heartbeat status") == off
    for given in ("night", "25:00", "7:60"):
        told = await begin(stage, ben, channel, quiet_from=given)
        assert told == EN.heartbeat.time_not_understood.format(given=given)
    assert await stage.told(ben, channel, "heartbeat off") == off
    answer = await stage.told(ben, channel, "heartbeat on", every=6, quiet_to="8:30")
    assert "I look every 6 h and tell you by DM. I keep quiet from 22:00 to 8:30." in answer
    await begin(stage, ben, channel, every=24, where="channel")
    kept = "SELECT repeat, place FROM schedules WHERE user_id = ? AND kind = 'heartbeat'"
    assert stage.rows(kept, ben.id) == [("every 24h", "channel")]
    answer = await stage.told(ben, channel, "heartbeat status")
    assert f"I look every 24 h and tell you in <#{channel.id}>. No hours are quiet." in answer
    assert "Next: <t:" in answer
    assert "You have no reminders" in await stage.told(ben, channel, "remind list")
    assert "won’t check in" in await stage.told(ben, channel, "heartbeat off")
    assert await stage.told(ben, channel, "heartbeat status") == off
    assert stage.rows("SELECT 1 FROM schedules WHERE user_id = ?", ben.id) == []


async def test_each_thing_is_told_once_by_dm(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    dm = stage.discord.dm(aiko)
    await begin(stage, aiko, channel, every=12)
    await remembers(stage, ben, f"Dentist {day(2)}")
    await beat(stage, aiko, ends="skipped")
    assert stage.model.requests == []
    [(due_in_s,)] = stage.rows(
        "SELECT due_at / 1000.0 - unixepoch() FROM schedules WHERE user_id = ?", aiko.id
    )
    assert 12 * 3600 - 60 < due_in_s < 12 * 3600 + 60
    await remembers(stage, aiko, f"{day(3)}に歯医者")
    stage.model.script(says("歯医者ですね。"))
    await beat(stage, aiko, ends="sent")
    await beat(stage, aiko, ends="skipped")
    assert stage.tools() == {"recall", "list_memories"}
    assert [shown.content for shown in said(stage, dm)] == ["歯医者ですね。"]
    assert said(stage, channel) == []
    stage.model.script(says("お大事に。"))
    message = await stage.write(aiko, dm, "そうだった", mention=False)
    await stage.says(message, "お大事に。")
    assert stage.shown() == ["> 歯医者ですね。\nそうだった"]
    await stage.told(aiko, dm, "remind add", when="3時間後", text="薬")
    stage.model.script(says("薬の時間が近いです。"))
    await beat(stage, aiko, ends="sent")
    assert "歯医者" not in stage.shown()[-1]
    question = await (await stage.discord.slash(aiko, dm, "memory delete-all")).finished()
    await press(stage, aiko, question, "会話の記録からも消す")
    await stage.eventually("SELECT count(*) FROM messages WHERE content = '歯医者ですね。'", gives=[(0,)])


async def test_a_channel_hears_nothing_private(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    await stage.ask(aiko, channel, "やあ")
    answer = await begin(stage, aiko, channel, where="channel")
    assert JA.heartbeat.in_channel.format(channel=f"<#{channel.id}>") in answer
    await remembers(stage, aiko, f"{day(2)}に検査")
    await stage.told(aiko, channel, "remind add", when="3時間後", text="内緒の薬", where="dm")
    await beat(stage, aiko, ends="skipped")
    assert len(stage.model.requests) == 1
    await remembers(stage, aiko, f"{day(3)}に集まり", channel)
    words = f"@everyone {ben.mention} 合言葉は集まりです。"
    stage.model.script(calls(Call("recall", {"query": "検査"})), says(words))
    await beat(stage, aiko, ends="sent")
    shown = await says_by_itself(stage, channel, "合言葉は集まりです。")
    assert shown.content.startswith(aiko.mention)
    assert called(stage) == [{aiko.id}]
    asked = str([request.messages for request in stage.model.requests])
    assert "に集まり" in asked
    assert "に検査" not in asked
    assert "内緒の薬" not in asked
    stage.model.requests.clear()
    await stage.ask(aiko, channel, "元気？")
    await stage.said(ben, channel, "hello", "どうも。")
    assert all("合言葉" not in str(request.messages) for request in stage.model.requests)
    assert stage.rows(KEPT, channel.id) == [(None,)]
    stage.model.script(says("楽しんで。"))
    message = await stage.write(aiko, channel, "ありがとう", mention=False, reply_to=shown)
    await stage.says(message, "楽しんで。")
    assert "合言葉は集まりです。\nありがとう" in stage.shown()[-1]
