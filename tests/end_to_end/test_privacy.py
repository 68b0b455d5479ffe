"""`/privacy`: what is stored about a user, shown, handed over and erased."""

import asyncio
import json
import re
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from cc_bot.discord.pages.custom_ids import PrivacyButton, parse_custom_id
from cc_bot.stores import open_stores
from tests.end_to_end.canvases import SHOPPING, boards, draw
from tests.end_to_end.memories import keep, press
from tests.end_to_end.stage import Stage, ended, running_stage, streaming
from tests.loopback import model_server
from tests.loopback.discord import Channel, File, LoopbackDiscord, Reply, Shown, User
from tests.loopback.model_server import Call, Hang, Say, calls, says

SERIAL = count(1)


@pytest.fixture
def word() -> str:
    """What one test says, and no other does."""
    return f"しまうま{next(SERIAL)}号"


async def run(stage: Stage, user: User, channel: Channel, command: str, **options: str) -> Reply:
    reply = await (await stage.discord.slash(user, channel, f"privacy {command}", **options)).finished()
    assert reply.ephemeral
    return reply


async def lived(stage: Stage, user: User, channel: Channel, word: str) -> None:
    """A question in public and one in private, a memory, a mention."""
    stage.model.script(calls(Call("remember", {"content": f"{word}が好き"})), says(f"{word}ですね。"))
    await stage.ask(user, channel, f"{word}が好き。覚えて")
    stage.model.script(says(f"{word}の内緒話"))
    await stage.ask(user, channel, f"{word}のこと", private=True)
    await keep(stage, user, channel, f"{word}の誕生日は3月15日")
    await stage.said(user, channel, f"{word}は元気？", f"{word}は元気です")


def exported(*messages: Shown) -> dict[str, list[Any]]:
    """What is in the files below these messages."""
    files = [attachment.file for message in messages for attachment in message.attachments]
    assert all(re.fullmatch(r"cc-bot-\d{4}-\d\d-\d\d-\d+\.json", file.name) for file in files)
    found: dict[str, list[Any]] = {}
    for file in files:
        for name, records in json.loads(file.data)["data"].items():
            found.setdefault(name, []).extend(records)
    return found


async def much(stage: Stage, user: User, channel: Channel, word: str) -> None:
    """More than one file of Discord's takes: one of eight megabytes was sent along."""
    file = File("a.txt", b"a", "text/plain")
    await stage.ask(user, channel, word, attachment=file)
    stage.change(f"UPDATE attachments SET data = zeroblob({8 * 2**20}) WHERE user_id = {user.id}")


def left(stage: Stage, word: str) -> dict[str, int]:
    """How often a word stands in the database's files."""
    files = sorted(stage.database.parent.glob("sessions.*"))
    counts = {file.name: file.read_bytes().count(word.encode()) for file in files}
    return {name: number for name, number in counts.items() if number}


class TestShow:
    async def test_tells_how_much_there_is_and_how_long_it_is_kept(
        self, stage: Stage, aiko: User, channel: Channel, word: str
    ) -> None:
        await lived(stage, aiko, channel, word)
        shown = await run(stage, aiko, channel, "show")
        for line in (
            "会話: 1件",
            "会話の中の質問と回答: 4件",
            "チャンネルでの発言: 1件",
            "内容をふくむ）: 2件",
        ):
            assert line in shown.text
        assert "400日で消えます" in shown.text
        assert word not in shown.text

    async def test_of_nothing_says_so(self, stage: Stage, ben: User, channel: Channel) -> None:
        shown = await run(stage, ben, channel, "show")
        assert shown.text == "Nothing is stored about you."


class TestExport:
    async def test_comes_as_a_file_for_its_user_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel, word: str
    ) -> None:
        await lived(stage, aiko, channel, word)
        stage.model.script(says("something of Ben's"))
        await stage.ask(ben, channel, "something of Ben's")
        reply = await run(stage, aiko, channel, "export")
        found = exported(*reply.messages)
        assert [each["role"] for each in found["messages"]] == ["user", "assistant"] * 2
        assert [each["author_id"] for each in found["channel_messages"]] == [str(aiko.id)]
        assert [word in each["content"] for each in found["channel_answers"]] == [True]
        assert {each["content"] for each in found["memories"]} == {
            f"{word}が好き",
            f"{word}の誕生日は3月15日",
        }
        assert "Ben" not in json.dumps(found)

    async def test_comes_by_dm_if_that_is_chosen(
        self, stage: Stage, aiko: User, channel: Channel, word: str
    ) -> None:
        await keep(stage, aiko, channel, word)
        reply = await run(stage, aiko, channel, "export", where="dm")
        assert "DM" in reply.text
        [message] = stage.discord.messages(stage.discord.dm(aiko))
        assert [each["content"] for each in exported(message)["memories"]] == [word]

    async def test_says_when_dms_are_closed(self, stage: Stage, channel: Channel, word: str) -> None:
        shy = stage.discord.user("Shy", locale="ja", accepts_dms=False)
        stage.excused.add(50007)
        await keep(stage, shy, channel, word)
        assert "DM を送れませんでした" in (await run(stage, shy, channel, "export", where="dm")).text

    async def test_of_much_comes_in_several_files_and_says_when_it_was_cut_short(
        self, stage: Stage, aiko: User, channel: Channel, word: str
    ) -> None:
        await much(stage, aiko, channel, word)
        stage.discord.fail_next("POST /webhooks/{application}/{token}", 400)
        reply = await run(stage, aiko, channel, "export")
        await reply.until(lambda shown: "1個までしか" in shown.text, "how many files")
        reply = await run(stage, aiko, channel, "export")
        await reply.until(lambda shown: "2個のファイル" in shown.text, "how many files")
        assert [each["piece"] for each in exported(*reply.messages)["attachments"]] == [1, 2, 3]

    async def test_of_nothing_has_no_file(self, stage: Stage, ben: User, channel: Channel) -> None:
        reply = await run(stage, ben, channel, "export")
        assert reply.text == "Nothing is stored about you."
        assert exported(*reply.messages) == {}


