import re
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.chat.tools import discover_tools
from cc_bot.domain.message import Agent, AgentScope
from cc_bot.domain.text import Locale
from cc_bot.features.agents.file import MAX_AGENTS, MAX_PROMPT_LENGTH, parse_agents
from cc_bot.operator_file import FileRefused
from cc_bot.texts import texts

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
ODD = ['"x"', "3", "-1", "nan", "inf", "1e9", "true", "[]", '["x"]', "[1]", "{}", "{ ja = 1 }", '""']
KEYS = ["display_name", "prompt", "model", "temperature", "tools", "guilds", "dms"]
WRONG = [
    ("temperature = 2.1", "temperature", "a number from 0 to 2"),
    ("temperature = nan", "temperature", "a number from 0 to 2"),
    ("temperature = true", "temperature", "a number from 0 to 2"),
    (f'display_name = "{"あ" * 41}"', "display_name", "up to 40 characters"),
    ('display_name = { fr = "prof" }', "display_name", '{ ja = "…", en = "Teacher" }'),
    ('description = "a\\nb"', "description", "up to 200 characters"),
    (f'prompt = "{"x" * (MAX_PROMPT_LENGTH + 1)}"', "prompt", "20000 characters"),
    ('model = "a,,b"', "model", "separated by commas"),
    ('tools = ["recal"]', "tools", "forget, recall, remember"),
    ('tools = ["*"]', "tools", "forget, recall, remember"),
    ('guilds = ["1"]', "guilds", "a list of server ids"),
    ("channels = [0]", "channels", "a list of channel ids"),
    ("dms = 1", "dms", "dms = false"),
]
TOLD = {
    '[agents.tutor]\npromt = "x"': "[agents.tutor] has an unknown key: promt.",
    "[agents.a]\nprompt = open": "line 2",
    **dict.fromkeys(["[agent.tutor]", 'prompt = "x"', "agents = 3", "[[agents]]"], "[agents.name]"),
    '[agents]\ntutor = "x"': "agents.tutor must be a table",
    "".join(f"[agents.a{number}]\n" for number in range(MAX_AGENTS + 1)): str(MAX_AGENTS),
    **{
        f"[agents.{name}]": "lower-case letters, digits, - and _"
        for name in ("Tutor", '"先生"', '""', '"a.b"')
    },
    "[agents.default]\nguilds = [1]": "[agents.default] can't have",
}
TOLD_IN_JAPANESE = {
    "[agents.先生]": "TOML",
    "[agents.tutor]\ntemperature = 9": "[agents.tutor] の temperature を直してください。",
    '[agents.tutor]\npromt = "x"': "promt は知らないキーです。使えるキー: display_name",
    "[agents.default]\ndms = false": "[agents.default] に dms は書けません。",
}


def parsed(text: str, locale: Locale = Locale.JA) -> Mapping[str, Agent]:
    return parse_agents(text, tools=TOOLS, words=texts(locale))


def agent(lines: str) -> Agent:
    return parsed(f"[agents.a]\n{lines}")["a"]


def outcome(text: str, locale: Locale = Locale.EN) -> tuple[str, Mapping[str, Agent]]:
    try:
        return "", parsed(text, locale)
    except FileRefused as refused:
        return str(refused), {}


