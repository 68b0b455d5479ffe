"""Who passes the gate: what the rules need to know is looked up, and only if they need it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import hikari
import pytest
from structlog.testing import capture_logs

from cc_bot.discord.access import OWNERS_S, Gate, Owners, error_of
from cc_bot.domain import ChannelKey, Locale, Message
from cc_bot.domain.errors import NotAllowed, StorageError, UnderMaintenance
from cc_bot.domain.member import Refusal, Visitor
from cc_bot.policy import Policies
from cc_bot.stores import Stores, open_stores
from tests.databases import laid_out
from tests.discord.choosing import gate_over
from tests.loopback.discord import LoopbackDiscord, User

ROLE, OWNER = 77, 9
MEMBER = "GET /guilds/{guild}/members/{user}"


@dataclass
class Door:
    """A gate, with what stands behind it."""

    gate: Gate
    stores: Stores
    discord: LoopbackDiscord
    file: Path

    async def turns_away(self, user: User, key: ChannelKey) -> Refusal | None:
        question = Message("user", "ねえ", author_id=user.id)
        return (await self.gate.refusals_in(key, [question])).get(user.id)


@contextmanager
def held_up(file: Path) -> Iterator[None]:
    """Another program writes, so that whatever the bot wants to write keeps its connection waiting."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@pytest.fixture
async def door(discord: LoopbackDiscord, rest: hikari.api.RESTClient, tmp_path: Path) -> AsyncIterator[Door]:
    async with open_stores(laid_out(tmp_path / "sessions.db"), embedder=None) as stores:
        file = tmp_path / "policy.toml"
        yield Door(gate_over(stores, rest, owners=frozenset({OWNER}), file=file), stores, discord, file)


@pytest.fixture
def aiko(discord: LoopbackDiscord) -> User:
    return discord.user("Aiko", locale="ja")


class TestTheGate:
    async def test_asks_discord_nothing_while_there_are_no_rules(self, door: Door, aiko: User) -> None:
        thread = door.discord.thread(door.discord.guild_channel())
        assert await door.turns_away(aiko, ChannelKey(1, thread.id)) is None
        assert door.discord.transcript == []

    async def test_knows_a_thread_as_its_channel(self, door: Door, aiko: User) -> None:
        channel = door.discord.guild_channel()
        thread = door.discord.thread(channel)
        await door.stores.access.set("channel", channel.id, "deny", set_by=OWNER)
        guild_id = door.discord.guild.id
        denied = Refusal("denied", "channel")
        assert await door.gate.refusal_of(Visitor(aiko.id, (thread.id,), guild_id)) == denied
        assert await door.turns_away(aiko, ChannelKey(channel.id, thread.id)) == denied

    async def test_finds_out_which_server_a_channel_is_in(self, door: Door, aiko: User) -> None:
        channel = door.discord.guild_channel()
        await door.stores.access.set("guild", door.discord.guild.id, "allow", set_by=OWNER)
        assert await door.turns_away(aiko, ChannelKey(channel.id)) is None
        await door.stores.access.set("guild", door.discord.guild.id, "deny", set_by=OWNER)
        assert await door.turns_away(aiko, ChannelKey(channel.id)) == Refusal("denied", "guild")

    async def test_asks_for_roles_once_and_only_where_a_rule_is_about_them(
        self, door: Door, aiko: User
    ) -> None:
        channel = door.discord.guild_channel()
        door.discord.give_role(aiko, ROLE)
        await door.stores.access.set("user", 5, "deny", set_by=OWNER)
        await door.turns_away(aiko, ChannelKey(channel.id))
        assert door.discord.calls(MEMBER) == []
        await door.stores.access.set("role", ROLE, "deny", set_by=OWNER)
        for _ in range(2):
            assert await door.turns_away(aiko, ChannelKey(channel.id)) == Refusal("denied", "role")
        assert len(door.discord.calls(MEMBER)) == 1

    async def test_stays_shut_while_discord_does_not_tell_the_roles(self, door: Door, aiko: User) -> None:
        await door.stores.access.set("role", ROLE, "allow", set_by=OWNER)
        channel = door.discord.guild_channel()
        door.discord.give_role(aiko, ROLE)
        door.discord.fail_next(MEMBER, 503)
        assert await door.turns_away(aiko, ChannelKey(channel.id)) == Refusal("not_listed", "role")
        assert await door.turns_away(aiko, ChannelKey(channel.id)) is None

    async def test_follows_the_operators_file_at_once(self, door: Door, aiko: User) -> None:
        comer = Visitor(aiko.id, (1,))
        assert await door.gate.refusal_of(comer) is None
        door.file.write_text(f"[access.deny]\nusers = [{aiko.id}]\n", encoding="utf-8")
        assert await door.gate.refusal_of(comer) == Refusal("denied", "user")
        door.file.write_text(f"[access]\nowners = [{aiko.id}]\n", encoding="utf-8")
        await door.stores.access.set("user", aiko.id, "deny", set_by=OWNER)
        assert await door.gate.refusal_of(comer) is None

    async def test_lets_reminders_through_maintenance_but_no_answers(self, door: Door, aiko: User) -> None:
        await door.stores.access.begin_maintenance("すぐ戻ります", set_by=OWNER)
        comer = Visitor(aiko.id, (1,))
        assert await door.gate.refusal_of(comer, answering=False) is None
        refused = await door.gate.refusal_of(comer)
        assert refused == Refusal("maintenance", note="すぐ戻ります")
        assert isinstance(error := error_of(refused), UnderMaintenance)
        assert "すぐ戻ります" in str(error.params["note"])
        assert await door.gate.refusal_of(Visitor(OWNER, (1,))) is None

    async def test_has_who_was_turned_away_on_record_once(self, door: Door, aiko: User) -> None:
        await door.stores.access.set("user", aiko.id, "deny", set_by=OWNER)
        with capture_logs() as records:
            refused = await door.gate.refusal_of(Visitor(aiko.id, (4,)))
        assert refused is not None
        assert isinstance(error_of(refused), NotAllowed)
        expected = {"event": "access_denied", "why": "denied", "subject": "user", "place": 4}
        assert records == [expected | {"log_level": "info"}]


