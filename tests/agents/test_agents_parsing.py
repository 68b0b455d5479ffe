"""The file of agents: what it may say, and what its operator is told about a mistake."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cc_bot.tools
from cc_bot.agents import LONGEST_PROMPT, MAX_AGENTS, parse_agents
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Agent, AgentPlaces
from cc_bot.operator_file import FileRefused
from cc_bot.texts import texts
from cc_bot.tools.registry import discover

TOOLS = ("forget", "recall", "remember")
WHOLE = """
[agents.tutor]
display_name = { ja = "英語の先生", en = "English teacher" }
description = { ja = "英会話の練習に", en = "Practise your English" }
prompt = "あなたは英語の先生です。"
model = "large, small"
temperature = 0.3
tools = ["recall", "remember"]
guilds = [111111111111111111]
channels = [222222222222222222]
dms = true
"""


def parsed(text: str, locale: Locale = Locale.JA) -> Mapping[str, Agent]:
    return parse_agents(text, tools=TOOLS, words=texts(locale))


def agent(lines: str) -> Agent:
    return parsed(f"[agents.a]\n{lines}")["a"]


def refusal(text: str, locale: Locale = Locale.EN) -> str:
    with pytest.raises(FileRefused) as refused:
        parsed(text, locale)
    return str(refused.value)


def outcome(text: str) -> tuple[str, Mapping[str, Agent]]:
    """What the operator is told, or the agents."""
    try:
        return "", parsed(text, Locale.EN)
    except FileRefused as refused:
        return str(refused), {}


class TestFile:
    def test_holds_agents_with_all_that_they_are(self) -> None:
        assert parsed(WHOLE)["tutor"] == Agent(
            "tutor",
            {Locale.JA: "英語の先生", Locale.EN: "English teacher"},
            {Locale.JA: "英会話の練習に", Locale.EN: "Practise your English"},
            prompt="あなたは英語の先生です。",
            models=("large", "small"),
            temperature=0.3,
            tools=frozenset({"recall", "remember"}),
            places=AgentPlaces(frozenset({111111111111111111}), frozenset({222222222222222222}), True),
        )

    @pytest.mark.parametrize("text", ["", "# nothing yet\n", "[agents]\n"])
    def test_that_says_nothing_has_the_default_agent(self, text: str) -> None:
        agents = parsed(text)
        assert list(agents) == ["default"]
        assert agents["default"].display_name(Locale.JA) == "標準"
        assert agents["default"].display_name(Locale.EN) == "Standard"
        assert agents["default"].prompt == ""

    def test_keeps_its_order_after_the_default_agent(self) -> None:
        assert list(parsed("[agents.b]\n[agents.a]\n[agents.default]\n")) == ["default", "b", "a"]

    def test_may_give_the_default_agent_another_persona_and_name(self) -> None:
        default = parsed('[agents.default]\nprompt = "P"\ndisplay_name = { ja = "ことり" }')["default"]
        assert (default.prompt, default.display_name(Locale.JA)) == ("P", "ことり")
        assert default.display_name(Locale.EN) == "Standard"

    @given(st.text(max_size=200))
    def test_is_read_or_refused_with_a_sentence(self, text: str) -> None:
        told, found = outcome(text)
        assert told or "default" in found

    @given(
        st.dictionaries(
            st.sampled_from(["display_name", "prompt", "model", "temperature", "tools", "guilds", "dms"]),
            st.sampled_from(
                [
                    '"x"',
                    "3",
                    "-1",
                    "nan",
                    "inf",
                    "1e9",
                    "true",
                    "[]",
                    '["x"]',
                    "[1]",
                    "{}",
                    "{ ja = 1 }",
                    '""',
                ]
            ),
        )
    )
    def test_with_odd_values_is_read_or_refused_with_the_key(self, values: dict[str, str]) -> None:
        lines = "\n".join(f"{key} = {value}" for key, value in values.items())
        told, found = outcome(f"[agents.a]\n{lines}")
        if told:
            assert any(f" {key} " in told for key in values)
        else:
            assert found["a"].temperature is None or 0 <= found["a"].temperature <= 2
            assert (found["a"].tools or frozenset()) <= set(TOOLS)


class TestExample:
    def test_is_right_as_it_stands_and_with_all_that_is_commented_out(self) -> None:
        text = Path("docs/agents.example.toml").read_text(encoding="utf-8")
        tools, words = discover(cc_bot.tools).names, texts(Locale.EN)
        assert list(parse_agents(text, tools=tools, words=words)) == ["default", "english", "haiku"]
        whole = re.sub(r"^#(?=[a-z\[])", "", text, flags=re.MULTILINE)
        assert whole != text
        agents = parse_agents(whole, tools=tools, words=words)
        assert agents["default"].display_name(Locale.JA) == "ことり"
        assert agents["english"].models == ("gpt-5.4-mini",)
        assert agents["english"].places.guilds == {123456789012345678}


class TestAgent:
    def test_with_nothing_said_is_the_default_in_everything_but_its_name(self) -> None:
        assert agent("") == Agent("a")

    def test_has_one_name_in_all_languages_where_one_is_given(self) -> None:
        found = agent('display_name = " Sage "')
        assert {found.display_name(locale) for locale in Locale} == {"Sage"}

    def test_is_called_by_its_table_where_it_has_no_name_in_a_language(self) -> None:
        assert agent('display_name = { ja = "先生" }').display_name(Locale.EN) == "a"

    def test_may_have_no_tools_at_all(self) -> None:
        assert agent("tools = []").tools == frozenset()

    @pytest.mark.parametrize("name", ["time__*", "time__get_current_time", "my-notes__read_*"])
    def test_may_name_tools_of_servers_whether_they_are_there_or_not(self, name: str) -> None:
        assert agent(f'tools = ["recall", "{name}"]').tools == frozenset({"recall", name})

    @pytest.mark.parametrize("model", ['"a,b"', '" a , b "', '["a", "b"]'])
    def test_has_a_chain_of_models(self, model: str) -> None:
        assert agent(f"model = {model}").models == ("a", "b")

    @pytest.mark.parametrize("temperature", ["0", "0.0", "2", "1.5"])
    def test_has_a_temperature_within_bounds(self, temperature: str) -> None:
        assert agent(f"temperature = {temperature}").temperature == float(temperature)


class TestPlaces:
    @pytest.mark.parametrize(
        ("lines", "guild_id", "channel_ids", "allowed"),
        [
            ("", None, {9}, True),
            ("", 1, {9}, True),
            ("guilds = [1]", 1, {9}, True),
            ("guilds = [1]", 2, {9}, False),
            ("guilds = [1]", None, {9}, False),
            ("guilds = [1]\ndms = true", None, {9}, True),
            ("channels = [9]", 5, {9}, True),
            ("channels = [9]", 5, {10, 9}, True),
            ("channels = [9]", 5, {10}, False),
            ("channels = [9]\nguilds = [1]", 1, {10}, True),
            ("dms = false", None, {9}, False),
            ("dms = false", 1, {9}, True),
        ],
    )
    def test_are_everywhere_or_those_that_are_named(
        self, lines: str, guild_id: int | None, channel_ids: set[int], allowed: bool
    ) -> None:
        places = agent(lines).places
        assert places.allow(guild_id=guild_id, channel_ids=frozenset(channel_ids)) is allowed

    @pytest.mark.parametrize("key", ["guilds = [1]", "channels = [1]", "dms = true"])
    def test_of_the_default_agent_are_everywhere(self, key: str) -> None:
        assert "[agents.default] can't have" in refusal(f"[agents.default]\n{key}")


class TestMistake:
    @pytest.mark.parametrize(
        ("line", "key", "expected"),
        [
            ('temperature = "hot"', "temperature", "a number from 0 to 2"),
            ("temperature = 2.1", "temperature", "a number from 0 to 2"),
            ("temperature = nan", "temperature", "a number from 0 to 2"),
            ("temperature = true", "temperature", "a number from 0 to 2"),
            ("display_name = 3", "display_name", "up to 40 characters"),
            ('display_name = ""', "display_name", "up to 40 characters"),
            (f'display_name = "{"あ" * 41}"', "display_name", "up to 40 characters"),
            ('display_name = { fr = "prof" }', "display_name", '{ ja = "…", en = "Teacher" }'),
            ('display_name = "a\\nb"', "display_name", "up to 40 characters"),
            ('description = "a\\nb"', "description", "up to 200 characters"),
            (f'prompt = "{"x" * (LONGEST_PROMPT + 1)}"', "prompt", "20000 characters"),
            ('model = "a,,b"', "model", "comma list"),
            ('model = [""]', "model", "comma list"),
            ('tools = "recall"', "tools", "forget, recall, remember"),
            ('tools = ["recal"]', "tools", "forget, recall, remember"),
            ('tools = ["*"]', "tools", "forget, recall, remember"),
            ('tools = ["時計__*"]', "tools", "forget, recall, remember"),
            ('guilds = ["1"]', "guilds", "a list of server ids"),
            ("guilds = 1", "guilds", "a list of server ids"),
            ("channels = [0]", "channels", "a list of channel ids"),
            ("guilds = [0]", "guilds", ": guilds = ["),
            ("channels = 1", "channels", ": channels = ["),
            ("dms = 1", "dms", "dms = false"),
        ],
    )
    def test_is_told_with_the_agent_the_key_and_what_is_expected(
        self, line: str, key: str, expected: str
    ) -> None:
        told = refusal(f"[agents.tutor]\n{line}")
        assert told.startswith(f"[agents.tutor] {key} ")
        assert expected in told

    def test_in_a_key_is_told_with_the_keys_that_there_are(self) -> None:
        told = refusal('[agents.tutor]\npromt = "x"')
        assert "[agents.tutor] has a key that is not known: promt." in told
        assert "prompt, model, temperature, tools" in told

    @pytest.mark.parametrize("name", ["Tutor", '"先生"', '"a b"', '""', '"' + "a" * 33 + '"', '"a.b"'])
    def test_in_a_name_is_told_with_what_names_are_made_of(self, name: str) -> None:
        assert "lower-case letters, digits, - and _" in refusal(f"[agents.{name}]")

    def test_in_toml_is_told_with_its_place(self) -> None:
        assert "line 2" in refusal("[agents.a]\nprompt = open")
        assert "line 3" in refusal("[agents.a]\n\n[agents.a]")

    @pytest.mark.parametrize("text", ["[agent.tutor]", 'prompt = "x"', "agents = 3", "[[agents]]"])
    def test_in_the_tables_name_is_told_with_the_right_one(self, text: str) -> None:
        assert "[agents.name]" in refusal(text)

    def test_of_a_value_in_a_tables_place_is_told(self) -> None:
        assert "agents.tutor has to be a table" in refusal('[agents]\ntutor = "x"')

    def test_of_too_many_is_told_with_the_limit(self) -> None:
        text = "".join(f"[agents.a{number}]\n" for number in range(MAX_AGENTS + 1))
        assert str(MAX_AGENTS) in refusal(text)

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("[agents.先生]", "TOML"),
            ("[agents.tutor]\ntemperature = 9", "[agents.tutor] の temperature を直してください。"),
            ('[agents.tutor]\npromt = "x"', "promt は知らないキーです。使えるキー: display_name"),
            ("[agents.default]\ndms = false", "[agents.default] に dms は書けません。"),
            ("[agents.Tutor]", "半角の英小文字"),
        ],
    )
    def test_is_told_in_japanese_too(self, text: str, told: str) -> None:
        assert told in refusal(text, Locale.JA)

    def test_repeats_no_values(self) -> None:
        assert "sk-secret" not in refusal('[agents.tutor]\ntools = ["sk-secret"]')
        assert "sk-secret" not in refusal('[agents.tutor]\nmodel = { key = "sk-secret" }')
