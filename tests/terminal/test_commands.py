"""What typed lines mean, in both languages, and what is said of those that mean nothing."""

import importlib
import inspect
import pkgutil
import re
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cc_bot.terminal
from cc_bot.domain import Locale
from cc_bot.terminal.commands import (
    Argument,
    Chat,
    Command,
    InvalidCommand,
    Option,
    Switch,
    command,
    number_of,
)
from cc_bot.terminal.runner import COMMANDS, JAPANESE, in_english, parse
from cc_bot.texts import texts
from cc_bot.texts.terminal import JAPANESE_NAMES

EN = texts(Locale.EN, names=Locale.EN)
words = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters='"「」,、，#＃-'), min_size=1)


def meant(line: str) -> tuple[object, ...] | None:
    """The command's name, and each of its parameters that is not left out."""
    call = parse(line)
    if call is None:
        return None
    given = {name: value for name, value in call.arguments.items() if value not in (None, False, "", {})}
    return (call.command.name, given) if given else (call.command.name,)


def said(line: str) -> str:
    """What is said, in English, of a line that can't be run."""
    with pytest.raises(InvalidCommand) as raised:
        parse(line)
    return raised.value.explain(EN)


class TestQuestions:
    @pytest.mark.parametrize(
        ("line", "question"),
        [
            ("明日の天気は？", "明日の天気は？"),
            ("/ask 明日の天気は？", "明日の天気は？"),
            ("  /ASK   明日の天気は？ ", "明日の天気は？"),
            ("／ａｓｋ　明日の天気は？", "明日の天気は？"),
            ("/質問 ＡＢＣ とは？", "ＡＢＣ とは？"),
            ("/ask what does --temporary do?", "what does --temporary do?"),
            ("/ask 一行目\n二行目", "一行目\n二行目"),
        ],
    )
    def test_are_text_with_and_without_the_command(self, line: str, question: str) -> None:
        assert meant(line) == ("ask", {"question": question})

    @pytest.mark.parametrize("name", ["ask", "質問"])
    def test_that_are_temporary_say_so_first(self, name: str) -> None:
        assert meant(f"/{name} --temporary ひみつ") == ("ask", {"question": "ひみつ", "temporary": True})

    @pytest.mark.parametrize("line", ["", "  ", "\t", "\n", "　"])
    def test_are_not_asked_by_a_blank_line(self, line: str) -> None:
        assert meant(line) is None

    @given(st.text())
    def test_are_whatever_does_not_begin_with_a_slash_as_it_stands(self, text: str) -> None:
        stripped = text.strip()
        if stripped and stripped[0] not in "/／":
            assert meant(text) == ("ask", {"question": stripped})

    @given(st.text())
    def test_and_commands_and_mistakes_are_all_that_there_is(self, text: str) -> None:
        for line in (f"/{text}", f"/memory {text}", f"/settings {text}"):
            try:
                found: object = parse(line)
            except InvalidCommand as mistake:
                found = mistake.explain(EN)
            assert found


