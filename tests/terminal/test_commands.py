"""What typed lines mean, in both languages, and what is said of those that mean nothing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain import Locale
from cc_bot.terminal.commands import InvalidCommand
from cc_bot.terminal.runner import COMMANDS, JAPANESE, in_english, parse
from cc_bot.texts import texts

EN = texts(Locale.EN, names=Locale.EN)


def meant(line: str) -> tuple[str, dict[str, object]] | None:
    """The command's name, and each of its parameters that is not left out."""
    call = parse(line)
    if call is None:
        return None
    given = {name: value for name, value in call.arguments.items() if value not in (None, False, "", {})}
    return call.command.name, given


def m(name: str, /, **given: object) -> tuple[str, dict[str, object]]:
    return name, given


def said(line: str) -> str:
    """What is said, in English, of a line that can't be run."""
    with pytest.raises(InvalidCommand) as raised:
        parse(line)
    return raised.value.explain(EN)


BIRTHDAY = m("memory add", content="誕生日は3月15日", category="個人", tags=("誕生日", "家族"))
JA_SETTINGS = {"language": "英語", "timezone": "Asia/Tokyo"}
LINES = {
    "明日の天気は？": m("ask", question="明日の天気は？"),
    "／ａｓｋ　明日の天気は？": m("ask", question="明日の天気は？"),
    "/質問 ＡＢＣ とは？": m("ask", question="ＡＢＣ とは？"),
    "/ask what does --temporary do?": m("ask", question="what does --temporary do?"),
    "/ask 一行目\n二行目": m("ask", question="一行目\n二行目"),
    "/質問 --temporary ひみつ": m("ask", question="ひみつ", temporary=True),
    "/続ける": m("continue"),
    "／ｈｅｌｐ": m("help"),
    "/agent": m("agent list"),
    "/キャンバス 空にする": m("canvas", word="clear"),
    "/memory list 個人": m("memory list", named="個人"),
    '/memory list --category "to buy" --before 40': m("memory list", category="to buy", before=40),
    "/memory search 牛乳 --category 「買う もの」": m("memory search", query="牛乳", category="買う もの"),
    "/memory add 誕生日は3月15日 --category 個人 --tags 誕生日、家族": BIRTHDAY,
    "/memory add --tags=誕生日,家族 --category=個人 誕生日は3月15日": BIRTHDAY,
    "/memory add 合宿 --until 3日後 --private": m("memory add", content="合宿", until="3日後", private=True),
    "/memory add git push --force --tagsoup": m("memory add", content="git push --force --tagsoup"),
    "/ﾒﾓﾘ　追加　牛乳 --tags a, b": m("memory add", content="牛乳", tags=("a", "b")),
    "/memory edit --tags a,b --until - 3": m("memory edit", number=3, tags=("a", "b"), until="-"),
    "/memory pin 12 --off": m("memory pin", number=12, off=True),
    "/memory restore １２ 2": m("memory restore", number=12, which=2),
    "/memory delete ＃１２": m("memory delete", number=12),
    "/メモリ 全削除 3": m("memory delete-all", count=3),
    "/memory export my\\ notes.md": m("memory export", path="my notes.md"),
    "/memory import --now 'my notes.json'": m("memory import", path="my notes.json", now=True),
    "／ａｃｃｅｐｔ　３": m("accept", number=3),
    " /DECLINE  ＃3 ": m("decline", number=3),
    "/エージェント 使う 先生": m("agent use", name="先生"),
    "/リマインド 追加 明日9時 薬": m("remind add", wish="明日9時 薬"),
    "/privacy export my data.json": m("privacy export", path="my data.json"),
    "/プライバシー 消去 --now": m("privacy erase", now=True),
    "/設定 言語 英語 タイムゾーン Asia/Tokyo": m("settings", choices=JA_SETTINGS),
    **dict.fromkeys(("", "  ", "\n", "　")),
}


class TestLine:
    def test_is_read(self) -> None:
        assert {line: meant(line) for line in LINES} == LINES

    @given(st.text())
    def test_is_a_question_a_command_or_a_mistake(self, text: str) -> None:
        stripped = text.strip()
        if stripped and stripped[0] not in "/／":
            assert meant(text) == m("ask", question=stripped)
        for line in (f"/{text}", f"/memory {text}", f"/settings {text}"):
            try:
                found: object = parse(line)
            except InvalidCommand as mistake:
                found = mistake.explain(EN)
            assert found


class TestMistake:
    def test_of_a_number_or_of_leaving_something_out_says_what_is_needed(self) -> None:
        for number in ("x", "0", "-1", "1.5", "²", "3 4", "#", str(2**63), "9" * 5000):
            for name in ("show", "pin", "undo", "delete"):
                assert said(f"/memory {name} {number}") == EN.memory.id_needed
            assert said(f"/accept {number}") == said(f"/decline {number}") == EN.terminal.proposal_needed
            assert said(f"/remind delete {number}") == EN.remind_here.id_needed
        needed = {
            **dict.fromkeys(("memory show", "memory edit x 猫", "memory restore 3 x"), EN.memory.id_needed),
            **dict.fromkeys(("memory search  ", "memory search --category x"), EN.memory.query_needed),
            "memory import --now": EN.terminal.memory_file_needed,
            "agent use": EN.terminal.agent_needed,
            **dict.fromkeys(("memory", "memory 牛乳"), EN.terminal.memory_needs_more),
            **dict.fromkeys(("attach", "attach ''"), EN.terminal.path_needed),
        }
        assert {line: said(f"/{line}") for line in needed} == needed


def test_a_command_has_its_words_in_each_language_and_a_japanese_name_of_its_own() -> None:
    for locale in Locale:
        assert texts(locale).terminal.commands.keys() == COMMANDS.keys()
    for name, japanese in JAPANESE.items():
        assert not re.search("[a-z]", japanese), name
        assert in_english(f"/{japanese} x") == f"/{name} x"
    assert len({*JAPANESE.values()}) == len(JAPANESE) == len(COMMANDS)
