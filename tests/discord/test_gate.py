import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cc_bot.chat.policy import Policies
from cc_bot.discord.gate import (
    FLOOD_PAUSE_S,
    MAX_BURST,
    CommandRates,
    FloodGuard,
    Gate,
    Owners,
    error_of_refusal,
)
from cc_bot.domain.access import Refusal, Visitor
from cc_bot.domain.errors import StorageError, TooManyCommands, UnderMaintenance
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.text import Locale
from tests.discord.parts import BotChannel, gate_over

ROLE, OWNER = 77, 9
MEMBER = "GET /guilds/{guild}/members/{user}"

BUSY_SQL = """
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800000) SELECT max(i) FROM n
"""


@dataclass
class Door(BotChannel):
    gate: Gate

    @property
    def file(self) -> Path:
        return self.folder / "policy.toml"

    @property
    def comer(self) -> Visitor:
        return Visitor(self.aiko.id, (1,))

    async def turns_away(self, key: ChannelKey | None = None) -> Refusal | None:
        return await self.gate.find_refusal_in(key or self.key, self.aiko.id)

    def owners(self, *named: int) -> Owners:
        return Owners(frozenset(named), Policies(self.file, locale=Locale.JA), self.rest)

    @asynccontextmanager
    async def held_up(self) -> AsyncIterator[None]:
        """The bot's connection is busy, and everything else waits for it."""
        database = self.stores.access._database
        busy = asyncio.create_task(database.query(BUSY_SQL))
        await asyncio.sleep(0)
        yield
        await busy


@pytest.fixture
def door(location: BotChannel) -> Door:
    file = location.folder / "policy.toml"
    gate = gate_over(location.stores, location.rest, owners=frozenset({OWNER}), file=file)
    return Door(**vars(location), gate=gate)


class TestTheGate:
    async def test_knows_a_thread_as_its_channel_and_a_channel_as_in_its_server(self, door: Door) -> None:
        guild_id, thread = door.discord.guild.id, door.discord.thread(door.channel)
        assert await door.turns_away(ChannelKey(door.channel.id, thread.id)) is None
        assert door.discord.transcript == [], "there are no rules"
        await door.stores.access.set("guild", guild_id, "allow", set_by=OWNER)
        assert await door.turns_away() is None
        await door.stores.access.set("channel", door.channel.id, "deny", set_by=OWNER)
        denied = Refusal("denied", "channel")
        assert await door.gate.find_refusal(Visitor(door.aiko.id, (thread.id,), guild_id)) == denied
        assert await door.turns_away(ChannelKey(door.channel.id, thread.id)) == denied
        await door.stores.access.set("guild", guild_id, "deny", set_by=OWNER)
        other = door.discord.guild_channel()
        assert await door.turns_away(ChannelKey(other.id)) == Refusal("denied", "guild")

    async def test_asks_for_roles_once_and_only_where_a_rule_is_about_them(self, door: Door) -> None:
        door.discord.give_role(door.aiko, ROLE)
        await door.stores.access.set("user", 5, "deny", set_by=OWNER)
        await door.turns_away()
        assert door.discord.calls(MEMBER) == []
        await door.stores.access.set("role", ROLE, "deny", set_by=OWNER)
        for _ in range(2):
            assert await door.turns_away() == Refusal("denied", "role")
        assert len(door.discord.calls(MEMBER)) == 1

    async def test_stays_shut_while_discord_does_not_tell_the_roles(self, door: Door) -> None:
        await door.stores.access.set("role", ROLE, "allow", set_by=OWNER)
        door.discord.give_role(door.aiko, ROLE)
        door.discord.fail_next(MEMBER, 503)
        assert await door.turns_away() == Refusal("not_listed", "role")
        assert await door.turns_away() is None

    async def test_follows_the_operators_file_at_once(self, door: Door) -> None:
        assert await door.gate.find_refusal(door.comer) is None
        door.file.write_text(f"[access.deny]\nusers = [{door.aiko.id}]\n", encoding="utf-8")
        assert await door.gate.find_refusal(door.comer) == Refusal("denied", "user")
        door.file.write_text(f"[access]\nowners = [{door.aiko.id}]\n", encoding="utf-8")
        await door.stores.access.set("user", door.aiko.id, "deny", set_by=OWNER)
        assert await door.gate.find_refusal(door.comer) is None

    async def test_lets_reminders_through_maintenance_but_no_answers(self, door: Door) -> None:
        await door.stores.access.begin_maintenance("すぐ戻ります", set_by=OWNER)
        assert await door.gate.find_refusal(door.comer, include_maintenance=False) is None
        refused = await door.gate.find_refusal(door.comer)
        assert refused == Refusal("maintenance", note="すぐ戻ります")
        assert isinstance(error := error_of_refusal(refused), UnderMaintenance)
        assert "すぐ戻ります" in str(error.params["note"])
        assert await door.gate.find_refusal(Visitor(OWNER, (1,))) is None

    async def test_keeps_what_it_last_knew_while_the_database_is_held_up(self, door: Door) -> None:
        gate = gate_over(door.stores, door.rest)
        await door.stores.access.set("user", door.aiko.id, "deny", set_by=OWNER)
        await gate.prepare()
        gate.timeout_s = 0.05
        async with door.held_up():
            assert await gate.find_refusal(door.comer) == Refusal("denied", "user")

    async def test_fails_where_a_held_up_database_has_said_nothing_yet(self, door: Door) -> None:
        async with door.held_up():
            with pytest.raises(StorageError):
                await gate_over(door.stores, door.rest, timeout_s=0.05).find_refusal(door.comer)


