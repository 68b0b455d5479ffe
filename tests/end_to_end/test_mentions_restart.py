import asyncio
import signal

import pytest

from tests.end_to_end.kills import pull_the_plug
from tests.end_to_end.stage import Stage, streaming
from tests.loopback.discord import Channel, File, User
from tests.loopback.model_server import End, Hang, Reply, Say, Wait, says

STAGE = "new_stage"
WAITING = "SELECT count(*) FROM turns WHERE channel_id = ? AND state = 'accepted'"
ANSWERED = "SELECT count(*) FROM turns WHERE channel_id = ? AND state <> 'accepted'"
TO_SHOW = "SELECT count(*) FROM turns WHERE channel_id = ? AND state <> 'shown'"
EDIT = "PATCH /channels/{channel}/messages/{message}"
UNKNOWN_MESSAGE = 10008
PAGES = "SELECT count(*) FROM answer_pages WHERE answer_id = ?"


async def test_a_kill_has_answers_written_anew(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.model.script(Reply(Say("書きかけの長い話です。" * 250), Hang()))
    file = File("メモ.txt", "牛乳とパン".encode(), "text/plain")
    message = await stage.write(aiko, channel, "これは？", attachments=(file,))
    reply = stage.discord.answer(message)
    await reply.until(lambda shown: len(shown.messages) == 2, "a second message")
    await stage.eventually(PAGES, reply.message.id, gives=[(1,)])
    stage.model.script(Reply(Hang()))
    later = await stage.write(ben, channel, "two")  # who is answered meanwhile
    await stage.model.arrived(2)
    await stage.eventually(WAITING, channel.id, gives=[(2,)])
    other, unnoted = stage.discord.guild_channel(), stage.discord.guild_channel()
    chie, dan = (stage.discord.user(name, locale="ja") for name in ("Chie", "Dan"))
    edited = await stage.said(chie, other, "質問", "はじめの答え。")
    await stage.eventually(TO_SHOW, other.id, gives=[(0,)])
    stage.model.script(Reply(Say("書きかけの"), Hang()), Reply(Hang()))
    await stage.discord.edit(chie, edited, f"{stage.discord.bot.mention} 別の質問")
    await streaming(stage.discord.answer(edited), "書きかけの")
    third = await stage.write(dan, unnoted, "三つ目")
    await streaming(stage.discord.answer(third), "考えています…")
    await stage.model.arrived(5)
    await pull_the_plug(stage)
    stage.change(f"UPDATE turns SET shown_in = NULL WHERE channel_id = {unnoted.id}")
    stage.model.requests.clear()
    stage.model.responder = lambda _: says("できあがり。")
    await stage.start()
    for question in (message, later, edited, third):
        answer = await stage.says(question, "できあがり。")
        assert [shown.content for shown in answer.messages] == ["できあがり。"]
    await stage.eventually(PAGES, reply.message.id, gives=[(0,)])
    shown = [stage.shown(number) for number in range(len(stage.model.requests))]
    assert len(shown) == 4
    [first] = [each for each in shown if "牛乳とパン" in each[-1]]
    assert first[-1].startswith("Aiko: これは？")
    assert [each for each in shown if each[-1] == "Ben: two"]


@pytest.mark.slow
async def test_a_stored_answer_is_shown(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    long, other, goes_on = "とても長い答えです。" * 250, stage.discord.guild_channel(), asyncio.Event()
    stage.model.script(Reply(Wait(goes_on), Say(long), End()), Reply(Say(long), Wait(goes_on), End()))
    replies = []
    for user, location in ((aiko, channel), (ben, other)):
        message = await stage.write(user, location, "質問")
        replies.append(await streaming(stage.discord.answer(message), "考えています…"))
        await stage.model.arrived(len(replies))
    await replies[1].until(lambda shown: len(shown.messages) == 2, "a second message")
    stage.discord.fail_next(EDIT, 503, times=1000)
    goes_on.set()
    for location in (channel, other):
        await stage.eventually(ANSWERED, location.id, gives=[(1,)])
    await pull_the_plug(stage)
    stage.excused.add(UNKNOWN_MESSAGE)
    shown, deleted = replies
    assert "とても長い" not in shown.text
    await stage.discord.delete(stage.discord.owner, deleted.message)
    await stage.start()
    await shown.until(lambda shown: shown.text.count("とても長い答えです。") == 250, "all of it")
    assert len(shown.messages) == 2
    assert shown.labels == []
    await stage.eventually(TO_SHOW, channel.id, gives=[(0,)])
    await deleted.until(lambda shown: not shown.messages, "the rest to vanish")
    assert stage.stored(other) == [("user", "質問", "complete")]
    assert len(stage.model.requests) == 2


@pytest.mark.slow
async def test_a_stop_begins_no_other_answer(stage: Stage, aiko: User, channel: Channel) -> None:
    stage.model.script(Reply(Say("もうすぐ"), *says("終わります。", delay_s=2.5).steps))
    first = await stage.write(aiko, channel, "ひとつ")
    await streaming(stage.discord.answer(first), "もうすぐ")
    second = await stage.write(aiko, channel, "ふたつ")
    await stage.eventually(WAITING, channel.id, gives=[(2,)])
    stage.program.send(signal.SIGTERM)
    await stage.says(first, "もうすぐ終わります。")
    assert await stage.program.ended() == 0
    await stage.discord.gone()
    assert len(stage.model.requests) == 1
    stage.model.script(says("お待たせしました。"))
    await stage.start()
    await stage.says(second, "お待たせしました。")
