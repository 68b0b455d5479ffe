import re
from typing import Any

from cc_bot.domain.text import Locale
from cc_bot.features.memory.files import MAX_IMPORT_BYTES
from cc_bot.features.memory.texts import MemoryBulkTexts
from cc_bot.texts import texts
from tests.end_to_end.memories import contents, form, grown_old, keep, prefilled, press, run, submitted
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, File, Reply, User

TOO_LATE = texts(Locale.EN)[MemoryBulkTexts].ask_again


def attached(reply: Reply) -> list[File]:
    return [attachment.file for attachment in reply.stored[0].attachments]


def text_file(text: str, *, encoding: str = "utf-8") -> File:
    return File("memory.txt", text.encode(encoding), "text/plain")


def kept(stage: Stage, user: User) -> list[tuple[Any, ...]]:
    columns = "content, category, tags, audience, created_at, expires_at"
    return stage.rows(f"SELECT {columns} FROM memories WHERE user_id = ? ORDER BY id", user.id)


async def test_an_edit_tells_what_changed_and_is_taken_back(
    stage: Stage, aiko: User, channel: Channel
) -> None:
    options = {"category": "部活", "tags": "合宿 夏", "until": "2030-08-31"}
    number = await keep(stage, aiko, channel, "合宿は\n8月", **options)
    before = kept(stage, aiko)
    opened = await form(stage, aiko, channel, number)
    expected = {"content": "合宿は\n8月", "category": "部活", "tags": "合宿, 夏", "end": "2030-08-31"}
    assert prefilled(opened) == expected
    inputs = {"content": "合宿は9月", "category": "", "tags": "", "end": ""}
    told = await submitted(stage, opened, **inputs)
    assert told.ephemeral
    for part in ("合宿は9月", "部活 → 一般", "#合宿 #夏 → なし", "> → なし"):
        assert part in told.text
    assert prefilled(await form(stage, aiko, channel, number)) == inputs
    await press(stage, aiko, told, "元に戻す")
    assert kept(stage, aiko) == before


async def test_all_are_erased_as_their_user_confirms(stage: Stage, ben: User, channel: Channel) -> None:
    await keep(stage, ben, channel, "The key is under the mat")
    asked = await run(stage, ben, channel, "delete-all")
    await keep(stage, ben, channel, "Two")
    again = await press(stage, ben, asked, "Erase all 1")
    assert "All your memories (**2**)" in again.text
    called_off = await press(stage, ben, again, "Cancel")
    assert called_off.text == "Cancelled. Nothing has changed."
    late = await run(stage, ben, channel, "delete-all")
    grown_old(late)
    assert (await press(stage, ben, late, "Erase all 2")).text == TOO_LATE
    assert contents(stage, ben) == ["The key is under the mat", "Two"]
    await stage.ask_in_words(ben, channel, "I see: the key is under the mat.")
    await run(stage, ben, channel, "delete", id=2)
    asked = await run(stage, ben, channel, "delete-all")
    assert asked.labels == ["Erase all 1", "Erase from conversations too", "Cancel"]
    erased = await press(stage, ben, asked, "Erase from conversations too")
    assert "message in conversation records" in erased.text
    assert not [text for _, text, _ in stage.stored(channel) if "mat" in text]
    assert contents(stage, ben) == []


async def test_erasing_all_is_its_askers_alone(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    await keep(stage, aiko, channel, "愛子のもの")
    asked = await run(stage, aiko, channel, "delete-all")
    asked.stored[0].flags = 0  # as if others could see it
    for label in asked.labels:
        assert "Only the owner" in (await press(stage, ben, asked, label)).text
    assert contents(stage, aiko) == ["愛子のもの"]


async def test_files_bring_back_what_was_exported(stage: Stage, aiko: User, channel: Channel) -> None:
    options = {"category": "家族", "tags": "記念日", "where": "private"}
    await keep(stage, aiko, channel, "誕生日は3月15日", **options)
    await keep(stage, aiko, channel, "合宿は\n8月", until="2030-08-31")
    before = kept(stage, aiko)
    exported = await run(stage, aiko, channel, "export")
    assert exported.ephemeral
    [file] = attached(exported)
    assert re.fullmatch(r"memories-\d{4}-\d{2}-\d{2}\.json", file.name)
    await press(stage, aiko, await run(stage, aiko, channel, "delete-all"), "2件をすべて消す")
    asked = await run(stage, aiko, channel, "import", file=file)
    assert kept(stage, aiko) == []
    done = await press(stage, aiko, asked, "2件を取り込む")
    assert "2件を覚えました" in done.text
    assert kept(stage, aiko) == before


async def test_files_that_can_not_be_used_are_refused(stage: Stage, ben: User, channel: Channel) -> None:
    await keep(stage, ben, channel, "Likes tea")
    picture = File("memory.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "image/png")
    for file, told in (
        (picture, "I can't read this file as a list of memories."),
        (text_file("x" * (MAX_IMPORT_BYTES + 1)), "up to 1 MB"),
        (text_file("x\n" * 5001), "5000"),
        (text_file("- likes TEA."), "nothing new"),
    ):
        asked = await run(stage, ben, channel, "import", file=file)
        assert told in asked.text
        assert asked.labels == []
    file = text_file("Lives in Osaka")
    late, called_off, paused = [await run(stage, ben, channel, "import", file=file) for _ in range(3)]
    grown_old(late)
    assert (await press(stage, ben, late, "Import 1")).text == TOO_LATE
    assert "Nothing has changed." in (await press(stage, ben, called_off, "Cancel")).text
    await stage.told(ben, channel, "memory pause")
    assert "paused" in (await press(stage, ben, paused, "Import 1")).text
    assert contents(stage, ben) == ["Likes tea"]
