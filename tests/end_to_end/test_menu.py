"""The menu of a message: Ask about this, Translate, Summarise from here."""

import re
from typing import Any, Final

from tests.end_to_end.stage import AGAIN, Stage, again_label, answered
from tests.loopback.discord import Channel, Message, Reply, Shown, User
from tests.loopback.model_server import Hang, says
from tests.loopback.model_server import Reply as Answer

STAGE = "own_stage"
ASK, TRANSLATE, SUMMARISE = "Ask about this", "Translate", "Summarise from here"
UNKNOWN_MESSAGE = 10008
ROWS_WITH: Final = "SELECT count(*) FROM messages WHERE content LIKE ?"
GONE = "もう私からは見えません"
RETRY = "もう一度試す"
MARK = re.compile(r"#\d{6}(?=:| on:)")


async def form_on(stage: Stage, user: User, target: Shown | Message, location: Channel) -> Reply:
    reply = await stage.discord.message_command(user, location, ASK, target)
    await reply.acknowledged()
    assert reply.modal, reply.describe()
    return reply


def _audience(value: str) -> dict[str, Any]:
    """The field of a form for who sees the answer, filled in."""
    field = {"type": 4, "id": 9, "custom_id": "audience", "label": "?", "style": 1, "value": value}
    return {"type": 1, "id": 8, "components": [field]}


async def begin(
    stage: Stage, user: User, target: Shown | Message, location: Channel, question: str = "?", **inputs: str
) -> Reply:
    """Ask about a message: the form, sent."""
    form = await form_on(stage, user, target, location)
    return await (await stage.discord.submit_modal(form, question=question, **inputs)).acknowledged()


async def ask(
    stage: Stage,
    user: User,
    target: Shown | Message,
    location: Channel,
    question: str,
    answer: str,
    **inputs: str,
) -> Reply:
    """Ask about a message, and have it answered in these words."""
    stage.model.script(says(answer))
    reply = await answered(await begin(stage, user, target, location, question, **inputs))
    reply.any_language = True
    assert answer in reply.text
    return reply


async def chosen(stage: Stage, user: User, target: Shown | Message, location: Channel, command: str) -> Reply:
    reply = await stage.discord.message_command(user, location, command, target)
    reply.any_language = True
    return await reply.acknowledged()


async def told(stage: Stage, user: User, target: Shown | Message, location: Channel, command: str) -> str:
    requests = len(stage.model.requests)
    reply = await stage.discord.message_command(user, location, command, target)
    await reply.finished()
    assert reply.ephemeral
    assert len(stage.model.requests) == requests
    return reply.text


def about(name: str, text: str) -> str:
    quoted = "\n".join(f"> {line}" for line in text.splitlines())
    return f"[About a message of {name}:]\n{quoted}"


def fetched(stage: Stage, target: Message) -> int:
    asked = [entry for entry in stage.discord.transcript if entry.params.get("message") == str(target.id)]
    return sum(entry.route.startswith("GET ") for entry in asked)


def last(stage: Stage) -> str:
    return MARK.sub("", stage.model.requests[-1].last_user_text)