class TestAHeldUpDatabase:
    async def test_leaves_what_it_last_said_in_force(
        self, door: Door, rest: hikari.api.RESTClient, aiko: User
    ) -> None:
        gate = gate_over(door.stores, rest, patience_s=0.3)
        comer = Visitor(aiko.id, (1,))
        await door.stores.access.set("user", aiko.id, "deny", set_by=OWNER)
        await gate.learn()
        with held_up(door.file.with_name("sessions.db")):
            waiting = asyncio.create_task(door.stores.access.unset("user", aiko.id))
            await asyncio.sleep(0)
            assert await gate.refusal_of(comer) == Refusal("denied", "user")
        assert await waiting
        assert await gate.refusal_of(comer) is None

    async def test_that_has_said_nothing_yet_is_told_as_its_failure(
        self, door: Door, rest: hikari.api.RESTClient, aiko: User
    ) -> None:
        gate = gate_over(door.stores, rest, patience_s=0.05)
        with held_up(door.file.with_name("sessions.db")):
            waiting = asyncio.create_task(door.stores.access.unset("user", aiko.id))
            await asyncio.sleep(0)
            with pytest.raises(StorageError):
                await gate.refusal_of(Visitor(aiko.id, (1,)))
        await waiting


class TestOwners:
    @pytest.mark.parametrize("named", [frozenset[int](), frozenset({5})])
    async def test_are_those_of_the_application_unless_the_operator_named_some(
        self, door: Door, rest: hikari.api.RESTClient, named: frozenset[int]
    ) -> None:
        owners = Owners(named, Policies(door.file, locale=Locale.JA), rest)
        assert await owners.ids() == (named or {door.discord.owner.id})
        door.file.write_text("[access]\nowners = [6]\n", encoding="utf-8")
        assert await owners.ids() == named | {6}

    async def test_are_the_members_of_the_team_that_accepted(
        self, door: Door, rest: hikari.api.RESTClient
    ) -> None:
        ann, ben = door.discord.user("Ann"), door.discord.user("Ben")
        door.discord.world.team = [(ann, True), (ben, False)]
        owners = Owners(frozenset(), Policies(door.file, locale=Locale.JA), rest)
        assert await owners.ids() == {ann.id}

    async def test_are_asked_about_anew_where_something_is_decided(
        self, door: Door, rest: hikari.api.RESTClient
    ) -> None:
        ann = door.discord.user("Ann")
        owners = Owners(frozenset(), Policies(door.file, locale=Locale.JA), rest)
        assert await owners.ids() == {door.discord.owner.id}
        door.discord.world.team = [(ann, True)]
        assert await owners.ids() == {door.discord.owner.id}, "a moment ago"
        assert await owners.ids(anew=True) == {ann.id}
        assert await owners.ids() == {ann.id}

    async def test_are_asked_about_again_after_a_while(self, door: Door, rest: hikari.api.RESTClient) -> None:
        ann = door.discord.user("Ann")
        owners = Owners(frozenset(), Policies(door.file, locale=Locale.JA), rest)
        await owners.ids()
        door.discord.world.team = [(ann, True)]
        owners._asked_at_s -= OWNERS_S
        door.discord.fail_next("GET /oauth2/applications/@me", 200, delay_s=0.2)
        asking = asyncio.create_task(owners.ids())
        await asyncio.sleep(0)
        assert await owners.ids() == {door.discord.owner.id}, "nobody else waits for that"
        assert not asking.done()
        assert await asking == {ann.id}

    async def test_stay_who_they_were_while_discord_does_not_tell(
        self, door: Door, rest: hikari.api.RESTClient
    ) -> None:
        owners = Owners(frozenset(), Policies(door.file, locale=Locale.JA), rest)
        await owners.ids()
        door.discord.fail_next("GET /oauth2/applications/@me", status=403)
        assert await owners.ids(anew=True) == {door.discord.owner.id}
