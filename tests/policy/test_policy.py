import re
from pathlib import Path

from structlog.testing import capture_logs

from cc_bot.chat.policy import Policies, Policy, parse_policy
from cc_bot.domain.access import AccessRule
from cc_bot.domain.text import Locale
from cc_bot.domain.usage import DEFAULT_RULES, QUOTAS, LimitKey, Price, PriceList
from cc_bot.operator_file import FileRefused
from cc_bot.texts import texts

A_MINUTE = LimitKey("everyone", 0, "turns_per_minute")
MISTAKES = {
    **{
        f'[limits.users."7"]\ntokens_per_day = {value}': "from 1 to 1000000000000000"
        for value in ("0", "1.5", '"5"', "true", "10_000_000_000_000_000")
    },
    **{
        f'[limits.users."{key}"]': "[limits.users." for key in ("everyone", "01", "9223372036854775808", "１")
    },
    '[limits.roles."0"]': "[limits.roles.0]",
    **{f'[limits.guilds."3"]\n{name} = 5': name for name in QUOTAS},
    "[limits]\ntokens_a_day = 5": "tokens_per_day, tokens_per_month",
    **{
        f"[prices.a]\ninput = {value}\noutput = 1": "[prices.a] input"
        for value in ("-1", '"1"', "inf", "nan", "1000000001")
    },
    "[prices.a]\ninput = 1": "[prices.a] output",
    "[prices.ears]\nper_minute = -1": "[prices.ears] per_minute",
    '[prices]\ncurrency = "yen"': "[prices] currency",
    '[access.deny]\nusers = ["3"]': "[access.deny] users has a wrong value",
    "[access]\nowners = 3": "[access] owners has a wrong value",
    "[access.allow]\nuser = [3]": "[access.allow] has an unknown key: user.",
    "[limit]": "limit is not a known key",
    "limits = 5": "limits must be a table",
    "[limits]\nusers = 5": "limits.users must be a table",
    "[limits": "It is not valid TOML",
}


def parsed(text: str, locale: Locale = Locale.EN) -> Policy:
    return parse_policy(text, words=texts(locale))


def refusal(text: str, locale: Locale = Locale.EN) -> str:
    try:
        return f"not refused: {parsed(text, locale)}"
    except FileRefused as refused:
        return str(refused)


class TestFile:
    def test_has_limits_for_everyone_users_roles_and_guilds(self) -> None:
        policy = parsed(
            """
            [limits]
            turns_per_minute = 3
            [limits.users."1"]
            tokens_per_day = 10
            [limits.users."0"]
            tokens_per_day = 5
            [limits.roles."2"]
            tokens_per_month = "unlimited"
            memories = 5
            [limits.guilds."3"]
            concurrent = 4
            """
        )
        assert policy.limits == {
            **DEFAULT_RULES,
            A_MINUTE: 3,
            LimitKey("role", 2, "memories"): 5,
            LimitKey("user", 1, "tokens_per_day"): 10,
            LimitKey("user", 0, "tokens_per_day"): 5,
            LimitKey("role", 2, "tokens_per_month"): None,
            LimitKey("guild", 3, "concurrent"): 4,
        }
        assert parsed("") == Policy()
        assert parsed("").limits == DEFAULT_RULES
        for name in QUOTAS:
            assert 5 in parsed(f'[limits.users."3"]\n{name} = 5').limits.values()

    def test_has_prices_by_model_in_one_currency(self) -> None:
        models = '[prices."small:latest"]\ninput = 1\noutput = 2.5\n[prices.ears]\nper_minute = 0.006'
        assert parsed(f'[prices]\ncurrency = "JPY"\n{models}').prices == PriceList(
            "JPY", {"small:latest": Price(1.0, 2.5), "ears": Price(0, 0, per_minute=0.006)}
        )
        both = parsed("[prices.ears]\nper_minute = 0.006\ninput = 2\noutput = 1000000000").prices
        assert both.models["ears"] == Price(2, 1_000_000_000, per_minute=0.006)

    def test_of_examples_is_right_as_it_stands_and_with_all_that_is_commented_out(self) -> None:
        text = Path("docs/policy.example.toml").read_text(encoding="utf-8")
        assert parsed(text).limits[LimitKey("role", 234567890123456789, "tokens_per_day")] == 1_000_000
        whole = re.sub(r"^#(?=[a-z\[])", "", text, flags=re.MULTILINE)
        assert whole != text
        policy = parsed(whole)
        assert policy.limits[LimitKey("everyone", 0, "concurrent")] == 3
        assert AccessRule("deny", "user", 567890123456789012) in policy.access
        assert "gpt-5.4-mini" in policy.prices.models


class TestMistake:
    def test_is_told_with_its_location_and_what_is_expected(self) -> None:
        told = {text: refusal(text) for text in MISTAKES}
        assert [(text, told[text]) for text, part in MISTAKES.items() if part not in told[text]] == []
        japanese = refusal("[limits]\nconcurrent = 0", Locale.JA)
        assert "[limits] の concurrent を直してください" in japanese


class TestPolicies:
    async def test_follow_the_file_and_keep_to_it_while_it_is_wrong(self, tmp_path: Path) -> None:
        file = tmp_path / "policy.toml"
        policies = Policies(file, locale=Locale.EN)
        assert await policies.load() == await policies.current() == Policy()
        file.write_text("[limits]\nturns_per_minute = 2")
        assert (await policies.current()).limits[A_MINUTE] == 2
        file.write_text("[limits]\nturns_per_minute = 0")
        with capture_logs() as records:
            assert (await policies.current()).limits[A_MINUTE] == 2
        assert [record["event"] for record in records] == ["policy_not_reloaded"]
