"""Buttons, menus, forms, autocomplete, and the language that a reply is written in."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.loopback.discord import Allowance, LoopbackDiscord, Reply
from tests.loopback.discord.interactions import Callback
from tests.loopback.discord.raw import RawBot

Body = dict[str, Any]
EPHEMERAL = 64
ASK: Body = {
    "name": "ask",
    "description": "Asks",
    "options": [
        {"type": 3, "name": "question", "description": "What"},
        {"type": 4, "name": "id", "description": "Which", "autocomplete": True},
    ],
}
ROW: Body = {
    "type": 1,
    "components": [
        {"type": 2, "style": 1, "label": "続ける", "custom_id": "go"},
        {"type": 2, "style": 2, "label": "止める", "custom_id": "stop", "disabled": True},
    ],
}
MENU: Body = {
    "type": 1,
    "components": [
        {
            "type": 3,
            "custom_id": "which",
            "placeholder": "選ぶ",
            "options": [{"label": "一つ目", "value": "1"}, {"label": "二つ目", "value": "2"}],
        }
    ],
}
FORM: Body = {
    "title": "編集",
    "custom_id": "form",
    "components": [
        {
            "type": 1,
            "components": [{"type": 4, "custom_id": "text", "label": "文", "style": 1, "value": "前"}],
        }
    ],
}


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(webhook_rate=Allowance(100, 2.0)) as double:
        yield double


@pytest.fixture
async def bot(discord: LoopbackDiscord) -> AsyncIterator[RawBot]:
    async with RawBot(discord) as bot:
        status, _ = await bot.register(ASK)
        assert status == 200
        yield bot


@pytest.fixture
async def reply(discord: LoopbackDiscord, bot: RawBot) -> Reply:
    return await discord.slash(
        discord.user("Aiko", locale="ja"), discord.guild_channel(), "ask", question="何？"
    )


class TestComponents:
    async def test_a_click_carries_its_message_and_may_change_it(
        self, bot: RawBot, reply: Reply, discord: LoopbackDiscord
    ) -> None:
        await bot.answer(reply, Callback.MESSAGE, {"content": "x", "components": [ROW]})
        clicked = await discord.click(reply.interaction.user, reply.message, "続ける")
        assert clicked.interaction.data["custom_id"] == "go"
        assert clicked.interaction.payload()["message"]["id"] == str(reply.message.id)
        assert (await bot.answer(clicked, Callback.UPDATE, {"components": []}))[0] == 200
        assert (reply.message.content, reply.labels) == ("x", [])

    async def test_a_deferred_update_lets_the_token_edit_the_clicked_message(
        self, bot: RawBot, reply: Reply, discord: LoopbackDiscord
    ) -> None:
        await bot.answer(reply, Callback.MESSAGE, {"content": "x", "components": [ROW]})
        clicked = await discord.click(reply.interaction.user, reply.message, "go")
        await bot.answer(clicked, Callback.DEFERRED_UPDATE)
        assert not clicked.loading
        await bot.edit(clicked, {"content": "y"})
        assert reply.message.content == "y"
        assert [shown.content for shown in clicked.history] == ["y"]

    async def test_what_a_user_cannot_press_is_the_tests_mistake(
        self, bot: RawBot, reply: Reply, discord: LoopbackDiscord
    ) -> None:
        await bot.answer(reply, Callback.MESSAGE, {"content": "x", "components": [ROW], "flags": EPHEMERAL})
        with pytest.raises(AssertionError, match="disabled"):
            await discord.click(reply.interaction.user, reply.message, "止める")
        with pytest.raises(AssertionError, match="no component"):
            await discord.click(reply.interaction.user, reply.message, "消す")
        with pytest.raises(AssertionError, match="cannot see"):
            await discord.click(discord.user("Diego"), reply.message, "続ける")

    async def test_a_menu_sends_values_for_labels(
        self, bot: RawBot, reply: Reply, discord: LoopbackDiscord
    ) -> None:
        await bot.answer(reply, Callback.MESSAGE, {"content": "x", "components": [MENU]})
        selected = await discord.select(reply.interaction.user, reply.message, "選ぶ", "二つ目")
        assert selected.interaction.data["values"] == ["2"]

    async def test_a_form_comes_back_filled_in(
        self, bot: RawBot, reply: Reply, discord: LoopbackDiscord
    ) -> None:
        assert (await bot.answer(reply, Callback.MODAL, FORM))[0] == 200
        prefilled = await discord.submit_modal(reply)
        submitted = await discord.submit_modal(reply, text="後")
        inputs = [
            r.interaction.data["components"][0]["components"][0]["value"] for r in (prefilled, submitted)
        ]
        assert inputs == ["前", "後"]
        assert (await bot.answer(submitted, Callback.MODAL, FORM))[0] == 400

    async def test_a_form_with_a_long_title_is_refused(self, bot: RawBot, reply: Reply) -> None:
        assert (await bot.answer(reply, Callback.MODAL, {**FORM, "title": "x" * 46}))[0] == 400


class TestAutocomplete:
    @pytest.mark.parametrize(("choices", "status"), [(25, 200), (26, 400)])
    async def test_takes_twenty_five_choices(
        self, bot: RawBot, discord: LoopbackDiscord, choices: int, status: int
    ) -> None:
        data = {"choices": [{"name": f"{n}", "value": n} for n in range(choices)]}
        assert await self.answered(bot, discord, data) == status

    @pytest.mark.parametrize("choice", [{"name": "", "value": 1}, {"name": "x" * 101, "value": 1}])
    async def test_takes_names_of_1_to_100(self, bot: RawBot, discord: LoopbackDiscord, choice: Body) -> None:
        assert await self.answered(bot, discord, {"choices": [choice]}) == 400

    async def answered(self, bot: RawBot, discord: LoopbackDiscord, data: Body) -> int:
        typing = asyncio.create_task(
            discord.autocomplete(discord.owner, discord.guild_channel(), "ask", id="3月")
        )
        await discord.wait(lambda: discord.replies, "the autocomplete")
        reply = discord.replies[-1]
        assert reply.interaction.data["options"] == [
            {"name": "id", "type": 4, "value": "3月", "focused": True}
        ]
        status, answer = await bot.answer(reply, Callback.CHOICES, data)
        if status == 200:
            assert len(await typing) == len(data["choices"])
        else:
            assert answer["code"] == 50035
            typing.cancel()
        return status


class TestLanguage:
    @pytest.mark.parametrize(
        ("locale", "content", "wrong"),
        [
            ("ja", "お答えします", False),
            ("ja", "Here you are", True),
            ("en-US", "Here you are", False),
            ("en-US", "Here: カレー", True),
            ("en-US", "漢字 only", False),
            ("ja", "1 / 2", False),
        ],
    )
    async def test_of_each_reply_is_the_askers(
        self, bot: RawBot, discord: LoopbackDiscord, locale: str, content: str, wrong: bool
    ) -> None:
        asker = discord.user("Aiko", locale=locale)
        reply = await discord.slash(asker, discord.guild_channel(), "ask", question="?")
        await bot.answer(reply, Callback.MESSAGE, {"content": content})
        assert discord.wrong_language == ([(locale, content)] if wrong else [])
        reply.any_language = True
        assert discord.wrong_language == []
