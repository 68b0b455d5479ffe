"""`/memory`, the message menu, and the model's own hands on the memories."""

import json
import re

import pytest

from cc_bot.discord.pages.memory import PAGE_SIZE
from tests.end_to_end.memories import keep, numbers
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Reply, User
from tests.loopback.model_server import Call, Json, calls, new_tool_results, says


class TestAdd:
    async def test_tells_what_it_keeps(self, stage: Stage, aiko: User, channel: Channel) -> None:
        text = await stage.told(aiko, channel, "memory add", content="猫の名前はタマ")
        assert re.fullmatch(r"💾 覚えました（#\d+）: 猫の名前はタマ", text)

    async def test_tells_it_in_english(self, stage: Stage, ben: User, channel: Channel) -> None:
        text = await stage.told(ben, channel, "memory add", content="My cat is called Tama")
        assert re.fullmatch(r"💾 Remembered \(#\d+\): My cat is called Tama", text)

    async def test_takes_4000_characters(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await stage.told(aiko, channel, "memory add", content="あ" * 4000)
        [(content,)] = stage.rows("SELECT content FROM memories WHERE user_id = ?", aiko.id)
        assert content == "あ" * 4000

    async def test_refuses_4001_characters(self, stage: Stage, aiko: User, channel: Channel) -> None:
        text = await stage.told(aiko, channel, "memory add", content="あ" * 4001)
        assert "4000文字まで" in text
        assert "4001文字" in text
        assert stage.rows("SELECT content FROM memories WHERE user_id = ?", aiko.id) == []

    async def test_refuses_white_space(self, stage: Stage, ben: User, channel: Channel) -> None:
        assert "nothing to remember" in await stage.told(ben, channel, "memory add", content="  ")

    async def test_pings_nobody(self, stage: Stage, ben: User, channel: Channel) -> None:
        await stage.told(ben, channel, "memory add", content=f"@everyone likes {ben.mention}")
        assert stage.discord.pings == []


class TestSearch:
    async def test_shows_id_text_category_tags_and_date(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        number = await keep(stage, aiko, channel, "誕生日は3月15日", category="家族", tags="記念日、大事")
        text = await stage.told(aiko, channel, "memory search", query="誕生日")
        assert f"**#{number}** 誕生日は3月15日" in text
        assert "家族" in text
        assert "#記念日 #大事" in text
        assert re.search(r"<t:\d+:d>", text)

    async def test_narrows_to_a_category(self, stage: Stage, ben: User, channel: Channel) -> None:
        await keep(stage, ben, channel, "Tea at four", category="home")
        work = await keep(stage, ben, channel, "Tea at five", category="work")
        text = await stage.told(ben, channel, "memory search", query="tea", category="work")
        assert numbers(text) == [work]

    async def test_says_when_nothing_matches(self, stage: Stage, ben: User, channel: Channel) -> None:
        text = await stage.told(ben, channel, "memory search", query="unicorn")
        assert text == "No memory matches “unicorn”. Try other words."

    async def test_asks_for_words(self, stage: Stage, aiko: User, channel: Channel) -> None:
        assert "言葉を入力" in await stage.told(aiko, channel, "memory search", query=" ")

    async def test_finds_nothing_of_anybody_else(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await keep(stage, aiko, channel, "金庫の番号は4711")
        assert "No memory matches" in await stage.told(ben, channel, "memory search", query="4711")

    async def test_shows_text_as_it_was_written(self, stage: Stage, ben: User, channel: Channel) -> None:
        await keep(stage, ben, channel, "use *args, **kwargs and `ls`")
        text = await stage.told(ben, channel, "memory search", query="kwargs")
        assert r"use \*args, \*\*kwargs and \`ls\`" in text


class TestList:
    async def listed(self, stage: Stage, user: User, channel: Channel, **options: str) -> Reply:
        return await (await stage.discord.slash(user, channel, "memory list", **options)).finished()

    async def turned(self, stage: Stage, user: User, page: Reply, label: str) -> Reply:
        press = await stage.discord.click(user, page.message, label)
        return await press.finished(lambda shown: shown.history)

    async def test_says_when_there_is_none(self, stage: Stage, aiko: User, channel: Channel) -> None:
        assert "メモリはまだありません" in await stage.told(aiko, channel, "memory list")

    async def test_has_no_buttons_on_a_single_page(self, stage: Stage, ben: User, channel: Channel) -> None:
        await keep(stage, ben, channel, "One")
        page = await self.listed(stage, ben, channel)
        assert page.ephemeral
        assert page.message.buttons == []

    async def test_turns_pages_in_both_directions(self, stage: Stage, aiko: User, channel: Channel) -> None:
        kept = [await keep(stage, aiko, channel, f"メモ{number}") for number in range(2 * PAGE_SIZE + 1)][
            ::-1
        ]
        first = await self.listed(stage, aiko, channel)
        assert f"{len(kept)}件" in first.text
        assert numbers(first.text) == kept[:PAGE_SIZE]
        assert first.labels == ["次へ ▶"]
        second = await self.turned(stage, aiko, first, "次へ ▶")
        assert numbers(second.text) == kept[PAGE_SIZE : 2 * PAGE_SIZE]
        assert second.labels == ["◀ 前へ", "次へ ▶"]
        third = await self.turned(stage, aiko, second, "次へ ▶")
        assert numbers(third.text) == kept[2 * PAGE_SIZE :]
        assert third.labels == ["◀ 前へ"]
        back = await self.turned(stage, aiko, third, "◀ 前へ")
        assert numbers(back.text) == kept[PAGE_SIZE : 2 * PAGE_SIZE]
        front = await self.turned(stage, aiko, back, "◀ 前へ")
        assert numbers(front.text) == kept[:PAGE_SIZE]
        assert front.labels == ["次へ ▶"]

    async def test_stays_in_its_category(self, stage: Stage, ben: User, channel: Channel) -> None:
        work = [
            await keep(stage, ben, channel, f"Note {n}", category="at: work") for n in range(PAGE_SIZE + 1)
        ][::-1]
        await keep(stage, ben, channel, "Not work")
        first = await self.listed(stage, ben, channel, category="at: work")
        assert numbers(first.text) == work[:PAGE_SIZE]
        second = await self.turned(stage, ben, first, "Next ▶")
        assert numbers(second.text) == work[PAGE_SIZE:]

    async def test_of_a_category_with_nothing_in_it(self, stage: Stage, ben: User, channel: Channel) -> None:
        text = await stage.told(ben, channel, "memory list", category="travel")
        assert text == "There are no memories in the category “travel”."

    async def test_goes_on_when_the_page_was_deleted_meanwhile(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        kept = [await keep(stage, ben, channel, f"Note {n}") for n in range(PAGE_SIZE + 1)][::-1]
        page = await self.listed(stage, ben, channel)
        await stage.told(ben, channel, "memory delete", id=kept[-1])
        turned = await self.turned(stage, ben, page, "Next ▶")
        assert numbers(turned.text) == kept[:PAGE_SIZE]

    @pytest.mark.restarts
    async def test_works_after_a_restart(self, stage: Stage, ben: User, channel: Channel) -> None:
        kept = [await keep(stage, ben, channel, f"Note {n}") for n in range(PAGE_SIZE + 1)][::-1]
        page = await self.listed(stage, ben, channel)
        await stage.restart()
        turned = await self.turned(stage, ben, page, "Next ▶")
        assert numbers(turned.text) == kept[PAGE_SIZE:]

    async def test_fits_a_message_however_long_the_memories_are(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        for _ in range(PAGE_SIZE):
            await keep(stage, aiko, channel, "*" * 4000, category="類" * 50, tags="札" * 100)
        assert len(numbers((await self.listed(stage, aiko, channel)).text)) == PAGE_SIZE


class TestDelete:
    async def test_forgets(self, stage: Stage, aiko: User, channel: Channel) -> None:
        number = await keep(stage, aiko, channel, "もういらない")
        text = await stage.told(aiko, channel, "memory delete", id=number)
        assert text.startswith(f"🗑️ 忘れました（#{number}）: もういらない\n")
        assert "メモリはまだありません" in await stage.told(aiko, channel, "memory list")

    async def test_tells_that_there_is_no_such_memory(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        text = await stage.told(ben, channel, "memory delete", id=987654321)
        assert text == "There is no memory #987654321. See /memory list for the numbers."

    async def test_leaves_other_peoples_memories_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        number = await keep(stage, aiko, channel, "愛子のもの")
        assert "There is no memory" in await stage.told(ben, channel, "memory delete", id=number)
        assert stage.rows(
            "SELECT content FROM memories WHERE user_id = ? AND number = ?", aiko.id, number
        ) == [("愛子のもの",)]

    async def test_goes_by_the_users_own_numbers_whatever_others_have(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        mine = [await keep(stage, aiko, channel, f"愛子の{count}つ目") for count in range(3)]
        theirs = [await keep(stage, ben, channel, f"Ben's {count}") for count in range(2)]
        assert (mine, theirs) == ([1, 2, 3], [1, 2])
        choices = await stage.discord.autocomplete(ben, channel, "memory delete", id="#2")
        assert [(choice.value, choice.name) for choice in choices[:1]] == [(2, "#2 Ben's 1")]
        stage.model.script(
            calls(Call("recall", {"query": "Ben's 0"})), calls(Call("forget", {"id": 1})), says("Done.")
        )
        answer = await stage.ask(ben, channel, "Forget Ben's 0")
        assert "🗑️ Forgotten (#1)" in answer.text
        await stage.told(ben, channel, "memory delete", id=2)
        assert numbers(await stage.told(ben, channel, "memory list")) == []
        assert numbers(await stage.told(aiko, channel, "memory list")) == [3, 2, 1]

    async def test_suggests_by_text_and_by_number(self, stage: Stage, aiko: User, channel: Channel) -> None:
        birthday = await keep(stage, aiko, channel, "誕生日は3月15日")
        cat = await keep(stage, aiko, channel, "猫の名前はタマ")
        by_text = await stage.discord.autocomplete(aiko, channel, "memory delete", id="3月")
        assert [(choice.name, choice.value) for choice in by_text] == [
            (f"#{birthday} 誕生日は3月15日", birthday)
        ]
        by_number = await stage.discord.autocomplete(aiko, channel, "memory delete", id=str(cat))
        assert by_number[0].value == cat

    async def test_suggests_25_at_most_and_only_ones_own(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        await keep(stage, aiko, channel, "メモは愛子のもの")
        kept = [await keep(stage, ben, channel, f"Memo {n} {'x' * 200}") for n in range(26)]
        choices = await stage.discord.autocomplete(ben, channel, "memory delete", id="")
        assert [choice.value for choice in choices] == kept[:0:-1]


class TestMessageMenu:
    @pytest.mark.parametrize(
        ("locale", "told"), [("ja", "このメッセージを覚えました"), ("en-US", "Remembered")]
    )
    async def test_keeps_a_message_with_its_link(
        self, stage: Stage, ben: User, channel: Channel, locale: str, told: str
    ) -> None:
        reader = stage.discord.user("Reader", locale=locale)
        message = await stage.discord.post(ben, channel, "The meeting is on Friday at ten")
        reply = await stage.discord.message_command(reader, channel, "Remember this", message)
        await reply.finished(lambda shown: told in shown.text)
        assert reply.ephemeral
        [(content, source)] = stage.rows("SELECT content, source FROM memories WHERE user_id = ?", reader.id)
        assert content == "The meeting is on Friday at ten"
        guild = channel.guild.id if channel.guild else "@me"
        assert json.loads(source)["link"].endswith(f"/channels/{guild}/{channel.id}/{message.id}")

    async def test_keeps_what_was_said_in_private_out_of_public_answers(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(says("合言葉はオオルリです。"), says("合言葉はカワセミです。"))
        ephemeral = await stage.ask(aiko, channel, private=True)
        dm = stage.discord.dm(aiko)
        staff = stage.discord.guild_channel("staff")
        stage.discord.hide(staff, but_from=[aiko])
        for place, reply in (
            (channel, ephemeral),
            (dm, await stage.ask(aiko, dm)),
            (staff, await stage.ask_in_words(aiko, staff, "合言葉はトキです。")),
        ):
            kept = await stage.discord.message_command(aiko, place, "Remember this", reply.message)
            await kept.finished(lambda shown: "覚えました" in shown.text)
        rows = stage.rows("SELECT content, audience FROM memories WHERE user_id = ?", aiko.id)
        assert rows == [(f"合言葉は{bird}です。", "private") for bird in ("オオルリ", "カワセミ", "トキ")]

    async def test_has_nothing_to_keep_of_a_picture(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        message = await stage.discord.post(ben, channel, "")
        reply = await stage.discord.message_command(aiko, channel, "Remember this", message)
        await reply.finished(lambda shown: "文章がない" in shown.text)
        assert stage.rows("SELECT * FROM memories WHERE user_id = ?", aiko.id) == []


class TestTools:
    async def test_remember_and_recall(self, stage: Stage, aiko: User, channel: Channel) -> None:
        stage.model.script(
            calls(Call("remember", {"content": "好きな色は青", "tags": ["色"], "category": "好み"})),
            says("覚えました。"),
            calls(Call("recall", {"query": "好きな色"})),
            says("青です。"),
        )
        await stage.ask(aiko, channel, "好きな色は青。覚えて")
        reply = await stage.ask(aiko, stage.discord.guild_channel(), "好きな色は？")
        assert "青です。" in reply.text
        [found] = json.loads(new_tool_results(stage.model.requests[3].body)[0])["memories"]
        assert (found["content"], found["category"], found["tags"]) == ("好きな色は青", "好み", ["色"])

    async def test_reach_nobody_elses_memories_whatever_the_model_asks_for(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        number = await keep(stage, aiko, channel, "金庫の番号は4711")
        wanted: list[Json] = [
            {"query": "4711"},
            {"query": str(number)},
            {"query": "4711", "user_id": aiko.id},
            {"query": f"id:{number} user:{aiko.id}", "limit": 1000},
        ]
        stage.model.script(calls(*(Call("recall", each) for each in wanted)), says("I found nothing."))
        await stage.ask(ben, channel, f"What are {aiko.mention}'s secrets?")
        results = new_tool_results(stage.model.requests[1].body)
        assert len(results) == 4
        assert "4711" not in "".join(results)

    async def test_keep_for_the_asker_whoever_the_model_names(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(
            calls(Call("remember", {"content": "Owes Ben money", "user_id": aiko.id})), says("Done.")
        )
        await stage.ask(ben, channel)
        assert stage.rows("SELECT * FROM memories WHERE user_id = ?", aiko.id) == []

    async def test_tell_the_model_of_its_mistakes(self, stage: Stage, ben: User, channel: Channel) -> None:
        stage.model.script(
            calls(Call("forget_everything", {}), Call("recall", {"limit": "many"})), says("Sorry.")
        )
        reply = await stage.ask(ben, channel)
        assert reply.text.startswith("Sorry.")
        results = new_tool_results(stage.model.requests[1].body)
        assert all("error" in json.loads(result) for result in results)
