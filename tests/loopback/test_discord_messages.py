"""What a message may hold, each limit shown to be refused as Discord refuses it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.loopback.discord import Allowance, File, LoopbackDiscord
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


def button(custom_id: str, **fields: Any) -> Body:
    return {"type": 2, "style": 1, "label": "押す", "custom_id": custom_id, **fields}


def row(*components: Body) -> Body:
    return {"type": 1, "components": list(components)}


def menu(options: int) -> Body:
    return {
        "type": 3,
        "custom_id": "m",
        "options": [{"label": f"{n}", "value": f"{n}"} for n in range(options)],
    }


REFUSED_MESSAGES: dict[str, Body] = {
    "2001 characters": {"content": "あ" * 2001},
    "an embed description of 4097": {"embeds": [{"description": "x" * 4097}]},
    "an embed title of 257": {"embeds": [{"title": "x" * 257}]},
    "embeds of 6001 in all": {"embeds": [{"description": "x" * 4000}, {"description": "x" * 2001}]},
    "an embed field without a value": {"embeds": [{"fields": [{"name": "x", "value": ""}]}]},
    "an embed field of blanks": {"embeds": [{"fields": [{"name": "x", "value": " "}]}]},
    "an embed of nothing": {"embeds": [{}]},
    "an embed of a colour alone": {"embeds": [{"color": 1}]},
    "a colour that is none": {"embeds": [{"title": "x", "color": 0x1000000}]},
    "a picture on no server": {"embeds": [{"image": {"url": "file:///a.png"}}]},
    "26 embed fields": {"embeds": [{"fields": [{"name": "x", "value": "x"}] * 26}]},
    "11 embeds": {"embeds": [{"title": "x"}] * 11},
    "6 buttons in a row": {"content": "x", "components": [row(*[button(str(n)) for n in range(6)])]},
    "6 rows": {"content": "x", "components": [row(button(str(n))) for n in range(6)]},
    "an empty row": {"content": "x", "components": [row()]},
    "a button outside a row": {"content": "x", "components": [button("a")]},
    "a custom id of 101": {"content": "x", "components": [row(button("x" * 101))]},
    "the same custom id twice": {"content": "x", "components": [row(button("a")), row(button("a"))]},
    "a label of 81": {"content": "x", "components": [row(button("a", label="x" * 81))]},
    "a button without a custom id": {
        "content": "x",
        "components": [row({"type": 2, "style": 1, "label": "x"})],
    },
    "a menu of 26": {"content": "x", "components": [row(menu(26))]},
    "a menu beside a button": {"content": "x", "components": [row(menu(2), button("a"))]},
    "V2 components without their flag": {"components": [{"type": 10, "content": "x"}]},
    "content beside V2 components": {
        "content": "x",
        "flags": 1 << 15,
        "components": [{"type": 10, "content": "x"}],
    },
    "41 V2 components": {"flags": 1 << 15, "components": [{"type": 10, "content": "x"}] * 41},
    "both parse and users": {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
    "a nonce of 26": {"content": "x", "nonce": "x" * 26},
    "a file that did not come": {"content": "x", "attachments": [{"id": 0, "filename": "a.txt"}]},
}

TAKEN_MESSAGES: dict[str, Body] = {
    "2000 characters": {"content": "あ" * 2000},
    "embeds of 6000": {"embeds": [{"description": "x" * 4000}, {"description": "x" * 2000}]},
    "25 buttons": {
        "content": "x",
        "components": [row(*[button(f"{r}{n}") for n in range(5)]) for r in range(5)],
    },
    "a menu of 25": {"content": "x", "components": [row(menu(25))]},
    "40 V2 components": {"flags": 1 << 15, "components": [{"type": 10, "content": "x"}] * 40},
}


class TestMessages:
    @pytest.mark.parametrize("what", REFUSED_MESSAGES)
    async def test_that_are_too_much_are_an_invalid_form(
        self, discord: LoopbackDiscord, bot: RawBot, what: str
    ) -> None:
        path = f"/channels/{discord.guild_channel().id}/messages"
        status, answer = await bot.call("POST", path, REFUSED_MESSAGES[what])
        assert (status, answer["code"]) == (400, 50035)
        assert answer["errors"]
        assert [violation.code for violation in discord.violations] == [50035]

    @pytest.mark.parametrize("what", TAKEN_MESSAGES)
    async def test_at_the_limit_are_taken(self, discord: LoopbackDiscord, bot: RawBot, what: str) -> None:
        status, _ = await bot.call(
            "POST", f"/channels/{discord.guild_channel().id}/messages", TAKEN_MESSAGES[what]
        )
        assert status == 200
        assert discord.violations == []

    @pytest.mark.parametrize("body", [{}, {"content": ""}, {"content": " \n　"}, {"embeds": []}])
    async def test_without_anything_to_see_are_empty(
        self, discord: LoopbackDiscord, bot: RawBot, body: Body
    ) -> None:
        status, answer = await bot.call("POST", f"/channels/{discord.guild_channel().id}/messages", body)
        assert (status, answer["code"]) == (400, 50006)

    async def test_that_do_not_exist_are_unknown(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        path = f"/channels/{discord.guild_channel().id}/messages"
        _, posted = await bot.call("POST", path, {"content": "x"})
        assert (await bot.call("DELETE", f"{path}/{posted['id']}"))[0] == 204
        for method in ("GET", "PATCH", "DELETE"):
            status, answer = await bot.call(method, f"{path}/{posted['id']}", {"content": "y"})
            assert (status, answer["code"]) == (404, 10008)

    async def test_of_others_cannot_be_edited(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        channel = discord.guild_channel()
        theirs = await discord.post(discord.user("Diego"), channel, "mine")
        status, answer = await bot.call(
            "PATCH", f"/channels/{channel.id}/messages/{theirs.id}", {"content": "x"}
        )
        assert (status, answer["code"]) == (403, 50005)

    async def test_with_a_nonce_that_is_enforced_are_posted_once(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        channel = discord.guild_channel()
        body = {"content": "x", "nonce": "n1", "enforce_nonce": True}
        answers = [await bot.call("POST", f"/channels/{channel.id}/messages", body) for _ in range(2)]
        assert answers[0][1]["id"] == answers[1][1]["id"]
        assert len(discord.messages(channel)) == 1

    async def test_that_would_ping_are_recorded(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        path = f"/channels/{discord.guild_channel().id}/messages"
        asker = discord.user("Diego")
        await bot.call(
            "POST", path, {"content": f"@everyone {asker.mention}", "allowed_mentions": {"parse": []}}
        )
        assert discord.pings == []
        await bot.call("POST", path, {"content": f"@everyone {asker.mention}"})
        assert discord.pings[0].whom.everyone
        assert discord.pings[0].whom.user_ids == {asker.id}


class TestFiles:
    async def test_come_back_from_their_url_until_it_expires(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        path = f"/channels/{discord.guild_channel().id}/messages"
        body = {"attachments": [{"id": 0, "filename": "答え.md", "description": "the answer"}]}
        _, posted = await bot.call("POST", path, body, File("答え.md", "# 答え".encode(), "text/markdown"))
        attachment = posted["attachments"][0]
        assert (attachment["filename"], attachment["size"]) == ("答え.md", 8)
        async with bot.fetch(attachment["url"]) as response:
            assert await response.read() == "# 答え".encode()
        discord.expire_attachments()
        async with bot.fetch(attachment["url"]) as response:
            assert response.status == 404

    async def test_above_10_mib_are_too_large(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        path = f"/channels/{discord.guild_channel().id}/messages"
        limit = 10 * 1024 * 1024
        status, answer = await bot.call("POST", path, {}, File("a.bin", bytes(limit + 1)))
        assert (status, answer["code"]) == (413, 40005)
        status, _ = await bot.call("POST", path, {}, File("a.bin", bytes(limit)))
        assert status == 200

    async def test_stay_when_an_edit_names_them_and_go_when_it_does_not(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        path = f"/channels/{discord.guild_channel().id}/messages"
        _, posted = await bot.call("POST", path, {"content": "x"}, File("a", b"1"), File("b", b"2"))
        kept = [{"id": posted["attachments"][1]["id"]}]
        _, edited = await bot.call("PATCH", f"{path}/{posted['id']}", {"attachments": kept})
        assert [attachment["filename"] for attachment in edited["attachments"]] == ["b"]
        _, edited = await bot.call("PATCH", f"{path}/{posted['id']}", {"content": "y"})
        assert [attachment["filename"] for attachment in edited["attachments"]] == ["b"]


PICTURE: Body = {"title": "売上", "image": {"url": "attachment://a.png"}}
FILE = File("a.png", b"picture", "image/png")


class TestPicturesInEmbeds:
    async def test_are_files_that_are_listed_no_more(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        channel = discord.guild_channel()
        path = f"/channels/{channel.id}/messages"
        _, posted = await bot.call("POST", path, {"embeds": [PICTURE]}, FILE)
        assert posted["attachments"] == []
        [shown] = discord.messages(channel)
        assert posted["embeds"][0]["image"]["url"] == shown.attachments[0].url

    async def test_stay_where_an_edit_names_them_again(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        channel = discord.guild_channel()
        path = f"/channels/{channel.id}/messages"
        _, posted = await bot.call("POST", path, {"embeds": [PICTURE]}, FILE)
        renamed = {**PICTURE, "title": "費用"}
        _, edited = await bot.call("PATCH", f"{path}/{posted['id']}", {"embeds": [renamed]})
        assert edited["embeds"][0]["image"] == posted["embeds"][0]["image"]

    async def test_that_an_edit_leaves_out_are_attachments(
        self, discord: LoopbackDiscord, bot: RawBot
    ) -> None:
        channel = discord.guild_channel()
        path = f"/channels/{channel.id}/messages"
        _, posted = await bot.call("POST", path, {"embeds": [PICTURE]}, FILE)
        _, edited = await bot.call("PATCH", f"{path}/{posted['id']}", {"embeds": [], "content": "x"})
        assert [file["filename"] for file in edited["attachments"]] == ["a.png"]

    async def test_that_never_came_are_not_there(self, discord: LoopbackDiscord, bot: RawBot) -> None:
        path = f"/channels/{discord.guild_channel().id}/messages"
        _, posted = await bot.call("POST", path, {"embeds": [PICTURE]})
        assert "image" not in posted["embeds"][0]
