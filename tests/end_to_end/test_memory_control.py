"""What owners do with their memories: look closely, find, pause, count."""

import re

import pytest

from cc_bot.discord.pages.memory import PAGE_SIZE
from tests.end_to_end.memories import (
    choose,
    contents,
    form,
    keep,
    numbers,
    press,
    row_of,
    run,
    submitted,
)
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User


class TestAdd:
    async def test_takes_where_and_until_when(self, stage: Stage, aiko: User, channel: Channel) -> None:
        text = await stage.told(
            aiko, channel, "memory add", content="合宿の部屋は203", where="private", until="2030-08-31"
        )
        assert "🔒" in text
        assert "まで" in text
        rows = stage.rows("SELECT audience, expires_at FROM memories WHERE user_id = ?", aiko.id)
        assert rows == [("private", "2030-08-31T15:00:00.000000+00:00")]

    async def test_in_a_dm_is_private_unless_its_user_says_otherwise(self, stage: Stage, ben: User) -> None:
        dm = stage.discord.dm(ben)
        await stage.told(ben, dm, "memory add", content="One")
        await stage.told(ben, dm, "memory add", content="Two", where="anywhere")
        rows = stage.rows("SELECT audience FROM memories WHERE user_id = ? ORDER BY id", ben.id)
        assert rows == [("private",), ("anywhere",)]

    async def test_refuses_a_day_that_is_none(self, stage: Stage, aiko: User, channel: Channel) -> None:
        text = await stage.told(aiko, channel, "memory add", content="x", until="そのうち")
        assert "期限が読み取れませんでした" in text
        assert contents(stage, aiko) == []

    async def test_takes_an_end_in_words_and_refuses_the_past(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        assert "⌛ <t:" in await stage.told(aiko, channel, "memory add", content="x", until="来週の金曜")
        told = await stage.told(aiko, channel, "memory add", content="y", until="2020-01-01")
        assert "その期限はもう過ぎています" in told
        assert contents(stage, aiko) == ["x"]

    async def test_refuses_what_looks_like_a_secret(self, stage: Stage, ben: User, channel: Channel) -> None:
        text = await stage.told(ben, channel, "memory add", content="My password is hunter2!xyz")
        assert "password manager" in text
        assert contents(stage, ben) == []


class TestListAndSearch:
    async def test_offer_the_users_own_categories(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await keep(stage, aiko, channel, "一", category="家族")
        await keep(stage, aiko, channel, "二", category="家計")
        await keep(stage, aiko, channel, "三")
        await keep(stage, ben, channel, "One", category="family")
        for command, before in (("list", {}), ("search", {"query": "x"}), ("add", {"content": "x"})):
            choices = await stage.discord.autocomplete(
                aiko, channel, f"memory {command}", **before, category="家"
            )
            assert {choice.value for choice in choices} == {"家族", "家計"}
        everything = await stage.discord.autocomplete(aiko, channel, "memory list", category="")
        assert {choice.value for choice in everything} == {"家族", "家計", "一般"}

    async def test_take_the_usual_category_by_its_own_word(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        number = await keep(stage, aiko, channel, "分類なし")
        await keep(stage, aiko, channel, "分類あり", category="家族")
        reply = await run(stage, aiko, channel, "list", category="一般")
        assert numbers(reply.text) == [number]
        assert "「一般」のメモリ（1件）" in reply.text

    async def test_list_in_the_order_that_is_asked_for(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        first, second, third = [await keep(stage, ben, channel, f"Note {n}") for n in range(3)]
        await submitted(stage, await form(stage, ben, channel, second), content="Note 1, changed")
        assert numbers((await run(stage, ben, channel, "list", order="oldest")).text) == [
            first,
            second,
            third,
        ]
        changed = await run(stage, ben, channel, "list", order="updated")
        assert numbers(changed.text) == [second, third, first]
        assert "recently changed first" in changed.text

    async def test_pages_are_counted(self, stage: Stage, aiko: User, channel: Channel) -> None:
        for number in range(PAGE_SIZE + 1):
            await keep(stage, aiko, channel, f"メモ{number}")
        first = await run(stage, aiko, channel, "list", order="oldest")
        assert "1/2ページ" in first.text
        second = await press(stage, aiko, first, "次へ ▶")
        assert "2/2ページ" in second.text
        assert "古い順" in second.text

    @pytest.mark.restarts
    async def test_pages_of_hits_turn_after_a_restart(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        kept = [
            await keep(stage, aiko, channel, f"会議: その{n}", category="仕事: 社内")
            for n in range(PAGE_SIZE + 2)
        ]
        await keep(stage, aiko, channel, "会議 （家庭）")
        first = await run(stage, aiko, channel, "search", query="会議  その", category="仕事: 社内")
        shown = numbers(first.text)
        assert "1/2ページ" in first.text
        await stage.restart()
        second = await press(stage, aiko, first, "次へ ▶")
        assert sorted(shown + numbers(second.text)) == kept
        assert "🔍 会議 その" in second.text

    async def test_show_private_ones_to_their_owner(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await keep(stage, aiko, channel, "病院は土曜", where="private")
        text = await stage.told(aiko, channel, "memory search", query="病院")
        assert "🔒 病院は土曜" in text

    async def test_mark_what_is_over(self, stage: Stage, ben: User, channel: Channel) -> None:
        number = await keep(stage, ben, channel, "The trip is on Monday", until="tomorrow")
        over = "2020-01-01T00:00:00.000000+00:00"
        stage.change(
            f"UPDATE memories SET expires_at = '{over}' WHERE user_id = {ben.id} AND number = {number}"
        )
        assert "⌛ expired" in await stage.told(ben, channel, "memory list")

    async def test_open_a_memory_from_the_menu(self, stage: Stage, ben: User, channel: Channel) -> None:
        number = await keep(stage, ben, channel, "First line\nSecond line")
        listed = await run(stage, ben, channel, "list")
        card = await choose(stage, ben, listed, row_of(stage, ben, number))
        assert card.ephemeral
        assert "First line\nSecond line" in card.text
        assert numbers(listed.text) == [number]


class TestShow:
    async def test_tells_everything(self, stage: Stage, aiko: User, channel: Channel) -> None:
        number = await keep(stage, aiko, channel, "猫の名前は*タマ*", category="ペット", tags="猫")
        text = (await run(stage, aiko, channel, "show", id=number)).text
        for part in (
            f"メモリ #{number}",
            r"猫の名前は\*タマ\*",
            "ペット",
            "#猫",
            "どこでも",
            "なぜ知っているの？",
        ):
            assert part in text
        assert "/メモリ 追加 で登録" in text

    async def test_shows_the_longest_text_whole(self, stage: Stage, aiko: User, channel: Channel) -> None:
        number = await keep(stage, aiko, channel, "*" * 4000, category="類" * 50, tags="札 " * 300)
        assert "*" * 4000 in (await run(stage, aiko, channel, "show", id=number)).text

    async def test_knows_from_which_message(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        message = await stage.discord.post(ben, channel, "Lunch is at noon")
        kept = await stage.discord.message_command(aiko, channel, "Remember this", message)
        await kept.finished(lambda shown: "覚えました" in shown.text)
        found = re.search(r"#(\d+)", kept.text)
        assert found
        text = (await run(stage, aiko, channel, "show", id=int(found[1]))).text
        assert "Ben さんのメッセージから" in text
        assert f"/{channel.id}/{message.id})" in text

    async def test_suggests_by_text(self, stage: Stage, aiko: User, channel: Channel) -> None:
        number = await keep(stage, aiko, channel, "誕生日は3月15日")
        for command in ("show", "edit", "delete"):
            [choice] = await stage.discord.autocomplete(aiko, channel, f"memory {command}", id="誕生日")
            assert choice.value == number

    async def test_of_somebody_elses_tells_nothing(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        number = await keep(stage, aiko, channel, "愛子の秘密")
        text = (await run(stage, ben, channel, "show", id=number)).text
        assert text == f"There is no memory #{number}. See /memory list for the numbers."

    async def test_switches_where_it_is_used(self, stage: Stage, aiko: User, channel: Channel) -> None:
        number = await keep(stage, aiko, channel, "猫アレルギー")
        card = await run(stage, aiko, channel, "show", id=number)
        private = await press(stage, aiko, card, "自分だけの回答でだけ使う")
        assert "🔒 DM と自分だけに見える回答" in private.text
        assert stage.rows(
            "SELECT audience FROM memories WHERE user_id = ? AND number = ?", aiko.id, number
        ) == [("private",)]
        again = await press(stage, aiko, card, "どこでも使う")
        assert "どこでも" in again.text
        assert stage.rows(
            "SELECT audience FROM memories WHERE user_id = ? AND number = ?", aiko.id, number
        ) == [("anywhere",)]

    async def test_goes_back_to_what_it_said(self, stage: Stage, ben: User, channel: Channel) -> None:
        number = await keep(stage, ben, channel, "The cat is called Tama")
        await submitted(stage, await form(stage, ben, channel, number), content="The cat is called Mike")
        card = await run(stage, ben, channel, "show", id=number)
        assert "What it said before" in card.text
        [(former,)] = stage.rows(
            "SELECT id FROM memories WHERE user_id = ? AND status = 'superseded'", ben.id
        )
        back = await choose(stage, ben, card, former)
        assert f"#{number} says again what it said before" in back.text
        assert stage.rows(
            "SELECT content FROM memories WHERE user_id = ? AND number = ?", ben.id, number
        ) == [("The cat is called Tama",)]

    async def test_buttons_are_their_owners_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        number = await keep(stage, aiko, channel, "愛子のもの")
        card = await run(stage, aiko, channel, "show", id=number)
        card.stored[0].flags = 0  # as if others could see it
        for label in ("編集", "削除", "自分だけの回答でだけ使う"):
            refused = await press(stage, ben, card, label)
            assert refused.modal is None
            assert refused.ephemeral
            assert "愛子" not in refused.text
        assert stage.rows(
            "SELECT status, audience FROM memories WHERE user_id = ? AND number = ?", aiko.id, number
        ) == [("active", "anywhere")]


class TestPause:
    async def test_keeps_nothing_until_it_is_over(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        number = await keep(stage, aiko, channel, "前からあるもの")
        assert "一時停止しました" in await stage.told(aiko, channel, "memory pause")
        assert "一時停止中" in await stage.told(aiko, channel, "memory add", content="だめ")
        message = await stage.discord.post(ben, channel, "だめ")
        refused = await stage.discord.message_command(aiko, channel, "Remember this", message)
        await refused.finished(lambda shown: "一時停止中" in shown.text)
        assert contents(stage, aiko) == ["前からあるもの"]
        assert numbers(await stage.told(aiko, channel, "memory list")) == [number]
        assert "一時停止中" in await stage.told(aiko, channel, "memory stats")
        assert "再開しました" in await stage.told(aiko, channel, "memory resume")
        await keep(stage, aiko, channel, "また覚える")


class TestStats:
    async def test_shows_how_much_there_is_of_what(self, stage: Stage, aiko: User, channel: Channel) -> None:
        for number in range(4):
            await keep(stage, aiko, channel, f"仕事{number}", category="仕事")
        await keep(stage, aiko, channel, "家族", category="家族", where="private")
        text = await stage.told(aiko, channel, "memory stats")
        assert "あなたのメモリ 5件" in text
        assert "▰▰▰▰▰▰▰▰ 仕事 4件\n▰▰▱▱▱▱▱▱ 家族 1件" in text
        assert "だけ使う: 1件" in text
        assert "コマンド 5件" in text

    async def test_of_nothing_says_how_to_begin(self, stage: Stage, ben: User, channel: Channel) -> None:
        assert "no memories yet" in await stage.told(ben, channel, "memory stats")
