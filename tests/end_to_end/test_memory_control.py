"""What owners do with their memories: look closely, change, take back, erase, pause."""

import re

import pytest

from cc_bot.discord.pages.memory_view import PAGE_SIZE
from tests.end_to_end.memories import choose, contents, grown_old, keep, numbers, press, run
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Reply, User
from tests.loopback.model_server import says


async def form(stage: Stage, user: User, channel: Channel, number: int) -> Reply:
    """`/memory edit`, with its form open."""
    reply = await stage.discord.slash(user, channel, "memory edit", id=number)
    return await reply.acknowledged()


async def submitted(stage: Stage, opened: Reply, **inputs: str) -> Reply:
    return await (await stage.discord.submit_modal(opened, **inputs)).finished()


def prefilled(reply: Reply) -> dict[str, str]:
    assert reply.modal is not None
    fields = [row["components"][0] for row in reply.modal["components"]]
    return {field["custom_id"]: field.get("value", "") for field in fields}


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
        assert "2026-12-31 のように" in text
        assert contents(stage, aiko) == []

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
        await keep(stage, ben, channel, "The trip is on Monday", until="2020-01-01")
        assert "⌛ expired" in await stage.told(ben, channel, "memory list")

    async def test_open_a_memory_from_the_menu(self, stage: Stage, ben: User, channel: Channel) -> None:
        number = await keep(stage, ben, channel, "First line\nSecond line")
        listed = await run(stage, ben, channel, "list")
        card = await choose(stage, ben, listed, number)
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
        assert "/memory add で登録" in text

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
        assert stage.rows("SELECT audience FROM memories WHERE id = ?", number) == [("private",)]
        again = await press(stage, aiko, card, "どこでも使う")
        assert "どこでも" in again.text
        assert stage.rows("SELECT audience FROM memories WHERE id = ?", number) == [("anywhere",)]

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
        assert stage.rows("SELECT content FROM memories WHERE id = ?", number) == [
            ("The cat is called Tama",)
        ]

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
        assert stage.rows("SELECT status, audience FROM memories WHERE id = ?", number) == [
            ("active", "anywhere")
        ]


class TestEdit:
    async def test_opens_a_form_with_what_is_kept(self, stage: Stage, aiko: User, channel: Channel) -> None:
        number = await keep(
            stage, aiko, channel, "合宿は\n8月", category="部活", tags="合宿 夏", until="2030-08-31"
        )
        opened = await form(stage, aiko, channel, number)
        expected = {"content": "合宿は\n8月", "category": "部活", "tags": "合宿, 夏", "end": "2030-08-31"}
        assert prefilled(opened) == expected

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
        rows = stage.rows("SELECT content, category, tags, expires_at FROM memories WHERE id = ?", number)
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
        stage.change(f"UPDATE memories SET tags = '{tags}', expires_at = '{end}' WHERE id = {number}")
        await submitted(stage, await form(stage, ben, channel, number), content="Tea at five")
        rows = stage.rows("SELECT content, tags, expires_at FROM memories WHERE id = ?", number)
        assert rows == [("Tea at five", tags, end)]

    async def test_without_a_change_says_so(self, stage: Stage, ben: User, channel: Channel) -> None:
        number = await keep(stage, ben, channel, "Tea at four")
        told = await submitted(stage, await form(stage, ben, channel, number))
        assert told.text == f"#{number} is as it was. Nothing was changed."

    @pytest.mark.parametrize(
        ("inputs", "sentence"),
        [
            ({"content": "大事な長い話", "end": "いつか"}, "2026-12-31 のように"),
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
        assert "There is no memory" in told.text
        assert "New and important" in told.text

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
        assert stage.rows("SELECT content FROM memories WHERE id = ?", number) == [("Three",)]


class TestDelete:
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
        assert "All **2** memories" in again.text
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
