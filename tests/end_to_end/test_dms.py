"""DMs, and replies to one's own answers: a plain message is a turn of its author's session, as `/ask` is."""

import pytest

from cc_bot.domain.text import Locale
from cc_bot.texts import texts
from cc_bot.texts.answer import AnswerTexts
from tests.end_to_end.stage import AGAIN, CONTINUE, STOP, Stage, again_label, streaming
from tests.loopback.discord import Channel, ChannelReply, File, Permission, Shown, User
from tests.loopback.model_server import CutConnection, Hang, Reply, Say, says

JA, EN = texts(Locale.JA), texts(Locale.EN)
POST = "POST /channels/{channel}/messages"
STORED = "SELECT count(*) FROM messages WHERE channel_id = ?"
CURRENT_ANSWERS = f"{STORED} AND role = 'assistant' AND status <> 'replaced'"
NOTE = File("メモ.txt", "牛乳とパン".encode(), "text/plain")
TWO_PAGES = "\n\n".join(["あ" * 1000] * 2)


async def answered(stage: Stage, user: User, text: str, answer: str) -> ChannelReply:
    """A DM that the model answers in these words, until its buttons are there."""
    stage.model.script(says(answer))
    message = await stage.write(user, stage.discord.dm(user), text, mention=False)
    return await has_buttons(stage.discord.answer(message))


async def has_buttons(reply: ChannelReply) -> ChannelReply:
    return await reply.until(lambda shown: AGAIN["ja"] in shown.labels, "the buttons")


async def pages_noted(stage: Stage, answer: Shown, pages: int) -> None:
    """Wait until the further messages of an answer are on record."""
    count = "SELECT count(*) FROM answer_pages WHERE answer_id = ?"
    await stage.eventually(count, answer.id, gives=[(pages,)])


async def test_a_dm_goes_on_with_its_authors_session(stage: Stage, aiko: User) -> None:
    dm = stage.discord.dm(aiko)
    message = await stage.write(aiko, dm, "はじめまして", mention=False, attachments=(NOTE,))
    await stage.says(message, "/ヘルプ で、できることの一覧")
    await stage.ask(aiko, dm, "ひとつ目")
    stage.discord.fail_next(POST, 502, take_effect=True)
    reply = await answered(stage, aiko, "ふたつ目", "はい。")
    assert reply.text == "はい。"
    assert "牛乳とパン" in stage.shown()[0]
    assert stage.shown()[2:] == ["ひとつ目", "はい、承知しました。", "ふたつ目"]
    assert [row[:2] for row in stage.stored(dm)][4:] == [("user", "ふたつ目"), ("assistant", "はい。")]
    assert stage.rows("SELECT DISTINCT visibility FROM messages WHERE channel_id = ?", dm.id) == [
        ("private",)
    ]
    await stage.discord.redeliver(reply.post)
    await stage.discord.quiet()
    assert len(stage.model.requests) == 3
    assert len(stage.discord.messages(dm)) == 5


async def test_a_dm_is_answered_in_the_written_language_until_a_command_tells_that_of_discord(
    stage: Stage, ben: User
) -> None:
    for text in ("hello", "こんにちは"):
        stage.model.script(says("Yes."))
        message = await stage.write(ben, stage.discord.dm(ben), text, mention=False)
        reply = stage.discord.answer(message)
        reply.locale, reply.any_language = ben.locale, False
        await reply.until(lambda shown: again_label(ben) in shown.labels, "the buttons")
        assert stage.shown()[-1] == text
        await stage.told(ben, stage.discord.dm(ben), "help")


@pytest.mark.slow
async def test_a_dm_has_stop_continue_and_answer_again(stage: Stage, aiko: User) -> None:
    dm = stage.discord.dm(aiko)
    stage.model.script(Reply(Say("終わらない"), Hang()))
    message = await stage.write(aiko, dm, "話して", mention=False)
    reply = await streaming(stage.discord.answer(message), "終わらない")
    await stage.discord.click(aiko, reply.message, STOP["ja"])
    await stage.says(message, JA[AnswerTexts].stopped)
    assert stage.stored(dm)[-1] == ("assistant", "終わらない", "stopped")
    await stage.told(aiko, dm, "clear")

    stage.model.script(Reply(Say("むかしむかし、"), CutConnection()))
    message = await stage.write(aiko, dm, "昔話を", mention=False)
    reply = await stage.says(message, "むかしむかし、")
    await reply.until(lambda r: CONTINUE["ja"] in r.labels, "the buttons")
    stage.model.script(says("おしまい。"))
    press = await stage.discord.click(aiko, reply.message, CONTINUE["ja"])
    await press.finished(lambda r: "おしまい。" in r.text and AGAIN["ja"] in r.labels)
    await stage.told(aiko, dm, "clear")

    reply = await answered(stage, aiko, "長い話を", "\n\n".join(["あ" * 1000] * 3))
    assert len(reply.messages) > 1
    stage.model.script(says("短い答え。"))
    await stage.discord.click(aiko, reply.messages[-1], AGAIN["ja"])
    await reply.until(lambda r: r.text == "短い答え。" and AGAIN["ja"] in r.labels, "the new answer")
    await answered(stage, aiko, "次", "はい。")
    assert stage.shown() == ["長い話を", "短い答え。", "次"]


