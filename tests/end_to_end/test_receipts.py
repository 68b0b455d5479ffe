"""What a user is told under an answer of what it did to their memories, and how they take it back."""

import json

import pytest

from cc_bot.discord.pages.page import FACTS_COLOUR
from tests.end_to_end.stage import Stage, again_label, answered, continue_label
from tests.loopback.discord import Channel, ChannelReply, Permission, Reply, Shown, User
from tests.loopback.model_requests import Json, new_tool_results
from tests.loopback.model_server import Call, CutConnection, Say, calls, fails, says
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


def stated(reply: Reply) -> str:
    """What the bot states under an answer: in embeds, where no model writes."""
    return "\n".join(embed["description"] for embed in reply.message.embeds)


def kept(stage: Stage, user: User) -> list[str]:
    rows = stage.rows(
        "SELECT content FROM memories WHERE user_id = ? AND status = 'active' ORDER BY id", user.id
    )
    return [content for (content,) in rows]


class TestReceipt:
    async def test_says_what_was_kept_and_takes_it_back(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await remembered(stage, aiko, channel, "猫の名前は*モチ*")
        assert "承知しました。\n💾 覚えました: 猫の名前は\\*モチ\\*\n" in reply.text
        assert reply.labels == [UNDO, again_label(aiko)]
        said = await told(stage, aiko, reply.message, UNDO)
        assert said == "↩️ 取り消しました。もう覚えていません: 猫の名前は\\*モチ\\*"
        assert kept(stage, aiko) == []
        assert "承知しました。\n↩️ 取り消しました。\n" in reply.text
        assert reply.labels == [again_label(aiko)]

    async def test_of_a_rich_first_answer_has_two_small_lines_below_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        made = [Call("remember", {"content": f"好物の{number}つ目"}) for number in range(1, 6)]
        card = Call("canvas_add_card", {"title": "買い物", "content": "牛乳"})
        stage.model.script(calls(*made, card), says("長い話。" * 2500))
        reply = await stage.ask(aiko, channel, "全部覚えて、キャンバスにも書いて、長く話して")
        small = [line for line in stated(reply).split("\n") if line.startswith("-# ")]
        assert len(small) == 2
        for told in ("ほか 1 件", "キャンバスを更新しました", "/ヘルプ で、できること", "全文をファイルで"):
            assert told in stated(reply)
        await stage.discord.click(aiko, reply.message, "取り消す: 好物の1つ目")
        await reply.until(lambda shown: "↩️ 取り消しました" in shown.text, "what was taken back")
        assert [line for line in stated(reply).split("\n") if line.startswith("-# ")] == small

    async def test_is_for_its_owner_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        reply = await remembered(stage, aiko, channel, "猫の名前はモチ")
        said = await told(stage, ben, reply.message, UNDO)
        assert said.startswith("Only the owner of the memory")
        assert kept(stage, aiko) == ["猫の名前はモチ"]

    async def test_of_a_change_goes_back_to_what_was(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await remembered(stage, aiko, channel, "会議は金曜")
        [(number,)] = stage.rows("SELECT number FROM memories WHERE user_id = ?", aiko.id)
        stage.model.script(
            *(LOOKS, calls(Call("update_memory", {"id": number, "content": "会議は木曜"})), says("はい。"))
        )
        reply = await stage.ask(aiko, channel, "会議は木曜に変わりました")
        assert reply.text == "はい。\n✏️ 書き換えました: 会議は木曜"
        assert "会議は金曜" in await told(stage, aiko, reply.message, UNDO)
        assert kept(stage, aiko) == ["会議は金曜"]

    async def test_of_a_change_that_was_changed_since_is_left_alone(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await remembered(stage, aiko, channel, "会議は金曜")
        [(number,)] = stage.rows("SELECT number FROM memories WHERE user_id = ?", aiko.id)
        replies = []
        for day in ("木曜", "水曜"):
            changes = calls(Call("update_memory", {"id": number, "content": f"会議は{day}"}))
            stage.model.script(LOOKS, changes, says("はい。"))
            replies.append(await stage.ask(aiko, channel, f"会議は{day}に変わりました"))
        assert "変更されている" in await told(stage, aiko, replies[0].message, UNDO)
        assert kept(stage, aiko) == ["会議は水曜"]

    async def test_of_a_fact_that_replaced_another_brings_that_one_back(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await remembered(stage, aiko, channel, "大阪に住んでいる")
        [(old,)] = stage.rows("SELECT number FROM memories WHERE user_id = ?", aiko.id)
        stage.model.script(
            calls(Call("recall", {"query": "住んでいる"})),
            calls(Call("remember", {"content": "京都に住んでいる", "supersedes": old})),
            says("引っ越しおめでとうございます。"),
        )
        reply = await stage.ask(aiko, channel, "引っ越して今は京都に住んでいる。覚えて")
        assert reply.text.endswith("✏️ 書き換えました: 京都に住んでいる")
        assert kept(stage, aiko) == ["京都に住んでいる"]
        await told(stage, aiko, reply.message, UNDO)
        assert kept(stage, aiko) == ["大阪に住んでいる"]

    async def test_of_a_deletion_brings_it_back(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await remembered(stage, aiko, channel, "会議は金曜")
        [(number,)] = stage.rows("SELECT number FROM memories WHERE user_id = ?", aiko.id)
        stage.model.script(LOOKS, calls(Call("forget", {"id": number})), says("はい。"))
        reply = await stage.ask(aiko, channel, "会議のこと忘れて")
        assert "会議は金曜" not in reply.text + "".join(reply.labels)
        assert f"はい。\n🗑️ 忘れました（#{number}）\n-# 会話の記録には残っていることがあり" in reply.text
        assert reply.labels == [UNDO, UNTELL, again_label(aiko)]
        assert kept(stage, aiko) == []
        await told(stage, aiko, reply.message, UNDO)
        assert kept(stage, aiko) == ["会議は金曜"]
        assert reply.text.startswith("はい。\n↩️ 取り消しました。")
        assert "会話の記録" not in reply.text
        assert reply.labels == [again_label(aiko)]

    @pytest.mark.parametrize("asked", [True, False])
    async def test_says_so_when_the_memory_is_deleted_elsewhere(
        self, stage: Stage, aiko: User, channel: Channel, asked: bool
    ) -> None:
        if asked:
            reply: Reply | ChannelReply = await remembered(stage, aiko, channel, "会議は金曜")
        else:
            stage.model.script(calls(Call("remember", {"content": "会議は金曜"})), says("承知しました。"))
            reply = await stage.says(await stage.write(aiko, channel, "会議は金曜。覚えて"), "💾")
        [(number,)] = stage.rows("SELECT number FROM memories WHERE user_id = ?", aiko.id)
        await stage.told(aiko, channel, "memory delete", id=number)
        await reply.until(lambda shown: UNDO not in shown.labels, "the receipt brought up to date")
        assert reply.text.startswith("承知しました。\n↩️ 取り消しました。")

    async def test_of_a_deletion_leads_to_taking_it_out_of_conversations(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await forgot(stage, aiko, channel, "会議は金曜")
        seen = await stage.discord.click(aiko, reply.message, UNTELL)
        await seen.finished(lambda shown: shown.text)
        assert seen.ephemeral
        assert "会話の記録に 3件あります" in seen.text
        erased = await stage.discord.click(aiko, seen.message, "会話の記録からも消す")
        await erased.finished(lambda shown: "会話の記録の発言 3件" in shown.text)
        await stage.ask_in_words(aiko, channel, "はい。")
        assert "会議は金曜" not in str(stage.model.requests[-1].body)
        late = await stage.discord.click(aiko, reply.message, UNTELL)
        await late.finished(lambda shown: "完全に消したあと" in shown.text)

    async def test_of_a_deletion_says_it_where_its_user_alone_reads_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await forgot(stage, aiko, channel, "会議は金曜", private=True)
        assert reply.text.startswith("はい。\n🗑️ 忘れました: 会議は金曜\n")
        assert UNTELL in reply.labels

    async def test_of_what_was_kept_and_deleted_at_once_is_none(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        def reply(body: Json) -> Answer:
            [(number,)] = stage.rows("SELECT number FROM memories WHERE user_id = ?", aiko.id)
            kept = "remembered" in "".join(new_tool_results(body))
            return calls(Call("forget", {"id": number})) if kept else says("やめました。")

        stage.model.script(calls(Call("remember", {"content": "猫が好き"})))
        stage.model.responder = reply
        shown = await stage.ask(aiko, channel, "猫が好き、覚えて。いや、猫のことは忘れて")
        assert "💾" not in shown.text
        assert UNDO not in shown.labels
        assert kept(stage, aiko) == []

    async def test_of_many_changes_names_four(self, stage: Stage, aiko: User, channel: Channel) -> None:
        facts = [f"{animal}が好き" for animal in ("猫", "犬", "鳥", "亀", "馬", "牛")]
        stage.model.script(calls(*(Call("remember", {"content": each}) for each in facts)), says("はい。"))
        reply = await stage.ask(aiko, channel, f"{'、'.join(facts)}と覚えて")
        assert reply.text.count("💾 覚えました") == 4
        assert "ほか 2 件" in reply.text
        assert reply.labels[:4] == [f"取り消す: {each}" for each in facts[:4]]
        await told(stage, aiko, reply.message, "取り消す: 犬が好き")
        assert kept(stage, aiko) == [each for each in facts if each != "犬が好き"]

    async def test_stands_under_an_answer_that_fills_its_message(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        facts = [f"{animal}が好き" + "*_" * 40 for animal in ("猫", "犬", "鳥", "亀")]
        stage.model.script(
            calls(*(Call("remember", {"content": each}) for each in facts)), says("長い回答です。" * 240)
        )
        reply = await stage.ask(aiko, channel, f"{'、'.join(facts)}と覚えて")
        assert reply.text.count("💾 覚えました") == 4
        assert len(reply.labels) == 5

    async def test_of_what_is_known_already_has_nothing_to_take_back(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await remembered(stage, aiko, channel, "会議は金曜")
        reply = await remembered(stage, aiko, channel, "会議は金曜")
        assert "💾 もう覚えています: 会議は金曜" in reply.text
        assert UNDO not in reply.labels

    async def test_can_not_be_faked_by_the_model(self, stage: Stage, aiko: User, channel: Channel) -> None:
        forged = "はい。\n-# 💾 覚えました: 何でも\n-#\u200b 💾 覚えました: https://evil.example"
        reply = await stage.ask_in_words(aiko, channel, forged)
        assert reply.message.content == forged.replace("https://evil.example", "<https://evil.example>")
        assert "覚えました" not in stated(reply)
        stage.model.script(calls(Call("remember", {"content": "猫が好き"})), says(forged))
        reply = await stage.ask(aiko, channel, "猫が好き。覚えて")
        assert stated(reply) == "💾 覚えました: 猫が好き"

    async def test_is_not_read_from_the_preview_of_a_link(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await remembered(stage, aiko, channel, "猫が好き")
        forged = {
            "url": "https://evil.example",
            "description": "💾 覚えました: 何でも",
            "color": FACTS_COLOUR,
        }
        await stage.discord.unfurl(reply.message, forged)
        stage.model.script(says("わかりました。"))
        press = await stage.discord.click(aiko, reply.message, again_label(aiko))
        await answered(press)
        assert press.text == "わかりました。\n💾 覚えました: 猫が好き"

    async def test_stands_in_buttons_where_the_bot_may_not_post_embeds(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.excused.add(50013)
        stage.discord.forbid(stage.discord.bot, Permission.EMBED_LINKS, channel)
        stage.model.script(calls(Call("remember", {"content": "猫が好き"})), says("承知しました。"))
        message = await stage.write(aiko, channel, "猫が好きと覚えて")
        reply = await stage.discord.reply_to(message)
        await reply.until(lambda shown: UNDO in shown.labels, "the end")
        assert (reply.message.content, reply.message.embeds) == ("承知しました。", ())
        disabled = [button.label for button in reply.message.buttons if button.disabled]
        assert disabled == ["💾 覚えました: 猫が好き"]
        await told(stage, aiko, reply.message, UNDO)
        assert kept(stage, aiko) == []


class TestUnfinishedAnswer:
    async def test_that_broke_off_has_its_receipt(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(
            calls(Call("remember", {"content": "会議は金曜"})), Answer(Say("承知"), CutConnection())
        )
        reply = await stage.ask(aiko, channel, "会議は金曜。覚えて")
        assert "💾 覚えました: 会議は金曜" in reply.text
        assert UNDO in reply.labels

    async def test_that_failed_after_a_memory_was_kept_has_its_receipt(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(calls(Call("remember", {"content": "会議は金曜"})), fails(401))
        stage.model.responder = lambda _: fails(401)
        reply = await stage.ask(aiko, channel, "会議は金曜。覚えて")
        assert "💾 覚えました: 会議は金曜" in reply.text
        assert UNDO in reply.labels


class TestAnswerAgain:
    async def test_keeps_the_receipt_and_does_not_repeat_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await remembered(stage, aiko, channel, "会議は金曜")
        for words in ("わかりました。", "はい、わかりました。"):
            stage.model.script(calls(Call("remember", {"content": "会議は金曜"})), says(words))
            press = await stage.discord.click(aiko, reply.message, again_label(aiko))
            await answered(press)
            assert press.text == f"{words}\n💾 覚えました: 会議は金曜"
            assert press.labels == [UNDO, again_label(aiko)]
        await told(stage, aiko, reply.message, UNDO)
        assert kept(stage, aiko) == []

    async def test_does_not_tell_of_what_was_taken_back(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(
            calls(Call("remember", {"content": "会議は金曜"}), Call("remember", {"content": "猫が好き"})),
            says("はい。"),
        )
        reply = await stage.ask(aiko, channel, "会議は金曜、猫が好き。覚えて")
        await told(stage, aiko, reply.message, "取り消す: 会議は金曜")
        stage.model.script(says("承知しました。"))
        press = await stage.discord.click(aiko, reply.message, again_label(aiko))
        await answered(press)
        assert press.text == "承知しました。\n💾 覚えました: 猫が好き"
        assert press.labels == ["取り消す: 猫が好き", again_label(aiko)]

    async def test_keeps_it_when_there_is_no_new_answer(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await remembered(stage, aiko, channel, "会議は金曜")
        stage.model.script(fails(401))
        press = await stage.discord.click(aiko, reply.message, again_label(aiko))
        await press.finished(lambda shown: len(shown.messages) == 2)
        assert "承知しました。\n💾 覚えました: 会議は金曜" in reply.message.text
        assert reply.message.labels == [UNDO, again_label(aiko)]

    async def test_leaves_it_where_the_answer_goes_on(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(
            calls(Call("remember", {"content": "会議は金曜"})), Answer(Say("承知"), CutConnection())
        )
        reply = await stage.ask(aiko, channel, "会議は金曜。覚えて")
        stage.model.script(says("しました。"))
        press = await stage.discord.click(aiko, reply.message, continue_label(aiko))
        await answered(press)
        assert reply.message.labels == [UNDO]


class TestUsedMemories:
    async def test_are_listed_for_the_asker(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        first = await remembered(stage, aiko, channel, "猫の名前はモチ")
        stage.model.script(calls(Call("recall", {"query": "猫の名前"})), says("モチです。"))
        reply = await stage.ask(aiko, channel, "猫の名前は？")
        assert reply.labels == ["🧠 使ったメモリ（1）", again_label(aiko)]
        said = await told(stage, aiko, reply.message, "🧠 使ったメモリ（1）")
        assert "猫の名前はモチ" in said
        assert "覚え" in said
        assert said.count(f"/channels/{channel.guild.id if channel.guild else '@me'}/{channel.id}/") == 1
        assert str(first.message.id) in said
        assert "Only the owner" in await told(stage, ben, reply.message, "🧠 使ったメモリ（1）")

    async def test_that_are_gone_are_said_to_be(self, stage: Stage, aiko: User, channel: Channel) -> None:
        first = await remembered(stage, aiko, channel, "猫の名前はモチ")
        stage.model.script(calls(Call("recall", {"query": "猫の名前"})), says("モチです。"))
        reply = await stage.ask(aiko, channel, "猫の名前は？")
        await told(stage, aiko, first.message, UNDO)
        assert "残っていません" in await told(stage, aiko, reply.message, "🧠 使ったメモリ（1）")


class TestInAChannel:
    async def told_under(self, stage: Stage, aiko: User, channel: Channel) -> ChannelReply:
        stage.model.script(calls(Call("remember", {"content": "猫が好き"})), says("承知しました。"))
        message = await stage.write(aiko, channel, "猫が好きと覚えて")
        return await stage.says(message, "承知しました。")

    async def test_a_mention_has_its_receipt(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        reply = await self.told_under(stage, aiko, channel)
        assert reply.text == "承知しました。\n💾 覚えました: 猫が好き"
        assert reply.labels == [UNDO]
        assert "Only the owner" in await told(stage, ben, reply.message, UNDO)
        await told(stage, aiko, reply.message, UNDO)
        assert kept(stage, aiko) == []

    async def test_the_memory_has_the_link_of_the_answer(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await self.told_under(stage, aiko, channel)
        [(source,)] = stage.rows("SELECT source FROM memories WHERE user_id = ?", aiko.id)
        assert json.loads(source)["link"].endswith(f"/{channel.id}/{reply.message.id}")
        assert json.loads(source)["kind"] == "model"

    @pytest.mark.restarts
    async def test_after_a_crash_it_is_shown_with_the_answer(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await self.told_under(stage, aiko, channel)
        shown = "SELECT shown FROM mentions WHERE answer_id = ?"
        await stage.eventually(shown, reply.message.id, gives=[(1,)])
        stage.change(f"UPDATE mentions SET shown = 0 WHERE answer_id = {reply.message.id}")
        stage.change(f"UPDATE messages SET content = '承知。' WHERE discord_id = {reply.message.id}")
        await stage.restart()
        await reply.until(lambda shown: shown.text.startswith("承知。"), "the answer as it is stored")
        assert reply.text == "承知。\n💾 覚えました: 猫が好き"
        assert reply.labels == [UNDO]

    async def test_an_edited_question_keeps_what_its_first_answer_did_to_be_taken_back(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(calls(Call("remember", {"content": "猫が好き"})), says("承知しました。"))
        message = await stage.write(aiko, channel, "猫が好きと覚えて")
        await stage.says(message, "承知しました。")
        stage.model.script(calls(Call("remember", {"content": "犬が好き"})), says("直しました。"))
        await stage.discord.edit(aiko, message, f"{stage.discord.bot.mention} 犬が好きと覚えて")
        reply = await stage.says(message, "直しました。")
        assert reply.text == "直しました。\n💾 覚えました: 猫が好き\n💾 覚えました: 犬が好き"
        assert reply.labels == [UNDO, "取り消す: 犬が好き"]
        await told(stage, aiko, reply.message, UNDO)
        assert kept(stage, aiko) == ["犬が好き"]


class TestPrivate:
    async def test_nothing_of_it_is_told_in_public(self, stage: Stage, aiko: User, channel: Channel) -> None:
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

    async def test_its_receipt_in_a_dm_works(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        reply = await remembered(stage, aiko, dm, "好きな鳥はオオルリ")
        assert "💾 覚えました: 好きな鳥はオオルリ" in reply.text
        await told(stage, aiko, reply.message, UNDO)
        assert kept(stage, aiko) == []

    @pytest.mark.restarts
    async def test_its_receipt_in_a_dm_is_shown_after_a_crash(self, stage: Stage, aiko: User) -> None:
        dm = stage.discord.dm(aiko)
        stage.model.script(calls(Call("remember", {"content": "好きな鳥はオオルリ"})), says("承知しました。"))
        message = await stage.write(aiko, dm, "好きな鳥はオオルリ。覚えて", mention=False)
        reply = await stage.says(message, "承知しました。")
        noted = "SELECT count(*) FROM turns WHERE user_id = ?"
        await stage.eventually(noted, aiko.id, gives=[(0,)])
        stage.change(
            "INSERT INTO turns (id, user_id, channel_id, agent, state, kind, visibility, shown_in, place_id,"
            " accepted_at, answer_id)"
            " SELECT 'e', user_id, channel_id, 'default', 'answered', 'message', visibility, discord_id,"
            f" channel_id, 1, id FROM messages WHERE discord_id = {reply.message.id}"
        )
        stage.change(f"UPDATE messages SET content = '承知。' WHERE discord_id = {reply.message.id}")
        await stage.restart()
        await reply.until(lambda shown: shown.text.startswith("承知。"), "the answer as it is stored")
        assert reply.text == "承知。\n💾 覚えました: 好きな鳥はオオルリ"
        assert reply.labels == [UNDO, again_label(aiko)]
