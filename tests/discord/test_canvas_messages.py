"""Whether an edit that leaves the files alone did what it was meant to."""

from typing import Any

import pytest

from cc_bot.discord.delivery.canvas_messages import shows
from cc_bot.discord.pages.canvas import CanvasPage, Panel
from tests.discord.hikari_messages import message

PAGE = CanvasPage("-# 🖼️", (Panel("買い物", "- 牛乳"), Panel("売上", picture="chart-1.png")))
TEXT = {"type": "rich", "title": "買い物"}


def picture(url: str) -> dict[str, Any]:
    return {"type": "rich", "title": "売上", "image": {"url": url, "proxy_url": url, "width": 1, "height": 1}}


class TestKeptPicture:
    def test_that_discord_found_is_shown(self) -> None:
        assert shows(message(embeds=[TEXT, picture("https://cdn.discordapp.com/chart-1.png")]), PAGE)

    @pytest.mark.parametrize("embed", [{**TEXT, "title": "売上"}, picture("attachment://chart-1.png")])
    def test_that_discord_did_not_find_is_missing(self, embed: dict[str, Any]) -> None:
        assert not shows(message(embeds=[TEXT, embed]), PAGE)

    def test_that_stands_beside_its_embed_as_well_is_one_too_many(self) -> None:
        embeds = [TEXT, picture("https://cdn.discordapp.com/chart-1.png")]
        assert not shows(message(embeds=embeds, files=["chart-1.png"]), PAGE)
