"""What owners decide, over a real database: understood, checked, done, on record, and told back."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from cc_bot.administration import (
    Administration,
    LimitInForce,
    Mentionable,
    RuleRemoval,
    ServedModels,
    parse_chain,
    parse_limit,
    parse_limit_value,
    parse_mention,
)
from cc_bot.domain import Locale
from cc_bot.domain.access import Maintenance, Subject
from cc_bot.domain.errors import (
    LimitNotForChannels,
    LimitNotForServers,
    LimitNotUnderstood,
    ModelNotFound,
    ModelsNotUnderstood,
    ModelUnavailable,
    SubjectNotUnderstood,
)
from cc_bot.domain.limits import LimitKey
from cc_bot.mcp.servers import Servers
from cc_bot.policy import Policies
from cc_bot.stores import open_stores
from tests.databases import laid_out

OWNER, HANA, CHANNEL, HERE = 7, 876543210987654321, 987654321098765432, 40


@pytest.fixture
async def administration(tmp_path: Path) -> AsyncIterator[Administration]:
    policy = tmp_path / "policy.toml"
    policy.write_text(f"[limits]\ntokens_per_day = 5000\n[access.deny]\nusers = [{HANA}]\n", encoding="utf-8")
    policies = Policies(policy, locale=Locale.JA)
    await policies.load()

    async def ask(model: str) -> None:
        if model == "ない":
            raise ModelNotFound
        if model == "遅い":
            raise ModelUnavailable

    async with open_stores(laid_out(tmp_path / "a.db")) as stores:
        servers = Servers(stores.tool_lists, lambda _: 1, 4000)
        served = ServedModels(ask)
        yield Administration(stores.limits, stores.access, stores.channel_models, policies, served, servers)


class TestALimit:
    async def test_set_here_goes_before_the_file_and_that_before_the_default(
        self, administration: Administration
    ) -> None:
        key = LimitKey("everyone", 0, "tokens_per_day")
        known = await administration.list_limits()
        assert LimitInForce(key, 5000, "file") in known
        assert LimitInForce(LimitKey("everyone", 0, "memories"), 10_000, "default") in known
        await administration.set_limit(OWNER, key, None)
        assert LimitInForce(key, None, "here") in await administration.list_limits()
        assert await administration.unset_limit(OWNER, key)
        assert not await administration.unset_limit(OWNER, key)
        assert LimitInForce(key, 5000, "file") in await administration.list_limits()

    @pytest.mark.parametrize(
        ("name", "text", "kind", "error"),
        [
            ("words", "", None, LimitNotUnderstood),
            ("memories", "花子", None, SubjectNotUnderstood),
            ("memories", "<#5>", None, LimitNotForChannels),
            ("memories", "5", "guild", LimitNotForServers),
        ],
    )
    def test_that_can_not_be_is_refused(
        self, name: str, text: str, kind: Subject | None, error: type[Exception]
    ) -> None:
        with pytest.raises(error):
            parse_limit(name, text, kind)

    def test_has_a_whole_number_or_none(self) -> None:
        values = {"": None, " 5 ": 5, "1,000": 1000, "２０": 20, "1" + "0" * 15: 10**15}
        assert {text: parse_limit_value(text) for text in values} == values
        for text in ("0", "-1", "1.5", "五", "½", "1" + "0" * 16, "1" + "0" * 15 + "1"):
            with pytest.raises(LimitNotUnderstood):
                parse_limit_value(text)


class TestASubject:
    def test_is_a_mention_or_an_id_with_its_kind(self) -> None:
        meant: dict[tuple[str, Subject | None], Mentionable | None] = {
            ("<@1>", None): Mentionable("user", 1),
            ("<@!1>", None): Mentionable("user", 1),
            (" <@&2> ", None): Mentionable("role", 2),
            ("<#3>", "channel"): Mentionable("channel", 3),
            ("4", "guild"): Mentionable("guild", 4),
            ("", "guild"): Mentionable("guild", HERE),
            **dict.fromkeys([("5", None), ("", None), ("", "user"), ("<@1>", "role"), ("あいこ", "user")]),
            **dict.fromkeys([("<@0>", None), ("0", "user"), ("-1", "user"), (str(2**63), "user")]),
            **dict.fromkeys([(f"<#{2**63}>", None), ("<@1> <@2>", None)]),
        }
        assert {each: parse_mention(*each, HERE) for each in meant} == meant
        assert parse_mention("", "guild", None) is None


class TestARule:
    async def test_is_taken_back_but_not_out_of_the_file(self, administration: Administration) -> None:
        hana, room = Mentionable("user", HANA), Mentionable("channel", CHANNEL)
        await administration.rule(OWNER, hana, "allow")
        await administration.rule(OWNER, room, "deny")
        known = await administration.list_access()
        assert known.set_here.allow.users == {HANA}
        assert known.set_here.deny.channels == {CHANNEL}
        assert known.in_file.deny.users == {HANA}
        assert await administration.remove_rule(OWNER, hana) == RuleRemoval(removed=True, also_in_file=True)
        assert await administration.remove_rule(OWNER, room) == RuleRemoval(removed=True, also_in_file=False)
        assert await administration.remove_rule(OWNER, room) == RuleRemoval(removed=False, also_in_file=False)


class TestModels:
    async def test_of_a_channel_are_kept_and_those_that_the_server_lacks_are_named(
        self, administration: Administration
    ) -> None:
        assert await administration.set_models(OWNER, CHANNEL, ("ある", "ない", "遅い")) == ("ない",)
        assert await administration.list_models() == {CHANNEL: ("ある", "ない", "遅い")}
        assert await administration.unset_models(OWNER, CHANNEL)
        assert not await administration.unset_models(OWNER, CHANNEL)

    def test_are_read_from_a_list_each_once(self) -> None:
        assert parse_chain(" gpt-5 , さくら,gpt-5,") == ("gpt-5", "さくら")
        for text in ("", " , ", "a,b,c,d,e,f", "x" * 101, "a`b", "a\nb"):
            with pytest.raises(ModelsNotUnderstood):
                parse_chain(text)


class TestMaintenance:
    async def test_has_its_note_on_one_line_and_ends_once(self, administration: Administration) -> None:
        await administration.begin_maintenance(OWNER, " 22時まで \n お待ちください ")
        assert (await administration.access.get_in_force()).maintenance == Maintenance(
            "22時まで お待ちください"
        )
        assert await administration.end_maintenance(OWNER)
        assert not await administration.end_maintenance(OWNER)
        assert (await administration.access.get_in_force()).maintenance is None


class TestTheRecord:
    async def test_has_each_change_once_and_never_what_an_owner_wrote(
        self, administration: Administration
    ) -> None:
        key, hana = LimitKey("user", HANA, "concurrent"), Mentionable("user", HANA)
        with capture_logs() as records:
            for _ in range(2):  # the second time there is nothing to take back
                await administration.unset_limit(OWNER, key)
                await administration.remove_rule(OWNER, hana)
                await administration.unset_models(OWNER, CHANNEL)
                await administration.end_maintenance(OWNER)
            await administration.set_limit(OWNER, key, 3)
            await administration.rule(OWNER, hana, "deny")
            await administration.set_models(OWNER, CHANNEL, ("秘密のモデル",))
            await administration.begin_maintenance(OWNER, "秘密のお知らせ")
        changes = ("limit_set", "access_set", "models_set", "maintenance_begun")
        assert [(each["event"], each["change"], each["by"]) for each in records] == [
            ("admin_changed", change, OWNER) for change in changes
        ]
        assert "秘密" not in repr(records)
