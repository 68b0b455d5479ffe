"""Edits and deletions on Discord: the archive follows them, and so does the newest answer."""

import pytest

from cc_bot.domain.text import Locale
from cc_bot.texts import texts
from cc_bot.texts.answer import AnswerTexts
from tests.end_to_end.stage import Stage, again_label, streaming
from tests.loopback.discord import Channel, Message, Permission, User
from tests.loopback.model_server import CutConnection, Hang, Pause, Reply, Say, fails, says

pytestmark = pytest.mark.slow

JA = texts(Locale.JA)
UNKNOWN_MESSAGE = 10008
STORED = "SELECT count(*) FROM messages WHERE channel_id = ?"
ROLES = "SELECT role FROM messages WHERE channel_id = ?"
MENTIONS = "SELECT count(*) FROM turns WHERE channel_id = ? AND state = 'accepted'"
THREE_PAGES = "\n\n".join(["あ" * 1000] * 3)


@pytest.fixture
def moderator(stage: Stage) -> User:
    moderator = stage.discord.user("Mori", locale="ja")
    stage.discord.permit(moderator, Permission.MANAGE_MESSAGES)
    return moderator


async def edited(stage: Stage, user: User, message: Message, text: str) -> None:
    await stage.discord.edit(user, message, f"{stage.discord.bot.mention} {text}".rstrip())


async def test_an_edited_question_is_answered_anew(stage: Stage, aiko: User, channel: Channel) -> None:
    stage.model.script(Reply(Say("日曜日"), Pause(2.0), *says("です。").steps), says("月曜日です。"))
    message = await stage.write(aiko, channel, "昨日は？")
    reply = await streaming(stage.discord.answer(message), "日曜日")
    await edited(stage, aiko, message, "今日は？")
    await stage.says(message, "月曜日です。")
    stage.model.script(Reply(Pause(1.5), *says("火曜日です。").steps))
    await edited(stage, aiko, message, "明日は？")
    await reply.until(lambda r: r.text == f"月曜日です。\n-# {JA[AnswerTexts].thinking}", "both")
    await stage.says(message, "火曜日です。")
    assert [shown.content for shown in reply.messages] == ["火曜日です。"]
    assert stage.shown() == ["Aiko: 明日は？"]
    asked = len(stage.model.requests)
    stage.model.responder = lambda _: fails(400)
    await edited(stage, aiko, message, "明後日は？")
    await stage.says(message, "この質問を受け付けませんでした")
    assert reply.text.startswith("火曜日です。\n-# ")
    assert [row[:2] for row in stage.stored(channel)] == [
        ("user", "明後日は？"),
        ("assistant", "火曜日です。"),
    ]
    assert len(stage.model.requests) > asked


@pytest.mark.restarts
async def test_an_edited_reply_keeps_its_answer(stage: Stage, aiko: User, channel: Channel) -> None:
    asked = await stage.ask(aiko, channel, "はじめに")
    stage.model.script(says("月曜日です。"))
    message = await stage.write(aiko, channel, "今日は？", mention=False, reply_to=asked.message)
    reply = stage.discord.answer(message)
    await reply.until(lambda shown: again_label(aiko) in shown.labels, "the buttons")
    await stage.eventually("SELECT count(*) FROM turns WHERE state <> 'shown'", gives=[(0,)])
    await stage.restart()
    stage.model.script(Reply(Say("火曜日"), CutConnection()))
    await stage.discord.edit(aiko, message, "明日は？")
    question = "SELECT content FROM messages WHERE discord_id = ?"
    await stage.eventually(question, message.id, gives=[("明日は？",)])
    await stage.discord.quiet()
    assert reply.text == "月曜日です。"
    assert len(stage.model.requests) == 2


async def test_an_earlier_edit_changes_no_answer(stage: Stage, aiko: User, channel: Channel) -> None:
    first = await stage.said(aiko, channel, "今日は？", "月曜日です。")
    last = await stage.said(aiko, channel, "https://example.com を見て", "はい。")
    await edited(stage, aiko, first, "明日は？")
    changed = "SELECT content FROM messages WHERE discord_id = ?"
    await stage.eventually(changed, first.id, gives=[("明日は？",)])
    await stage.discord.unfurl(last, {"title": "Example"})
    await stage.discord.edit(aiko, last, "独り言")
    await stage.discord.quiet()
    assert len(stage.model.requests) == 2
    await stage.said(aiko, channel, "次", "はい。")
    preview = "Aiko: https://example.com を見て\n  [embed]\n  > Example"
    assert stage.shown()[::2] == ["Aiko: 明日は？", preview, "Aiko: 次"]


async def test_a_deleted_question_takes_its_answer_along(stage: Stage, aiko: User, channel: Channel) -> None:
    await stage.said(aiko, channel, "元気？", "元気です。")
    stage.model.script(says(THREE_PAGES))
    message = await stage.write(aiko, channel, "秘密の番号は1234")
    answer = stage.discord.answer(message)
    await answer.until(lambda shown: len(shown.messages) > 1, "the second message")
    shown = "SELECT count(*) FROM turns WHERE question_id = ? AND state = 'shown'"
    await stage.eventually(shown, message.id, gives=[(1,)])
    await stage.discord.delete(aiko, message)
    await answer.until(lambda shown: not shown.messages, "the answer to vanish")
    stage.model.script(Reply(Say("答えはじめ"), Hang()))
    message = await stage.write(aiko, channel, "やっぱりなし")
    reply = await streaming(stage.discord.answer(message), "答えはじめ")
    await stage.discord.delete(aiko, message)
    await reply.until(lambda r: not r.messages, "the answer to vanish")
    await stage.eventually(STORED, channel.id, gives=[(2,)])
    await stage.said(aiko, channel, "次", "はい。")
    assert stage.shown() == ["Aiko: 元気？", "元気です。", "Aiko: 次"]


async def test_a_deleted_answer_is_stopped_and_taken_out(
    stage: Stage, aiko: User, moderator: User, channel: Channel
) -> None:
    stage.excused.add(UNKNOWN_MESSAGE)
    message = await stage.said(aiko, channel, "質問", "消される答え。")
    await stage.discord.delete(moderator, stage.discord.answer(message).message)
    await stage.eventually(ROLES, channel.id, gives=[("user",)])
    for page, words in ((0, "答えはじめ"), (1, "答えはじめ。" * 400)):
        stage.model.script(Reply(Say(words), Hang()))
        reply = stage.discord.answer(await stage.write(aiko, channel, "質問"))
        await reply.until(lambda shown, page=page: len(shown.messages) > page)  # type: ignore[misc]
        await streaming(reply, "答えはじめ")
        await stage.discord.delete(moderator, reply.messages[page])
        await reply.until(lambda shown: not shown.messages, "the answer to vanish")
        await stage.eventually(MENTIONS, channel.id, gives=[(0,)])
    last = await stage.said(aiko, channel, "次", "はい。")
    assert stage.shown() == [*["Aiko: 質問"] * 3, "Aiko: 次"]
    await stage.discord.delete_in_bulk(moderator, message, stage.discord.answer(last).message)
    await stage.eventually(ROLES, channel.id, gives=[("user",)] * 3)