class TestLine:
    @pytest.mark.parametrize(
        ("line", "name", "given"),
        [
            ("/clear", "clear", {}),
            ("/regenerate", "regenerate", {}),
            ("/続ける", "continue", {}),
            ("/quit", "exit", {}),
            ("／ｈｅｌｐ", "help", {}),
            ("／ヘルプ", "help", {}),
            ("/終了", "exit", {}),
            ("/summary", "summary", {}),
            ("/summary delete", "summary", {"word": "delete"}),
            ("/要約 削除", "summary", {"word": "delete"}),
            ("/canvas", "canvas", {}),
            ("／ｃａｎｖａｓ", "canvas", {}),
            ("/canvas 表示", "canvas", {"word": "show"}),
            ("/canvas clear", "canvas", {"word": "clear"}),
            ("/キャンバス 空にする", "canvas", {"word": "clear"}),
            ("/memory list", "memory list", {}),
            ("/memory list 個人", "memory list", {"named": "個人"}),
            (
                '/memory list --category "to buy" --before 40',
                "memory list",
                {"category": "to buy", "before": 40},
            ),
            (
                "/memory search 牛乳 --category 「買う もの」",
                "memory search",
                {"query": "牛乳", "category": "買う もの"},
            ),
            (
                "/memory add 誕生日は3月15日 --category 個人 --tags 誕生日、家族",
                "memory add",
                {"content": "誕生日は3月15日", "category": "個人", "tags": ("誕生日", "家族")},
            ),
            (
                "/memory add --tags=誕生日,家族 --category=個人 誕生日は3月15日",
                "memory add",
                {"content": "誕生日は3月15日", "category": "個人", "tags": ("誕生日", "家族")},
            ),
            (
                "/memory add 合宿は203号室 --until 2026-12-31 --private",
                "memory add",
                {"content": "合宿は203号室", "until": "2026-12-31", "private": True},
            ),
            (
                "/memory add 牛乳 --tags a, b --until 3日後",
                "memory add",
                {"content": "牛乳", "tags": ("a", "b"), "until": "3日後"},
            ),
            (
                "/memory add I'm using git push --force --tagsoup",
                "memory add",
                {"content": "I'm using git push --force --tagsoup"},
            ),
            (
                "／メモリ　追加　牛乳 --category 家",
                "memory add",
                {"content": "牛乳", "category": "家"},
            ),
            ("/ﾒﾓﾘ 追加 牛乳", "memory add", {"content": "牛乳"}),
            ("/memory 追加 追加", "memory add", {"content": "追加"}),
            ("/メモリ add 牛乳", "memory add", {"content": "牛乳"}),
            ("/memory show #12", "memory show", {"number": 12}),
            ("/memory edit 3 猫はミケ", "memory edit", {"number": 3, "content": "猫はミケ"}),
            (
                "/memory edit 3 --category 猫 --tags a,b --until -",
                "memory edit",
                {"number": 3, "category": "猫", "tags": ("a", "b"), "until": "-"},
            ),
            ("/memory edit --category 猫 3", "memory edit", {"number": 3, "category": "猫"}),
            ("/memory pin 12 --off", "memory pin", {"number": 12, "off": True}),
            ("/メモリ 元に戻す 5", "memory undo", {"number": 5}),
            ("/memory restore １２", "memory restore", {"number": 12}),
            ("/memory restore 12 2", "memory restore", {"number": 12, "which": 2}),
            ("/memory delete 12", "memory delete", {"number": 12}),
            ("/memory delete ＃１２", "memory delete", {"number": 12}),
            ("/memory delete 12 --now", "memory delete", {"number": 12, "now": True}),
            ("/memory delete-all", "memory delete-all", {}),
            ("/メモリ 全削除 3", "memory delete-all", {"count": 3}),
            ("/memory export", "memory export", {}),
            ("/memory export my\\ notes.md", "memory export", {"path": "my notes.md"}),
            ("/memory import 'my notes.json'", "memory import", {"path": "my notes.json"}),
            ("/memory import --now notes.txt", "memory import", {"path": "notes.txt", "now": True}),
            ('/attach "my file.txt"', "attach", {"path": "my file.txt"}),
            ("/添付 メモ.txt", "attach", {"path": "メモ.txt"}),
            ("/accept", "accept", {}),
            ("/decline ", "decline", {}),
            ("/accept #3", "accept", {"number": 3}),
            ("／ａｃｃｅｐｔ　３", "accept", {"number": 3}),
            (" /DECLINE  ＃3 ", "decline", {"number": 3}),
            ("/実行 3", "accept", {"number": 3}),
            ("/agent", "agent list", {}),
            ("/エージェント 使う 先生", "agent use", {"name": "先生"}),
            ("/リマインド", "remind list", {}),
            ("/リマインド 追加 明日9時 薬", "remind add", {"wish": "明日9時 薬"}),
            ("／ｐｒｉｖａｃｙ", "privacy show", {}),
            ("/privacy export my data.json", "privacy export", {"path": "my data.json"}),
            ("/プライバシー 消去 --now", "privacy erase", {"now": True}),
            ("/settings", "settings", {}),
            (
                "/settings language EN timezone Asia/Tokyo",
                "settings",
                {"choices": {"language": "EN", "timezone": "Asia/Tokyo"}},
            ),
            ("/settings --timezone default", "settings", {"choices": {"timezone": "default"}}),
            (
                "/設定 言語 英語 タイムゾーン Asia/Tokyo",
                "settings",
                {"choices": {"language": "英語", "timezone": "Asia/Tokyo"}},
            ),
        ],
    )
    def test_is_read(self, line: str, name: str, given: dict[str, object]) -> None:
        assert meant(line) == ((name, given) if given else (name,))

    @given(content=words, category=words, tags=st.lists(words, unique=True, min_size=1, max_size=5))
    def test_gives_back_what_was_put_in(self, content: str, category: str, tags: list[str]) -> None:
        line = f'/memory add {content} --category "{category}" --tags {", ".join(tags)}'
        given = {"content": content, "category": category, "tags": tuple(tags)}
        assert meant(line) == ("memory add", given)


