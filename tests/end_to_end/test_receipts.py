import json

from cc_bot.domain.text import Locale
from cc_bot.features.memory.texts import ReceiptTexts
from cc_bot.features.reminders.texts import ReminderTexts
from cc_bot.texts import texts
from tests.end_to_end.memories import press, run
from tests.end_to_end.reminders import called, comes_due, said, says_by_itself
from tests.end_to_end.stage import AGAIN, CONTINUE, UNKNOWN_MESSAGE, Stage, again_label, answered, cut
from tests.loopback.discord import Channel, ChannelReply, Reply, Shown, User
from tests.loopback.model_requests import new_tool_results
from tests.loopback.model_server import Call, calls, says
from tests.loopback.model_server import Reply as Answer

UNDO = "取り消す"
UNDONE = texts(Locale.JA)[ReceiptTexts].undone
UNTELL = "会話からも消す…"


async def remembered(stage: Stage, user: User, channel: Channel, content: str, **options: bool) -> Reply:
    """An answer that kept a memory, as the user asked."""
    stage.model.script(calls(Call("remember", {"content": content})), says("承知しました。"))
    return await stage.ask(user, channel, f"{content}。覚えて", **options)


async def forgot(stage: Stage, user: User, channel: Channel, content: str, **options: bool) -> Reply:
    """An answer that forgot what another had kept, as the user asked."""
    await remembered(stage, user, channel, content)
    [(number,)] = stage.rows("SELECT max(number) FROM memories WHERE user_id = ?", user.id)
    looks = calls(Call("recall", {"query": content}))
    stage.model.script(looks, calls(Call("forget", {"id": number})), says("はい。"))
    return await stage.ask(user, channel, "あれは忘れて", **options)


async def told(stage: Stage, user: User, message: Shown, label: str) -> str:
    press = await stage.discord.click(user, message, label)
    await press.finished(lambda told: told.stored[-1].id != message.id)
    assert press.messages[-1].ephemeral
    return press.messages[-1].text


def kept(stage: Stage, user: User) -> list[str]:
    rows = stage.rows(
        "SELECT content FROM memories WHERE user_id = ? AND status = 'active' ORDER BY id", user.id
    )
    return [content for (content,) in rows]


async def again(stage: Stage, user: User, reply: Reply, *answer: Answer) -> Reply:
    stage.model.script(*answer)
    return await answered(await stage.discord.click(user, reply.message, again_label(user)))


