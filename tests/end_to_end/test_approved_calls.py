"""A tool of a server that changes something out there is used when somebody says so: once, or not at all."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cc_bot.domain import Locale
from cc_bot.texts import texts
from tests.databases import DatabaseSettings
from tests.end_to_end.kills import EDIT, HISTORY, pull_the_plug, start_late
from tests.end_to_end.stage import UNKNOWN_MESSAGE, Stage, again_label, running_stage, stop_label, streaming
from tests.end_to_end.test_proposals import proposals
from tests.loopback.discord import Channel, Message, Shown, User
from tests.loopback.discord import Reply as Interaction
from tests.loopback.model_server import Call, CutConnection, Hang, Reply, Say, Wait, calls, fails, says
from tests.loopback.tool_servers import PICTURE, calls_in

JA, EN = texts(Locale.JA), texts(Locale.EN)
DO = {"ja": JA.proposal.call.yes, "en-US": EN.proposal.call.yes}
DONT = JA.proposal.call.no
WHAT = "notes · write"
DONE = {"ja": JA.proposal.called.format(what=WHAT), "en-US": EN.proposal.called.format(what=WHAT)}
CALLING = JA.proposal.calling.format(what=WHAT)
IN_DOUBT = JA.proposal.call_in_doubt.format(what=WHAT)
STOPPED = JA.proposal.call_stopped.format(what=WHAT)
NOT_MADE = JA.proposal.not_made.format(what=WHAT)
SEE_ONE = JA.proposal.see.format(count=1)
FETCH = "GET /webhooks/{application}/{token}/messages/@original"
CLAIMED = "SELECT count(*) FROM claimed_calls"
ON_THEIR_WAY = "SELECT count(*) FROM turns WHERE state <> 'interrupted'"
LATE = "UPDATE proposals SET made_at = made_at - 601000 WHERE user_id = ?"
WRITE = Call("notes__write", {"text": "牛乳\n# 卵 *二つ*", "path": "買い物.txt"})
WRITE_EN = Call("notes__write", {"text": "milk\n# eggs *two*", "path": "shopping.txt"})
WRITES = {"ja": WRITE, "en-US": WRITE_EN}
WRITE_LONG = Call("notes__write", {"text": "あ" * 3000})
POST = Call("notes__post", {"text": "犬"})
SEND = Call("notes__send", {"text": "全員へ"})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("cc-bot")
    async with running_stage(folder, database_settings(), module="tests.loopback.tool_servers") as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def stage(served: Stage) -> AsyncIterator[Stage]:
    served.forget()
    for each in served.program.folder.glob("*.json*"):
        each.unlink()
    hold_no_more(served)
    yield served
    hold_no_more(served)
    await served.eventually(CLAIMED, gives=[(0,)])
    await served.eventually(ON_THEIR_WAY, gives=[(0,)])  # a model may be asked once more after its last word
    served.check()


def made(stage: Stage) -> Sequence[dict[str, Any]]:
    return calls_in(stage.program.folder)


def answers(stage: Stage, **given: object) -> None:
    (stage.program.folder / "answers.json").write_text(json.dumps(given), "utf-8")


def hold_no_more(stage: Stage) -> None:
    (stage.program.folder / "hold").unlink(missing_ok=True)


def hold(stage: Stage) -> Path:
    """Have calls not end until this file is away."""
    (path := stage.program.folder / "hold").touch()
    return path


def servers_are(stage: Stage, what: str) -> Path:
    """Have them be so until this file is away."""
    (path := stage.program.folder / f"{what}.json").write_text("true", "utf-8")
    return path


async def is_called(stage: Stage, count: int = 1, *, noted: str = "calls.jsonl") -> None:
    async with stage.patience():
        while len(calls_in(stage.program.folder, noted)) < count:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)


async def proposed(
    stage: Stage, user: User, channel: Channel, *wanted: Call, **options: bool | str
) -> Interaction:
    stage.model.script(calls(*(wanted or (WRITES[user.locale],))), says("🙂"))
    return await stage.ask(user, channel, "書いておいて", **options)


async def settled(stage: Stage, user: User) -> None:
    """Wait until the user knows of every call."""
    await stage.eventually("SELECT count(*) FROM claimed_calls WHERE user_id = ?", user.id, gives=[(0,)])


async def agreed(
    stage: Stage, user: User, message: Message | Shown, answer: str, label: str = ""
) -> Interaction:
    """A press of Do it, until the model has answered with what came of it."""
    stage.model.script(says(answer))
    pressed = await stage.discord.click(user, message, label or DO[user.locale])
    return await pressed.finished(lambda shown: any(answer in each.text for each in shown.messages))


async def told(stage: Stage, message: Message, text: str) -> Shown:
    async with stage.patience():
        while text not in str(message.shown.embeds):  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.01)
    return message.shown


async def whispers(pressed: Interaction, sentence: str) -> None:
    """Wait until who pressed is told something alone."""
    await pressed.until(
        lambda shown: any(each.ephemeral and sentence in each.text for each in shown.messages), sentence
    )


async def denied(stage: Stage, user: User, message: Message | Shown, label: str) -> None:
    """A press of somebody who has no say in it, which only they are told."""
    pressed = await stage.discord.click(user, message, label)
    pressed.any_language = True  # its message is for who asked
    await whispers(pressed, EN.proposal.not_yours)


def stored_results(stage: Stage, user: User) -> list[dict[str, Any]]:
    rows = stage.rows(
        "SELECT tool_calls FROM messages WHERE user_id = ? AND tool_calls <> '[]' ORDER BY id", user.id
    )
    return [json.loads(call["result"]) for (stored,) in rows for call in json.loads(stored)]


def last_request(stage: Stage) -> str:
    return str(stage.model.requests[-1].messages)


async def answered_again(stage: Stage, user: User, reply: Interaction, answer: str) -> None:
    stage.model.script(says(answer))
    again = await stage.discord.click(user, reply.message, again_label(user))
    await again.finished(lambda _: answer in reply.text and again_label(user) in reply.labels)


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

    async def test_on_two_devices_of_a_long_call_makes_it_once(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel, WRITE_LONG)
        await denied(stage, ben, reply.message, SEE_ONE)
        copies = [await stage.discord.click(aiko, reply.message, SEE_ONE) for _ in range(2)]
        for seen in copies:
            await seen.finished(lambda shown: shown.messages and shown.messages[0].attachments)
            assert "あ" * 3000 in seen.messages[0].attachments[0].file.data.decode()
        starting = servers_are(stage, "starting")
        stage.model.script(says("一度だけ。"))
        presses = [await stage.discord.click(aiko, seen.messages[0], DO["ja"]) for seen in copies]
        await is_called(stage, 2, noted="waits.jsonl")
        starting.unlink()
        await presses[0].until(
            lambda _: any("一度だけ。" in each.text for press in presses for each in press.messages),
            "an answer",
        )
        await settled(stage, aiko)
        await stage.discord.quiet()
        assert len(made(stage)) == 1

    async def test_after_ten_minutes_makes_no_call(self, stage: Stage, aiko: User, channel: Channel) -> None:
        reply = await proposed(stage, aiko, channel)
        stage.change(LATE, aiko.id)
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await told(stage, reply.stored[0], "10分を過ぎたので、実行していません")
        assert proposals(reply.message) == []
        assert made(stage) == []
        [result] = stored_results(stage, aiko)
        assert result["expired"] is True

    async def test_while_its_server_is_started_waits_for_it_unless_declined_meanwhile(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        starting = servers_are(stage, "starting")
        pressed = await stage.discord.click(aiko, reply.message, DO["ja"])
        await is_called(stage, noted="waits.jsonl")
        again = await stage.discord.click(aiko, reply.message, again_label(aiko))
        await whispers(again, "この回答のツールを実行しています。")
        assert reply.labels == [DO["ja"], DONT, again_label(aiko)]
        assert (stage.rows(CLAIMED), made(stage)) == ([(0,)], [])
        stage.model.script(says("書けました。"))
        starting.unlink()
        await pressed.finished(lambda shown: any("書けました。" in each.text for each in shown.messages))
        await settled(stage, aiko)

        reply = await proposed(stage, aiko, channel)
        starting = servers_are(stage, "starting")
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await is_called(stage, 2, noted="waits.jsonl")
        await stage.discord.click(aiko, reply.message, DONT)
        await told(stage, reply.stored[0], NOT_MADE)
        starting.unlink()
        await stage.ask_in_words(aiko, channel, "わかりました。")
        await stage.discord.quiet()
        assert len(made(stage)) == 1
        assert stage.rows("SELECT 1 FROM proposals WHERE user_id = ?", aiko.id) == []

    async def test_while_its_server_is_away_uses_nothing_up(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        """Whether that is known before the call, or found by it."""
        reply = await proposed(stage, aiko, channel, WRITE, Call("notes__write", {"text": "卵"}))
        labels, open_ones = reply.labels, proposals(reply.message)
        sentence = "いまは「notes」につながらないため、まだ実行していません"
        away = servers_are(stage, "away")
        await whispers(await stage.discord.click(aiko, reply.message, f"2. {DO['ja']}"), sentence)
        assert (stage.rows(CLAIMED), made(stage)) == ([(0,)], [])
        away.unlink()

        answers(stage, write={"raises": "away"})
        free = hold(stage)
        pressed = await stage.discord.click(aiko, reply.message, f"1. {DO['ja']}")
        await told(stage, reply.stored[0], CALLING)
        free.unlink()
        await whispers(pressed, sentence)
        await stage.discord.wait(lambda: reply.message.labels == labels, "the buttons as they were")
        assert proposals(reply.message) == open_ones
        assert CALLING not in str(reply.message.embeds)
        await settled(stage, aiko)
        answers(stage)
        await stage.restart()  # which forgets that the same was pressed a moment ago
        await agreed(stage, aiko, reply.message, "🙂 42", f"1. {DO['ja']}")
        assert [call["arguments"]["text"] for call in made(stage)] == [WRITE.arguments["text"]] * 2

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

    async def test_while_the_answer_is_given_anew_is_refused_and_open_if_nothing_comes_of_that(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        before, thinks = reply.stored[0].shown, asyncio.Event()
        stage.model.script(Reply(Wait(thinks), CutConnection()))
        again = await stage.discord.click(aiko, reply.message, again_label(aiko))
        await stage.discord.wait(lambda: len(stage.model.requests) > 2, "the model's turn")
        pressed = await stage.discord.click(aiko, reply.message, DO["ja"])
        await whispers(pressed, "いま回答を作り直しているので、まだ実行していません。")
        assert stage.rows(CLAIMED) == [(0,)]
        thinks.set()
        await again.finished(lambda _: stage.rows(ON_THEIR_WAY) == [(0,)])
        assert made(stage) == []
        assert proposals(reply.message) == proposals(before)


class TestAnswerAgain:
    """What was done out there is done, whatever takes the place of the answer that did it."""

    async def test_knows_of_a_call_that_may_have_been_made(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        answers(stage, write={"raises": "lost"})
        asked = len(stage.model.requests)
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await told(stage, reply.stored[0], IN_DOUBT)
        await settled(stage, aiko)
        assert len(stage.model.requests) == asked
        await answered_again(stage, aiko, reply, "見てみます。")
        assert "maybe_done" in last_request(stage)
        assert "実行された可能性がある" in str(reply.message.embeds)
        await stage.ask_in_words(aiko, channel, "🙂")
        assert "maybe_done" in last_request(stage)
        assert len(made(stage)) == 1

    async def test_knows_of_a_call_that_was_made(self, stage: Stage, ben: User, channel: Channel) -> None:
        reply = await proposed(stage, ben, channel)
        answers(stage, write="line 7")
        stage.model.responder = lambda _: fails(400)
        await stage.discord.click(ben, reply.message, DO["en-US"])
        await told(stage, reply.stored[0], DONE["en-US"])
        await settled(stage, ben)
        await stage.discord.wait(lambda: len(stage.model.requests) > 3, "the model's trouble")
        await stage.eventually(ON_THEIR_WAY, gives=[(0,)])
        stage.model.responder = None
        for answer in ("It stands in line 7.", "Line 7."):
            await answered_again(stage, ben, reply, answer)
            assert "line 7" in last_request(stage)
            assert str(reply.message.embeds).count(DONE["en-US"]) == 1
        assert len(made(stage)) == 1


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

    async def test_that_is_edited_waits_for_the_end_of_the_call(
        self, stage: Stage, aiko: User, message: Message
    ) -> None:
        answer = stage.discord.answer(message)
        await stage.discord.edit(aiko, message, f"{stage.discord.bot.mention} 買い物を書いておいて")
        await stage.discord.quiet()
        assert answer.labels == [stop_label(answer)]
        stage.model.responder = lambda _: "書きました。"
        hold_no_more(stage)
        await told(stage, answer.stored[0], DONE["ja"])
        await settled(stage, aiko)
        await stage.says(message, "書きました。")
        assert DONE["ja"] in str(answer.message.embeds)
        assert len(made(stage)) == 1

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


class TestKill:
    """What was being decided when the program was killed is made once or not at all, and told of."""

    async def test_before_the_claim_leaves_it_open(self, stage: Stage, aiko: User, channel: Channel) -> None:
        reply = await proposed(stage, aiko, channel)
        stage.discord.fail_next(FETCH, 503, times=1000, delay_s=60)
        pressed = await stage.discord.click(aiko, reply.message, DO["ja"])
        await pressed.acknowledged()
        await pull_the_plug(stage)
        await stage.start()
        assert made(stage) == []
        await agreed(stage, aiko, reply.message, "今度は書きました。")
        assert len(made(stage)) == 1

    async def test_before_the_answer_is_settled_loses_nothing_of_a_press_at_once(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(calls(WRITE), says("🙂"))
        stage.discord.fail_next(EDIT, 503, times=1000, take_effect=True)  # shown, and nobody knows
        reply = await stage.begin(aiko, channel, "書いておいて")
        await reply.until(lambda shown: DO["ja"] in shown.labels, "what is to be decided")
        await pull_the_plug(stage)
        stage.discord.fail_next(HISTORY, 200, delay_s=1.5, channel=channel)  # as the start looks for it
        await stage.start()
        await agreed(stage, aiko, reply.message, "🙂 42")
        await told(stage, reply.stored[0], DONE["ja"])
        await stage.eventually(ON_THEIR_WAY, gives=[(0,)])
        await stage.discord.quiet()
        assert stage.discord.faults.outstanding == 0
        assert DONE["ja"] in str(reply.message.embeds)
        assert reply.labels == [again_label(aiko)]

    async def test_during_calls_is_told_to_user_and_model_and_repeats_none(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        """One that was agreed to, and one that needs no word."""
        reply = await proposed(stage, aiko, channel)
        free = hold(stage)
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await is_called(stage)
        stage.model.script(calls(POST))
        posted = await stage.begin(ben, channel, "Post it")
        await is_called(stage, 2)
        await pull_the_plug(stage)
        free.unlink()
        await stage.start()
        message = await told(stage, reply.stored[0], IN_DOUBT)
        assert message.labels == [again_label(aiko)]
        ask_again = EN.unfinished.ask_again
        await posted.until(lambda shown: ask_again in shown.labels, "the button to ask again")
        assert EN.unfinished.in_doubt_outside in posted.text
        await settled(stage, aiko)
        [result] = stored_results(stage, aiko)
        assert "may have been done or not" in result["error"]
        await stage.ask_in_words(aiko, channel, "🙂")
        assert "may have been done or not" in last_request(stage)
        stage.model.script(says("Please see whether it was posted."))
        pressed = await stage.discord.click(ben, posted.message, ask_again)
        await pressed.finished(lambda shown: again_label(ben) in shown.labels)
        assert "nobody knows whether it was done" in last_request(stage)
        await stage.restart()  # which has nothing to tell
        assert len(made(stage)) == 2

    async def test_after_the_call_is_told_as_it_ended(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        free = hold(stage)
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await told(stage, reply.stored[0], CALLING)
        stage.discord.fail_next(EDIT, 503, times=1000, delay_s=60)
        free.unlink()
        await stage.eventually(
            "SELECT state FROM claimed_calls WHERE user_id = ?", aiko.id, gives=[("done",)]
        )
        await pull_the_plug(stage)
        await stage.start()
        await told(stage, reply.stored[0], DONE["ja"])
        await settled(stage, aiko)
        assert len(made(stage)) == 1

    async def test_is_told_of_when_the_token_works_no_more(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        """In the message, and where only who asked could see that, in a DM."""
        public = await proposed(stage, ben, channel)
        private = await proposed(stage, aiko, channel, private=True)
        free = hold(stage)
        presses = [
            await stage.discord.click(ben, public.message, DO["en-US"]),
            await stage.discord.click(aiko, private.message, DO["ja"]),
        ]
        await is_called(stage, 2)
        await told(stage, public.stored[0], EN.proposal.calling.format(what=WHAT))
        await told(stage, private.stored[0], CALLING)  # nothing is under way to Discord
        await pull_the_plug(stage)
        free.unlink()
        await start_late(stage, public, private, *presses)
        del stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"]
        # Else the restart by the right clock tells it once more, by a token that it takes for a good one.
        await settled(stage, aiko)
        await settled(stage, ben)
        [message] = stage.discord.messages(stage.discord.dm(aiko))
        assert message.text.startswith(IN_DOUBT)
        await told(stage, public.stored[0], EN.proposal.call_in_doubt.format(what=WHAT))
        assert len(made(stage)) == 2
        await stage.restart()  # by the right clock

    async def test_after_a_call_that_needs_no_word_does_not_repeat_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(calls(POST), Reply(Hang()))
        answers(stage, post="投稿番号 12")
        reply = await stage.begin(aiko, channel, "投稿して")
        async with stage.patience():
            await stage.model.arrived(2)
        for _ in range(2):
            await pull_the_plug(stage)
            await stage.start()
            await reply.until(
                lambda shown: JA.unfinished.ask_again in shown.labels, "the button to ask again"
            )
            asked = len(stage.model.requests)
            stage.model.script(Reply(Hang()))
            reply = await stage.discord.click(aiko, reply.message, JA.unfinished.ask_again)
            async with stage.patience():
                request = await stage.model.arrived(asked + 1)
            assert "投稿番号 12" in str(request.messages)
        assert len(made(stage)) == 1
        await stage.restart()


async def test_an_orderly_end_during_a_call_that_needs_no_word_is_told_to_user_and_model(
    stage: Stage, aiko: User, channel: Channel
) -> None:
    free = hold(stage)
    stage.model.script(calls(POST))
    reply = await stage.begin(aiko, channel, "送って")
    await is_called(stage)
    assert await stage.program.stop() == 0
    await stage.discord.gone()
    await reply.until(lambda shown: "実行された可能性がある" in str(shown.message.embeds), "the doubt")
    free.unlink()
    await stage.start()
    await stage.ask_in_words(aiko, channel, "🙂")
    assert "nobody knows whether it was done" in last_request(stage)
    assert len(made(stage)) == 1
