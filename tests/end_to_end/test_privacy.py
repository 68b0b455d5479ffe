"""`/privacy`: what is stored about a user, shown, handed over and erased."""

import json
import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from cc_bot.chat.stores.opening import open_stores
from cc_bot.domain.text import Locale
from cc_bot.features.privacy.texts import PrivacyTexts
from cc_bot.texts import texts
from tests.end_to_end.memories import keep, press
from tests.end_to_end.stage import Stage, ended, running_stage, streaming
from tests.loopback import model_server
from tests.loopback.discord import Channel, LoopbackDiscord, Reply, Shown, User
from tests.loopback.model_server import Call, Hang, Say, calls, says

SERIAL = count(1)


@pytest.fixture
def word() -> str:
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
    files = [attachment.file for message in messages for attachment in message.attachments]
    assert all(re.fullmatch(r"cc-bot-\d{4}-\d\d-\d\d-\d+\.json", file.name) for file in files)
    found: dict[str, list[Any]] = {}
    for file in files:
        for name, records in json.loads(file.data)["data"].items():
            found.setdefault(name, []).extend(records)
    return found


def left(stage: Stage, word: str) -> dict[str, int]:
    files = sorted(stage.database.parent.glob("sessions.*"))
    counts = {file.name: file.read_bytes().count(word.encode()) for file in files}
    return {name: number for name, number in counts.items() if number}


async def test_an_export_has_it_all(stage: Stage, aiko: User, ben: User, channel: Channel, word: str) -> None:
    nothing = await run(stage, ben, channel, "export")
    assert nothing.text == (await run(stage, ben, channel, "show")).text == "Nothing is stored about you."
    assert exported(*nothing.messages) == {}
    await lived(stage, aiko, channel, word)
    stage.model.script(says("something of Ben's"))
    await stage.ask(ben, channel, "something of Ben's")
    shown = await run(stage, aiko, channel, "show")
    for line in (
        *("会話 1件・質問と回答 4件", "チャンネルでの発言 1件", "内容をふくむ） 2件"),
        "400日で消えます",
    ):
        assert line in shown.text
    assert word not in shown.text
    found = exported(*(await run(stage, aiko, channel, "export")).messages)
    assert [each["role"] for each in found["messages"]] == ["user", "assistant"] * 2
    assert [each["author_id"] for each in found["channel_messages"]] == [str(aiko.id)]
    assert [word in each["content"] for each in found["channel_answers"]] == [True]
    memories = {each["content"] for each in found["memories"]}
    assert memories == {f"{word}が好き", f"{word}の誕生日は3月15日"}
    assert "Ben" not in json.dumps(found)
    stage.change("UPDATE memories SET content = ? WHERE user_id = ?", "x" * 5_000_000, aiko.id)
    two = texts(Locale.JA)[PrivacyTexts].exported_parts.format(parts=2)
    large = await stage.discord.slash(aiko, channel, "privacy export")
    parts = (await large.finished(lambda shown: two in shown.text)).messages
    assert [(len(part.attachments), part.ephemeral) for part in parts] == [(1, True)] * 2
    assert len(exported(*parts)["memories"]) == 2


async def test_erasing_leaves_no_byte(
    stage: Stage, aiko: User, ben: User, channel: Channel, word: str
) -> None:
    await lived(stage, aiko, channel, word)
    number = next(SERIAL)
    await keep(stage, ben, channel, f"Ben's zebra {number}")
    asked, other, late = [await run(stage, aiko, channel, "erase") for _ in range(3)]
    assert "メモリ（以前の内容をふくむ） 2件" in asked.text
    assert "バックアップ" in asked.text
    fetched = len(stage.discord.calls("GET /channels/{channel}/messages/{message}"))
    cancelled = texts(Locale.JA)[PrivacyTexts].cancelled
    assert cancelled in (await press(stage, aiko, other, "やめる")).text
    assert left(stage, word)
    await stage.discord.quiet()
    assert len(stage.discord.calls("GET /channels/{channel}/messages/{message}")) == fetched
    done = await press(stage, aiko, asked, "すべて消す")
    assert "すべて消しました" in done.text
    assert "バックアップ" not in done.text
    assert left(stage, word) == {}
    assert left(stage, f"Ben's zebra {number}")
    assert "何もありません" in (await run(stage, aiko, channel, "show")).text
    assert (
        texts(Locale.JA)[PrivacyTexts].nothing_erased in (await press(stage, aiko, late, "すべて消す")).text
    )


@pytest.mark.slow
async def test_erasing_drops_answers(stage: Stage, aiko: User, channel: Channel, word: str) -> None:
    hang = model_server.Reply(Say(f"{word}の話"), Hang())
    stage.model.script(hang, hang)
    chie = stage.discord.user("Chie", locale="ja")
    replies = [await stage.begin(user, channel, f"{word}って？") for user in (aiko, chie)]
    for reply in replies:
        await streaming(reply, word)
    erased = await press(stage, aiko, await run(stage, aiko, channel, "erase"), "すべて消す")
    assert "すべて消しました" in erased.text
    assert "取りやめました" in (await ended(replies[0])).text
    async with open_stores(f"sqlite:///{stage.database}", embedder=None) as stores:
        await stores.personal_data.erase(chie.id)  # as another program does
        await stores.memory_removal.scrub()
    await press(stage, chie, replies[1], "止める")
    assert "質問か会話が消されました" in (await ended(replies[1])).text
    for user in (aiko, chie):
        await stage.eventually(
            "SELECT count(*) FROM turns WHERE user_id = ? AND state <> 'shown'", user.id, gives=[(0,)]
        )
    assert left(stage, word) == {}


async def test_denied_users_may_erase(stage: Stage, aiko: User, channel: Channel, word: str) -> None:
    file = stage.program.folder / "data" / "policy.toml"
    file.write_text(f"[limits.users.{aiko.id}]\ntokens_per_day = 18\n", encoding="utf-8")
    await stage.ask_in_words(aiko, channel, f"{word}です。")
    rule = f"'user', {aiko.id}, 'deny', 1, ''"
    stage.change(f"INSERT INTO access_rules (subject, subject_id, rule, set_by, set_at) VALUES ({rule})")
    asked = await stage.discord.slash(aiko, channel, "ask", question="?")
    assert "お使いいただけない" in (await asked.finished()).text
    erased = await press(stage, aiko, await run(stage, aiko, channel, "erase"), "すべて消す")
    assert "すべて消しました" in erased.text
    assert left(stage, word) == {}
    stage.change(f"DELETE FROM access_rules WHERE subject_id = {aiko.id}")
    reply = await stage.begin(aiko, channel, "もう一度")
    await reply.finished(lambda shown: "<t:" in shown.text)
    assert "今月の上限のため" in (await run(stage, aiko, channel, "show")).text
    file.unlink()


@pytest.mark.slow
async def test_a_kill_leaves_nothing_of_a_temporary_question_and_brings_nobody_back(
    tmp_path: Path, word: str
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
