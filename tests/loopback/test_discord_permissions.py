"""What Discord tells of who may do what: by the roles of a server, and the members of a thread."""

from typing import Any

from tests.loopback.discord import LoopbackDiscord, Permission
from tests.loopback.discord.raw import RawBot


def granted(guild: dict[str, Any], member: dict[str, Any]) -> Permission:
    """What the roles of a member add up to, everybody's included."""
    roles = {guild["id"], *member["roles"]}
    found = Permission(0)
    for role in guild["roles"]:
        if role["id"] in roles:
            found |= Permission(int(role["permissions"]))
    return found


class TestAServer:
    async def test_tells_by_roles_what_its_members_may_do(self) -> None:
        async with LoopbackDiscord() as discord, RawBot(discord) as raw:
            aiko, ben = discord.user("Aiko"), discord.user("Ben")
            discord.permit(aiko, Permission.MANAGE_THREADS)
            _, guild = await raw.call("GET", f"/guilds/{discord.guild.id}")
            for user in (aiko, ben):
                _, member = await raw.call("GET", f"/guilds/{discord.guild.id}/members/{user.id}")
                assert granted(guild, member) == discord.guild.permissions_of(user.id)

    async def test_without_the_bot_tells_nothing(self) -> None:
        async with LoopbackDiscord() as discord, RawBot(discord) as raw:
            other = discord.add_guild("other", bot_present=False)
            status, error = await raw.call("GET", f"/guilds/{other.id}")
            assert (status, error["code"]) == (403, 50001)
            status, error = await raw.call("GET", "/guilds/1")
            assert (status, error["code"]) == (404, 10004)


class TestAThread:
    async def test_tells_who_was_added_to_it(self) -> None:
        async with LoopbackDiscord() as discord, RawBot(discord) as raw:
            aiko, ben, chloe = (discord.user(name) for name in ("Aiko", "Ben", "Chloe"))
            thread = discord.thread(discord.guild_channel(), owner=aiko, private=True)
            discord.add_to_thread(ben, thread)
            for user, expected in ((aiko, 200), (ben, 200), (chloe, 404)):
                status, _ = await raw.call("GET", f"/channels/{thread.id}/thread-members/{user.id}")
                assert status == expected
                sees = Permission.VIEW_CHANNEL in thread.permissions_of(user.id)
                assert sees == (expected == 200)

    async def test_is_no_channel(self) -> None:
        async with LoopbackDiscord() as discord, RawBot(discord) as raw:
            aiko, channel = discord.user("Aiko"), discord.guild_channel()
            status, error = await raw.call("GET", f"/channels/{channel.id}/thread-members/{aiko.id}")
            assert (status, error["code"]) == (404, 10007)
