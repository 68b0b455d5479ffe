import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain import Locale
from cc_bot.terminal.commands import (
    Accept,
    AddMemory,
    Ask,
    Attach,
    Clear,
    Command,
    CommandName,
    Continue,
    CountMemories,
    Decline,
    DeleteAllMemories,
    DeleteMemory,
    Detach,
    EditMemory,
    ErasePrivacy,
    Exit,
    ExportMemories,
    Help,
    ImportMemories,
    ListMemories,
    ListReminders,
    Misused,
    PauseMemory,
    Regenerate,
    RestoreMemory,
    SearchMemories,
    SetReminder,
    Settings,
    ShowCanvas,
    ShowMemory,
    ShowSummary,
    UndoMemory,
    Unknown,
    UseAgent,
)
from cc_bot.terminal.names import JAPANESE, in_english
from cc_bot.terminal.parsing import parse

words = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters='"「」,、，#＃-'), min_size=1)


class TestQuestions:
    @pytest.mark.parametrize(
        "line",
        ["明日の天気は？", "/ask 明日の天気は？", "  /ASK   明日の天気は？ ", "／ａｓｋ　明日の天気は？"],
    )
    def test_text_is_a_question_with_and_without_the_command(self, line: str) -> None:
        assert parse(line) == Ask("明日の天気は？")

    def test_a_temporary_question_says_so_first(self) -> None:
        assert parse("/ask --temporary secret?") == Ask("secret?", temporary=True)
        assert parse("/ask what does --temporary do?") == Ask("what does --temporary do?")

    def test_line_ends_inside_a_question_are_kept(self) -> None:
        assert parse("/ask 一行目\n二行目") == Ask("一行目\n二行目")

    @pytest.mark.parametrize("line", ["", "  ", "\t", "\n", "　"])
    def test_a_blank_line_asks_for_nothing(self, line: str) -> None:
        assert parse(line) is None

    @given(st.text())
    def test_whatever_does_not_begin_with_a_slash_is_a_question_as_it_stands(self, text: str) -> None:
        stripped = text.strip()
        if stripped and stripped[0] not in "/／":
            assert parse(text) == Ask(stripped)

    @given(st.text())
    def test_every_line_means_something(self, text: str) -> None:
        assert (parse("/" + text) is None) is False
        assert isinstance(parse("/memory " + text), Command)


class TestCommandsWithoutArguments:
    @pytest.mark.parametrize(
        ("line", "command"),
        [
            ("/clear", Clear()),
            ("/regenerate", Regenerate()),
            ("/continue", Continue()),
            ("/detach", Detach()),
            ("/help", Help()),
            ("/exit", Exit()),
            ("/summary", ShowSummary()),
            ("/summary delete", ShowSummary(delete=True)),
            ("/summary all", Misused("summary", "argument", "all")),
            ("/quit", Exit()),
            ("/settings", Settings()),
            ("/memory list", ListMemories()),
            ("／ｈｅｌｐ", Help()),
        ],
    )
    def test_are_known_by_name(self, line: str, command: Command) -> None:
        assert parse(line) == command

    def test_refuse_arguments_instead_of_ignoring_them(self) -> None:
        assert parse("/clear everything") == Misused("clear", "argument", "everything")

    def test_tell_how_an_agent_is_chosen(self) -> None:
        assert parse("/agent poet") == Misused("agent use", "argument", "poet")


