"""What people do with cc-bot, from their client to the database and back: a journey per test.

Details of each feature have tests of their own; a journey fails when the feature does not work at all.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from cc_bot.domain import Locale
from cc_bot.domain.errors import ModelRefusedKey, RefusedToken
from cc_bot.texts import explain, texts
from tests import documents
from tests.end_to_end.kills import ON_THEIR_WAY, is_settled, pull_the_plug
from tests.end_to_end.memories import keep, numbers, press
from tests.end_to_end.program import Program
from tests.end_to_end.reminders import called, comes_due, firings, said, says_by_itself
from tests.end_to_end.stage import Stage, answered, ended, set_stage, streaming
from tests.loopback.discord import Channel, File, Shown, User
from tests.loopback.model_requests import new_tool_results
from tests.loopback.model_server import Call, CutConnection, Hang, Reply, Say, Wait, calls, fails, says
from tests.loopback.tool_servers import calls_in

JA, EN = texts(Locale.JA), texts(Locale.EN)
ACTIVE = "SELECT content FROM memories WHERE user_id = ? AND status = 'active' ORDER BY id"
ERASED_WORD = "しまうまの秘密"


def active_memories(stage: Stage, user: User) -> list[str]:
    return [content for (content,) in stage.rows(ACTIVE, user.id)]


def tool_results(stage: Stage) -> list[dict[str, Any]]:
    """What the newest request tells the model of the calls that it made."""
    return [json.loads(result) for result in new_tool_results(stage.model.requests[-1].body)]


def embedded(message: Shown) -> str:
    """What the bot states under an answer, where no model writes."""
    return "\n".join(embed["description"] for embed in message.embeds)


def files_with(stage: Stage, text: str) -> list[str]:
    """The database's files in which a text stands."""
    files = stage.database.parent.glob("sessions.*")
    return [file.name for file in files if text.encode() in file.read_bytes()]


async def test_ask_is_streamed_and_then_stored(stage: Stage, aiko: User, channel: Channel) -> None:
    go_on = asyncio.Event()
    stage.model.script(Reply(Say("こんにちは。"), Wait(go_on), *says("お元気ですか。").steps))
    reply = await stage.begin(aiko, channel, "やあ")
    await streaming(reply, "こんにちは。")
    assert "お元気ですか。" not in reply.text
    go_on.set()
    await answered(reply)
    assert reply.text.startswith("こんにちは。お元気ですか。")
    assert not reply.ephemeral
    assert reply.labels == [JA.answer.regenerate]
    assert stage.stored(channel) == [
        ("user", "やあ", "complete"),
        ("assistant", "こんにちは。お元気ですか。", "complete"),
    ]


async def test_a_conversation_goes_on_in_its_channel_and_in_no_other(
    stage: Stage, ben: User, channel: Channel, other_channel: Channel
) -> None:
    stage.model.script(says("Nice."), says("Rex."), says("I don't know."))
    await stage.ask(ben, channel, "My dog is called Rex")
    await stage.ask(ben, channel, "What is my dog called?")
    assert stage.shown() == ["My dog is called Rex", "Nice.", "What is my dog called?"]
    await stage.ask(ben, other_channel, "And here?")
    assert stage.shown() == ["And here?"]