class TestOwners:
    async def test_are_those_of_the_application_unless_the_operator_named_some(self, door: Door) -> None:
        ann, ben = door.discord.user("Ann"), door.discord.user("Ben")
        of_application, named = door.owners(), door.owners(5)
        assert await of_application.ids() == {door.discord.owner.id}
        assert await named.ids() == {5}
        door.file.write_text("[access]\nowners = [6]\n", encoding="utf-8")
        assert await of_application.ids() == {6}
        assert await named.ids() == {5, 6}
        door.file.unlink()
        door.discord.world.team = [(ann, True), (ben, False)]  # who has accepted
        assert await door.owners().ids() == {ann.id}


NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
SECOND = timedelta(seconds=1)
ME, YOU = 1, 2


def test_so_many_commands_of_each_user_pass_and_the_first_refusal_tells_when_the_next_may_come() -> None:
    rates = CommandRates()

    def refusal(user_id: int, now: datetime, *, most: int = 3) -> tuple[object, bool] | None:
        try:
            rates.count(user_id, "command", most, now)
        except TooManyCommands as error:
            return error.params["resets"], error.reported
        return None

    assert [refusal(ME, NOW + n * SECOND) for n in range(3)] == [None] * 3
    again = NOW + 60 * SECOND
    assert refusal(ME, NOW + 3 * SECOND) == (again, False)
    assert refusal(ME, NOW + 4 * SECOND) == (again, True)
    assert refusal(YOU, NOW, most=1) is None
    rates.raise_last_refusal(ME, "read", NOW)
    assert refusal(ME, again) is None
    assert refusal(ME, again) == (NOW + 61 * SECOND, False)
    assert refusal(ME, NOW - timedelta(days=1)) is None  # the clock was put back


AT_ONCE = MAX_BURST["interaction"]


class TestFlood:
    def test_of_interactions_has_its_first_refused_and_the_others_dropped_until_its_user_was_quiet(
        self,
    ) -> None:
        guard = FloodGuard()
        assert not any(guard.should_drop(ME, "interaction", 0.0, answerable_id=n) for n in range(AT_ONCE))
        assert guard.should_drop(ME, "interaction", 0.0)
        assert not guard.should_drop(ME, "interaction", 0.0, answerable_id=1000)
        assert guard.is_refused(ME, 1000)
        assert all(guard.should_drop(ME, "interaction", 0.0, answerable_id=n) for n in range(1001, 1100))
        assert not any(guard.is_refused(ME, n) for n in range(1001, 1100))
        assert not guard.should_drop(YOU, "interaction", 0.0, answerable_id=1101)
        assert not guard.should_drop(ME, "message", 0.0)
        almost_s = FLOOD_PAUSE_S - 0.1
        assert guard.should_drop(ME, "interaction", almost_s, answerable_id=1102)
        assert guard.should_drop(ME, "interaction", 2 * almost_s, answerable_id=1103)
        assert not guard.should_drop(ME, "interaction", 2 * almost_s + FLOOD_PAUSE_S, answerable_id=1104)
        assert not guard.is_refused(ME, 1104)

    def test_of_messages_is_dropped_beyond_their_number(self) -> None:
        guard = FloodGuard()
        dropped = [guard.should_drop(ME, "message", 0.0) for _ in range(MAX_BURST["message"] + 10)]
        assert dropped == [False] * MAX_BURST["message"] + [True] * 10
