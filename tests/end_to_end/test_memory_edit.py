"""What owners change in their memories: the form, what it refuses, and the way back."""

import pytest

from tests.end_to_end.memories import (
    contents,
    form,
    keep,
    prefilled,
    press,
    row_of,
    submitted,
)
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User


class TestEdit:
    async def test_opens_a_form_with_what_is_kept(self, stage: Stage, aiko: User, channel: Channel) -> None:
        number = await keep(
            stage, aiko, channel, "合宿は\n8月", category="部活", tags="合宿 夏", until="2030-08-31"
        )
        opened = await form(stage, aiko, channel, number)
        expected = {"content": "合宿は\n8月", "category": "部活", "tags": "合宿, 夏", "end": "2030-08-31"}
        assert prefilled(opened) == expected

    async def test_opens_a_form_without_what_was_never_said(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        number = await keep(stage, aiko, channel, "猫の名前はタマ")
        opened = await form(stage, aiko, channel, number)
        assert prefilled(opened) == {"content": "猫の名前はタマ", "category": "", "tags": "", "end": ""}

    async def test_tells_what_changed_and_takes_it_back(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        number = await keep(stage, aiko, channel, "猫の名前はタマ", category="猫")
        told = await submitted(
            stage,
            await form(stage, aiko, channel, number),
            content="猫の名前はミケ",
            category="",
            tags="ペット、大事",
            end="2030/1/1",
        )
        assert told.ephemeral
        for part in ("猫の名前はタマ → 猫の名前はミケ", "猫 → 一般", "なし → #ペット #大事", "なし → <t:"):
            assert part in told.text
        await press(stage, aiko, told, "元に戻す")
        rows = stage.rows(
            "SELECT content, category, tags, expires_at FROM memories WHERE user_id = ? AND number = ?",
            aiko.id,
            number,
        )
        assert rows == [("猫の名前はタマ", "猫", "[]", None)]

    async def test_of_the_category_alone_can_be_taken_back_too(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        number = await keep(stage, ben, channel, "Tea at four", category="home")
        told = await submitted(stage, await form(stage, ben, channel, number), category="work")
        assert told.text == f"✏️ #{number} is changed.\n**Category**: home → work"
        await press(stage, ben, told, "Undo")
        assert stage.rows("SELECT category FROM memories WHERE user_id = ?", ben.id) == [("home",)]

    async def test_leaves_alone_what_its_form_can_not_show(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        number = await keep(stage, ben, channel, "Tea at four")
        end = "2030-08-31T09:00:00.000000+00:00"
        tags = '["tea time", "daily"]'
        row = row_of(stage, ben, number)
        stage.change(f"UPDATE memories SET tags = '{tags}', expires_at = '{end}' WHERE id = {row}")
        await submitted(stage, await form(stage, ben, channel, number), content="Tea at five")
        rows = stage.rows(
            "SELECT content, tags, expires_at FROM memories WHERE user_id = ? AND number = ?", ben.id, number
        )
        assert rows == [("Tea at five", tags, end)]

    async def test_without_a_change_says_so(self, stage: Stage, ben: User, channel: Channel) -> None:
        number = await keep(stage, ben, channel, "Tea at four")
        told = await submitted(stage, await form(stage, ben, channel, number))
        assert told.text == f"#{number} is as it was. Nothing was changed."

    @pytest.mark.parametrize(
        ("inputs", "sentence"),
        [
            ({"content": "大事な長い話", "end": "いつか"}, "「2026-12-31」のように"),
            ({"content": "パスワードは Tr0ub4dor&3 です"}, "保存しませんでした"),
            ({"content": " \n "}, "覚える内容が空です"),
        ],
    )
    async def test_that_can_not_be_kept_loses_nothing(
        self, stage: Stage, aiko: User, channel: Channel, inputs: dict[str, str], sentence: str
    ) -> None:
        number = await keep(stage, aiko, channel, "前の話")
        told = await submitted(stage, await form(stage, aiko, channel, number), **inputs)
        assert sentence in told.text
        assert inputs["content"].strip().replace("&", "&") in told.text.replace("\\", "")
        assert contents(stage, aiko) == ["前の話"]

    async def test_of_a_memory_that_was_deleted_meanwhile_shows_the_text_back(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        number = await keep(stage, ben, channel, "Old")
        opened = await form(stage, ben, channel, number)
        await stage.told(ben, channel, "memory delete", id=number)
        told = await submitted(stage, opened, content="New and important")
        assert "This memory is not there any more" in told.text
        assert "New and important" in told.text

    @pytest.mark.restarts
    async def test_works_when_the_program_was_restarted_while_the_form_was_open(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        number = await keep(stage, ben, channel, "Old")
        opened = await form(stage, ben, channel, number)
        await stage.restart()
        assert "Old → New" in (await submitted(stage, opened, content="New")).text

    async def test_of_what_is_not_there_opens_no_form(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        opened = await form(stage, ben, channel, 987654321)
        assert opened.modal is None
        assert "There is no memory" in opened.text

    async def test_undo_after_another_change_says_how_to_go_back(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        number = await keep(stage, ben, channel, "One")
        told = await submitted(stage, await form(stage, ben, channel, number), content="Two")
        await submitted(stage, await form(stage, ben, channel, number), content="Three")
        assert "has changed again" in (await press(stage, ben, told, "Undo")).text
        assert stage.rows(
            "SELECT content FROM memories WHERE user_id = ? AND number = ?", ben.id, number
        ) == [("Three",)]
