"""The commands that the program has are known without Discord."""

import base64

import pytest

from cc_bot.discord.bot import extension_names, list_command_names


class TestOfferedCommands:
    async def test_have_the_names_that_discord_registers(self) -> None:
        token = base64.b64encode(b"123456789012345678").decode() + ".x.y"
        names = await list_command_names(token)
        assert {"ask", "memory", "clear", "Remember this"} <= names
        assert not {name for name in names if "_" in name}  # the keys of their wordings

    async def test_are_not_told_for_a_token_that_can_be_none(self) -> None:
        with pytest.raises(ValueError, match="token"):
            await list_command_names("not a token")

    def test_are_looked_for_in_every_extension(self) -> None:
        assert "cc_bot.discord.commands.ask" in extension_names()
