"""What a user is told under an answer of what it did to their memories, and how they take it back."""

import json

from cc_bot.discord.pages.page import FACTS_COLOUR
from tests.end_to_end.stage import Stage, again_label, answered
from tests.loopback.discord import Channel, ChannelReply, Reply, Shown, User
from tests.loopback.model_requests import new_tool_results
from tests.loopback.model_server import Call, calls, says
from tests.loopback.model_server import Reply as Answer

UNDO = "取り消す"
UNTELL = "会話からも消す…"
LOOKS = calls(Call("recall", {"query": "会議"}))
"""So that its user is shown what is changed next: else that is only proposed."""


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
    """What pressing a button tells its presser alone."""
    press = await stage.discord.click(user, message, label)
    await press.finished(lambda told: told.stored[-1].id != message.id)
    assert press.messages[-1].ephemeral
    return press.messages[-1].text


def kept(stage: Stage, user: User) -> list[str]:
    rows = stage.rows(
        "SELECT content FROM memories WHERE user_id = ? AND status = 'active' ORDER BY id", user.id
    )
    return [content for (content,) in rows]


async def number_of_the_memory(stage: Stage, user: User) -> int:
    there = "SELECT number FROM memories WHERE user_id = ? AND status <> 'superseded'"
    [(number,)] = stage.rows(there, user.id)
    return int(number)


async def again(stage: Stage, user: User, reply: Reply, *answer: Answer) -> Reply:
    stage.model.script(*answer)
    return await answered(await stage.discord.click(user, reply.message, again_label(user)))


class TestReceipt:
    async def test_of_a_new_memory_outlasts_other_answers_until_its_owner_takes_it_back(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        content = "猫の名前は*モチ*"
        reply = await remembered(stage, aiko, channel, content)
        line = "💾 覚えました: 猫の名前は\\*モチ\\*"
        assert f"承知しました。\n{line}\n" in reply.text
        assert reply.labels == [UNDO, again_label(aiko)]
        assert (await told(stage, ben, reply.message, UNDO)).startswith("Only the owner of the memory")
        forged = {
            "url": "https://evil.example",
            "description": "💾 覚えました: 何でも",
            "color": FACTS_COLOUR,
        }
        await stage.discord.unfurl(reply.message, forged)
        keeps = calls(Call("remember", {"content": content}))
        newer = await again(stage, aiko, reply, keeps, says("わかりました。"))
        assert newer.text == f"わかりました。\n{line}"
        assert newer.labels == [UNDO, again_label(aiko)]
        said = await told(stage, aiko, reply.message, UNDO)
        assert said == "↩️ 取り消しました。もう覚えていません: 猫の名前は\\*モチ\\*"
        assert kept(stage, aiko) == []
        assert newer.text.startswith("わかりました。\n↩️ 取り消しました。")
        assert newer.labels == [again_label(aiko)]
        assert (await again(stage, aiko, newer, says("はい。"))).text == "はい。"

    async def test_of_a_change_goes_back_to_what_was_unless_that_was_changed_since(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await remembered(stage, aiko, channel, "会議は金曜")
        number = await number_of_the_memory(stage, aiko)
        replies = []
        for day in ("木曜", "水曜"):
            changes = calls(Call("update_memory", {"id": number, "content": f"会議は{day}"}))
            stage.model.script(LOOKS, changes, says("はい。"))
            replies.append(await stage.ask(aiko, channel, f"会議は{day}に変わりました"))
            assert replies[-1].text == f"はい。\n✏️ 書き換えました: 会議は{day}"
        assert "変更されている" in await told(stage, aiko, replies[0].message, UNDO)
        assert kept(stage, aiko) == ["会議は水曜"]
        assert "会議は木曜" in await told(stage, aiko, replies[1].message, UNDO)
        assert kept(stage, aiko) == ["会議は木曜"]

    async def test_of_a_deletion_brings_it_back_or_takes_it_out_of_conversations(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await forgot(stage, aiko, channel, "会議は金曜")
        assert "会議は金曜" not in reply.text + "".join(reply.labels)
        assert "はい。\n🗑️ 忘れました（#1）\n-# 会話の記録には残っていることがあり" in reply.text
        assert reply.labels == [UNDO, UNTELL, again_label(aiko)]
        assert kept(stage, aiko) == []
        await told(stage, aiko, reply.message, UNDO)
        assert kept(stage, aiko) == ["会議は金曜"]
        assert reply.text.startswith("はい。\n↩️ 取り消しました。")
        assert reply.labels == [again_label(aiko)]

        reply = await forgot(stage, aiko, channel, "猫はモチ", private=True)
        assert reply.text.startswith("はい。\n🗑️ 忘れました: 猫はモチ\n")
        seen = await (await stage.discord.click(aiko, reply.message, UNTELL)).finished()
        assert seen.ephemeral
        assert "会話の記録に 3件あります" in seen.text
        erased = await stage.discord.click(aiko, seen.message, "会話の記録からも消す")
        await erased.finished(lambda shown: "会話の記録の発言 3件" in shown.text)
        await stage.ask(aiko, channel, "次は？", private=True)
        assert "猫はモチ" not in str(stage.model.requests[-1].body)
        late = await stage.discord.click(aiko, reply.message, UNTELL)
        await late.finished(lambda shown: "完全に消したあと" in shown.text)


async def test_used_memories_are_listed_for_the_asker(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
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
    await told(stage, aiko, first.message, UNDO)
    assert "残っていません" in await told(stage, aiko, reply.message, label)


class TestInAChannel:
    async def told_under(self, stage: Stage, aiko: User, channel: Channel, content: str) -> ChannelReply:
        stage.model.script(calls(Call("remember", {"content": content})), says("承知しました。"))
        message = await stage.write(aiko, channel, f"{content}と覚えて", mention=channel.guild is not None)
        return await stage.says(message, "承知しました。")

    async def test_a_mention_has_its_receipt_also_once_its_question_is_edited(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(calls(Call("remember", {"content": "猫が好き"})), says("承知しました。"))
        message = await stage.write(aiko, channel, "猫が好きと覚えて")
        reply = await stage.says(message, "承知しました。")
        assert reply.text == "承知しました。\n💾 覚えました: 猫が好き"
        assert reply.labels == [UNDO]
        assert "Only the owner" in await told(stage, ben, reply.message, UNDO)
        [(source,)] = stage.rows("SELECT source FROM memories WHERE user_id = ?", aiko.id)
        assert json.loads(source)["link"].endswith(f"/{channel.id}/{reply.message.id}")
        assert json.loads(source)["kind"] == "model"
        stage.model.script(calls(Call("remember", {"content": "犬が好き"})), says("直しました。"))
        await stage.discord.edit(aiko, message, f"{stage.discord.bot.mention} 犬が好きと覚えて")
        reply = await stage.says(message, "直しました。")
        assert reply.text == "直しました。\n💾 覚えました: 猫が好き\n💾 覚えました: 犬が好き"
        assert reply.labels == [UNDO, "取り消す: 犬が好き"]
        await told(stage, aiko, reply.message, UNDO)
        assert kept(stage, aiko) == ["犬が好き"]


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
