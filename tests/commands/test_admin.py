"""`/admin`: what owners decide, over a real database: understood, checked, done, logged, and replied to."""

from collections.abc import AsyncIterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from structlog.testing import capture_logs

from cc_bot.chat.policy import Policies
from cc_bot.chat.reply import Caller, Reply
from cc_bot.chat.stores.opening import open_stores
from cc_bot.domain.access import AccessRule, Maintenance, Subject
from cc_bot.domain.errors import ModelNotFound, ModelUnavailable
from cc_bot.domain.text import Locale
from cc_bot.domain.usage import LimitKey
from cc_bot.features.admin import service as admin
from cc_bot.features.admin.errors import (
    LimitNotForChannels,
    LimitNotForServers,
    LimitNotUnderstood,
    ModelsNotUnderstood,
    SubjectNotUnderstood,
)
from cc_bot.features.admin.service import (
    Administration,
    LimitWithSource,
    Mentionable,
    parse_limit,
    parse_limit_value,
    parse_models,
    parse_subject,
)
from cc_bot.features.admin.texts import AdminTexts
from cc_bot.texts import texts
from tests.databases import laid_out

HANA, CHANNEL, HERE = 876543210987654321, 987654321098765432, 40
JA = texts(Locale.JA)[AdminTexts]
OWNER = Caller(7, Locale.JA, ZoneInfo("Asia/Tokyo"), texts(Locale.JA))


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
        yield Administration(stores, policies, ask)


class TestALimit:
    async def test_set_here_goes_before_the_file_and_that_before_the_default(
        self, administration: Administration
    ) -> None:
        key, of = LimitKey("everyone", 0, "tokens_per_day"), {"administration": administration}
        known = await admin.list_limits(administration)
        assert LimitWithSource(key, 5000, "file") in known
        assert LimitWithSource(LimitKey("everyone", 0, "memories"), 10_000, "default") in known
        told = await admin.set_limit(OWNER, key.name, None, "", None, **of)
        assert JA.no_limit in told.lines[0]
        assert LimitWithSource(key, None, "owner") in await admin.list_limits(administration)
        for sentence in (JA.limit_unset, JA.limit_was_not_set):
            assert await admin.unset_limit(OWNER, key.name, "", None, **of) == Reply((sentence,))
        assert LimitWithSource(key, 5000, "file") in await admin.list_limits(administration)
        assert len((await admin.show_limits(OWNER, **of)).lines) == len(["everyone", *known])

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
        meant: dict[tuple[str, Subject | None], Mentionable] = {
            ("<@1>", None): Mentionable("user", 1),
            ("<@!1>", None): Mentionable("user", 1),
            (" <@&2> ", None): Mentionable("role", 2),
            ("<#3>", "channel"): Mentionable("channel", 3),
            ("4", "guild"): Mentionable("guild", 4),
            ("", "guild"): Mentionable("guild", HERE),
        }
        assert {each: parse_subject(*each, HERE) for each in meant} == meant
        wrong: list[tuple[str, Subject | None]] = [("5", None), ("", None), ("", "user"), ("<@1>", "role")]
        wrong += [("あいこ", "user"), ("<@0>", None), ("0", "user"), ("-1", "user"), (str(2**63), "user")]
        for each in (*wrong, (f"<#{2**63}>", None), ("<@1> <@2>", None)):
            with pytest.raises(SubjectNotUnderstood):
                parse_subject(*each, HERE)
        with pytest.raises(SubjectNotUnderstood):
            parse_subject("", "guild", None)


class TestARule:
    async def test_is_taken_back_but_not_out_of_the_file(self, administration: Administration) -> None:
        of = {"administration": administration}
        await admin.set_rule(OWNER, str(HANA), "user", ruling="allow", **of)
        await admin.set_rule(OWNER, f"<#{CHANNEL}>", None, ruling="deny", **of)
        assert await admin.list_rules(administration) == [
            (AccessRule("allow", "user", HANA), True),
            (AccessRule("deny", "user", HANA), False),
            (AccessRule("deny", "channel", CHANNEL), True),
        ]
        shown = await admin.show_access(OWNER, [7], **of)
        assert all(str(each) in "".join(shown.lines) for each in (HANA, CHANNEL, 7))
        told = await admin.remove_rule(OWNER, f"<@{HANA}>", None, **of)
        assert told.lines[1:] == (JA.access_also_in_file,)
        for sentence in (JA.access_removed, JA.access_had_no_rule):
            channel = OWNER.format_mention("channel", CHANNEL)
            told = await admin.remove_rule(OWNER, f"<#{CHANNEL}>", None, **of)
            assert told.lines == (sentence.format(subject=channel),)


class TestModels:
    async def test_of_a_channel_are_kept_and_those_that_the_server_lacks_are_named(
        self, administration: Administration
    ) -> None:
        of, channel = {"administration": administration}, f"<#{CHANNEL}>"
        told = await admin.set_models(OWNER, "ある、ない、遅い", channel, **of)
        assert told.lines[1:] == (JA.models_unknown.format(models="ない"),)
        assert await administration.stores.channel_models.list_chains() == {CHANNEL: ("ある", "ない", "遅い")}
        for sentence in (JA.models_unset, JA.models_were_not_set):
            named = OWNER.format_mention("channel", CHANNEL)
            told = await admin.unset_models(OWNER, channel, **of)
            assert told == Reply((sentence.format(channel=named),))
        assert (await admin.list_models(OWNER, **of)).lines == (JA.models_none,)

    def test_are_read_from_a_list_each_once(self) -> None:
        assert parse_models(" gpt-5 , さくら,gpt-5,") == ("gpt-5", "さくら")
        for text in ("", " , ", "a,b,c,d,e,f", "x" * 101, "a`b", "a\nb"):
            with pytest.raises(ModelsNotUnderstood):
                parse_models(text)


class TestMaintenance:
    async def test_has_its_note_on_one_line_and_ends_once(self, administration: Administration) -> None:
        of = {"administration": administration}
        await admin.begin_maintenance(OWNER, " 22時まで \n お待ちください ", **of)
        assert (await administration.stores.access.get_state()).maintenance == Maintenance(
            "22時まで お待ちください"
        )
        for sentence in (JA.maintenance_ended, JA.maintenance_was_off):
            assert await admin.end_maintenance(OWNER, **of) == Reply((sentence,))
        assert (await administration.stores.access.get_state()).maintenance is None


class TestTheRecord:
    async def test_has_each_change_once_and_never_what_an_owner_wrote(
        self, administration: Administration
    ) -> None:
        of = {"administration": administration}
        with capture_logs() as records:
            for _ in range(2):  # the second time there is nothing to take back
                await admin.unset_limit(OWNER, "concurrent", str(HANA), "user", **of)
                await admin.remove_rule(OWNER, str(HANA), "user", **of)
                await admin.unset_models(OWNER, str(CHANNEL), **of)
                await admin.end_maintenance(OWNER, **of)
            await admin.set_limit(OWNER, "concurrent", 3, str(HANA), "user", **of)
            await admin.set_rule(OWNER, str(HANA), "user", ruling="deny", **of)
            await admin.set_models(OWNER, "秘密のモデル", str(CHANNEL), **of)
            await admin.begin_maintenance(OWNER, "秘密のお知らせ", **of)
        changes = ("limit_set", "access_set", "models_set", "maintenance_begun")
        assert [(each["event"], each["change"], each["by"]) for each in records] == [
            ("admin_changed", change, 7) for change in changes
        ]
        assert "秘密" not in repr(records)
