"""What owners delete of their memories: one, or all, and how long it can be taken back."""

import pytest

from tests.end_to_end.memories import (
    contents,
    grown_old,
    keep,
    numbers,
    press,
    run,
)
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import says


class TestDelete:
    @pytest.mark.restarts
    async def test_is_taken_back(self, stage: Stage, aiko: User, channel: Channel) -> None:
        number = await keep(stage, aiko, channel, "やっぱり要る")
        deleted = await run(stage, aiko, channel, "delete", id=number)
        assert "元に戻せます" in deleted.text
        assert deleted.labels == ["元に戻す", "今すぐ完全に消す"]
        assert numbers((await run(stage, aiko, channel, "list")).text) == []
        await stage.restart()
        back = await press(stage, aiko, deleted, "元に戻す")
        assert back.text == f"↩️ 元に戻しました（#{number}）: やっぱり要る"
        assert numbers((await run(stage, aiko, channel, "list")).text) == [number]

    async def test_erases_at_once_when_asked_to(self, stage: Stage, ben: User, channel: Channel) -> None:
        number = await keep(stage, ben, channel, "Gone with the wind")
        deleted = await run(stage, ben, channel, "delete", id=number)
        erased = await press(stage, ben, deleted, "Erase for good now")
        assert "Erased for good" in erased.text
        assert erased.labels == []
        assert contents(stage, ben) == []

    async def test_asks_whether_conversations_that_tell_of_it_go_as_well(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        number = await keep(stage, aiko, channel, "合鍵は植木鉢の下")
        stage.model.script(says("わかりました。合鍵は植木鉢の下ですね。"))
        await stage.ask(aiko, channel, "ちなみに合鍵は植木鉢の下")
        deleted = await run(stage, aiko, channel, "delete", id=number)
        asked = await press(stage, aiko, deleted, "今すぐ完全に消す")
        assert "会話の記録に 2件" in asked.text
        assert contents(stage, aiko) == ["合鍵は植木鉢の下"]
        erased = await press(stage, aiko, deleted, "会話の記録からも消す")
        assert "会話の記録の発言 2件" in erased.text
        assert not [text for _, text, _ in stage.stored(channel) if "植木鉢" in text]
        assert contents(stage, aiko) == []

    async def test_says_where_it_is_told_all_the_same_and_takes_it_out_there(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        number = await keep(stage, aiko, channel, "合鍵は鉢の下")
        await stage.ask_in_words(aiko, channel, "合鍵は鉢の下ですね。")
        deleted = await run(stage, aiko, channel, "delete", id=number)
        assert "発言や回答が 1件残っていて" in deleted.text
        await stage.ask_in_words(aiko, channel, "はい。")
        assert "合鍵は鉢の下" in str(stage.model.requests[-1].body)
        erased = await press(stage, aiko, deleted, "会話の記録からも消す")
        assert "会話の記録の発言 1件" in erased.text
        await stage.ask_in_words(aiko, channel, "はい。")
        assert "合鍵は鉢の下" not in str(stage.model.requests[-1].body)

    async def test_leaves_conversations_alone_when_asked_to(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        number = await keep(stage, aiko, channel, "合鍵は物置の中")
        stage.model.script(says("はい。"))
        await stage.ask(aiko, channel, "合鍵は物置の中だよ")
        deleted = await run(stage, aiko, channel, "delete", id=number)
        await press(stage, aiko, deleted, "今すぐ完全に消す")
        erased = await press(stage, aiko, deleted, "メモリだけ完全に消す")
        assert "まだ 1件" in erased.text
        assert [text for _, text, _ in stage.stored(channel) if "物置" in text]

    async def test_from_the_card(self, stage: Stage, ben: User, channel: Channel) -> None:
        number = await keep(stage, ben, channel, "Old news")
        card = await run(stage, ben, channel, "show", id=number)
        deleted = await press(stage, ben, card, "Delete")
        assert f"Forgotten (#{number}): Old news" in deleted.text
        assert deleted.labels == ["Undo", "Erase for good now"]


class TestDeleteAll:
    async def test_names_the_number_and_erases(self, stage: Stage, aiko: User, channel: Channel) -> None:
        for number in range(3):
            await keep(stage, aiko, channel, f"メモ{number}")
        await run(stage, aiko, channel, "delete", id=await keep(stage, aiko, channel, "隠した"))
        asked = await run(stage, aiko, channel, "delete-all")
        assert "**3件**" in asked.text
        assert asked.labels == ["3件をすべて消す", "会話の記録からも消す", "やめる"]
        erased = await press(stage, aiko, asked, "3件をすべて消す")
        assert "完全に消しました" in erased.text
        assert contents(stage, aiko) == []

    async def test_can_be_called_off(self, stage: Stage, ben: User, channel: Channel) -> None:
        await keep(stage, ben, channel, "One")
        asked = await run(stage, ben, channel, "delete-all")
        assert (await press(stage, ben, asked, "Cancel")).text == "Cancelled. Nothing has changed."
        assert contents(stage, ben) == ["One"]

    async def test_asks_again_when_there_are_more_by_now(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        await keep(stage, ben, channel, "One")
        asked = await run(stage, ben, channel, "delete-all")
        await keep(stage, ben, channel, "Two")
        again = await press(stage, ben, asked, "Erase all 1")
        assert "All your memories (**2**)" in again.text
        assert contents(stage, ben) == ["One", "Two"]

    async def test_does_nothing_once_its_time_is_over(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        await keep(stage, ben, channel, "One")
        asked = await run(stage, ben, channel, "delete-all")
        grown_old(asked)
        assert "has run out" in (await press(stage, ben, asked, "Erase all 1")).text
        assert contents(stage, ben) == ["One"]

    async def test_is_for_the_asker_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await keep(stage, aiko, channel, "愛子のもの")
        asked = await run(stage, aiko, channel, "delete-all")
        asked.stored[0].flags = 0  # as if others could see it
        for label in asked.labels:
            assert "Only the owner" in (await press(stage, ben, asked, label)).text
        assert contents(stage, aiko) == ["愛子のもの"]

    async def test_takes_conversations_along_when_asked_to(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        await keep(stage, ben, channel, "The key is under the mat")
        stage.model.script(says("I see: the key is under the mat."))
        await stage.ask(ben, channel, "The key is under the mat")
        asked = await run(stage, ben, channel, "delete-all")
        erased = await press(stage, ben, asked, "Erase it from conversations too")
        assert "messages in conversation records" in erased.text
        assert not [text for _, text, _ in stage.stored(channel) if "mat" in text]

    async def test_of_nothing_asks_nothing(self, stage: Stage, ben: User, channel: Channel) -> None:
        asked = await run(stage, ben, channel, "delete-all")
        assert asked.labels == []
        assert "no memories yet" in asked.text