class TestFile:
    def test_holds_agents_with_all_that_they_are_after_the_default_agent(self) -> None:
        assert parsed(WHOLE)["tutor"] == Agent(
            "tutor",
            {Locale.JA: "英語の先生", Locale.EN: "English teacher"},
            {Locale.JA: "英会話の練習に", Locale.EN: "Practise your English"},
            prompt="あなたは英語の先生です。",
            models=("large", "small"),
            temperature=0.3,
            tools=frozenset({"recall", "remember"}),
            scope=AgentScope(frozenset({111111111111111111}), frozenset({222222222222222222}), True),
        )
        assert list(parsed("[agents.b]\n[agents.a]\n[agents.default]\n")) == ["default", "b", "a"]

    def test_has_the_default_agent_whatever_it_says_of_it(self) -> None:
        [default] = parsed("# nothing yet\n").values()
        names = (default.name, default.display_name(Locale.JA), default.display_name(Locale.EN))
        assert (*names, default.prompt) == ("default", "標準", "Standard", "")
        default = parsed('[agents.default]\nprompt = "P"\ndisplay_name = { ja = "ことり" }')["default"]
        assert (default.prompt, default.display_name(Locale.JA)) == ("P", "ことり")
        assert default.display_name(Locale.EN) == "Standard"

    @given(st.text(max_size=200), st.dictionaries(st.sampled_from(KEYS), st.sampled_from(ODD)))
    def test_is_read_or_refused_with_a_sentence_that_has_the_key(
        self, text: str, values: dict[str, str]
    ) -> None:
        told, found = outcome(text)
        assert told or "default" in found
        told, found = outcome("[agents.a]\n" + "\n".join(f"{key} = {odd}" for key, odd in values.items()))
        if told:
            assert any(f" {key} " in told for key in values)
        else:
            assert found["a"].temperature is None or 0 <= found["a"].temperature <= 2
            assert (found["a"].tools or frozenset()) <= set(TOOLS)

    def test_of_examples_is_right_as_it_stands_and_with_all_that_is_commented_out(self) -> None:
        text = Path("docs/agents.example.toml").read_text(encoding="utf-8")
        tools, words = discover_tools().names, texts(Locale.EN)
        assert list(parse_agents(text, tools=tools, words=words)) == ["default", "english", "haiku"]
        whole = re.sub(r"^#(?=[a-z\[])", "", text, flags=re.MULTILINE)
        assert whole != text
        agents = parse_agents(whole, tools=tools, words=words)
        assert agents["default"].display_name(Locale.JA) == "ことり"
        assert (agents["english"].models, agents["english"].reasoning) == (("gpt-5.4-mini",), "low")
        assert agents["english"].scope.guilds == {123456789012345678}


class TestAgent:
    def test_is_the_default_in_everything_that_is_not_said_of_it(self) -> None:
        assert agent("") == Agent("a")
        assert {agent('display_name = " Sage "').display_name(locale) for locale in Locale} == {"Sage"}
        assert agent('display_name = { ja = "先生" }').display_name(Locale.EN) == "a"
        assert agent("tools = []").tools == frozenset()
        for name in ("time__*", "time__get_current_time", "my-notes__read_*"):  # of servers, there or not
            assert agent(f'tools = ["recall", "{name}"]').tools == frozenset({"recall", name})
        for model in ('"a,b"', '" a , b "', '["a", "b"]'):
            assert agent(f"model = {model}").models == ("a", "b")
        for temperature in ("0", "0.0", "2", "1.5"):
            assert agent(f"temperature = {temperature}").temperature == float(temperature)

    def test_answers_everywhere_or_in_the_locations_that_are_named(self) -> None:
        allowed: list[tuple[str, int | None, set[int], bool]] = [
            *(("", None, {9}, True), ("", 1, {9}, True)),
            *(("guilds = [1]", 1, {9}, True), ("guilds = [1]", 2, {9}, False)),
            *(("guilds = [1]", None, {9}, False), ("guilds = [1]\ndms = true", None, {9}, True)),
            *(("channels = [9]", 5, {10, 9}, True), ("channels = [9]", 5, {10}, False)),
            ("channels = [9]\nguilds = [1]", 1, {10}, True),
            *(("dms = false", None, {9}, False), ("dms = false", 1, {9}, True)),
        ]
        for lines, guild, channels, may in allowed:
            found = agent(lines).scope.allows(guild_id=guild, channel_ids=frozenset(channels))
            assert found is may, (lines, guild, channels)


class TestMistake:
    def test_is_told_with_the_agent_the_key_and_what_is_expected(self) -> None:
        told = {line: outcome(f"[agents.tutor]\n{line}")[0] for line, _, _ in WRONG}
        assert [
            (line, told[line])
            for line, key, expected in WRONG
            if not told[line].startswith(f"[agents.tutor] {key} ") or expected not in told[line]
        ] == []

    def test_is_told_with_its_location_and_what_there_is_in_both_languages(self) -> None:
        for expected, locale in ((TOLD, Locale.EN), (TOLD_IN_JAPANESE, Locale.JA)):
            told = {text: outcome(text, locale)[0] for text in expected}
            assert [told[text] for text in expected if expected[text] not in told[text]] == []

    def test_repeats_no_values(self) -> None:
        for line in ('tools = ["sk-secret"]', 'model = { key = "sk-secret" }'):
            told, _ = outcome(f"[agents.tutor]\n{line}")
            assert told
            assert "sk-secret" not in told
