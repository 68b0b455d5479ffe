"""What commands may be called and hold, each rule shown to be refused as Discord refuses it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.loopback.discord import Allowance, LoopbackDiscord
from tests.loopback.discord.raw import RawBot

Body = dict[str, Any]


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(channel_rate=Allowance(100, 5.0), webhook_rate=Allowance(100, 2.0)) as double:
        yield double


@pytest.fixture
async def bot(discord: LoopbackDiscord) -> AsyncIterator[RawBot]:
    async with RawBot(discord) as bot:
        yield bot


def command(**fields: Any) -> Body:
    return {"name": "ask", "description": "Asks", **fields}


def option(**fields: Any) -> Body:
    return {"type": 3, "name": "question", "description": "What", **fields}


REFUSED_COMMANDS: dict[str, Body] = {
    "a name in capitals": command(name="Ask"),
    "a name with a space": command(name="ask me"),
    "a name of 33": command(name="x" * 33),
    "an empty name": command(name=""),
    "no description": command(description=""),
    "a description of 101": command(description="x" * 101),
    "a localized name with a space": command(name_localizations={"ja": "聞く の"}),
    "a localized name of 33": command(name_localizations={"ja": "聞" * 33}),
    "a localized description of 101": command(description_localizations={"ja": "あ" * 101}),
    "a locale that does not exist": command(name_localizations={"jp": "聞く"}),
    "26 options": command(options=[option(name=f"o{n}") for n in range(26)]),
    "two options of one name": command(options=[option(), option()]),
    "an option without a description": command(options=[option(description="")]),
    "a localized option description of 101": command(
        options=[option(description_localizations={"ja": "あ" * 101})]
    ),
    "required after optional": command(options=[option(name="a"), option(name="b", required=True)]),
    "26 choices": command(options=[option(choices=[{"name": f"{n}", "value": f"{n}"} for n in range(26)])]),
    "choices and autocomplete": command(
        options=[option(choices=[{"name": "a", "value": "a"}], autocomplete=True)]
    ),
    "a subcommand beside an option": command(options=[option(type=1, name="add"), option()]),
    "a maximum length of 6001": command(options=[option(max_length=6001)]),
    "a context that does not exist": command(contexts=[3]),
    "a described menu command": {"type": 3, "name": "Keep", "description": "no"},
    "a menu command of 33": {"type": 3, "name": "x" * 33},
    "8001 characters": command(
        options=[
            option(
                name=f"o{n}", choices=[{"name": f"{i}".ljust(80, "x"), "value": str(i)} for i in range(25)]
            )
            for n in range(4)
        ]
    ),
}


class TestCommands:
    @pytest.mark.parametrize("what", REFUSED_COMMANDS)
    async def test_that_break_a_rule_are_an_invalid_form(
        self, discord: LoopbackDiscord, bot: RawBot, what: str
    ) -> None:
        status, answer = await bot.register(command(name="fine"), REFUSED_COMMANDS[what])
        assert (status, answer["code"]) == (400, 50035)
        assert discord.commands == []

    async def test_in_japanese_are_taken(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        japanese = command(name="聞く", options=[option(name="ファイル名_2")])
        status, _ = await bot.register(japanese, {"type": 3, "name": "これを覚える / Remember this"})
        assert status == 200

    async def test_of_one_name_in_any_language_are_refused(self, bot: RawBot) -> None:
        twins = [command(name=name, name_localizations={"ja": "聞く"}) for name in ("ask", "question")]
        assert (await bot.register(*twins))[0] == 400
        assert (await bot.register(command(), command()))[0] == 400

    async def test_keep_their_ids_when_they_are_written_again(self, bot: RawBot) -> None:
        _, first = await bot.register(command())
        _, second = await bot.register(command(description="Asks again"), command(name="clear"))
        assert first[0]["id"] == second[0]["id"] != second[1]["id"]

    async def test_are_listed_with_localizations_only_on_request(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        await bot.register(command(name_localizations={"ja": "聞く"}))
        path = f"/applications/{discord.application_id}/commands"
        _, plain = await bot.call("GET", path)
        _, localized = await bot.call("GET", f"{path}?with_localizations=true")
        assert "name_localizations" not in plain[0]
        assert localized[0]["name_localizations"] == {"ja": "聞く"}
