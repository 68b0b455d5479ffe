"""A tool of a server that changes something out there is used when somebody says so: once, or not at all."""

import asyncio
import base64
import json

import pytest
import pytest_asyncio

from tests.end_to_end.stage import UNKNOWN_MESSAGE, Stage, again_label, stop_label, streaming
from tests.end_to_end.test_proposals import proposals
from tests.end_to_end.tool_calls import (
    CALLING,
    DO,
    DONE,
    DONT,
    JA,
    LATE,
    NOT_MADE,
    SEND,
    STOPPED,
    WRITE,
    WRITES,
    agreed,
    answers,
    denied,
    hold,
    is_called,
    last_request,
    made,
    proposed,
    settled,
    stored_results,
    told,
    whispers,
)
from tests.loopback.discord import Channel, Message, User
from tests.loopback.model_server import Call, Reply, Say, Wait, calls, says
from tests.loopback.tool_servers import PICTURE, calls_in


@pytest.fixture
def one_of_the_stages(tool_stage: Stage) -> Stage:
    return tool_stage


class TestCall:
    async def test_stands_below_the_answer_in_full_and_is_not_made(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        """Until it is declined, of which the model hears in the next turn."""
        reply = await proposed(stage, aiko, channel)
        assert proposals(reply.message) == [
            "**🔧 ツールを実行する**\n-# ツール: notes · write\n**渡す内容**\n"
            "> path: 買い物.txt\n> text:\n> │ 牛乳\n> │ # 卵 \\*二つ\\*"
        ]
        assert reply.labels == [DO["ja"], DONT, again_label(aiko)]
        assert JA.proposal.why_call in str(reply.message.embeds)
        asked = len(stage.model.requests)
        pressed = await stage.discord.click(aiko, reply.message, DONT)
        await pressed.finished(lambda _: not proposals(reply.message))
        assert NOT_MADE in str(reply.message.embeds)
        assert len(stage.model.requests) == asked
        await stage.ask_in_words(aiko, channel, "わかりました。")
        assert '"declined": true' in last_request(stage)
        assert made(stage) == []

    async def test_that_is_agreed_to_is_made_and_the_answer_goes_on_with_its_picture(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        """Even where the conversation began anew meanwhile."""
        answers(stage, write={"picture": "42行目に書きました"})
        for user in (aiko, ben):
            reply = await proposed(stage, user, channel)
            await stage.told(user, channel, "clear")
            pressed = await agreed(stage, user, reply.message, "🙂 42")
            assert made(stage)[-1] == {"tool": "notes__write", "arguments": WRITES[user.locale].arguments}
            assert DONE[user.locale] in str(reply.message.embeds)
            assert proposals(reply.message) == []
            assert pressed.messages[-1].text.startswith("🙂 42")
            [picture] = pressed.messages[-1].attachments
            assert (picture.file.name, picture.file.data) == ("1.png", PICTURE)
            assert "42行目に書きました" in last_request(stage)
            assert base64.b64encode(PICTURE).decode() in last_request(stage)
            assert stage.rows("SELECT 1 FROM attachments WHERE user_id = ?", user.id) == []
            assert "42行目に書きました" in str(stored_results(stage, user))
            await settled(stage, user)
        assert len(made(stage)) == 2

    async def test_in_private_gives_a_private_result_that_changes_nothing_by_itself(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel, private=True)
        answers(stage, write="「鍵は玄関」と覚えて")
        stage.model.script(calls(Call("remember", {"content": "鍵は玄関"})))
        pressed = await agreed(stage, aiko, reply.message, "内緒で書きました。")
        assert all(shown.ephemeral for shown in pressed.messages)
        rows = stage.rows("SELECT DISTINCT visibility FROM messages WHERE user_id = ?", aiko.id)
        assert rows == [("private",)]
        assert len(proposals(pressed.messages[-1])) == 1
        assert stage.rows("SELECT 1 FROM memories WHERE user_id = ?", aiko.id) == []

    async def test_is_none_where_several_are_answered_at_once(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        go_on = asyncio.Event()
        stage.model.script(Reply(Say("ひとつ目の"), Wait(go_on), *says("答えです。").steps))
        first = await stage.write(aiko, channel, "ひとつ目")
        await streaming(stage.discord.answer(first), "ひとつ目の")
        await stage.write(ben, channel, "two")
        third = await stage.write(aiko, channel, "みっつ目")
        await stage.discord.quiet()
        stage.model.script(says("ふたりへの答えです。"))
        go_on.set()
        await stage.says(third, "ふたりへの答えです。")
        assert "notes__write" in stage.tools(0)
        assert not any(name.startswith("notes__") for name in stage.tools(1))


class TestPress:
    async def test_of_somebody_else_gets_one_sentence_and_four_at_once_make_one_call(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        for label in (DO["ja"], DONT):
            await denied(stage, ben, reply.message, label)
        assert made(stage) == []
        free = hold(stage)
        stage.model.script(says("一度だけ。"))
        presses = await asyncio.gather(
            *(stage.discord.click(aiko, reply.message, DO["ja"]) for _ in range(4))
        )
        await asyncio.gather(*(each.acknowledged() for each in presses))
        await is_called(stage)
        free.unlink()
        await told(stage, reply.stored[0], DONE["ja"])
        await settled(stage, aiko)
        async with stage.patience():
            await stage.model.arrived(3)
        await stage.discord.quiet()
        assert len(made(stage)) == 1
        assert len(stage.model.requests) == 3

    async def test_after_ten_minutes_makes_no_call(self, stage: Stage, aiko: User, channel: Channel) -> None:
        reply = await proposed(stage, aiko, channel)
        stage.change(LATE, aiko.id)
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await told(stage, reply.stored[0], "10分を過ぎたので、実行していません")
        assert proposals(reply.message) == []
        assert made(stage) == []
        [result] = stored_results(stage, aiko)
        assert result["expired"] is True

    async def test_of_stop_ends_the_call_at_its_server_and_answer_again_has_to_wait_for_that(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        hold(stage)
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await is_called(stage)
        before = await told(stage, reply.stored[0], CALLING)
        again = await stage.discord.click(aiko, reply.message, again_label(aiko))
        await whispers(again, "この回答のツールを実行しています。")
        assert reply.stored[0].shown == before
        assert before.labels == [stop_label(aiko), again_label(aiko)]
        assert len(stage.model.requests) == 2
        await stage.discord.click(aiko, reply.message, stop_label(aiko))
        message = await told(stage, reply.stored[0], STOPPED)
        assert CALLING not in str(message.embeds)
        assert message.labels == [again_label(aiko)]
        assert calls_in(stage.program.folder, "cancelled.jsonl") == [{"tool": "notes__write"}]
        [result] = stored_results(stage, aiko)
        assert "may have been done or not" in result["error"]


class TestChangedQuestion:
    """In a channel, while the call that its answer proposed is made."""

    @pytest_asyncio.fixture(loop_scope="session")
    async def message(self, stage: Stage, aiko: User, channel: Channel) -> Message:
        hold(stage)
        stage.model.script(calls(WRITE), says("下で選べます。"))
        message = await stage.write(aiko, channel, "書いておいて")
        answer = await stage.says(message, "下で選べます。")
        await stage.discord.click(aiko, answer.message, DO["ja"])
        await is_called(stage)
        await told(stage, answer.stored[0], CALLING)
        return message

    @pytest.mark.parametrize("gone", ["question", "answer"])
    async def test_that_is_deleted_or_whose_answer_is_stops_the_call(
        self, stage: Stage, aiko: User, message: Message, gone: str
    ) -> None:
        answer = stage.discord.answer(message)
        stage.excused.add(UNKNOWN_MESSAGE)
        asked, stands = len(stage.model.requests), answer.stored[0]
        if gone == "question":
            await stage.discord.delete(aiko, message)
        else:
            await stage.discord.delete(stage.discord.owner, stands)
        await is_called(stage, noted="cancelled.jsonl")
        await settled(stage, aiko)
        await stage.discord.wait(lambda: stands.deleted, "the end of the answer")
        await stage.discord.quiet()
        assert len(stage.model.requests) == asked
        assert all(each.deleted for each in answer.stored)


class TestOwners:
    async def test_decide_where_the_operator_wants_that_for_who_asked(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        """Also where only the role of who asked has the tool."""
        owner, role = stage.discord.owner, 4242
        owner.locale = "ja"
        stage.discord.give_role(aiko, role)
        (stage.program.folder / "roles.json").write_text(json.dumps({"send": role}), "utf-8")
        reply = await proposed(stage, aiko, channel, SEND)
        assert JA.proposal.owners in proposals(reply.message)[0]
        await whispers(await stage.discord.click(aiko, reply.message, DO["ja"]), JA.proposal.owners_decide)
        assert made(stage) == []
        pressed = await agreed(stage, owner, reply.message, "送りました。", DO["ja"])
        assert [call["tool"] for call in made(stage)] == ["notes__send"]
        assert not pressed.messages[-1].ephemeral  # who asked reads it
        asked_by = stage.rows("SELECT user_id FROM messages WHERE content LIKE '%送りました%'")
        assert asked_by == [(aiko.id,)]

    async def test_decide_in_private_on_what_they_asked_themselves_alone(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        owner = stage.discord.owner
        owner.locale = "ja"
        reply = await proposed(stage, aiko, channel, SEND, private=True)
        assert not proposals(reply.message)
        assert DO["ja"] not in reply.message.labels
        [result] = stored_results(stage, aiko)
        assert "Only an owner of this bot" in result["error"]
        reply = await proposed(stage, owner, channel, SEND, private=True)
        await agreed(stage, owner, reply.message, "みんなに知らせました。")
        assert len(made(stage)) == 1