USAGES = {
    "/clear everything": ("everything", "/clear"),
    "/summary all": ("all", "/summary [delete]"),
    "/canvas clear all": ("clear all", "/canvas [clear]"),
    "/memory list --before x": ("--before x", "/memory list [category]"),
    "/memory edit 3": (
        "3",
        "/memory edit number [content] [--category name] [--tags name,name] [--until date]",
    ),
    "/memory delete-all yes": ("yes", "/memory delete-all [count]"),
    "/memory pause now": ("now", "/memory pause"),
    "/agent poet": ("poet", "/agent use name"),
    "/remind poet": ("poet", "/remind add tomorrow at 9 take the pills"),
    "/privacy off": ("off", "/privacy show"),
    "/privacy erase everything": ("everything", "/privacy erase [--now]"),
    **{
        f"/settings {rest}": (rest, "/settings [language ja|en] [timezone Europe/London]")
        for rest in ("language fr", "language", "timezone", "colour red")
    },
}
"""What each line quotes, and the usage that it tells."""
NO_NUMBERS = ["x", "0", "-1", "1.5", "²", "3 4", "#", str(2**63), "9" * 5000]


class TestMistake:
    @pytest.mark.parametrize("line", USAGES)
    def test_is_quoted_with_how_the_command_goes(self, line: str) -> None:
        given, usage = USAGES[line]
        assert said(line) == f"“{given}” can't be used here. Usage: {usage}"

    def test_that_is_long_is_quoted_in_part(self) -> None:
        assert said("/clear " + "x" * 9000).startswith(f"“{'x' * 39}…” ")

    @pytest.mark.parametrize("number", NO_NUMBERS)
    def test_of_a_number_is_told_in_a_sentence(self, number: str) -> None:
        for name in ("show", "pin", "undo", "delete"):
            assert said(f"/memory {name} {number}") == EN.memory.id_needed
        assert said(f"/accept {number}") == said(f"/decline {number}") == EN.terminal.proposal_needed
        assert said(f"/remind delete {number}") == EN.remind_here.id_needed

    @pytest.mark.parametrize(
        ("line", "sentence"),
        [
            ("/memory show", EN.memory.id_needed),
            ("/memory edit x 猫", EN.memory.id_needed),
            ("/memory restore x", EN.memory.id_needed),
            ("/memory restore 3 x", EN.memory.id_needed),
            ("/memory search  ", EN.memory.query_needed),
            ("/memory search --category x", EN.memory.query_needed),
            ("/memory import", EN.terminal.memory_file_needed),
            ("/memory import --now", EN.terminal.memory_file_needed),
            ("/attach", EN.terminal.path_needed),
            ("/attach ''", EN.terminal.path_needed),
            ("/agent use", EN.terminal.agent_needed),
            ("/remind delete", EN.remind_here.id_needed),
            ("/memory", EN.terminal.memory_needs_more),
            ("/memory 牛乳", EN.terminal.memory_needs_more),
        ],
    )
    def test_of_leaving_something_out_says_what_is_needed(self, line: str, sentence: str) -> None:
        assert said(line) == sentence

    @pytest.mark.parametrize(
        ("line", "given", "nearest"),
        [
            ("/memroy list", "/memroy", "memory list"),
            ("/memory lsit", "/memory lsit", "memory list"),
            ("/memory del 3", "/memory del", "memory delete"),
            ("/mem", "/mem", "memory list"),
            ("/memmory", "/memmory", "memory list"),
            ("/remnid", "/remnid", "remind list"),
            ("/メモリー", "/メモリー", "memory list"),
            ("/privcy", "/privcy", "privacy show"),
            ("/delete 3", "/delete", "memory delete"),
            ("/serach x", "/serach", "memory search"),
            ("/cler", "/cler", "clear"),
            ("/regen", "/regen", "regenerate"),
            ("/hepl", "/hepl", "help"),
            ("/acept 3", "/acept", "accept"),
            ("/declin 3", "/declin", "decline"),
            ("/メモリー 追加 牛乳", "/メモリー", "memory add"),
            ("/メモリ 全部削除", "/メモリ 全部削除", "memory delete-all"),
            ("/リマインダ 一覧", "/リマインダ", "remind list"),
        ],
    )
    def test_of_a_name_comes_with_the_nearest(self, line: str, given: str, nearest: str) -> None:
        assert said(line) == EN.terminal.unknown_near.format(given=given, nearest=f"/{nearest}")

    @pytest.mark.parametrize("line", ["/usr/bin", "/", "/ ask"])
    def test_that_is_like_no_command_comes_with_help(self, line: str) -> None:
        assert said(line) == EN.terminal.unknown.format(given=line.split(maxsplit=1)[0])


