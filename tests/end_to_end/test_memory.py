"""`/memory`, the message menu, and the model's own hands on the memories."""

import json
from pathlib import Path

from tests.end_to_end.memories import contents, form, keep, numbers, opened, press, run, submitted
from tests.end_to_end.program import Program
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import says

AUDIENCES = "SELECT audience FROM memories WHERE user_id = ? ORDER BY id"


async def test_a_memory_takes_where_and_until_when(stage: Stage, aiko: User, channel: Channel) -> None:
    options = {"content": "合宿の部屋は203", "where": "private", "until": "2030-08-31"}
    text = await stage.told(aiko, channel, "memory add", **options)
    assert "🔒" in text
    assert "まで" in text
    rows = stage.rows("SELECT audience, expires_at FROM memories WHERE user_id = ? ORDER BY id", aiko.id)
    assert rows == [("private", "2030-08-31T15:00:00.000000+00:00")]
    assert "⌛ " in await stage.told(aiko, channel, "memory add", content="x", until="来週の金曜")
    assert "もう覚えています" in await stage.told(aiko, channel, "memory add", content="x")
    dm = stage.discord.dm(aiko)
    await stage.told(aiko, dm, "memory add", content="一")
    await stage.told(aiko, dm, "memory add", content="二", where="anywhere")
    audiences = [audience for (audience,) in stage.rows(AUDIENCES, aiko.id)]
    assert audiences == ["private", "anywhere", "private", "anywhere"]
    group = stage.discord.group_dm(aiko, stage.discord.user("Chie", locale="ja"))
    await stage.told(aiko, group, "memory add", content="三")
    assert stage.rows(AUDIENCES, aiko.id)[-1] == ("private",)


async def test_suggestions_are_ones_own(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    await keep(stage, aiko, channel, "メモは愛子のもの", category="家族")
    await keep(stage, aiko, channel, "分類なし")
    kept = [await keep(stage, ben, channel, f"Memo {n} {'x' * 200}") for n in range(26)]
    await submitted(stage, await form(stage, ben, channel, 26), category="家計")
    suggest = stage.discord.autocomplete
    choices = await suggest(ben, channel, "memory delete", id="")
    assert [choice.value for choice in choices] == kept[:0:-1]
    for command in ("show", "edit", "delete"):
        [choice] = await suggest(aiko, channel, f"memory {command}", id="愛子")
        assert (choice.name, choice.value) == ("#1 メモは愛子のもの", 1)
        assert (await suggest(aiko, channel, f"memory {command}", id="#2"))[0].value == 2
    for command, before in (("list", {}), ("search", {"query": "x"}), ("add", {"content": "x"})):
        choices = await suggest(aiko, channel, f"memory {command}", **before, category="家")
        assert [choice.value for choice in choices] == ["家族"]
    choices = await suggest(aiko, channel, "memory list", category="")
    assert {choice.value for choice in choices} == {"家族", "一般"}


async def test_a_memory_is_its_owners_alone(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    number = await keep(stage, aiko, channel, "猫の名前は*タマ*", category="ペット", tags="猫")
    listed = await run(stage, aiko, channel, "list")
    card = await opened(stage, aiko, listed, number)
    for part in (f"メモリ #{number}", r"猫の名前は\*タマ\*", "ペット", "#猫", "どこでも"):
        assert part in card.text
    assert "/メモリ 追加" in card.text
    denied = f"There is no memory #{number}. See /memory list for the numbers."
    for command in ("show", "delete", "edit"):
        assert await stage.told(ben, channel, f"memory {command}", id=number) == denied
    card.stored[0].flags = 0  # as if others could see it
    for label in ("編集", "削除", "自分だけで使う"):
        refused = await press(stage, ben, card, label)
        assert refused.modal is None
        assert refused.ephemeral
        assert "タマ" not in refused.text
    assert stage.rows("SELECT status, audience FROM memories WHERE user_id = ? ORDER BY id", aiko.id) == [
        ("active", "anywhere")
    ]


async def test_the_menu_keeps_a_message(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    message = await stage.discord.post(ben, channel, "The meeting is on Friday at ten")
    for reader, told in ((aiko, "このメッセージを覚えました"), (ben, "Remembered")):
        reply = await stage.discord.message_command(reader, channel, "Remember this", message)
        await reply.finished(lambda shown, told=told: told in shown.text)  # type: ignore[misc]
        assert reply.ephemeral
    [(content, source)] = stage.rows("SELECT content, source FROM memories WHERE user_id = ?", aiko.id)
    assert content == "The meeting is on Friday at ten"
    guild = channel.guild.id if channel.guild else "@me"
    assert json.loads(source)["link"].endswith(f"/channels/{guild}/{channel.id}/{message.id}")
    text = (await run(stage, aiko, channel, "show", id=1)).text
    assert "Ben さんのメッセージから" in text
    assert f"/{channel.id}/{message.id})" in text
    picture = await stage.discord.post(ben, channel, "")
    reply = await stage.discord.message_command(aiko, channel, "Remember this", picture)
    await reply.finished(lambda shown: "文章がない" in shown.text)


async def test_the_menu_keeps_private_words_private(stage: Stage, aiko: User, channel: Channel) -> None:
    birds = ("オオルリ", "カワセミ", "ルリビタキ", "トキ")
    stage.model.script(*(says(f"合言葉は{bird}です。") for bird in birds[:3]))
    ephemeral = await stage.ask(aiko, channel, private=True)
    dm = stage.discord.dm(aiko)
    group = stage.discord.group_dm(aiko, stage.discord.user("Chie", locale="ja"))
    staff = stage.discord.guild_channel("staff")
    stage.discord.hide(staff, but_from=[aiko])
    for location, reply in (
        (channel, ephemeral),
        (dm, await stage.ask(aiko, dm)),
        (group, await stage.ask(aiko, group)),
        (staff, await stage.ask_in_words(aiko, staff, "合言葉はトキです。")),
    ):
        kept = await stage.discord.message_command(aiko, location, "Remember this", reply.message)
        await kept.finished(lambda shown: "覚えました" in shown.text)
    rows = stage.rows("SELECT content, audience FROM memories WHERE user_id = ? ORDER BY id", aiko.id)
    assert rows == [(f"合言葉は{bird}です。", "private") for bird in birds]


async def test_a_pause_keeps_nothing_until_it_is_over(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    number = await keep(stage, aiko, channel, "前からあるもの")
    assert "一時停止しました" in await stage.told(aiko, channel, "memory pause")
    assert "一時停止中" in await stage.told(aiko, channel, "memory add", content="だめ")
    message = await stage.discord.post(ben, channel, "だめ")
    refused = await stage.discord.message_command(aiko, channel, "Remember this", message)
    await refused.finished(lambda shown: "一時停止中" in shown.text)
    assert contents(stage, aiko) == ["前からあるもの"]
    listed = await stage.told(aiko, channel, "memory list")
    assert numbers(listed) == [number]
    assert "一時停止中" in listed
    assert "再開しました" in await stage.told(aiko, channel, "memory resume")
    await keep(stage, aiko, channel, "また覚える")


async def test_a_backup_of_the_running_bot_restored_elsewhere_has_the_memories(
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