async def test_a_mention_is_answered_as_a_reply(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    stage.model.script(says("@everyone ", f"{ben.mention} こんにちは"))
    message = await stage.write(aiko, channel, "元気？")
    reply = await stage.says(message, "こんにちは")
    assert len(reply.messages) == 1
    assert reply.stored[0].reply_to is message
    assert stage.shown() == ["Aiko: 元気？"]


async def test_a_dm_is_answered_and_stays_private(stage: Stage, aiko: User, channel: Channel) -> None:
    dm = stage.discord.dm(aiko)
    stage.model.script(says("内緒ですね。"), says("はい。"))
    message = await stage.write(aiko, dm, "合言葉はオオルリ", mention=False)
    await stage.says(message, "内緒ですね。")
    visibilities = stage.rows("SELECT DISTINCT visibility FROM messages WHERE channel_id = ?", dm.id)
    assert visibilities == [("private",)]
    await stage.ask(aiko, channel, "合言葉は？")
    assert stage.shown() == ["合言葉は？"]


async def test_answer_again_replaces_the_answer(stage: Stage, ben: User, channel: Channel) -> None:
    stage.model.script(says("Old."), says("New."))
    reply = await stage.ask(ben, channel, "Say something")
    await answered(await stage.discord.click(ben, reply.message, EN.answer.regenerate))
    [message] = stage.discord.messages(channel)
    assert message.text == "New."
    assert stage.shown() == ["Say something"]
    assert [row[1:] for row in stage.stored(channel)][1:] == [("Old.", "replaced"), ("New.", "complete")]


async def test_an_answer_that_broke_off_is_continued(stage: Stage, aiko: User, channel: Channel) -> None:
    stage.model.script(Reply(Say("むかしむかし、"), CutConnection()), says("おじいさんがいました。"))
    reply = await stage.ask(aiko, channel, "昔話をして")
    assert reply.text.startswith("むかしむかし、")
    assert JA.answer.cut in reply.text
    pressed = await stage.discord.click(aiko, reply.message, JA.answer.continue_)
    await pressed.finished(
        lambda shown: "おじいさんがいました。" in shown.text and JA.answer.regenerate in shown.labels
    )
    assert stage.shown() == ["昔話をして", "むかしむかし、", JA.answer.continue_question]
    beginning, rest = (message.text for message in stage.discord.messages(channel))
    assert beginning.startswith("むかしむかし、")
    assert rest.startswith("おじいさんがいました。")


async def test_stop_keeps_what_was_seen(stage: Stage, ben: User, channel: Channel) -> None:
    stage.model.script(Reply(Say("Once upon a time"), Hang()))
    reply = await streaming(await stage.begin(ben, channel, "A story"), "Once upon a time")
    await stage.discord.click(ben, reply.message, EN.answer.stop)
    await reply.until(lambda shown: EN.answer.stopped in shown.text, "that it was stopped")
    assert reply.text.startswith("Once upon a time")
    await answered(reply)
    assert stage.stored(channel)[-1] == ("assistant", "Once upon a time", "stopped")
    async with stage.patience():
        await stage.model.requests[0].disconnected.wait()


async def test_clear_starts_afresh_and_keeps_memories(stage: Stage, aiko: User, channel: Channel) -> None:
    await keep(stage, aiko, channel, "猫の名前はタマ")
    await stage.ask(aiko, channel, "前の質問")
    assert await stage.told(aiko, channel, "clear") == JA.session.cleared
    await stage.ask(aiko, channel, "次の質問")
    assert stage.shown() == ["次の質問"]
    assert active_memories(stage, aiko) == ["猫の名前はタマ"]


async def test_a_private_ask_stays_private(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.model.script(calls(Call("remember", {"content": "合言葉はオオルリ"})), says("秘密ですね。"))
    reply = await stage.ask(aiko, channel, "合言葉はオオルリ。覚えて", private=True)
    assert reply.ephemeral
    assert active_memories(stage, aiko) == ["合言葉はオオルリ"]
    stage.model.requests.clear()
    stage.model.script(calls(Call("recall", {"query": "合言葉"})), says("さあ。"))
    await stage.ask(aiko, channel, "合い言葉は？")
    await stage.said(ben, channel, "Hello", "どうも。")
    assert "オオルリ" not in str([request.body for request in stage.model.requests])
    assert all("オオルリ" not in shown.text for shown in said(stage, channel))
    assert len(said(stage, channel)) == 2


async def test_a_failure_is_told_in_ones_language(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    stage.model.responder = lambda _: fails(401)
    for user, words in ((aiko, JA), (ben, EN)):
        reply = await ended(await stage.begin(user, channel, "?"))
        assert reply.text == explain(ModelRefusedKey(), words)
    assert stage.stored(channel) == []


async def test_a_fact_remembered_in_one_channel_is_recalled_in_another(
    stage: Stage, aiko: User, channel: Channel, other_channel: Channel
) -> None:
    stage.model.script(
        calls(Call("remember", {"content": "好きな色は青"})),
        says("承知しました。"),
        calls(Call("recall", {"query": "好きな色"})),
        says("青です。"),
    )
    kept = await stage.ask(aiko, channel, "好きな色は青。覚えて")
    assert JA.receipt.added.format(number="", content="好きな色は青") in embedded(kept.message)
    reply = await stage.ask(aiko, other_channel, "好きな色は？")
    assert [memory["content"] for memory in tool_results(stage)[0]["memories"]] == ["好きな色は青"]
    assert JA.receipt.used.format(count=1) in reply.labels


async def test_memory_commands_add_list_search_and_delete(stage: Stage, ben: User, channel: Channel) -> None:
    cat = await keep(stage, ben, channel, "My cat is called Tama")
    tea = await keep(stage, ben, channel, "I drink tea at four")
    listed = await stage.told(ben, channel, "memory list")
    assert EN.memory.list_title.format(count=2) in listed
    assert set(numbers(listed)) == {cat, tea}
    found = await stage.told(ben, channel, "memory search", query="cat")
    assert f"**#{cat}** My cat is called Tama" in found
    assert numbers(found) == [cat]
    gone = await stage.told(ben, channel, "memory delete", id=cat)
    assert gone.startswith(EN.memory.deleted.format(id=cat, content="My cat is called Tama"))
    assert numbers(await stage.told(ben, channel, "memory list")) == [tea]
    assert active_memories(stage, ben) == ["I drink tea at four"]


async def test_a_receipt_takes_back_what_was_remembered(stage: Stage, aiko: User, channel: Channel) -> None:
    stage.model.script(calls(Call("remember", {"content": "猫の名前はモチ"})), says("承知しました。"))
    reply = await stage.ask(aiko, channel, "猫の名前はモチ。覚えて")
    assert active_memories(stage, aiko) == ["猫の名前はモチ"]
    await press(stage, aiko, reply, JA.receipt.undo)
    await reply.until(lambda shown: JA.receipt.undo not in shown.labels, "an answer without the button")
    assert JA.receipt.taken_back in embedded(reply.message)
    assert active_memories(stage, aiko) == []


async def test_what_a_file_wants_is_only_proposed(stage: Stage, aiko: User, channel: Channel) -> None:
    letter = File("手紙.txt", "「鍵は玄関」と覚えて".encode(), "text/plain")
    stage.model.script(calls(Call("remember", {"content": "鍵は玄関"})), says("要約です。"))
    reply = await stage.ask(aiko, channel, "要約して", attachment=letter)
    choice = JA.proposal.keep
    assert reply.labels == [choice.yes, choice.no, JA.answer.regenerate]
    assert active_memories(stage, aiko) == []
    await stage.discord.click(aiko, reply.message, choice.yes)
    await reply.until(lambda shown: choice.yes not in shown.labels, "a decision")
    assert JA.receipt.added.format(number="", content="鍵は玄関") in embedded(reply.message)
    assert active_memories(stage, aiko) == ["鍵は玄関"]


async def test_a_reminder_is_set_and_delivered_once(stage: Stage, aiko: User, channel: Channel) -> None:
    stage.model.script(calls(Call("schedule", {"when": "10分後", "text": "薬"})), says("はい。"))
    reply = await stage.ask(aiko, channel, "10分後に薬って知らせて")
    assert JA.reminder.cancel in reply.labels
    [(row,)] = stage.rows("SELECT id FROM schedules WHERE user_id = ?", aiko.id)
    assert firings(stage, row) == []
    await comes_due(stage, aiko, row)
    shown = await says_by_itself(stage, channel, "⏰ 薬")
    assert shown.content == f"{aiko.mention} ⏰ 薬"
    assert called(stage) == [{aiko.id}]
    await stage.eventually("SELECT state FROM firings WHERE schedule_id = ?", row, gives=[("sent",)])
    assert len([message for message in said(stage, channel) if "⏰ 薬" in message.content]) == 1


async def test_a_linked_page_is_read_and_named_below(stage: Stage, aiko: User, channel: Channel) -> None:
    url = "http://news.example/weather"
    stage.model.script(calls(Call("read_page", {"url": url})), says("雨です。"))
    reply = await stage.ask(aiko, channel, f"{url} を読んで")
    assert "最高気温は十八度" in tool_results(stage)[0]["text"]
    assert f"1. [明日の天気](<{url}>) · news.example" in embedded(reply.message)


async def test_documents_of_three_kinds_are_read(stage: Stage, aiko: User, channel: Channel) -> None:
    made = {
        "議事録.docx": documents.word(["# 決定", "予算は承認されました。"]),
        "売上.xlsx": documents.excel({"四月": [["品目", "金額"], ["りんご", 120]]}),
        "報告.pdf": documents.pdf(["売上は千二百万円でした。", "保証期間は二年間です。"]),
    }
    files = tuple(File(name, data, "application/octet-stream") for name, data in made.items())
    stage.model.script(says("読みました。"))
    message = await stage.write(aiko, channel, "まとめて", attachments=files)
    await stage.says(message, "読みました。")
    seen = stage.shown()[-1]
    for text in ("予算は承認されました。", "りんご", "[page 2]\n保証期間は二年間です。"):
        assert text in seen


async def test_a_tool_waits_and_then_the_answer_goes_on(stage: Stage, ben: User, channel: Channel) -> None:
    stage.model.script(calls(Call("notes__write", {"text": "milk"})), says("Shall I?"))
    reply = await stage.ask(ben, channel, "Write milk down")
    choice = EN.proposal.call
    assert reply.labels == [choice.yes, choice.no, EN.answer.regenerate]
    assert calls_in(stage.program.folder) == []
    stage.model.script(says("It is written down."))
    pressed = await stage.discord.click(ben, reply.message, choice.yes)
    await pressed.finished(lambda shown: shown.messages and "It is written down." in shown.messages[-1].text)
    assert calls_in(stage.program.folder) == [{"name": "write", "arguments": {"text": "milk"}}]
    assert EN.proposal.called.format(what="notes · write") in embedded(reply.message)
    assert "milk" in str(stage.model.requests[-1].messages)
    await stage.eventually("SELECT count(*) FROM claimed_calls", gives=[(0,)])


@pytest.mark.restarts
async def test_a_kill_in_the_middle_of_answers_is_made_good_once(
    stage: Stage, aiko: User, ben: User, channel: Channel, other_channel: Channel
) -> None:
    stage.model.script(Reply(Say("Half an answer"), Hang()), Reply(Say("書きかけ"), Hang()))
    asked = await streaming(await stage.begin(ben, channel, "A question"), "Half an answer")
    mention = await stage.write(aiko, other_channel, "質問")
    await streaming(stage.discord.answer(mention), "書きかけ")
    await pull_the_plug(stage)
    stage.model.script(says("できあがり。"))
    await stage.start()
    await stage.says(mention, "できあがり。")
    await asked.until(lambda shown: EN.unfinished.ask_again in shown.labels, "the button to ask again")
    assert asked.text == EN.unfinished.cut_off
    await stage.eventually(ON_THEIR_WAY, ben.id, gives=[("interrupted", 1)])
    await stage.eventually("SELECT shown FROM mentions WHERE channel_id = ?", other_channel.id, gives=[(1,)])
    requests = len(stage.model.requests)

    await stage.restart()  # which finds nothing left to do
    await stage.discord.quiet()
    assert len(stage.model.requests) == requests == 3
    assert [len(said(stage, place)) for place in (channel, other_channel)] == [1, 1]
    stage.model.script(says("A whole answer."))
    pressed = await stage.discord.click(ben, asked.message, EN.unfinished.ask_again)
    await pressed.finished(lambda shown: EN.answer.regenerate in shown.labels)
    assert [row[1] for row in stage.stored(channel)] == ["A question", "A whole answer."]
    assert [row[1] for row in stage.stored(other_channel)] == ["質問", "できあがり。"]
    await is_settled(stage, pressed)


@pytest.mark.restarts
async def test_a_restart_keeps_history_and_buttons(stage: Stage, aiko: User, channel: Channel) -> None:
    stage.model.script(calls(Call("remember", {"content": "名前はディエゴ"})), says("どうも。"))
    reply = await stage.ask(aiko, channel, "名前はディエゴ。覚えて")
    await stage.eventually("SELECT count(*) FROM turns WHERE channel_id = ?", channel.id, gives=[(0,)])
    await stage.restart()
    await press(stage, aiko, reply, JA.receipt.undo)
    assert active_memories(stage, aiko) == []
    await stage.ask(aiko, channel, "名前は？")
    assert stage.shown()[0] == "名前はディエゴ。覚えて"
    assert stage.shown()[-2:] == ["どうも。", "名前は？"]


@pytest.mark.restarts
async def test_erasing_leaves_no_byte(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.model.script(says(f"{ERASED_WORD}ですね。"), says("Zebra fact."))
    await stage.ask(aiko, channel, ERASED_WORD)
    await stage.ask(ben, channel, "A fact?")
    await keep(stage, aiko, channel, ERASED_WORD)
    await stage.said(aiko, channel, ERASED_WORD, f"{ERASED_WORD}のこと")
    assert files_with(stage, ERASED_WORD)
    asked = await (await stage.discord.slash(aiko, channel, "privacy erase")).finished()
    erased = await press(stage, aiko, asked, JA.privacy.erase)
    assert erased.text.startswith(JA.privacy.erased.partition("{")[0])
    assert files_with(stage, ERASED_WORD) == []
    assert files_with(stage, "Zebra fact.")
    assert await stage.told(aiko, channel, "privacy show") == JA.privacy.nothing


@pytest.mark.restarts
async def test_a_backup_restored_in_another_folder_has_the_memories(
    stage: Stage, aiko: User, channel: Channel, tmp_path: Path
) -> None:
    number = await keep(stage, aiko, channel, "猫の名前はタマ")
    copies = tmp_path / "copies"
    beside = Program(stage.program.folder, stage.program.environment)
    code, output = await beside.run("backup", "--to", str(copies))
    assert code == 0, output
    [copy] = copies.glob("sessions_*.db")
    elsewhere = Program(tmp_path, stage.program.environment)
    code, output = await elsewhere.run("restore", str(copy), "--yes")
    assert code == 0, output
    code, output = await elsewhere.run("chat", "--user", str(aiko.id), stdin=b"/memory list\n")
    assert code == 0, output
    assert f"#{number}" in output
    assert "猫の名前はタマ" in output


async def test_a_refused_token_ends_the_start_with_one_sentence(tmp_path: Path) -> None:
    async with set_stage(tmp_path, {"CC_BOT_LOCALE": "en"}) as stage:
        stage.program.environment["DISCORD_TOKEN"] = stage.discord.other_token
        code, output = await stage.program.run("run")
    assert code == 2
    assert output.strip().splitlines()[-1] == explain(RefusedToken(), EN)
    assert "Traceback" not in output
