import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import hikari

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python bench/pointing.py`

from hikari.impl import RESTClientImpl

from cc_bot import Message, open_stores
from cc_bot.discord.gateway import gateway_bot
from cc_bot.discord.references import QuestionLocation
from tests.discord.parts import references_over
from tests.loopback.discord import Allowance, LoopbackDiscord

GOAL_MS = 5.0
ROUNDS = 100
FREE = Allowance(100_000, 1.0)


async def timed_ms(act: Callable[[], Awaitable[object]]) -> float:
    began = perf_counter()
    await act()
    return (perf_counter() - began) * 1000


async def compare(ours: Callable[[], Awaitable[object]], floor: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds at the median that ours takes beyond the floor."""
    pairs = [(await timed_ms(ours), await timed_ms(floor)) for _ in range(ROUNDS)]
    return median(one for one, _ in pairs) - median(other for _, other in pairs)


async def nothing() -> None:
    pass


async def measure(discord: LoopbackDiscord, rest: hikari.api.RESTClient, url: str) -> dict[str, float]:
    async with open_stores(url) as stores:
        references = references_over(stores, rest, await rest.fetch_my_user())
        aiko, ben = discord.user("Aiko", locale="ja"), discord.user("Ben")
        channel, other, guild = discord.guild_channel(), discord.guild_channel("other"), discord.guild
        target = await discord.post(ben, channel, "明日は十時に駅で待ち合わせです。" * 20)
        linked = await discord.post(ben, other, "見積もりは三万二千円です。" * 20)
        reply = await discord.post(aiko, channel, "何時？", reply_to=target)
        forward = await discord.forward(aiko, discord.dm(aiko), target)
        told, shown = [await rest.fetch_message(each.channel.id, each.id) for each in (reply, forward)]
        at = QuestionLocation(channel.id, guild.id, reply.id)
        answering = Message("user", "何時？", author_id=aiko.id, reply_to=target.id)
        link = f"https://discord.com/channels/{guild.id}/{other.id}/{linked.id}"
        pointing = Message("user", f"{link} いくら？", author_id=aiko.id)

        def ignore(_: object) -> None:
            pass

        async def told_reply() -> object:
            references.cache.put_files_and_replied(told)
            return await references.resolve(answering, at, ignore)

        async def asked_reply() -> object:
            references.cache.discard(target.id)
            return await references.resolve(answering, at, ignore)

        async def told_forward() -> object:
            references.cache.put_files_and_replied(shown)
            return await references.fetch_forwards(forward.channel.id, (forward.id,))

        async def link_floor() -> object:
            await asyncio.gather(
                rest.fetch_guild(guild.id), rest.fetch_member(guild.id, aiko.id), rest.fetch_channel(other.id)
            )
            return await rest.fetch_message(other.id, linked.id)

        return {
            "a reply that came with its message (no request)": await compare(told_reply, nothing),
            "a reply that is asked for (1 request)": await compare(
                asked_reply, lambda: rest.fetch_message(channel.id, target.id)
            ),
            "a forward in a DM (no request)": await compare(told_forward, nothing),
            "a link (1 request, and 3 for who may read it)": await compare(
                lambda: references.resolve(pointing, at, ignore), link_floor
            ),
        }


async def run() -> bool:
    """Print the figures, and tell whether all are within the goal."""
    async with LoopbackDiscord(message_content=True, global_rate=FREE, channel_rate=FREE) as discord:
        bot = gateway_bot(discord.token, discord.api_url, "all")
        assert isinstance(bot.rest, RESTClientImpl)
        bot.rest.start()
        try:
            with TemporaryDirectory() as folder:
                found = await measure(discord, bot.rest, f"sqlite:///{folder}/sessions.db")
        finally:
            await bot.rest.close()
    for name, ms in found.items():
        print(f"{name}: {ms:.2f} ms of ours at the median")
    print(f"goal: under {GOAL_MS:.0f} ms each")
    return max(found.values()) < GOAL_MS


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(run()) else 1)
