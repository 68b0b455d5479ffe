"""The file of limits, prices and access: what it may say, and what its operator is told about a mistake."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.locale import Locale
from cc_bot.domain.member import (
    DEFAULT_RULES,
    QUOTAS,
    AccessLists,
    LimitKey,
    Policy,
    Price,
    PriceList,
    Subjects,
)
from cc_bot.operator_file import FileRefused
from cc_bot.policy import parse_policy
from cc_bot.texts import texts


def parsed(text: str, locale: Locale = Locale.EN) -> Policy:
    return parse_policy(text, words=texts(locale))


def refusal(text: str, locale: Locale = Locale.EN) -> str:
    with pytest.raises(FileRefused) as refused:
        parsed(text, locale)
    return str(refused.value)


class TestLimits:
    def test_are_the_defaults_where_nothing_is_written(self) -> None:
        assert parsed("").limits == DEFAULT_RULES
        assert parsed("") == Policy()

    def test_are_for_everyone_users_roles_and_guilds(self) -> None:
        policy = parsed(
            """
            [limits]
            turns_per_minute = 3
            [limits.users."1"]
            tokens_per_day = 10
            [limits.roles."2"]
            tokens_per_month = "unlimited"
            memories = 5
            [limits.guilds."3"]
            concurrent = 4
            """
        )
        assert policy.limits == {
            **DEFAULT_RULES,
            LimitKey("everyone", 0, "turns_per_minute"): 3,
            LimitKey("role", 2, "memories"): 5,
            LimitKey("user", 1, "tokens_per_day"): 10,
            LimitKey("role", 2, "tokens_per_month"): None,
            LimitKey("guild", 3, "concurrent"): 4,
        }

    @pytest.mark.parametrize("name", QUOTAS)
    def test_of_what_a_user_keeps_and_does_are_not_for_a_server(self, name: str) -> None:
        assert name in refusal(f'[limits.guilds."3"]\n{name} = 5')
        assert 5 in parsed(f'[limits.users."3"]\n{name} = 5').limits.values()

    def test_of_the_terminals_user_are_those_of_user_0(self) -> None:
        rules = parsed('[limits.users."0"]\ntokens_per_day = 5').limits
        assert rules[LimitKey("user", 0, "tokens_per_day")] == 5

    @pytest.mark.parametrize("value", ["0", "-1", "1.5", '"5"', '"none"', "true", "10_000_000_000_000_000"])
    def test_that_are_no_number_are_refused_with_what_is_expected(self, value: str) -> None:
        told = refusal(f'[limits.users."7"]\ntokens_per_day = {value}')
        assert told.startswith("[limits.users.7] tokens_per_day is not as it should be")
        assert "from 1 to 1000000000000000" in told
        assert '"unlimited"' in told

    @pytest.mark.parametrize("key", ["everyone", "01", "-5", "9223372036854775808", "１"])
    def test_of_what_is_no_id_are_refused(self, key: str) -> None:
        assert refusal(f'[limits.users."{key}"]').startswith("[limits.users.")

    def test_of_a_role_or_guild_0_are_refused(self) -> None:
        assert "[limits.roles.0]" in refusal('[limits.roles."0"]')
        assert "[limits.guilds.0]" in refusal('[limits.guilds."0"]')


class TestPrices:
    def test_are_by_model_and_in_one_currency(self) -> None:
        prices = parsed('[prices]\ncurrency = "JPY"\n[prices."small:latest"]\ninput = 1\noutput = 2.5').prices
        assert prices == PriceList("JPY", {"small:latest": Price(1.0, 2.5)})

    @pytest.mark.parametrize("value", ["-1", '"1"', "inf", "nan", "2e9"])
    def test_that_are_no_amount_are_refused(self, value: str) -> None:
        assert "[prices.a] input" in refusal(f"[prices.a]\ninput = {value}\noutput = 1")

    def test_that_are_too_high_are_refused_with_the_highest(self) -> None:
        assert "0 to 1000000000" in refusal("[prices.a]\ninput = 1000000001\noutput = 1")
        assert parsed("[prices.a]\ninput = 1000000000\noutput = 1").prices.has("a")

    def test_without_the_price_of_answers_are_refused(self) -> None:
        assert "[prices.a] output" in refusal("[prices.a]\ninput = 1")

    def test_of_a_model_of_speech_are_of_a_minute(self) -> None:
        alone = parsed("[prices.ears]\nper_minute = 0.006").prices
        assert alone.models["ears"] == Price(0, 0, per_minute=0.006)
        both = parsed("[prices.ears]\nper_minute = 0.006\ninput = 2\noutput = 5").prices
        assert both.models["ears"] == Price(2, 5, per_minute=0.006)
        assert "[prices.ears] per_minute" in refusal("[prices.ears]\nper_minute = -1")
        assert "per_minute" in refusal("[prices.ears]\nper_minuet = 1")

    def test_in_what_is_no_currency_are_refused(self) -> None:
        assert "[prices] currency" in refusal('[prices]\ncurrency = "yen"')


class TestAccess:
    def test_has_owners_and_two_lists(self) -> None:
        lists = "[access.allow]\nroles = [2]\n[access.deny]\nusers = [3]"
        access = parsed(f"[access]\nowners = [1]\n{lists}").access
        assert access == AccessLists(
            frozenset({1}), Subjects(roles=frozenset({2})), Subjects(users=frozenset({3}))
        )

    def test_is_told_which_list_is_wrong(self) -> None:
        assert "[access.deny] users is not" in refusal('[access.deny]\nusers = ["3"]')
        assert "[access] owners is not" in refusal("[access]\nowners = 3")
        assert "[access.allow] has a key that is not known: user." in refusal("[access.allow]\nuser = [3]")


class TestMistake:
    def test_in_a_keys_name_is_told_with_those_there_are(self) -> None:
        told = refusal("[limits]\ntokens_a_day = 5")
        assert "tokens_a_day" in told
        assert "tokens_per_day, tokens_per_month" in told

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("[limit]", "limit is not a known key"),
            ("limits = 5", "limits has to be a table"),
            ("[limits]\nusers = 5", "limits.users has to be a table"),
            ("[prices]\na = 5", "prices.a has to be a table"),
            ("access = 5", "access has to be a table"),
            ("[limits", "It is not valid TOML"),
        ],
    )
    def test_is_told_with_its_place(self, text: str, told: str) -> None:
        assert told in refusal(text)

    def test_is_told_in_japanese_too(self) -> None:
        assert "[limits] の concurrent を直してください" in refusal("[limits]\nconcurrent = 0", Locale.JA)

    @given(st.dictionaries(st.sampled_from(["limits", "prices", "access", "x"]), st.text(max_size=20)))
    def test_of_any_kind_is_refused_or_no_mistake(self, tables: dict[str, str]) -> None:
        text = "\n".join(f"[{name}]\n{line}" for name, line in tables.items())
        with suppress(FileRefused):
            assert isinstance(parsed(text), Policy)


class TestExample:
    def test_is_right_as_it_stands_and_with_all_that_is_commented_out(self) -> None:
        text = Path("docs/policy.example.toml").read_text(encoding="utf-8")
        assert parsed(text).limits[LimitKey("role", 234567890123456789, "tokens_per_day")] == 1_000_000
        whole = re.sub(r"^#(?=[a-z\[])", "", text, flags=re.MULTILINE)
        assert whole != text
        policy = parsed(whole)
        assert policy.limits[LimitKey("everyone", 0, "concurrent")] == 3
        assert policy.access.deny.users == {567890123456789012}
        assert policy.prices.has("gpt-5.4-mini")