async def test_changes_of_questions_are_followed(stage: Stage, aiko: User) -> None:
    dm = stage.discord.dm(aiko)
    edited = await answered(stage, aiko, "今日は？", "はい。")
    deleted = await answered(stage, aiko, "忘れて", "はい、忘れます。")
    await stage.discord.edit(aiko, edited.post, "明日は？")
    changed = "SELECT content FROM messages WHERE discord_id = ?"
    await stage.eventually(changed, edited.post.id, gives=[("明日は？",)])
    await stage.discord.delete(aiko, deleted.post)
    await deleted.until(lambda r: not r.messages, "the answer to vanish")
    stage.model.script(Reply(Say("答えはじめ"), Hang()))
    message = await stage.write(aiko, dm, "これも忘れて", mention=False)
    reply = await streaming(stage.discord.answer(message), "答えはじめ")
    await stage.discord.delete(aiko, message)
    await reply.until(lambda r: not r.messages, "the answer to vanish")
    await stage.eventually(STORED, dm.id, gives=[(2,)])
    await answered(stage, aiko, "次", "はい。")
    assert stage.shown() == ["明日は？", "はい。", "次"]


async def test_a_reply_goes_on_with_its_askers_session(stage: Stage, aiko: User, channel: Channel) -> None:
    answer = await stage.ask_in_words(aiko, channel, TWO_PAGES)
    stage.model.script(says("赤いです。"))
    message = await stage.write(aiko, channel, "何色？", mention=False, reply_to=answer.messages[0])
    reply = await stage.says(message, "赤いです。")
    await has_buttons(reply)
    stage.model.script(says("青です。"))
    again = await stage.write(aiko, channel, "本当？", mention=False, reply_to=reply.message)
    await stage.says(again, "青です。")
    assert stage.shown() == ["?", TWO_PAGES, "何色？", "赤いです。", "本当？"]
    assert stage.rows(f"{STORED} AND session_id IS NULL", channel.id) == [(0,)]
    await stage.discord.post(aiko, channel, "ふうん", reply_to=reply.message, ping=False)
    await stage.discord.quiet()
    assert len(stage.model.requests) == 3


async def test_anothers_reply_is_the_channels(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    answer = await stage.ask_in_words(aiko, channel, "りんごです。")
    stage.model.script(says("Yes, an apple."))
    message = await stage.write(ben, channel, "really?", mention=False, reply_to=answer.message)
    reply = await stage.says(message, "Yes, an apple.")
    assert stage.shown() == ["Aiko: ?", "りんごです。", "Ben: really?"]
    stage.model.script(says("はい。"))
    message = await stage.write(aiko, channel, "もっと", mention=False, reply_to=reply.message)
    await stage.says(message, "はい。")
    assert stage.shown()[-2:] == ["Yes, an apple.", "Aiko: もっと"]
    stage.model.script(says("It is."))
    message = await stage.write(ben, channel, "red?", mention=False, reply_to=answer.message)
    await stage.says(message, "It is.")
    assert stage.shown()[-1] == "[In reply to your own answer:]\n> りんごです。\n\nBen: red?"
    assert reply.labels == []


async def test_a_deleted_page_takes_its_answer_with_it(stage: Stage, channel: Channel) -> None:
    keeper = stage.discord.user("Keeper", locale="ja")
    stage.discord.permit(keeper, Permission.MANAGE_MESSAGES, channel)
    for page in (0, 1):
        answer = await stage.ask_in_words(keeper, channel, TWO_PAGES)
        await pages_noted(stage, answer.messages[0], 1)
        await stage.discord.delete(keeper, answer.messages[page])
        await stage.eventually(CURRENT_ANSWERS, channel.id, gives=[(0,)])
