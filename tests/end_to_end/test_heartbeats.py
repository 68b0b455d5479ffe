"""Heartbeats on Discord: the bot speaks without being asked, for who wants that, when there is something to
say."""

from cc_bot.domain.text import Locale
from cc_bot.features.heartbeat.model import TimeOfDayNotUnderstood
from cc_bot.features.heartbeat.texts import WebHeartbeatTexts
from cc_bot.texts import explain, texts
from tests.end_to_end.heartbeats import beat, begin, day
from tests.end_to_end.memories import press
from tests.end_to_end.reminders import said
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import says

JA, EN = texts(Locale.JA), texts(Locale.EN)


async def remembers(stage: Stage, user: User, content: str, target: Channel | None = None) -> None:
    """`/memory add`; in a DM, and so for private answers alone, unless a place is named."""
    await stage.told(user, target or stage.discord.dm(user), "memory add", content=content)


async def test_commands_start_change_show_and_stop_it(stage: Stage, ben: User, channel: Channel) -> None:
    hint = EN[WebHeartbeatTexts].hint
    assert hint in await stage.told(ben, channel, "heartbeat status")
    for given in ("night", "25:00", "7:60"):
        told = await begin(stage, ben, channel, quiet_from=given)
        assert told == explain(TimeOfDayNotUnderstood(name=given), EN)
    assert hint in await stage.told(ben, channel, "heartbeat off")
    answer = await stage.told(ben, channel, "heartbeat on", every=6, quiet_to="8:30")
    assert "I look every 6 hours and tell you by DM. I keep quiet from 22:00 to 8:30." in answer
    await begin(stage, ben, channel, every=24, where="channel")
    kept = "SELECT repeat, place FROM schedules WHERE user_id = ? AND kind = 'heartbeat'"
    assert stage.rows(kept, ben.id) == [("every 24h", "channel")]
    answer = await stage.told(ben, channel, "heartbeat status")
    assert f"I look every 24 hours and tell you in <#{channel.id}>. There are no quiet hours." in answer
    assert "Next: " in answer
    assert "You have no reminders" in await stage.told(ben, channel, "remind list")
    assert "won’t check in" in await stage.told(ben, channel, "heartbeat off")
    assert hint in await stage.told(ben, channel, "heartbeat status")
    assert stage.rows("SELECT 1 FROM schedules WHERE user_id = ?", ben.id) == []


async def test_the_status_turns_it_on_and_off(stage: Stage, ben: User, channel: Channel) -> None:
    card = await (await stage.discord.slash(ben, channel, "heartbeat status")).finished()
    await stage.discord.click(ben, card.message, EN[WebHeartbeatTexts].start)
    await card.until(lambda shown: "I look every 6 hours and tell you by DM" in shown.text, "it is on")
    await stage.discord.click(ben, card.message, EN[WebHeartbeatTexts].stop)
    await card.until(lambda shown: EN[WebHeartbeatTexts].hint in shown.text, "it is off")
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
