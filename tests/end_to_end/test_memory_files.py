"""`/memory export` and `/memory import`: memories leave as a file, and come in from one."""

import json
from typing import Any

import pytest

from cc_bot.domain.memory_transfer import MAX_IMPORT_BYTES
from tests.end_to_end.memories import contents, grown_old, keep, press, run
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, File, Reply, User


def attached(reply: Reply) -> list[File]:
    return [attachment.file for attachment in reply.stored[0].attachments]


def text_file(text: str, *, encoding: str = "utf-8") -> File:
    return File("memory.txt", text.encode(encoding), "text/plain")


def kept(stage: Stage, user: User) -> list[tuple[Any, ...]]:
    return stage.rows(
        "SELECT content, category, tags, audience, created_at, expires_at FROM memories WHERE user_id = ?"
        " ORDER BY id",
        user.id,
    )


class TestExport:
    async def test_comes_as_a_file_for_its_user_alone(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await keep(stage, aiko, channel, "誕生日は3月15日", category="家族", tags="記念日")
        await keep(stage, aiko, channel, "病院は土曜", where="private")
        exported = await run(stage, aiko, channel, "export")
        assert "2件" in exported.text
        [file] = attached(exported)
        assert file.name.endswith(".json")
        items = json.loads(file.data)["memories"]
        assert [item["content"] for item in items] == ["誕生日は3月15日", "病院は土曜"]

    async def test_in_markdown_is_for_reading(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await keep(stage, aiko, channel, "誕生日は3月15日\n毎年祝う", category="家族", tags="記念日")
        [file] = attached(await run(stage, aiko, channel, "export", format="markdown"))
        assert file.name.endswith(".md")
        assert "## 家族\n\n- 誕生日は3月15日  \n  毎年祝う  \n  *#記念日" in file.data.decode()

    async def test_of_nothing_has_no_file(self, stage: Stage, ben: User, channel: Channel) -> None:
        exported = await run(stage, ben, channel, "export")
        assert attached(exported) == []
        assert "no memories yet" in exported.text


class TestImport:
    async def test_of_an_export_gives_everything_back(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await keep(stage, aiko, channel, "誕生日は3月15日", category="家族", tags="記念日", where="private")
        await keep(stage, aiko, channel, "合宿は\n8月", until="2030-08-31")
        before = kept(stage, aiko)
        [file] = attached(await run(stage, aiko, channel, "export"))
        await press(stage, aiko, await run(stage, aiko, channel, "delete-all"), "2件をすべて消す")
        assert kept(stage, aiko) == []
        asked = await run(stage, aiko, channel, "import", file=file)
        assert kept(stage, aiko) == []
        done = await press(stage, aiko, asked, "2件を取り込む")
        assert "2件を覚えました" in done.text
        assert kept(stage, aiko) == before

    async def test_tells_first_what_it_would_do(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await keep(stage, aiko, channel, "猫の名前はタマ")
        lines = [
            "1. [2024-05-01]. 大阪に住んでいる",
            "- 猫の名前はタマ。",
            "- パスワードは Tr0ub4dor&3",
            "-  ",
        ]
        lines += [f"- 好きな曲 {number}" for number in range(9)] + ["* " + "あ" * 4001]
        asked = await run(stage, aiko, channel, "import", file=text_file("\n".join(lines)))
        for part in (
            "新しく覚える: **10件**",
            "もうあるもの: 1件",
            "取り込めないもの: ",
            "・大阪に住んでいる",
        ):
            assert part in asked.text
        assert "パスワードなどに見える 1件" in asked.text
        assert "4000文字を超える 1件" in asked.text
        assert asked.text.count("\n・") == 5
        assert asked.labels == ["10件を取り込む", "やめる"]
        assert contents(stage, aiko) == ["猫の名前はタマ"]

    async def test_keeps_where_it_came_from_and_when_it_was_written(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        asked = await run(stage, aiko, channel, "import", file=text_file("[2024-05-01]. 大阪に住んでいる"))
        await press(stage, aiko, asked, "1件を取り込む")
        [(source, created_at)] = stage.rows(
            "SELECT source, created_at FROM memories WHERE user_id = ?", aiko.id
        )
        assert json.loads(source) == {"kind": "import"}
        assert created_at.startswith("2024-05-01T00:00:00")

    @pytest.mark.restarts
    async def test_works_after_a_restart(self, stage: Stage, ben: User, channel: Channel) -> None:
        asked = await run(stage, ben, channel, "import", file=text_file("Lives in Osaka\nLikes tea"))
        await stage.restart()
        await press(stage, ben, asked, "Import 2")
        assert contents(stage, ben) == ["Lives in Osaka", "Likes tea"]

    async def test_pressed_twice_brings_nothing_twice(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        file = text_file("Lives in Osaka\nLikes tea")
        first = await run(stage, ben, channel, "import", file=file)
        second = await run(stage, ben, channel, "import", file=file)
        await press(stage, ben, first, "Import 2")
        assert "Memories kept: 0" in (await press(stage, ben, second, "Import 2")).text
        assert contents(stage, ben) == ["Lives in Osaka", "Likes tea"]

    async def test_can_be_called_off(self, stage: Stage, ben: User, channel: Channel) -> None:
        asked = await run(stage, ben, channel, "import", file=text_file("Lives in Osaka"))
        called_off = await press(stage, ben, asked, "Cancel")
        assert called_off.text == "Cancelled. Nothing has changed."
        assert attached(asked) == []
        assert contents(stage, ben) == []

    async def test_does_nothing_once_its_time_is_over(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        asked = await run(stage, ben, channel, "import", file=text_file("Lives in Osaka"))
        grown_old(asked)
        assert "has run out" in (await press(stage, ben, asked, "Import 1")).text
        assert contents(stage, ben) == []

    async def test_asks_for_the_file_again_when_it_is_gone(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        asked = await run(stage, ben, channel, "import", file=text_file("Lives in Osaka"))
        asked.stored[0].attachments = []
        assert "attach it again" in (await press(stage, ben, asked, "Import 1")).text

    async def test_reads_what_windows_wrote(self, stage: Stage, aiko: User, channel: Channel) -> None:
        file = text_file("大阪に住んでいる\r\nお茶が好き\r\n", encoding="cp932")
        await press(stage, aiko, await run(stage, aiko, channel, "import", file=file), "2件を取り込む")
        assert contents(stage, aiko) == ["大阪に住んでいる", "お茶が好き"]

    async def test_may_be_used_in_private_only(self, stage: Stage, ben: User, channel: Channel) -> None:
        asked = await run(stage, ben, channel, "import", file=text_file("Lives in Osaka"), where="private")
        await press(stage, ben, asked, "Import 1")
        assert stage.rows("SELECT audience FROM memories WHERE user_id = ?", ben.id) == [("private",)]

    async def test_of_nothing_new_has_no_button(self, stage: Stage, ben: User, channel: Channel) -> None:
        await keep(stage, ben, channel, "Likes tea")
        asked = await run(stage, ben, channel, "import", file=text_file("- likes TEA."))
        assert asked.labels == []
        assert "nothing new" in asked.text

    async def test_of_something_else_is_refused(self, stage: Stage, ben: User, channel: Channel) -> None:
        picture = File("memory.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "image/png")
        for file in (picture, text_file(" \n"), text_file('{"a": 1}')):
            asked = await run(stage, ben, channel, "import", file=file)
            assert asked.text.startswith("I can't read this file as a list of memories.")

    async def test_of_too_much_is_refused(self, stage: Stage, ben: User, channel: Channel) -> None:
        asked = await run(stage, ben, channel, "import", file=text_file("x" * (MAX_IMPORT_BYTES + 1)))
        assert "up to 1 MB" in asked.text
        asked = await run(stage, ben, channel, "import", file=text_file("x\n" * 5001))
        assert "5000" in asked.text

    async def test_is_refused_while_memory_is_paused(self, stage: Stage, ben: User, channel: Channel) -> None:
        asked = await run(stage, ben, channel, "import", file=text_file("Likes tea"))
        await stage.told(ben, channel, "memory pause")
        assert "paused" in (await press(stage, ben, asked, "Import 1")).text
        assert "paused" in (await run(stage, ben, channel, "import", file=text_file("Likes tea"))).text
        assert contents(stage, ben) == []
