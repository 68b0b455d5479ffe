"""DMs, and replies to one's own answers, when the program is killed or was not there."""

import pytest

from cc_bot.domain.text import Locale
from cc_bot.texts import texts
from cc_bot.texts.answer import AnswerTexts
from tests.end_to_end.kills import pull_the_plug
from tests.end_to_end.stage import AGAIN, Stage, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Hang, Reply, Say, fails, says

STAGE = "own_stage"
pytestmark = pytest.mark.slow
JA = texts(Locale.JA)
UNKNOWN_MESSAGE = 10008
ON_THEIR_WAY = "SELECT count(*) FROM turns WHERE state IN ('accepted', 'answered')"
RETRY = JA[AnswerTexts].try_again
CUT_OFF = "書いている途中で動かなくなったため"


async def test_a_kill_is_told_of_in_its_channel(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    eri = stage.discord.user("Eri", locale="ja")
    asked = await stage.ask(eri, channel, "はじめに")
    long = Reply(Say("書きかけの長い話です。" * 250), Hang())
    stage.model.script(long, Reply(Say("書きかけの"), Hang()), Reply(Say("消されます。" * 400), Hang()))
    message = await stage.write(aiko, stage.discord.dm(aiko), "質問", mention=False)
    reply = stage.discord.answer(message)
    await reply.until(lambda shown: len(shown.messages) == 2, "a second message")
    await stage.eventually("SELECT count(*) FROM answer_pages", gives=[(1,)])
    below = await stage.write(eri, channel, "続き", reply_to=asked.message)
    await streaming(stage.discord.answer(below), "書きかけの")
    other = await stage.write(ben, stage.discord.dm(ben), "質問", mention=False)
    lost = await streaming(stage.discord.answer(other), "消されます")
    await lost.until(lambda shown: len(shown.messages) == 2, "a second message")
    await stage.eventually("SELECT count(*) FROM answer_pages", gives=[(2,)])
    await pull_the_plug(stage)
    stage.excused.add(UNKNOWN_MESSAGE)
    await stage.discord.world.delete(lost.stored[0])
    await stage.start()
    await reply.until(lambda shown: shown.labels == [RETRY] and len(shown.messages) == 1, "one sentence")
    assert reply.text.startswith(CUT_OFF)
    assert (await stage.says(below, CUT_OFF)).labels == [RETRY]
    await stage.eventually(ON_THEIR_WAY, gives=[(0,)])
    assert lost.messages == []
    assert len(stage.model.requests) == 4
    stage.model.script(says("今度は最後まで。"))
    press = await stage.discord.click(aiko, reply.message, RETRY)
    await press.finished(lambda shown: "今度は" in shown.text and AGAIN["ja"] in shown.labels)
    assert reply.text.startswith("今度は最後まで。")
    assert stage.shown() == ["質問"]
    rows = stage.rows("SELECT discord_id FROM messages WHERE channel_id = ? ORDER BY id", message.channel.id)
    assert rows == [(message.id,), (reply.message.id,)]


async def test_each_missed_question_is_answered(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    dm, other = stage.discord.dm(aiko), stage.discord.dm(ben)
    await stage.says(await stage.write(aiko, dm, "はじめに", mention=False), "承知しました")
    await stage.said(aiko, channel, "はじめに", "はい。")
    eri = stage.discord.user("Eri", locale="ja")
    await stage.said(eri, channel, "わたしも", "はい。")
    stage.model.responder = lambda _: fails(400)
    await stage.says(await stage.write(ben, other, "次に", mention=False), "受け付けませんでした")
    stage.model.responder = None
    await pull_the_plug(stage)
    stage.model.requests.clear()
    missed = [await stage.write(aiko, dm, text, mention=False) for text in ("一つ目", "二つ目")]
    missed.append(await stage.write(eri, stage.discord.dm(eri), "初めての DM", mention=False))
    await stage.discord.post(aiko, channel, "独り言")
    mention = await stage.write(aiko, channel, "聞こえますか？")
    await stage.start()
    for message in (*missed, mention):
        await stage.says(message, "承知しました")
    await stage.discord.quiet(1.0)
    asked = [request.last_user_text for request in stage.model.requests]
    assert sorted(text.split(": ")[-1] for text in asked) == [
        "一つ目",
        "二つ目",
        "初めての DM",
        "聞こえますか？",
    ]
    assert "独り言" not in str([request.messages for request in stage.model.requests])
