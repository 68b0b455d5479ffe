"""More questions at a time than are answered: who waits sees where they stand, and may leave."""

from tests.end_to_end.stage import Stage, answered, ended, stop_label, streaming
from tests.loopback.discord import Channel, Reply, User
from tests.loopback.model_server import Hang, Say, says
from tests.loopback.model_server import Reply as Answer

PLACES = 8
"""The default of CC_BOT_MAX_TURNS."""


async def all_places_taken(stage: Stage, channel: Channel) -> list[tuple[User, Reply]]:
    stage.model.script(*(Answer(Say("One moment"), Hang()) for _ in range(PLACES)))
    users = [stage.discord.user(f"User{number}") for number in range(PLACES)]
    begun = [(user, await stage.begin(user, channel)) for user in users]
    for _, reply in begun:
        await streaming(reply, "One moment")
    return begun


class TestLine:
    async def test_shows_how_many_are_ahead_and_lets_whoever_wants_to_leave(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        busy = await all_places_taken(stage, channel)
        first = await streaming(await stage.begin(aiko, channel), "順番を待っています…（次です）")
        second = await streaming(await stage.begin(ben, channel), "Waiting in line… (1 ahead)")
        await stage.discord.click(aiko, first.message, stop_label(aiko))
        assert "回答を止めました" in (await ended(first)).text
        assert len(stage.model.requests) == PLACES
        stage.model.script(says("Here you are."))
        user, running = busy.pop()
        await stage.discord.click(user, running.message, stop_label(user))
        assert "Here you are." in (await answered(second)).text
        for user, running in busy:
            await stage.discord.click(user, running.message, stop_label(user))
            await ended(running)