class TestMemoryCommands:
    def test_add_takes_category_and_tags_wherever_they_stand(self) -> None:
        memory = AddMemory("誕生日は3月15日", "個人", ("誕生日", "家族"))
        assert parse("/memory add 誕生日は3月15日 --category 個人 --tags 誕生日、家族") == memory
        assert parse("/memory add --tags=誕生日,家族 --category=個人 誕生日は3月15日") == memory

    def test_add_keeps_what_only_looks_like_an_option(self) -> None:
        assert parse("/memory add I'm using git push --force --tagsoup") == AddMemory(
            "I'm using git push --force --tagsoup"
        )

    def test_a_category_of_two_words_stands_in_quotes(self) -> None:
        assert parse('/memory add milk --category "to buy"') == AddMemory("milk", "to buy")
        assert parse("/memory search 牛乳 --category 「買う もの」") == SearchMemories("牛乳", "買う もの")

    @given(content=words, category=words, tags=st.lists(words, unique=True, min_size=1, max_size=5))
    def test_add_gives_back_what_was_put_in(self, content: str, category: str, tags: list[str]) -> None:
        line = f'/memory add {content} --category "{category}" --tags {", ".join(tags)}'
        assert parse(line) == AddMemory(content, category, tuple(tags))

    def test_list_takes_a_category_and_where_to_go_on(self) -> None:
        assert parse("/memory list 個人") == ListMemories("個人")
        assert parse('/memory list --category "to buy" --before 40') == ListMemories("to buy", 40)
        assert parse("/memory list --before x") == Misused("memory list", "argument", "--before x")

    @pytest.mark.parametrize("line", ["/memory delete 12", "/memory delete #12", "/memory delete １２"])
    def test_delete_takes_a_number(self, line: str) -> None:
        assert parse(line) == DeleteMemory(12)

    @pytest.mark.parametrize("number", ["", "x", "0", "-1", "1.5", "²", str(2**63), "9" * 5000])
    def test_delete_refuses_what_is_no_number_of_a_memory(self, number: str) -> None:
        assert isinstance(parse(f"/memory delete {number}"), Misused)

    @pytest.mark.parametrize(
        ("line", "command"),
        [
            ("/memory show #12", ShowMemory(12)),
            ("/memory undo 12", UndoMemory(12)),
            ("/memory restore １２", RestoreMemory(12)),
            ("/memory delete 12 --now", DeleteMemory(12, now=True)),
            ("/memory delete-all", DeleteAllMemories()),
            ("/memory delete-all 27", DeleteAllMemories(27)),
            ("/memory export", ExportMemories()),
            ("/memory export my\\ notes.md", ExportMemories("my notes.md")),
            ("/memory import 'my notes.json'", ImportMemories("my notes.json")),
            ("/memory import --now notes.txt", ImportMemories("notes.txt", now=True)),
            ("/memory pause", PauseMemory(paused=True)),
            ("/memory resume", PauseMemory(paused=False)),
            ("/memory stats", CountMemories()),
        ],
    )
    def test_each_is_read(self, line: str, command: Command) -> None:
        assert parse(line) == command

    def test_add_takes_an_end_and_who_may_see_it(self) -> None:
        memory = AddMemory("合宿は203号室", until="2026-12-31", private=True)
        assert parse("/memory add 合宿は203号室 --until 2026-12-31 --private") == memory

    def test_edit_changes_what_is_given(self) -> None:
        assert parse("/memory edit 3 猫はミケ") == EditMemory(3, "猫はミケ")
        assert parse("/memory edit 3 --category 猫 --tags a,b --until -") == EditMemory(
            3, None, "猫", ("a", "b"), "-"
        )

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ("/memory show", "id"),
            ("/memory edit x 猫", "id"),
            ("/memory edit 3", "argument"),
            ("/memory undo 0", "id"),
            ("/memory delete-all yes", "argument"),
            ("/memory import", "memory file"),
            ("/memory import --now", "memory file"),
            ("/memory pause now", "argument"),
        ],
    )
    def test_mistakes_are_known(self, line: str, problem: str) -> None:
        found = parse(line)
        assert isinstance(found, Misused)
        assert found.problem == problem

    def test_search_needs_words(self) -> None:
        assert parse("/memory search  ") == Misused("memory search", "query")
        assert parse("/memory search --category x") == Misused("memory search", "query")


class TestOtherArguments:
    @pytest.mark.parametrize(
        "line", ['/attach "my file.txt"', "/attach 'my file.txt'", r"/attach my\ file.txt"]
    )
    def test_a_path_may_be_quoted_or_escaped(self, line: str) -> None:
        assert parse(line) == Attach("my file.txt")

    def test_a_path_is_needed(self) -> None:
        assert parse("/attach") == Misused("attach", "path")

    def test_settings_take_language_and_time_zone(self) -> None:
        assert parse("/settings language EN timezone Asia/Tokyo") == Settings(Locale.EN, "Asia/Tokyo")
        assert parse("/settings timezone default") == Settings(None, "default")
        assert parse("/settings language 日本語") == Settings(Locale.JA)

    @pytest.mark.parametrize("rest", ["language fr", "language", "timezone", "colour red"])
    def test_settings_refuse_the_rest(self, rest: str) -> None:
        assert parse(f"/settings {rest}") == Misused("settings", "argument", rest)


