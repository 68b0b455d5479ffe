"""A tool of a server that changes something out there is used when somebody says so: once, or not at all."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.databases import DatabaseSettings
from tests.end_to_end.kills import EDIT, HISTORY, pull_the_plug, start_late
from tests.end_to_end.stage import UNKNOWN_MESSAGE, Stage, again_label, running_stage, stop_label, streaming
from tests.end_to_end.test_proposals import proposals
from tests.loopback.discord import Channel, ChannelReply, Message, Shown, User
from tests.loopback.discord import Reply as Interaction
from tests.loopback.model_server import Call, CutConnection, Hang, Reply, Say, Wait, calls, fails, says
from tests.loopback.tool_servers import PICTURE, calls_in

DO = {"ja": "実行する", "en-US": "Do it"}
DONT = {"ja": "実行しない", "en-US": "Don't"}
DONE = {"ja": "🔧 実行しました: notes · write", "en-US": "🔧 Done: notes · write"}
CALLING = {"ja": "🔧 実行しています: notes · write", "en-US": "🔧 In progress: notes · write"}
IN_DOUBT = {"ja": "❓ 実行された可能性があります", "en-US": "❓ It may have been done"}
FETCH = "GET /webhooks/{application}/{token}/messages/@original"
CLAIMED = "SELECT count(*) FROM claimed_calls"
ON_THEIR_WAY = "SELECT count(*) FROM turns WHERE state <> 'interrupted'"
LATE = "UPDATE proposals SET made_at = made_at - 601000 WHERE user_id = ?"
WRITE = Call("notes__write", {"text": "牛乳\n# 卵 *二つ*", "path": "買い物.txt"})
WRITE_EN = Call("notes__write", {"text": "milk\n# eggs *two*", "path": "shopping.txt"})
WRITES = {"ja": WRITE, "en-US": WRITE_EN}
OWNER = 990_000_000_000_000_001


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


def stored_results(stage: Stage, user: User) -> list[dict[str, Any]]:
    rows = stage.rows(
        "SELECT tool_calls FROM messages WHERE user_id = ? AND tool_calls <> '[]' ORDER BY id", user.id
    )
    return [json.loads(call["result"]) for (stored,) in rows for call in json.loads(stored)]


class TestCall:
    async def test_stands_below_the_answer_in_full_and_is_not_made(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        assert proposals(reply.message) == [
            "**🔧 ツールを実行する**\n-# ツール: notes · write\n**渡す内容**\n"
            "> path: 買い物.txt\n> text:\n> │ 牛乳\n> │ # 卵 \\*二つ\\*"
        ]
        assert reply.labels == [DO["ja"], DONT["ja"], again_label(aiko)]
        assert "10分間有効" in str(reply.message.embeds)
        assert made(stage) == []

    @pytest.mark.parametrize("locale", ["ja", "en-US"])
    async def test_that_is_agreed_to_is_made_and_the_answer_goes_on(
        self, stage: Stage, channel: Channel, locale: str
    ) -> None:
        user = stage.discord.user("Someone", locale=locale)
        reply = await proposed(stage, user, channel)
        answers(stage, write="42行目に書きました")
        pressed = await agreed(stage, user, reply.message, "🙂 42")
        assert made(stage) == [{"tool": "notes__write", "arguments": WRITES[locale].arguments}]
        assert DONE[locale] in str(reply.message.embeds)
        assert proposals(reply.message) == []
        assert pressed.messages[-1].text.startswith("🙂 42")
        assert "42行目に書きました" in str(stage.model.requests[-1].messages)
        assert stage.shown()[-1].startswith("（「notes__write」" if locale == "ja" else "(“notes__write”")
        [result] = stored_results(stage, user)
        assert result["result"] == "42行目に書きました"
        await settled(stage, user)

    async def test_after_the_conversation_began_anew_the_model_is_told_of_it_all_the_same(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        await stage.told(aiko, channel, "clear")
        answers(stage, write="42行目に書きました")
        await agreed(stage, aiko, reply.message, "🙂 42")
        assert "42行目に書きました" in str(stage.model.requests[-1].messages)

    async def test_that_is_declined_is_not_made_and_the_model_hears_of_it_in_the_next_turn(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        asked = len(stage.model.requests)
        pressed = await stage.discord.click(aiko, reply.message, DONT["ja"])
        await pressed.finished(lambda _: not proposals(reply.message))
        assert "↩️ 実行しませんでした: notes · write" in str(reply.message.embeds)
        assert len(stage.model.requests) == asked
        await stage.ask_in_words(aiko, channel, "わかりました。")
        assert '"declined": true' in str(stage.model.requests[-1].messages)
        assert made(stage) == []

    @pytest.mark.parametrize("locale", ["ja", "en-US"])
    async def test_gives_its_picture_to_the_model_and_below_the_answer_that_goes_on(
        self, stage: Stage, channel: Channel, locale: str
    ) -> None:
        user = stage.discord.user("Someone", locale=locale)
        reply = await proposed(stage, user, channel)
        answers(stage, write={"picture": "売上の図です"})
        pressed = await agreed(stage, user, reply.message, "🙂 42")
        assert base64.b64encode(PICTURE).decode() in str(stage.model.requests[-1].messages)
        [picture] = pressed.messages[-1].attachments
        assert (picture.file.name, picture.file.data) == ("1.png", PICTURE)
        assert stage.rows("SELECT 1 FROM attachments WHERE user_id = ?", user.id) == []
        await settled(stage, user)

    @pytest.mark.parametrize("private", [False, True])
    async def test_whose_answer_can_not_go_on_shows_its_picture_all_the_same(
        self, stage: Stage, aiko: User, channel: Channel, private: bool
    ) -> None:
        reply = await proposed(stage, aiko, channel, private=private)
        answers(stage, write={"picture": "売上の図です"})
        asked = len(stage.model.requests)
        policy = stage.program.folder / "data" / "policy.toml"
        policy.write_text(f"[limits.users.{aiko.id}]\ntokens_per_month = 1\n", encoding="utf-8")
        try:
            pressed = await stage.discord.click(aiko, reply.message, DO["ja"])
            await pressed.until(
                lambda shown: shown.messages and shown.messages[-1].attachments, "the picture"
            )
        finally:
            policy.unlink()
        last = pressed.messages[-1]
        assert last.text.startswith("いま使える分を使いきりました。")
        assert last.attachments[0].file.data == PICTURE
        assert last.ephemeral is private
        assert len(stage.model.requests) == asked

    async def test_whose_server_fails_says_so_and_goes_on(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        answers(stage, write={"error": "ディスクがいっぱいです"})
        await agreed(stage, aiko, reply.message, "書けませんでした。")
        assert "🔧 失敗しました: notes · write" in str(reply.message.embeds)
        assert "ディスクがいっぱいです" in str(stage.model.requests[-1].messages)

    async def test_whose_server_is_lost_is_told_and_nothing_goes_on(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        answers(stage, write={"raises": "lost"})
        asked = len(stage.model.requests)
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await told(stage, reply.stored[0], "❓ 実行された可能性があります: notes · write")
        await settled(stage, aiko)
        assert len(stage.model.requests) == asked
        assert len(made(stage)) == 1

    async def test_that_comes_twice_in_one_answer_is_one(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        other_order = Call("notes__write", dict(reversed(list(WRITE.arguments.items()))))
        reply = await proposed(stage, aiko, channel, WRITE, other_order)
        assert len(proposals(reply.message)) == 1
        await agreed(stage, aiko, reply.message, "済みました。")
        assert [result["result"] for result in stored_results(stage, aiko)] == ["write は済みました。"] * 2

    async def test_is_one_of_five_proposals_at_most(self, stage: Stage, aiko: User, channel: Channel) -> None:
        wanted = (Call("notes__write", {"text": str(number)}) for number in range(7))
        reply = await proposed(stage, aiko, channel, *wanted)
        assert len(stage.rows("SELECT 1 FROM proposals WHERE user_id = ?", aiko.id)) == 4
        assert len(proposals(reply.message)) == 4

    async def test_with_long_arguments_is_shown_as_a_file(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel, Call("notes__write", {"text": "あ" * 3000}))
        seen = await stage.discord.click(aiko, reply.message, "確認待ちを見る（1件）")
        await seen.finished(lambda shown: shown.messages)
        assert "あ" * 3000 in seen.messages[0].attachments[0].file.data.decode()
        pressed = await agreed(stage, aiko, seen.stored[0], "長いものも書きました。")
        assert not pressed.messages[-1].ephemeral
        assert len(made(stage)) == 1


class TestPress:
    async def test_of_somebody_else_gets_one_sentence(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        for label in (DO["ja"], DONT["ja"]):
            pressed = await stage.discord.click(ben, reply.message, label)
            pressed.any_language = True  # its message is for who asked
            await pressed.until(
                lambda shown: any("Only the person who asked" in each.text for each in shown.messages),
                "a sentence for them alone",
            )
        assert made(stage) == []
        await agreed(stage, aiko, reply.message, "済みました。")
        assert len(made(stage)) == 1

    async def test_twice_at_the_same_time_makes_one_call(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
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

    async def test_on_two_devices_makes_one_call_and_says_that_it_was_decided(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        long = Call("notes__write", {"text": "あ" * 3000})
        reply = await proposed(stage, aiko, channel, long)
        copies = [await stage.discord.click(aiko, reply.message, "確認待ちを見る（1件）") for _ in range(2)]
        for seen in copies:
            await seen.finished(lambda shown: shown.messages)
        free = hold(stage)
        stage.model.script(says("一度だけ。"))
        presses = [await stage.discord.click(aiko, seen.messages[0], DO["ja"]) for seen in copies]

        def says_somewhere(text: str) -> bool:
            return any(text in each.text for press in presses for each in press.messages)

        await presses[0].until(lambda _: says_somewhere("期限（10分）が過ぎています"), "that it was decided")
        free.unlink()
        await presses[0].until(lambda _: says_somewhere("一度だけ。"), "an answer")
        await settled(stage, aiko)
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

    async def test_after_the_tool_is_gone_makes_no_call(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        (stage.program.folder / "gone.json").write_text('["write"]', "utf-8")
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await told(stage, reply.stored[0], "「notes」の「write」は、もう使えません")
        assert made(stage) == []

    async def test_after_a_restart_makes_the_call(self, stage: Stage, ben: User, channel: Channel) -> None:
        reply = await proposed(stage, ben, channel)
        await stage.restart()
        await agreed(stage, ben, reply.message, "It is written.")
        assert len(made(stage)) == 1

    async def test_while_its_server_is_started_waits_for_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        starting = servers_are(stage, "starting")
        pressed = await stage.discord.click(aiko, reply.message, DO["ja"])
        await pressed.acknowledged()
        await is_called(stage, noted="waits.jsonl")
        assert stage.rows(CLAIMED) == [(0,)]
        assert made(stage) == []
        stage.model.script(says("書けました。"))
        starting.unlink()
        await pressed.finished(lambda shown: any("書けました。" in each.text for each in shown.messages))
        assert len(made(stage)) == 1

    @pytest.mark.parametrize(
        ("locale", "sentence"),
        [
            ("ja", "いまは「notes」につながらないため、まだ実行していません"),
            ("en-US", "nothing was done yet"),
        ],
    )
    async def test_while_its_server_is_away_uses_nothing_up(
        self, stage: Stage, channel: Channel, locale: str, sentence: str
    ) -> None:
        user = stage.discord.user("Someone", locale=locale)
        reply = await proposed(stage, user, channel)
        away = servers_are(stage, "away")
        before = stage.rows("SELECT * FROM proposals WHERE user_id = ?", user.id)
        pressed = await stage.discord.click(user, reply.message, DO[locale])
        await pressed.until(
            lambda shown: any(sentence in each.text for each in shown.messages), "that it is not there now"
        )
        assert reply.labels == [DO[locale], DONT[locale], again_label(user)]
        assert len(proposals(reply.message)) == 1
        assert stage.rows("SELECT * FROM proposals WHERE user_id = ?", user.id) == before
        assert stage.rows(CLAIMED) == [(0,)]
        assert made(stage) == []
        away.unlink()
        await stage.restart()  # which forgets that the same was pressed a moment ago
        await agreed(stage, user, reply.message, "🙂 42")
        assert len(made(stage)) == 1

    @pytest.mark.parametrize(
        ("locale", "sentence"),
        [
            ("ja", "いまは「notes」につながらないため、まだ実行していません"),
            ("en-US", "nothing was done yet"),
        ],
    )
    async def test_whose_server_is_found_away_by_the_call_uses_nothing_up(
        self, stage: Stage, channel: Channel, locale: str, sentence: str
    ) -> None:
        user = stage.discord.user("Someone", locale=locale)
        reply = await proposed(stage, user, channel, WRITES[locale], Call("notes__write", {"text": "卵"}))
        shown = reply.message
        labels, open_ones = shown.labels, proposals(shown)
        answers(stage, write={"raises": "away"})
        free = hold(stage)
        pressed = await stage.discord.click(user, shown, f"1. {DO[locale]}")
        await told(stage, reply.stored[0], CALLING[locale])
        free.unlink()
        await whispers(pressed, sentence)
        await stage.discord.wait(lambda: reply.message.labels == labels, "the buttons as they were")
        assert proposals(reply.message) == open_ones
        assert CALLING[locale] not in str(reply.message.embeds)
        await settled(stage, user)
        answers(stage)
        await stage.restart()  # which forgets that the same was pressed a moment ago
        await agreed(stage, user, reply.message, "🙂 42", f"1. {DO[locale]}")
        assert [call["arguments"]["text"] for call in made(stage)] == [WRITES[locale].arguments["text"]] * 2

    async def test_of_dont_while_the_server_is_started_wins(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        starting = servers_are(stage, "starting")
        first = await stage.discord.click(aiko, reply.message, DO["ja"])
        await is_called(stage, noted="waits.jsonl")
        await stage.discord.click(aiko, reply.message, DONT["ja"])
        await told(stage, reply.stored[0], "↩️ 実行しませんでした: notes · write")
        starting.unlink()
        await stage.ask_in_words(aiko, channel, "わかりました。")
        await stage.discord.quiet()
        assert made(stage) == []
        assert proposals(reply.message) == []
        assert len(first.messages) == 1  # nothing is said to who has decided otherwise
        assert stage.rows("SELECT 1 FROM proposals WHERE user_id = ?", aiko.id) == []

    async def test_on_two_devices_while_the_server_is_started_makes_one_call(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel, Call("notes__write", {"text": "あ" * 3000}))
        copies = [await stage.discord.click(aiko, reply.message, "確認待ちを見る（1件）") for _ in range(2)]
        for seen in copies:
            await seen.finished(lambda shown: shown.messages)
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

    @pytest.mark.parametrize(
        ("locale", "sentence"),
        [("ja", "この回答のツールを実行しています。"), ("en-US", "A tool of this answer is in use.")],
    )
    async def test_of_answer_again_while_the_call_is_made_is_refused(
        self, stage: Stage, channel: Channel, locale: str, sentence: str
    ) -> None:
        user = stage.discord.user("Someone", locale=locale)
        reply = await proposed(stage, user, channel)
        free = hold(stage)
        await stage.discord.click(user, reply.message, DO[locale])
        await is_called(stage)
        await told(stage, reply.stored[0], CALLING[locale])
        before, asked = reply.stored[0].shown, len(stage.model.requests)
        again = await stage.discord.click(user, reply.message, again_label(user))
        await whispers(again, sentence)
        assert reply.stored[0].shown == before
        assert before.labels == [stop_label(user), again_label(user)]
        assert len(stage.model.requests) == asked
        stage.model.script(says("🙂 42"))
        free.unlink()
        await told(stage, reply.stored[0], DONE[locale])
        await settled(stage, user)
        assert len(made(stage)) == 1

    @pytest.mark.parametrize(
        ("locale", "sentence"),
        [("ja", "いま回答を作り直しているので、まだ実行していません。"), ("en-US", "nothing was done yet")],
    )
    async def test_while_the_answer_is_given_anew_is_refused_and_open_if_nothing_comes_of_that(
        self, stage: Stage, channel: Channel, locale: str, sentence: str
    ) -> None:
        user = stage.discord.user("Someone", locale=locale)
        reply = await proposed(stage, user, channel)
        before, thinks = reply.stored[0].shown, asyncio.Event()
        stage.model.script(Reply(Wait(thinks), CutConnection()))
        again = await stage.discord.click(user, reply.message, again_label(user))
        await stage.discord.wait(lambda: len(stage.model.requests) > 2, "the model's turn")
        pressed = await stage.discord.click(user, reply.message, DO[locale])
        await whispers(pressed, sentence)
        assert stage.rows(CLAIMED) == [(0,)]
        thinks.set()
        await again.finished(lambda _: stage.rows(ON_THEIR_WAY) == [(0,)])
        assert made(stage) == []
        assert proposals(reply.message) == proposals(before)
        await stage.restart()
        await agreed(stage, user, reply.message, "🙂 42")
        assert len(made(stage)) == 1

    async def test_of_answer_again_while_the_server_is_started_is_refused(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        starting = servers_are(stage, "starting")
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await is_called(stage, noted="waits.jsonl")
        again = await stage.discord.click(aiko, reply.message, again_label(aiko))
        await whispers(again, "この回答のツールを実行しています。")
        assert reply.labels == [DO["ja"], DONT["ja"], again_label(aiko)]
        stage.model.script(says("書けました。"))
        starting.unlink()
        await told(stage, reply.stored[0], DONE["ja"])
        await settled(stage, aiko)

    async def test_of_stop_ends_the_call_at_its_server(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        hold(stage)
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await is_called(stage)
        await told(stage, reply.stored[0], "🔧 実行しています: notes · write")
        await stage.discord.click(aiko, reply.message, stop_label(aiko))
        message = await told(stage, reply.stored[0], "⏹️ 止めました: notes · write")
        assert "実行しています" not in str(message.embeds)
        assert message.labels == [again_label(aiko)]
        assert calls_in(stage.program.folder, "cancelled.jsonl") == [{"tool": "notes__write"}]
        [result] = stored_results(stage, aiko)
        assert "may have been done or not" in result["error"]


class TestAnswerAgain:
    """What was done out there is done, whatever takes the place of the answer that did it."""

    async def test_knows_of_a_call_that_may_have_been_made(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        answers(stage, write={"raises": "lost"})
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await told(stage, reply.stored[0], IN_DOUBT["ja"])
        await settled(stage, aiko)
        await self._again(stage, aiko, reply, "見てみます。")
        assert "maybe_done" in str(stage.model.requests[-1].messages)
        assert "実行された可能性がある" in str(reply.message.embeds)
        await stage.ask_in_words(aiko, channel, "🙂")
        assert "maybe_done" in str(stage.model.requests[-1].messages)
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
            await self._again(stage, ben, reply, answer)
            assert "line 7" in str(stage.model.requests[-1].messages)
            assert str(reply.message.embeds).count(DONE["en-US"]) == 1
        assert len(made(stage)) == 1

    async def test_knows_of_a_call_without_a_word_in_which_it_was_stopped(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        free = hold(stage)
        stage.model.script(calls(Call("notes__post", {"text": "犬"})))
        reply = await stage.begin(aiko, channel, "送って")
        await is_called(stage)
        await stage.discord.click(aiko, reply.message, stop_label(aiko))
        await reply.finished(lambda shown: again_label(aiko) in shown.labels)
        free.unlink()
        await self._again(stage, aiko, reply, "見てみます。")
        assert "nobody knows whether it was done" in str(stage.model.requests[-1].messages)
        assert "実行された可能性がある" in str(reply.message.embeds)
        assert len(made(stage)) == 1

    async def test_of_a_call_without_a_word_that_is_lost_tells_its_user_both_times(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        answers(stage, post={"raises": "lost"})
        stage.model.script(calls(Call("notes__post", {"text": "犬"})), says("分かりません。"))
        reply = await stage.ask(aiko, channel, "送って")
        assert "実行された可能性がある" in str(reply.message.embeds)
        await self._again(stage, aiko, reply, "見てみます。")
        assert "maybe_done" in str(stage.model.requests[-1].messages)
        assert "実行された可能性がある" in str(reply.message.embeds)

    async def test_of_a_call_that_was_declined_or_only_read_tells_nothing(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel, WRITE, Call("notes__search", {"text": "犬"}))
        await stage.discord.click(aiko, reply.message, DONT["ja"])
        await told(stage, reply.stored[0], "実行しませんでした")
        await self._again(stage, aiko, reply, "はい。")
        assert "declined" not in str(stage.model.requests[-1].messages)
        assert "実行し" not in str(reply.message.embeds)

    async def test_of_a_message_that_is_edited_knows_too(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(calls(WRITE), says("下で選べます。"))
        message = await stage.write(aiko, channel, "書いておいて")
        answer = await stage.says(message, "下で選べます。")
        answers(stage, write={"raises": "lost"})
        await stage.discord.click(aiko, answer.message, DO["ja"])
        await told(stage, answer.stored[0], IN_DOUBT["ja"])
        await settled(stage, aiko)
        stage.model.script(says("見てみます。"))
        await stage.discord.edit(aiko, message, f"{stage.discord.bot.mention} 買い物を書いておいて")
        await stage.says(message, "見てみます。")
        assert "maybe_done" in str(stage.model.requests[-1].messages)
        assert "実行された可能性がある" in str(answer.message.embeds)
        assert len(made(stage)) == 1

    async def test_of_a_message_that_is_edited_waits_for_the_end_of_the_call(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        message, answer, free = await self._under_way(stage, aiko, channel)
        await stage.discord.edit(aiko, message, f"{stage.discord.bot.mention} 買い物を書いておいて")
        await stage.discord.quiet()
        assert answer.labels == [stop_label(answer)]
        stage.model.responder = lambda _: "書きました。"
        free.unlink()
        await told(stage, answer.stored[0], DONE["ja"])
        await settled(stage, aiko)
        await stage.says(message, "書きました。")
        assert DONE["ja"] in str(answer.message.embeds)
        assert len(made(stage)) == 1

    async def test_of_a_message_that_is_edited_lets_others_be_answered_meanwhile(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        message, answer, free = await self._under_way(stage, aiko, channel)
        await stage.discord.edit(aiko, message, f"{stage.discord.bot.mention} 買い物を書いておいて")
        await stage.said(ben, channel, "Hello", "🙂")
        assert answer.labels == [stop_label(answer)]
        stage.model.script(says("書きました。"))
        free.unlink()
        await told(stage, answer.stored[0], DONE["ja"])
        await settled(stage, aiko)
        assert len(made(stage)) == 1

    @pytest.mark.parametrize("gone", ["question", "answer"])
    async def test_of_a_message_that_is_deleted_is_not_wanted_and_the_call_is_stopped(
        self, stage: Stage, aiko: User, channel: Channel, gone: str
    ) -> None:
        message, answer, _ = await self._under_way(stage, aiko, channel)
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

    async def _under_way(
        self, stage: Stage, user: User, channel: Channel
    ) -> tuple[Message, ChannelReply, Path]:
        stage.model.script(calls(WRITE), says("下で選べます。"))
        message = await stage.write(user, channel, "書いておいて")
        answer = await stage.says(message, "下で選べます。")
        free = hold(stage)
        await stage.discord.click(user, answer.message, DO["ja"])
        await is_called(stage)
        await told(stage, answer.stored[0], CALLING["ja"])
        return message, answer, free

    async def _again(self, stage: Stage, user: User, reply: Interaction, answer: str) -> None:
        stage.model.script(says(answer))
        again = await stage.discord.click(user, reply.message, again_label(user))
        await again.finished(lambda _: answer in reply.text and again_label(user) in reply.labels)

    async def test_shows_its_end_though_discord_fails_once(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        free = hold(stage)
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await is_called(stage)
        await told(stage, reply.stored[0], CALLING["ja"])
        before = stage.program.output.count("approved_call_not_shown")  # of other tests
        stage.discord.fail_next(FETCH, 500, times=1)
        stage.model.script(says("書きました。"))
        free.unlink()
        await told(stage, reply.stored[0], DONE["ja"])
        assert stage.program.output.count("approved_call_not_shown") == before
        await settled(stage, aiko)


class TestOwners:
    async def test_decide_where_the_operator_wants_that(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        owner = stage.discord.owner
        owner.locale = "ja"
        reply = await proposed(stage, aiko, channel, Call("notes__send", {"text": "全員へ"}))
        assert "ボットの管理者だけが選べます" in proposals(reply.message)[0]
        denied = await stage.discord.click(aiko, reply.message, DO["ja"])
        await denied.finished()
        assert "ボットの管理者だけ" in denied.messages[-1].text
        assert made(stage) == []
        pressed = await agreed(stage, owner, reply.message, "送りました。", DO["ja"])
        assert [call["tool"] for call in made(stage)] == ["notes__send"]
        assert pressed.messages[-1].text.startswith("送りました。")
        asked_by = stage.rows("SELECT user_id FROM messages WHERE content LIKE '%送りました%'")
        assert asked_by == [(aiko.id,)]

    async def test_are_not_waited_for_where_none_of_them_reads_along(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel, Call("notes__send", {"text": "全員へ"}), private=True)
        assert not proposals(reply.message)
        assert DO["ja"] not in reply.message.labels
        [result] = stored_results(stage, aiko)
        assert "Only an owner of this bot" in result["error"]
        assert stage.rows("SELECT count(*) FROM proposals WHERE user_id = ?", aiko.id) == [(0,)]

    async def test_decide_on_what_they_asked_in_private(self, stage: Stage, channel: Channel) -> None:
        owner = stage.discord.owner
        owner.locale = "ja"
        reply = await proposed(stage, owner, channel, Call("notes__send", {"text": "全員へ"}), private=True)
        await agreed(stage, owner, reply.message, "みんなに知らせました。")
        assert [call["tool"] for call in made(stage)] == ["notes__send"]

    async def test_decide_on_what_only_the_role_of_who_asked_has(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        role, owner = 4242, stage.discord.owner
        owner.locale = "ja"
        stage.discord.give_role(aiko, role)
        (stage.program.folder / "roles.json").write_text(json.dumps({"send": role}), "utf-8")
        reply = await proposed(stage, aiko, channel, Call("notes__send", {"text": "全員へ"}))
        await agreed(stage, owner, reply.message, "届けました。", DO["ja"])
        assert len(made(stage)) == 1

    async def test_in_the_language_of_who_asked(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.discord.owner.locale = "en-US"
        reply = await proposed(stage, ben, channel, Call("notes__send", {"text": "to all"}))
        await agreed(stage, stage.discord.owner, reply.message, "It is sent.", DO["en-US"])
        assert "🔧 Done: notes · send" in str(reply.message.embeds)
        assert stage.shown()[-1].startswith("(“notes__send”")

    async def test_see_a_long_one_in_full_and_nobody_else_does(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        owner, see = stage.discord.owner, "確認待ちを見る（1件）"
        owner.locale = "ja"
        reply = await proposed(stage, aiko, channel, Call("notes__send", {"text": "あ" * 3000}))
        denied = await stage.discord.click(ben, reply.message, see)
        denied.any_language = True  # its message is for who asked
        await denied.until(
            lambda shown: any("Only the person who asked" in each.text for each in shown.messages),
            "a refusal",
        )
        seen = await stage.discord.click(owner, reply.message, see)
        await seen.finished(lambda shown: shown.messages and shown.messages[0].attachments)
        assert "あ" * 3000 in seen.messages[0].attachments[0].file.data.decode()
        pressed = await agreed(stage, owner, seen.stored[0], "全員に届きました。", DO["ja"])
        assert not pressed.messages[-1].ephemeral  # who asked reads it
        assert len(made(stage)) == 1


class TestPlaces:
    async def test_in_private_results_are_for_their_user_alone(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel, private=True)
        pressed = await agreed(stage, aiko, reply.message, "内緒で書きました。")
        assert all(shown.ephemeral for shown in pressed.messages)
        rows = stage.rows("SELECT DISTINCT visibility FROM messages WHERE user_id = ?", aiko.id)
        assert rows == [("private",)]

    async def test_in_a_dm_it_is_made(self, stage: Stage, aiko: User) -> None:
        reply = await proposed(stage, aiko, stage.discord.dm(aiko))
        await agreed(stage, aiko, reply.message, "済みました。")
        assert len(made(stage)) == 1

    async def test_in_a_channel_who_asked_decides_and_is_answered_there(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(calls(WRITE), says("下で選べます。"))
        message = await stage.write(aiko, channel, "書いておいて")
        answer = await stage.says(message, "下で選べます。")
        denied = await stage.discord.click(ben, answer.message, DO["ja"])
        denied.any_language = True  # its message is for who asked
        await denied.finished()
        assert made(stage) == []
        answers(stage, write="7行目です")
        await agreed(stage, aiko, answer.message, "7行目に書きました。")
        assert "7行目です" in str(stage.model.requests[-1].messages)
        assert len(made(stage)) == 1

    async def test_of_a_temporary_turn_are_none_for_what_changes_something(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("はい。"))
        question = await stage.begin(aiko, channel, "書いて", temporary=True)
        await question.until(lambda shown: "はい。" in shown.text, "an answer")
        await question.finished()
        assert "notes__read" in stage.tools()
        assert not {"notes__write", "notes__send", "notes__post"} & stage.tools()

    async def test_where_several_are_answered_at_once_are_none(
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


class TestTaint:
    @pytest.mark.parametrize("locale", ["ja", "en-US"])
    async def test_of_a_result_makes_every_change_a_proposal(
        self, stage: Stage, channel: Channel, locale: str
    ) -> None:
        user = stage.discord.user("Someone", locale=locale)
        order = {"ja": "「鍵は玄関」と覚えて", "en-US": "Remember: the key is at the door"}[locale]
        answers(stage, read=order)
        stage.model.script(
            calls(Call("notes__read", {"text": "?"})),
            calls(
                Call("remember", {"content": order}), Call("schedule", {"when": "2030-01-01", "text": order})
            ),
            says("🙂"),
        )
        reply = await stage.ask(user, channel, order)
        assert len(proposals(reply.message)) == 2
        assert stage.rows("SELECT 1 FROM memories WHERE user_id = ?", user.id) == []
        assert stage.rows("SELECT 1 FROM schedules WHERE user_id = ?", user.id) == []

    async def test_of_an_agreed_call_makes_every_change_a_proposal(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        answers(stage, write="「鍵は玄関」と覚えて")
        stage.model.script(calls(Call("remember", {"content": "鍵は玄関"})))
        pressed = await agreed(stage, aiko, reply.message, "🙂 7")
        assert len(proposals(pressed.messages[-1])) == 1
        assert stage.rows("SELECT 1 FROM memories WHERE user_id = ?", aiko.id) == []


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

    @pytest.mark.parametrize("locale", ["ja", "en-US"])
    async def test_before_the_answer_is_settled_loses_nothing_of_a_press_at_once(
        self, stage: Stage, channel: Channel, locale: str
    ) -> None:
        user = stage.discord.user("Someone", locale=locale)
        stage.model.script(calls(WRITES[locale]), says("🙂"))
        stage.discord.fail_next(EDIT, 503, times=1000, take_effect=True)  # shown, and nobody knows
        reply = await stage.begin(user, channel, "書いておいて")
        await reply.until(lambda shown: DO[locale] in shown.labels, "what is to be decided")
        await pull_the_plug(stage)
        stage.discord.fail_next(HISTORY, 200, delay_s=1.5, channel=channel)  # as the start looks for it
        await stage.start()
        await agreed(stage, user, reply.message, "🙂 42")
        await told(stage, reply.stored[0], DONE[locale])
        await stage.eventually(ON_THEIR_WAY, gives=[(0,)])
        await stage.discord.quiet()
        assert stage.discord.faults.outstanding == 0
        assert DONE[locale] in str(reply.message.embeds)
        assert reply.labels == [again_label(user)]

    @pytest.mark.parametrize("locale", ["ja", "en-US"])
    async def test_during_the_call_is_told_of_in_its_message(
        self, stage: Stage, channel: Channel, locale: str
    ) -> None:
        user = stage.discord.user("Someone", locale=locale)
        reply = await proposed(stage, user, channel)
        free = hold(stage)
        await stage.discord.click(user, reply.message, DO[locale])
        await is_called(stage)
        await pull_the_plug(stage)
        free.unlink()
        await stage.start()
        message = await told(stage, reply.stored[0], IN_DOUBT[locale])
        assert message.labels == [again_label(user)]
        await settled(stage, user)
        assert len(made(stage)) == 1
        [result] = stored_results(stage, user)
        assert "may have been done or not" in result["error"]
        await stage.ask_in_words(user, channel, "🙂")
        assert "may have been done or not" in str(stage.model.requests[-1].messages)
        await stage.restart()  # which has nothing to tell
        assert len(made(stage)) == 1

    async def test_after_the_call_is_told_as_it_ended(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await proposed(stage, aiko, channel)
        free = hold(stage)
        await stage.discord.click(aiko, reply.message, DO["ja"])
        await told(stage, reply.stored[0], "🔧 実行しています")
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

    @pytest.mark.parametrize("private", [False, True])
    async def test_is_told_of_when_the_token_works_no_more(
        self, stage: Stage, aiko: User, channel: Channel, *, private: bool
    ) -> None:
        """In the message, and where only who asked could see that, in a DM."""
        reply = await proposed(stage, aiko, channel, private=private)
        free = hold(stage)
        pressed = await stage.discord.click(aiko, reply.message, DO["ja"])
        await is_called(stage)
        await told(stage, reply.stored[0], "🔧 実行しています")  # nothing is under way to Discord
        await pull_the_plug(stage)
        free.unlink()
        await start_late(stage, reply, pressed)
        del stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"]
        # Else the restart by the right clock tells it once more, by a token that it takes for a good one.
        await settled(stage, aiko)
        if private:
            [message] = stage.discord.messages(stage.discord.dm(aiko))
            assert message.text.startswith("❓ 実行された可能性があります: notes · write")
        else:
            await told(stage, reply.stored[0], IN_DOUBT["ja"])
        assert len(made(stage)) == 1
        await stage.restart()  # by the right clock

    @pytest.mark.parametrize(
        ("locale", "sentence"), [("ja", "実行された可能性がある"), ("en-US", "It may have been done")]
    )
    @pytest.mark.parametrize("by", ["stop", "end"])
    async def test_or_stop_during_a_call_that_needs_no_word_is_told_to_user_and_model(
        self, stage: Stage, channel: Channel, locale: str, sentence: str, by: str
    ) -> None:
        """In an orderly end, too; one that was done before is told as done."""
        user = stage.discord.user("Someone", locale=locale)
        free = hold(stage)
        stage.model.script(calls(Call("notes__post", {"text": "犬"})))
        reply = await stage.begin(user, channel, "送って")
        await is_called(stage)
        if by == "stop":
            await stage.discord.click(user, reply.message, stop_label(user))
        else:
            assert await stage.program.stop() == 0
            await stage.discord.gone()
        await reply.until(lambda shown: sentence in str(shown.message.embeds), "that it may have been done")
        free.unlink()
        if by == "end":
            await stage.start()
        await stage.ask_in_words(user, channel, "🙂")
        assert "nobody knows whether it was done" in str(stage.model.requests[-1].messages)
        assert len(made(stage)) == 1

    async def test_of_a_call_that_needs_no_word_is_told_to_the_model_that_goes_on(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(calls(Call("notes__post", {"text": "お知らせ"})))
        free = hold(stage)
        reply = await stage.begin(aiko, channel, "投稿して")
        await is_called(stage)
        await pull_the_plug(stage)
        free.unlink()
        await stage.start()
        await reply.until(lambda shown: "もう一度きく" in shown.labels, "the button to ask again")
        assert "ツールの仕事が終わったか分かりません" in reply.text
        stage.model.script(says("投稿されたか、確かめてください。"))
        pressed = await stage.discord.click(aiko, reply.message, "もう一度きく")
        await pressed.finished(lambda shown: again_label(aiko) in shown.labels)
        assert "nobody knows whether it was done" in str(stage.model.requests[-1].messages)
        assert len(made(stage)) == 1

    async def test_of_a_call_that_was_made_without_a_word_does_not_repeat_it(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(calls(Call("notes__post", {"text": "お知らせ"})), Reply(Hang()))
        answers(stage, post="投稿番号 12")
        reply = await stage.begin(aiko, channel, "投稿して")
        async with stage.patience():
            await stage.model.arrived(2)
        for _ in range(2):
            await pull_the_plug(stage)
            await stage.start()
            await reply.until(lambda shown: "もう一度きく" in shown.labels, "the button to ask again")
            asked, go_on = len(stage.model.requests), Reply(Hang())
            stage.model.script(go_on)
            reply = await stage.discord.click(aiko, reply.message, "もう一度きく")
            async with stage.patience():
                request = await stage.model.arrived(asked + 1)
            assert "投稿番号 12" in str(request.messages)
        assert len(made(stage)) == 1
        await stage.restart()