@pytest.mark.parametrize("name", COMMANDS)
class TestCommand:
    @pytest.mark.parametrize("locale", list(Locale))
    def test_has_its_words_in_each_language(self, name: str, locale: Locale) -> None:
        told = texts(locale).terminal
        shown = f"{COMMANDS[name].usage(texts(locale))} {told.commands[name]}"
        assert told.commands.keys() == COMMANDS.keys()
        assert bool(re.search("[ぁ-ヿ]", told.commands[name])) == (locale is Locale.JA)
        assert locale is Locale.JA or not re.search("[ぁ-ヿ一-鿿]", shown)

    def test_takes_what_its_function_is_handed(self, name: str) -> None:
        handed = [*inspect.signature(COMMANDS[name].run).parameters][1:]
        assert handed == [*COMMANDS[name].parameters]

    def test_has_a_japanese_name_of_its_own(self, name: str) -> None:
        japanese = JAPANESE[name]
        assert not re.search("[a-z]", japanese)
        assert in_english(f"/{japanese} x") == f"/{name} x"
        assert len(japanese.split()) == len(name.split())
        assert [*JAPANESE.values()].count(japanese) == 1


class TestDeclaration:
    async def test_is_all_that_a_command_needs(self) -> None:
        @command("weather", at_least=1)
        async def weather(
            chat: Chat,
            number: Annotated[int, Argument("number", number_of)],
            name: Annotated[str | None, Argument("name", optional=True)],
            until: Annotated[str | None, Option("date")],
            now: Switch,
        ) -> None: ...

        assert weather.usage(EN) == "/weather number [name] [--until date] [--now]"
        assert weather.read("3 --until 明日 Kyoto --now") == {
            "number": 3,
            "name": "Kyoto",
            "until": "明日",
            "now": True,
        }

    def test_is_found_in_whatever_module_it_stands(self) -> None:
        names = [f"cc_bot.terminal.{each.name}" for each in pkgutil.iter_modules(cc_bot.terminal.__path__)]
        declared = {
            each.name
            for name in names
            for each in vars(importlib.import_module(name)).values()
            if isinstance(each, Command)
        }
        assert declared == COMMANDS.keys()

    def test_of_japanese_names_is_of_commands_that_there_are(self) -> None:
        known = {*COMMANDS, *(f"{name} {word}" for name in COMMANDS for word in ("delete", "show", "clear"))}
        assert JAPANESE_NAMES.keys() <= known

    @given(st.text(max_size=30))
    def test_is_looked_for_at_the_beginning_alone(self, text: str) -> None:
        assert meant(f"メモリ 追加 {text}") == ("ask", {"question": f"メモリ 追加 {text}".strip()})
        assert in_english(f"/ask {text}") == f"/ask {text}"