class TestErase:
    async def test_leaves_no_byte_and_touches_nobody_else(
        self, stage: Stage, aiko: User, ben: User, channel: Channel, word: str
    ) -> None:
        await lived(stage, aiko, channel, word)
        number = next(SERIAL)
        await keep(stage, ben, channel, f"Ben's zebra {number}")
        asked = await run(stage, aiko, channel, "erase")
        assert "メモリ（以前の内容をふくむ） 2件" in asked.text
        assert "バックアップ" in asked.text
        assert left(stage, word)
        done = await press(stage, aiko, asked, "すべて消す")
        assert "すべて消しました" in done.text
        assert "バックアップ" not in done.text
        assert left(stage, word) == {}
        assert left(stage, f"Ben's zebra {number}")
        assert "何もありません" in (await run(stage, aiko, channel, "show")).text

    async def test_drops_an_answer_that_is_on_its_way(
        self, stage: Stage, aiko: User, channel: Channel, word: str
    ) -> None:
        await keep(stage, aiko, channel, word)
        stage.model.script(model_server.Reply(Say(f"{word}の話"), Hang()))
        reply = await streaming(await stage.begin(aiko, channel, f"{word}って？"), word)
        erased = await press(stage, aiko, await run(stage, aiko, channel, "erase"), "すべて消す")
        assert "すべて消しました" in erased.text
        assert "取りやめました" in (await ended(reply)).text
        await stage.eventually("SELECT count(*) FROM turns WHERE user_id = ?", aiko.id, gives=[(0,)])
        assert left(stage, word) == {}

    async def test_may_be_left(self, stage: Stage, aiko: User, channel: Channel, word: str) -> None:
        await keep(stage, aiko, channel, word)
        asked = await run(stage, aiko, channel, "erase")
        kept = await press(stage, aiko, asked, "やめる")
        assert "何も消していません" in kept.text
        assert left(stage, word)

    async def test_that_was_done_meanwhile_can_not_be_left(
        self, stage: Stage, aiko: User, channel: Channel, word: str
    ) -> None:
        await keep(stage, aiko, channel, word)
        asked, again = [await run(stage, aiko, channel, "erase") for _ in range(2)]
        await press(stage, aiko, asked, "すべて消す")
        assert "データはすべて消えています" in (await press(stage, aiko, again, "やめる")).text

    async def test_takes_away_a_canvas_that_discord_is_slow_to_show(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.discord.fail_next("POST /channels/{channel}/messages", 200, delay_s=1.5, channel=channel)
        await draw(stage, aiko, channel, SHOPPING)
        erased = await press(stage, aiko, await run(stage, aiko, channel, "erase"), "すべて消す")
        assert "すべて消しました" in erased.text
        await stage.discord.quiet(2.0)
        assert stage.rows("SELECT * FROM canvas_messages WHERE user_id = ?", aiko.id) == []
        assert boards(stage, channel) == []

    async def test_that_fails_on_the_way_says_so_and_is_done_by_itself(
        self, stage: Stage, aiko: User, channel: Channel, word: str
    ) -> None:
        await keep(stage, aiko, channel, word)
        asked, again = [await run(stage, aiko, channel, "erase") for _ in range(2)]
        stage.change(
            "CREATE TRIGGER in_the_way BEFORE DELETE ON memories BEGIN SELECT RAISE(ABORT, 'not now'); END"
        )
        try:
            told = await press(stage, aiko, asked, "すべて消す")
            assert "残りは自動で消えます" in told.text
            assert "残りは自動で消えます" in (await press(stage, aiko, again, "やめる")).text
            assert asked.labels == again.labels == []
        finally:
            stage.change("DROP TRIGGER in_the_way")
        async with asyncio.timeout(60):  # it is tried again after 5 s, and then taken out of the log
            while left(stage, word):  # noqa: ASYNC110 - no event comes out of a file
                await asyncio.sleep(0.1)

    async def test_is_asked_anew_after_five_minutes(
        self, stage: Stage, aiko: User, channel: Channel, word: str
    ) -> None:
        await keep(stage, aiko, channel, word)
        asked = await run(stage, aiko, channel, "erase")
        for row in asked.stored[0].components:
            for part in row["components"]:
                pressed = parse_custom_id(part["custom_id"])
                assert isinstance(pressed, PrivacyButton)
                part["custom_id"] = replace(pressed, until=1).custom_id()
        assert "時間がたったので" in (await press(stage, aiko, asked, "すべて消す")).text
        assert left(stage, word)


class TestTemporaryQuestion:
    async def test_leaves_usage_and_nothing_else(
        self, stage: Stage, aiko: User, channel: Channel, word: str
    ) -> None:
        stage.model.script(says(f"{word}の答え"))
        reply = await ended(await stage.begin(aiko, channel, f"{word}って？", temporary=True))
        assert f"{word}の答え" in reply.text
        assert left(stage, word) == {}
        await stage.eventually("SELECT count(*) FROM turns WHERE user_id = ?", aiko.id, gives=[(0,)])
        found = exported(*(await run(stage, aiko, channel, "export")).messages)
        assert {*found} <= {"usage", "reservations"}


class TestKill:
    async def test_leaves_nothing_of_a_temporary_question_and_brings_nobody_back(
        self, tmp_path: Path, word: str
    ) -> None:
        discord = LoopbackDiscord(message_content=True)
        async with running_stage(tmp_path, {"CC_BOT_CHANNELS": "all"}, discord) as stage:
            aiko, ben = (stage.discord.user(name, locale="ja") for name in ("Aiko", "Ben"))
            channel = stage.discord.guild_channel()
            await stage.said(ben, channel, "先にいた人", "こんにちは")
            await stage.said(aiko, channel, f"{word}は元気？", f"{word}は元気です")
            await press(stage, aiko, await run(stage, aiko, channel, "erase"), "すべて消す")
            stage.model.script(model_server.Reply(Say(f"{word}の話"), Hang()))
            await streaming(await stage.begin(aiko, channel, f"{word}って？", temporary=True), word)
            await stage.program.kill()
            assert left(stage, word) == {}
            await stage.discord.gone()
            await stage.start()
            await stage.said(ben, channel, "あとから来た人", "おかえりなさい")  # and all before it is read
            assert left(stage, word) == {}
            assert aiko.id not in {row[0] for row in stage.rows("SELECT author_id FROM messages")}


class TestLimitedUser:
    async def test_gets_no_new_allowance_by_erasing(self, stage: Stage, aiko: User, channel: Channel) -> None:
        file = stage.program.folder / "data" / "policy.toml"
        file.write_text(f"[limits.users.{aiko.id}]\ntokens_per_day = 18\n", encoding="utf-8")
        await stage.ask_in_words(aiko, channel, "はい。")
        await press(stage, aiko, await run(stage, aiko, channel, "erase"), "すべて消す")
        reply = await stage.begin(aiko, channel, "もう一度")
        await reply.finished(lambda shown: "<t:" in shown.text)
        assert "今月の上限のため" in (await run(stage, aiko, channel, "show")).text
        assert "消すものはありませんでした" in (await run(stage, aiko, channel, "erase")).text
        file.unlink()


class TestOtherProgram:
    async def test_that_erases_lets_the_running_answer_end_with_a_sentence_that_is_true(
        self, stage: Stage, aiko: User, channel: Channel, word: str
    ) -> None:
        stage.model.script(model_server.Reply(Say(f"{word}の話"), Hang()))
        reply = await streaming(await stage.begin(aiko, channel, f"{word}って？"), word)
        async with open_stores(f"sqlite:///{stage.database}", embedder=None) as stores:
            await stores.personal_erasure.erase(aiko.id)
            await stores.memory_removal.write_back()
        await press(stage, aiko, reply, "止める")
        assert "質問か会話が消されました" in (await ended(reply)).text
        assert left(stage, word) == {}


class TestDeniedUser:
    async def test_may_see_and_erase_what_is_theirs(
        self, stage: Stage, aiko: User, channel: Channel, word: str
    ) -> None:
        await keep(stage, aiko, channel, word)
        rule = f"'user', {aiko.id}, 'deny', 1, ''"
        stage.change(f"INSERT INTO access_rules (subject, subject_id, rule, set_by, set_at) VALUES ({rule})")
        asked = await stage.discord.slash(aiko, channel, "ask", question="?")
        assert "お使いいただけない" in (await asked.finished()).text
        assert "メモリ" in (await run(stage, aiko, channel, "show")).text
        erased = await press(stage, aiko, await run(stage, aiko, channel, "erase"), "すべて消す")
        assert "すべて消しました" in erased.text
        assert left(stage, word) == {}
        again = await run(stage, aiko, channel, "erase")
        assert again.text.startswith("消すものはありませんでした。")
        assert again.labels == []