class TestDecisions:
    @pytest.mark.parametrize(
        "line", ["/accept 3", "/accept #3", "/accept ＃３", "／ａｃｃｅｐｔ　３", " /ACCEPT  3 "]
    )
    def test_name_a_proposal_by_its_number(self, line: str) -> None:
        assert parse(line) == Accept(3)
        assert parse(
            line.casefold().replace("accept", "decline").replace("ａｃｃｅｐｔ", "ｄｅｃｌｉｎｅ")
        ) == (Decline(3))

    def test_need_no_number(self) -> None:
        assert (parse("/accept"), parse("/decline ")) == (Accept(), Decline())

    @pytest.mark.parametrize("rest", ["3 4", "yes", "-1", "1.5", "9" * 5000, "#"])
    def test_refuse_what_is_no_number_instead_of_guessing(self, rest: str) -> None:
        assert parse(f"/accept {rest}") == Misused("accept", "proposal", rest)
        assert parse(f"/decline {rest}") == Misused("decline", "proposal", rest)


class TestMistakes:
    @pytest.mark.parametrize(
        ("line", "nearest"),
        [
            ("/memroy list", "memory list"),
            ("/memory lsit", "memory list"),
            ("/memory del 3", "memory delete"),
            ("/mem", "memory list"),
            ("/delete 3", "memory delete"),
            ("/serach x", "memory search"),
            ("/cler", "clear"),
            ("/regen", "regenerate"),
            ("/hepl", "help"),
            ("/acept 3", "accept"),
            ("/declin 3", "decline"),
            ("/usr/bin", None),
            ("/", None),
            ("/ ask", None),
        ],
    )
    def test_an_unknown_command_comes_with_the_nearest(self, line: str, nearest: str | None) -> None:
        command = parse(line)
        assert isinstance(command, Unknown)
        assert command.nearest == nearest

    @pytest.mark.parametrize("line", ["/memory", "/memory 牛乳"])
    def test_memory_alone_asks_for_more(self, line: str) -> None:
        assert parse(line) == Misused("memory list", "subcommand")


class TestJapaneseNames:
    @pytest.mark.parametrize(
        ("line", "meant"),
        [
            ("/質問 ＡＢＣ とは？", Ask("ＡＢＣ とは？")),
            ("/質問 --temporary ひみつ", Ask("ひみつ", temporary=True)),
            ("／メモリ　追加　牛乳 --category 家", AddMemory("牛乳", "家")),
            ("/ﾒﾓﾘ 追加 牛乳", AddMemory("牛乳")),
            ("/memory 追加 追加", AddMemory("追加")),
            ("/メモリ add 牛乳", AddMemory("牛乳")),
            ("/メモリ 全削除 3", DeleteAllMemories(3)),
            ("/メモリ 元に戻す 5", UndoMemory(5)),
            ("/リマインド 追加 明日9時 薬", SetReminder("明日9時 薬")),
            ("/リマインド", ListReminders()),
            ("/エージェント 使う 先生", UseAgent("先生")),
            ("/キャンバス 空にする", ShowCanvas(clear=True)),
            ("/canvas 表示", ShowCanvas()),
            ("/要約 削除", ShowSummary(delete=True)),
            ("/設定 言語 英語 タイムゾーン Asia/Tokyo", Settings(Locale.EN, "Asia/Tokyo")),
            ("/プライバシー 消去 --now", ErasePrivacy(now=True)),
            ("/続ける", Continue()),
            ("/添付 メモ.txt", Attach("メモ.txt")),
            ("/実行 3", Accept(3)),
            ("／ヘルプ", Help()),
            ("/終了", Exit()),
        ],
    )
    def test_are_taken_like_english_ones(self, line: str, meant: Command) -> None:
        assert parse(line) == meant

    @pytest.mark.parametrize("command", get_args(CommandName))
    def test_are_there_for_every_command(self, command: CommandName) -> None:
        assert JAPANESE[command]
        assert not re.search("[a-z]", JAPANESE[command])
        assert in_english(f"/{JAPANESE[command]} x") == f"/{command} x"
        assert len(JAPANESE[command].split()) == len(command.split())

    def test_are_each_of_one_command(self) -> None:
        assert len(set(JAPANESE.values())) == len(JAPANESE)

    @given(st.text(max_size=30))
    def test_are_looked_for_at_the_beginning_alone(self, text: str) -> None:
        assert parse(f"メモリ 追加 {text}") == Ask(f"メモリ 追加 {text}".strip())
        assert in_english(f"/ask {text}") == f"/ask {text}"

    @pytest.mark.parametrize(
        ("line", "given", "nearest"),
        [
            ("/メモリー 追加 牛乳", "/メモリー", "memory add"),
            ("/メモリ 全部削除", "/メモリ 全部削除", "memory delete-all"),
            ("/リマインダ 一覧", "/リマインダ", "remind list"),
        ],
    )
    def test_that_are_nearly_right_are_suggested(self, line: str, given: str, nearest: CommandName) -> None:
        assert parse(line) == Unknown(given, nearest)
