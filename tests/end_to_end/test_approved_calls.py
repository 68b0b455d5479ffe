import asyncio
import base64
import json

import pytest

from cc_bot.domain.errors import ProposalGone
from cc_bot.texts import explain
from cc_bot.texts.answer import AnswerTexts, UnfinishedTexts
from cc_bot.texts.proposal import ProposalTexts
from tests.end_to_end.kills import pull_the_plug
from tests.end_to_end.stage import Stage, again_label, stop_label
from tests.end_to_end.test_proposals import proposals
from tests.end_to_end.tool_calls import (
    CALLING,
    DO,
    DONE,
    DONT,
    EN,
    IN_DOUBT,
    JA,
    LATE,
    NOT_MADE,
    POST,
    SEND,
    STOPPED,
    WRITES,
    agreed,
    answered_again,
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
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Call, Hang, Reply, Say, calls, says
from tests.loopback.tool_servers import PICTURE, calls_in

STAGE = "tool_stage"


async def test_a_call_stands_below_the_answer_and_is_not_made(
    stage: Stage, aiko: User, channel: Channel
) -> None:
    reply = await proposed(stage, aiko, channel)
    [text] = proposals(reply.messages[-1])
    assert text.split("\n")[1:] == [
        *("**🔧 ツールを実行する**", "-# ツール: notes · write", "**渡す内容**"),
        *("> path: 買い物.txt", "> text:", "> │ 牛乳", "> │ # 卵 \\*二つ\\*"),
    ]
    assert reply.text.count(JA[ProposalTexts].nothing_done) == 1
    assert reply.labels == [DO["ja"], DONT]
    asked = len(stage.model.requests)
    pressed = await stage.discord.click(aiko, reply.messages[-1], DONT)
    await pressed.finished(lambda _: not proposals(reply.messages[-1]))
    assert NOT_MADE in reply.messages[-1].text
    assert len(stage.model.requests) == asked
    await stage.ask_in_words(aiko, channel, "わかりました。")
    assert '"declined": true' in last_request(stage)
    assert made(stage) == []


async def test_a_call_agreed_to_is_made(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    answers(stage, write={"picture": "42行目に書きました"})
    for user in (aiko, ben):
        reply = await proposed(stage, user, channel)
        await stage.told(user, channel, "clear")
        pressed = await agreed(stage, user, reply.messages[-1], "🙂 42")
        assert made(stage)[-1] == {"tool": "notes__write", "arguments": WRITES[user.locale].arguments}
        assert DONE[user.locale] in reply.messages[-1].text
        assert proposals(reply.messages[-1]) == []
        assert pressed.messages[-1].text.startswith("🙂 42")
        [picture] = pressed.messages[-1].attachments
        assert (picture.file.name, picture.file.data) == ("1.png", PICTURE)
        assert "42行目に書きました" in last_request(stage)
        assert base64.b64encode(PICTURE).decode() in last_request(stage)
        assert stage.rows("SELECT 1 FROM attachments WHERE user_id = ?", user.id) == []
        assert "42行目に書きました" in str(stored_results(stage, user))
        await settled(stage, user)
    assert len(made(stage)) == 2
    reply = await proposed(stage, aiko, channel)
    await stage.told(aiko, channel, "clear")
    stage.model.script(Reply(Say("🙂 43"), Hang()))
    pressed = await stage.discord.click(aiko, reply.messages[-1], DO["ja"])
    await pressed.until(lambda shown: "🙂 43" in str(shown.messages), "the answer's beginning")
    kept = "SELECT count(*) FROM turns WHERE user_id = ? AND calls LIKE ?"  # a kill would not lose it
    await stage.eventually(kept, aiko.id, "%42行目に書きました%", gives=[(1,)])
    await stage.discord.click(aiko, pressed.messages[-1], stop_label(aiko))


async def test_a_private_call_has_a_private_result(stage: Stage, aiko: User, channel: Channel) -> None:
    reply = await proposed(stage, aiko, channel, private=True)
    answers(stage, write="「鍵は玄関」と覚えて")
    stage.model.script(calls(Call("remember", {"content": "鍵は玄関"})))
    pressed = await agreed(stage, aiko, reply.messages[-1], "内緒で書きました。")
    assert all(shown.ephemeral for shown in pressed.messages)
    rows = stage.rows("SELECT DISTINCT visibility FROM messages WHERE user_id = ?", aiko.id)
    assert rows == [("private",)]
    await pressed.until(lambda shown: len(proposals(shown.messages[-1])) == 1, "the proposal")
    assert stage.rows("SELECT 1 FROM memories WHERE user_id = ?", aiko.id) == []


async def test_only_the_asker_agrees_and_once(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    reply = await proposed(stage, aiko, channel)
    for label in (DO["ja"], DONT):
        await denied(stage, ben, reply.messages[-1], label)
    assert made(stage) == []
    free = hold(stage)
    stage.model.script(says("一度だけ。"))
    presses = await asyncio.gather(
        *(stage.discord.click(aiko, reply.messages[-1], DO["ja"]) for _ in range(4))
    )
    await asyncio.gather(*(each.acknowledged() for each in presses))
    await is_called(stage)
    free.unlink()
    await told(stage, reply.stored[-1], DONE["ja"])
    await settled(stage, aiko)
    async with stage.patience():
        await stage.model.arrived(3)
    await stage.discord.quiet()
    assert len(made(stage)) == 1
    assert len(stage.model.requests) == 3


async def test_a_press_after_ten_minutes_makes_no_call(stage: Stage, aiko: User, channel: Channel) -> None:
    reply = await proposed(stage, aiko, channel)
    stage.change(LATE, aiko.id)
    pressed = await stage.discord.click(aiko, reply.messages[-1], DO["ja"])
    await whispers(pressed, explain(ProposalGone(), JA))
    assert proposals(reply.messages[-1]) == []
    assert made(stage) == []
    [result] = stored_results(stage, aiko)
    assert result["expired"] is True


async def test_stop_ends_the_call_at_its_server(stage: Stage, aiko: User, channel: Channel) -> None:
    reply = await proposed(stage, aiko, channel, whole=False)
    hold(stage)
    await stage.discord.click(aiko, reply.messages[-1], DO["ja"])
    await is_called(stage)
    before = await told(stage, reply.stored[-1], CALLING)
    again = await stage.discord.click(aiko, reply.message, again_label(aiko))
    await whispers(again, "この回答のツールを実行しています。")
    assert reply.stored[-1].shown == before
    assert before.labels == [stop_label(aiko)]
    assert len(stage.model.requests) == 2
    await stage.discord.click(aiko, reply.messages[-1], stop_label(aiko))
    message = await told(stage, reply.stored[-1], STOPPED)
    assert CALLING not in message.text
    assert message.labels == []
    assert calls_in(stage.program.folder, "cancelled.jsonl") == [{"tool": "notes__write"}]
    [result] = stored_results(stage, aiko)
    assert "may have been done or not" in result["error"]


async def test_owners_decide_where_the_operator_wants_that(
    stage: Stage, aiko: User, channel: Channel
) -> None:
    owner, role = stage.discord.owner, 4242
    owner.locale = "ja"
    stage.discord.give_role(aiko, role)
    (stage.program.folder / "roles.json").write_text(json.dumps({"send": role}), "utf-8")
    reply = await proposed(stage, aiko, channel, SEND)
    assert JA[ProposalTexts].owners_only in proposals(reply.messages[-1])[0]
    await whispers(
        await stage.discord.click(aiko, reply.messages[-1], DO["ja"]), JA[ProposalTexts].not_an_owner
    )
    assert made(stage) == []
    pressed = await agreed(stage, owner, reply.messages[-1], "送りました。", DO["ja"])
    assert [call["tool"] for call in made(stage)] == ["notes__send"]
    assert not pressed.messages[-1].ephemeral  # who asked reads it
    asked_by = stage.rows("SELECT user_id FROM messages WHERE content LIKE '%送りました%'")
    assert asked_by == [(aiko.id,)]


async def test_answer_again_knows_of_a_call_in_doubt(stage: Stage, aiko: User, channel: Channel) -> None:
    reply = await proposed(stage, aiko, channel, whole=False)
    answers(stage, write={"raises": "lost"})
    asked = len(stage.model.requests)
    await stage.discord.click(aiko, reply.messages[-1], DO["ja"])
    await told(stage, reply.stored[-1], IN_DOUBT)
    await settled(stage, aiko)
    assert len(stage.model.requests) == asked
    await answered_again(stage, aiko, reply, "見てみます。")
    assert "maybe_done" in last_request(stage)
    assert "実行された可能性がある" in reply.message.text
    await stage.ask_in_words(aiko, channel, "🙂")
    assert "maybe_done" in last_request(stage)
    assert len(made(stage)) == 1


@pytest.mark.slow
async def test_a_kill_during_calls_is_told(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    reply = await proposed(stage, aiko, channel)
    free = hold(stage)
    await stage.discord.click(aiko, reply.messages[-1], DO["ja"])
    await is_called(stage)
    stage.model.script(calls(POST))
    posted = await stage.begin(ben, channel, "Post it")
    await is_called(stage, 2)
    await pull_the_plug(stage)
    free.unlink()
    await stage.start()
    message = await told(stage, reply.stored[-1], IN_DOUBT)
    assert message.labels == []
    ask_again = EN[AnswerTexts].try_again
    await posted.until(lambda shown: ask_again in shown.labels, "the button to ask again")
    assert EN[UnfinishedTexts].server_outcome_unknown in posted.text
    await settled(stage, aiko)
    [result] = stored_results(stage, aiko)
    assert "may have been done or not" in result["error"]
    await stage.ask_in_words(aiko, channel, "🙂")
    assert "may have been done or not" in last_request(stage)
    stage.model.script(says("Please see whether it was posted."))
    pressed = await stage.discord.click(ben, posted.message, ask_again)
    await pressed.finished(lambda shown: "see whether" in shown.text)
    assert "nobody knows whether it was done" in last_request(stage)
    await stage.restart()  # which has nothing to tell
    assert len(made(stage)) == 2