async def test_a_receipt_outlasts_answers(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    content = "猫の名前は*モチ*"
    keeps = calls(Call("remember", {"content": content}))
    line = "💾 覚えました: 猫の名前は\\*モチ\\*"
    stage.model.script(keeps, cut("承知しました。"))
    reply = await stage.ask(aiko, channel, f"{content}。覚えて")
    await reply.until(lambda shown: AGAIN["ja"] in shown.labels, "the buttons")
    text, card = reply.stored
    assert (text.shown.content, card.shown.text) == ("承知しました。", line)
    assert (text.shown.labels, card.shown.labels) == ([CONTINUE["ja"], AGAIN["ja"]], [UNDO])
    assert (text.silent, card.silent) == (False, True)
    assert (await told(stage, ben, card.shown, UNDO)).startswith("Only the owner of the memory")
    newer = await again(stage, aiko, reply, keeps, says("わかりました。"))
    assert newer.text == f"わかりました。\n{line}"
    assert newer.labels == [UNDO]
    await stage.discord.wait(lambda: card.deleted, "the older card is deleted")
    said = await told(stage, aiko, newer.messages[-1], UNDO)
    assert said == "↩️ 取り消しました。もう覚えていません: 猫の名前は\\*モチ\\*"
    assert kept(stage, aiko) == []
    assert newer.text == f"わかりました。\n{UNDONE['memory'].format(id=1)}"
    assert newer.labels == []


async def test_a_card_that_cannot_be_deleted_stays_with_its_answer(stage: Stage, aiko: User) -> None:
    location = stage.discord.user_installed_channel(aiko)
    stage.model.script(calls(Call("remember", {"content": "猫が好き"})), cut("承知しました。"))
    reply = await stage.ask(aiko, location, "猫が好きと覚えて")
    await reply.until(lambda shown: AGAIN["ja"] in shown.labels, "the buttons")
    newer = await again(stage, aiko, reply, says("わかりました。"))
    assert newer.messages[-1].text == "わかりました。"
    await reply.until(lambda shown: shown.labels == [UNDO], "no buttons but those of the card")
    assert reply.messages[-1].text == "💾 覚えました: 猫が好き"


async def test_a_deletion_is_taken_back_or_completed(stage: Stage, aiko: User, channel: Channel) -> None:
    reply = await forgot(stage, aiko, channel, "会議は金曜")
    assert "会議は金曜" not in reply.text + "".join(reply.labels)
    assert "はい。\n🗑️ 忘れました（#1）\n-# 会話の記録には残っていることがあり" in reply.text
    assert reply.labels == [UNDO, UNTELL]
    assert kept(stage, aiko) == []
    await told(stage, aiko, reply.messages[-1], UNDO)
    assert kept(stage, aiko) == ["会議は金曜"]
    assert reply.text == f"はい。\n{UNDONE['memory'].format(id=1)}"
    assert reply.labels == []

    reply = await forgot(stage, aiko, channel, "猫はモチ", private=True)
    assert reply.text.startswith("はい。\n🗑️ 忘れました: 猫はモチ\n")
    seen = await (await stage.discord.click(aiko, reply.messages[-1], UNTELL)).finished()
    assert seen.ephemeral
    erased = await stage.discord.click(aiko, seen.message, "会話の記録からも消す")
    await erased.finished(lambda shown: "会話の記録の発言 3件" in shown.text)
    await stage.ask(aiko, channel, "次は？", private=True)
    assert "猫はモチ" not in str(stage.model.requests[-1].body)
    late = await stage.discord.click(aiko, reply.messages[-1], UNTELL)
    await late.finished(lambda shown: "完全に消したあと" in shown.text)


async def test_used_memories_are_the_askers(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    first = await remembered(stage, aiko, channel, "猫の名前はモチ")
    stage.model.script(calls(Call("recall", {"query": "猫の名前"})), says("モチです。"))
    reply = await stage.ask(aiko, channel, "猫の名前は？")
    label = "🧠 使ったメモリ（1）"
    assert reply.labels == [label, again_label(aiko)]
    said = await told(stage, aiko, reply.message, label)
    assert "猫の名前はモチ" in said
    guild = channel.guild.id if channel.guild else "@me"
    assert said.count(f"/channels/{guild}/{channel.id}/{first.message.id}") == 1
    assert "Only the owner" in await told(stage, ben, reply.message, label)
    await told(stage, aiko, first.messages[-1], UNDO)
    assert "残っていません" in await told(stage, aiko, reply.message, label)


async def test_a_mention_has_its_receipt(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.model.script(calls(Call("remember", {"content": "猫が好き"})), says("承知しました。"))
    message = await stage.write(aiko, channel, "猫が好きと覚えて")
    reply = await (await stage.says(message, "承知しました。")).until(lambda shown: UNDO in shown.labels)
    assert reply.text == "承知しました。\n💾 覚えました: 猫が好き"
    assert "Only the owner" in await told(stage, ben, reply.messages[-1], UNDO)
    [(source,)] = stage.rows("SELECT source FROM memories WHERE user_id = ?", aiko.id)
    assert json.loads(source)["link"].endswith(f"/{channel.id}/{reply.message.id}")
    assert json.loads(source)["kind"] == "model"
    stage.model.script(calls(Call("remember", {"content": "犬が好き"})), says("直しました。"))
    await stage.discord.edit(aiko, message, f"{stage.discord.bot.mention} 犬が好きと覚えて")
    await stage.says(message, "直しました。")
    both = "直しました。\n💾 覚えました: 猫が好き\n💾 覚えました: 犬が好き"
    await reply.until(lambda shown: shown.text == both and shown.labels == [UNDO, UNDO], "both receipts")
    [cat, _] = [each.custom_id or "" for each in reply.messages[-1].buttons]
    await told(stage, aiko, reply.messages[-1], cat)
    assert kept(stage, aiko) == ["犬が好き"]
    stage.excused.add(UNKNOWN_MESSAGE)  # the bot may just be drawing the card again
    await stage.discord.delete(stage.discord.owner, reply.messages[0])
    await reply.until(lambda shown: not shown.messages, "the card to vanish with its answer")


async def test_nothing_private_is_told_in_public(stage: Stage, aiko: User, channel: Channel) -> None:
    reply = await remembered(stage, aiko, channel, "好きな鳥はオオルリ", private=True)
    assert "💾 覚えました: 好きな鳥はオオルリ" in reply.text
    [(number, audience)] = stage.rows("SELECT id, audience FROM memories WHERE user_id = ?", aiko.id)
    assert audience == "private"
    stage.model.script(
        calls(
            Call("forget", {"id": number}),
            Call("update_memory", {"id": number, "content": "好きな鳥はカラス"}),
            Call("remember", {"content": "好きな鳥はカラス", "supersedes": number}),
            Call("list_memories", {}),
            Call("recall", {"query": "好きな鳥"}),
        ),
        says("ありません。"),
    )
    public = await stage.ask(aiko, channel, "好きな鳥は今はカラス。前のは全部忘れて、覚えて")
    assert "オオルリ" not in "".join(new_tool_results(stage.model.requests[-1].body))
    assert "オオルリ" not in public.text
    assert public.labels == [again_label(aiko)]
    assert kept(stage, aiko) == ["好きな鳥はオオルリ"]


CANCEL = texts(Locale.JA)[ReminderTexts].cancel
ASK = "明日の9時に薬って知らせて"
SCHEDULES = "SELECT id, text, place, visibility FROM schedules WHERE user_id = ?"


def scheduling(text: str = "薬", when: str = "2099-11-23T09:00", **more: str) -> Answer:
    return calls(Call("schedule", {"when": when, "text": text} | more))


def soon() -> str:
    return "2027-11-23T09:00"


async def test_a_reminders_receipt_is_its_askers(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    stage.model.script(scheduling(when=soon()), cut("はい。"))
    reply = await stage.ask(aiko, channel, ASK)
    await reply.until(lambda shown: AGAIN["ja"] in shown.labels, "the buttons")
    assert reply.messages[-1].text.startswith("⏰ 2027年11月23日(火) 9:00 に")
    stage.model.script(scheduling(when=soon()), says("承りました。"))
    again = await stage.discord.click(aiko, reply.message, AGAIN["ja"])
    await again.until(lambda shown: shown.text.count("⏰") == 1, "the new card")
    [card] = [each for each in again.messages if CANCEL in each.labels]
    denied = await (await stage.discord.click(ben, card, CANCEL)).finished()
    assert "Only the person who set the reminder" in denied.text
    assert len(stage.rows(SCHEDULES, aiko.id)) == 1
    assert await told(stage, aiko, card, CANCEL) == "🔕 お知らせを取り消しました: 薬"
    assert stage.rows(SCHEDULES, aiko.id) == []
    gone = f"承りました。\n{UNDONE['schedule'].format(id=1)}"
    await again.until(lambda shown: shown.text == gone, "what was undone")
    assert CANCEL not in again.labels


async def test_a_private_question_leads_to_a_dm(stage: Stage, aiko: User, channel: Channel) -> None:
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


async def on_record(stage: Stage, reply: Reply | ChannelReply) -> None:
    rows = "SELECT count(*) > 0 FROM receipts WHERE message_id = ?"
    await stage.eventually(rows, reply.messages[-1].id, gives=[(True,)])


async def kept_one(stage: Stage, user: User, channel: Channel, content: str) -> Reply:
    reply = await remembered(stage, user, channel, content)
    await on_record(stage, reply)
    return reply


async def says_it_is_undone(reply: Reply | ChannelReply) -> None:
    """Its one line tells it, and there is nothing to press for it."""
    await reply.until(lambda shown: "↩️" in shown.text, "what was taken back")
    assert not {UNDO, CANCEL} & {*reply.labels}
    assert not [mark for mark in ("💾", "✏️", "⏰") if mark in reply.text]


async def test_erased_memories_are_no_longer_told(stage: Stage, aiko: User, channel: Channel) -> None:
    for command in ("delete-all", "erase"):
        replies = [await kept_one(stage, aiko, channel, text) for text in ("会議は金曜", "猫はモチ")]
        if command == "erase":
            asked = await (await stage.discord.slash(aiko, channel, "privacy erase")).finished()
        else:
            asked = await run(stage, aiko, channel, "delete-all")
        await press(stage, aiko, asked, next(label for label in asked.labels if "消す" in label))
        assert kept(stage, aiko) == []
        for reply in replies:
            await says_it_is_undone(reply)