async def test_a_message_is_its_askers_alone(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    target = await stage.discord.post(ben, channel, "合言葉は\nアトリ")
    reply = await ask(stage, aiko, target, channel, "この鳥は？", "冬鳥です。")
    assert reply.ephemeral
    assert "/channels/" not in reply.text
    assert fetched(stage, target) == 1
    assert last(stage) == about("Ben", "合言葉は\nアトリ") + "\n\nこの鳥は？"
    columns = "SELECT content, visibility, reply_to, pointing, tainted FROM messages WHERE author_id = ?"
    assert stage.rows(columns, aiko.id) == [("この鳥は？", "private", target.id, "menu", 1)]
    assert stage.rows(ROWS_WITH, "%アトリ%") == [(0,)]
    await stage.ask(aiko, channel, "何の話？")
    stage.model.script(says("さあ。"))
    message = await stage.write(ben, channel, "What is it?", reply_to=target)
    await stage.says(message, "さあ。")
    for request in stage.model.requests[1:]:
        assert not re.search("アトリ|冬鳥|この鳥", str(request.messages))


async def test_a_form_may_answer_everybody(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    target = await stage.discord.post(ben, channel, "合言葉はアトリ")
    reply = await ask(stage, aiko, target, channel, "この鳥は？", "冬鳥です。", audience=" みんな ")
    assert not reply.ephemeral
    guild = channel.guild.id if channel.guild else 0
    link = f"/channels/{guild}/{channel.id}/{target.id}"
    assert reply.text.count(link) == 1
    stage.model.script(says("冬の鳥です。"))
    again = await answered(await stage.discord.click(aiko, reply.message, again_label(aiko)))
    assert again.text.count(link) == 1
    await ask(stage, aiko, target, channel, "内緒で、この色は？", "橙です。")
    await stage.said(ben, channel, "What was that?", "鳥の話です。")
    told = "\n".join(stage.shown())
    assert "この鳥は？" in told
    assert "冬の鳥です。" in told
    assert not re.search("アトリ|内緒|橙", told)


async def test_a_deleted_message_is_gone(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.excused.add(UNKNOWN_MESSAGE)
    deleted, edited = [await stage.discord.post(ben, channel, "合言葉はアトリ") for _ in range(2)]
    forms = [await form_on(stage, aiko, each, channel) for each in (deleted, edited)]
    reply = await ask(stage, aiko, deleted, channel, "何て？", "鳥です。")
    await stage.discord.unfurl(edited, {"title": "Zoo"})
    await stage.discord.delete(ben, deleted)
    await stage.discord.edit(ben, edited, "内緒")
    sent = [await stage.discord.submit_modal(form, question="何て？") for form in forms]
    for late in (*sent, await stage.discord.click(aiko, reply.message, again_label(aiko))):
        await late.finished(lambda shown: GONE in shown.text)
    assert len(stage.model.requests) == 1
    await stage.ask(aiko, channel, "続きは？", private=True)
    assert "アトリ" not in str(stage.model.requests[-1].messages)


async def test_a_kill_keeps_nothing_of_a_message(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    target = await stage.discord.post(ben, channel, "合言葉はアトリ")
    to_the_bot = await stage.said(ben, channel, "which bird?", "A bluebird.")
    form = await form_on(stage, aiko, target, channel)
    chie = stage.discord.user("Chie", locale="ja")
    stage.model.script(Answer(Hang()), Answer(Hang()))
    hidden = await begin(stage, aiko, target, channel, "何て？")
    known = await begin(stage, chie, to_the_bot, channel, "訳して")
    await stage.model.arrived(3)
    assert stage.rows("SELECT count(*) FROM turns WHERE question LIKE ?", "%アトリ%") == [(0,)]
    await stage.restart()
    late = await stage.discord.submit_modal(form, question="何て？")
    await late.finished(lambda shown: GONE in shown.text)
    assert late.ephemeral
    for reply in (hidden, known):
        await reply.finished(lambda shown: RETRY in shown.labels)
    retry = await stage.discord.click(aiko, hidden.message, RETRY)
    await retry.finished(lambda shown: GONE in shown.text)
    assert len(stage.model.requests) == 3
    stage.model.script(says("どの鳥？"))
    retry = await stage.discord.click(chie, known.message, RETRY)
    await retry.finished(lambda shown: "どの鳥？" in shown.text and AGAIN["ja"] in shown.labels)
    assert last(stage) == about("Ben", "which bird?") + "\n\n訳して"


async def test_an_ephemeral_answer_stays_private(stage: Stage, aiko: User, channel: Channel) -> None:
    stage.model.script(says("合言葉はオオルリです。"))
    ephemeral = await stage.ask(aiko, channel, "?", private=True)
    form = await form_on(stage, aiko, ephemeral.message, channel)
    assert "audience" not in str(form.modal)
    modal = form.modal or {}
    modal["components"].append(_audience("みんな"))  # as a form that was open before says it
    stage.model.script(says("オオルリ"))
    reply = await answered(await stage.discord.submit_modal(form, question="もっと短く"))
    assert reply.ephemeral
    assert last(stage) == "[About your own answer:]\n> 合言葉はオオルリです。\n\nもっと短く"
    await stage.ask(aiko, channel, "合言葉は？")
    assert "オオルリ" not in str(stage.model.requests[-1].messages)


async def test_a_translation_is_all_there_is(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    target = await stage.discord.post(ben, channel, "**Guten** Tag\n- eins")
    for user, translated, into in (
        (aiko, "**こんにちは**\n- 一", "日本語に翻訳"),
        (ben, "**Hello**\n- one", "Translate this message into English"),
    ):
        stage.model.script(says(translated), says(translated))
        reply = await answered(await chosen(stage, user, target, channel, TRANSLATE))
        assert reply.ephemeral
        assert reply.message.content.split("\n-# ")[0] == translated
        quoted, question = last(stage).split("\n\n")
        assert quoted == about("Ben", "**Guten** Tag\n- eins")
        assert into in question
        await answered(await stage.discord.click(user, reply.message, again_label(user)))
        assert last(stage).startswith(quoted)
    assert stage.rows(ROWS_WITH, "%Guten%") == [(0,)]


async def test_a_summary_says_how_much_it_read(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    await stage.discord.post(ben, channel, "before")
    target = await stage.discord.post(ben, channel, "shall we\nmeet?")
    await stage.discord.post(aiko, channel, "いいよ")
    await stage.said(ben, channel, "which bird?", "A bluebird.")
    stage.model.script(says("Ben が誘いました。"), says("Ben が誘いました。"))
    reply = await answered(await chosen(stage, aiko, target, channel, SUMMARISE))
    assert reply.ephemeral
    part = "4件のうち3件を読みました"  # the message itself, the question to the bot, and its answer
    assert part in reply.text
    heading = "[The conversation from a message of Ben on:]"
    quoted = "> Ben: shall we\n>   meet?\n> Ben: which bird?\n> you: A bluebird."
    assert last(stage).startswith(f"{heading}\n{quoted}\n\n")
    again = await answered(await stage.discord.click(aiko, reply.message, again_label(aiko)))
    assert part in again.text
    assert last(stage).startswith(f"{heading}\n{quoted}\n\n")
    assert stage.rows(ROWS_WITH, "%shall we%") == [(0,)]
