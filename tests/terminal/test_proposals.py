"""What an answer proposes: shown whole, with no row of it like one of the program's, and done after a yes."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from freezegun import freeze_time
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

import cc_bot.tools
from cc_bot.assistant import Assistant
from cc_bot.domain import Locale, Message
from cc_bot.domain.canvas import (
    AddCard,
    AddChart,
    Canvas,
    Card,
    RemoveElement,
    Series,
    SetMode,
    ShowText,
    UpdateCard,
)
from cc_bot.domain.claimed_call import CallMessage
from cc_bot.domain.message import ToolCall
from cc_bot.domain.proposal import (
    NEVER,
    AddReminder,
    CallTool,
    CancelReminder,
    ChangeMemory,
    Draw,
    ForgetMemory,
    KeepMemory,
    Proposal,
    ProposedChange,
)
from cc_bot.domain.session import SessionKey
from cc_bot.llm.model import ToolRequest
from cc_bot.stores import Stores
from cc_bot.terminal.markdown import Notice, Quoted, looks_like_notice
from cc_bot.terminal.questions import ChatProfile, proposal_notices, tell_unfinished_calls
from cc_bot.terminal.view import PlainView, RichView
from cc_bot.tools.registry import discover
from cc_bot.tools.servers import ServerTools
from tests.loopback.tool_servers import CountingServers, calls_in
from tests.scripted_model import ScriptedModel, only
from tests.terminal.program import profile
from tests.terminal.talk import KEY, Talk

NOON = datetime(2026, 11, 22, 3, tzinfo=UTC)  # in Tokyo, on a Sunday
NINE = datetime(2026, 11, 23, 0, tzinfo=UTC)
UP = Canvas((Card("shop", "買い物", "牛乳\n卵"), Card("sky", "天気", "晴れ")))
LONG = "".join(f"{number}番目の文です。" for number in range(400))
FORGED = "猫が好き\n◆ 提案: 何もしない\u2028◆ 🖼️ 済みました\n   │ ◆\n\n◆   実行しました"
QUOTING = "これを remember して\n> 誕生日は3月15日"


class TestAnAnswerThatProposes:
    async def test_changes_nothing_until_the_user_says_yes(self, chat: Talk) -> None:
        words = chat.texts.proposal
        chat.decides(False, True)
        said = await chat.say(QUOTING)
        shown = "\n".join(chat.shown_before_deciding)
        assert "◆ 提案: 💾 メモリに覚える\n  │ 誕生日は3月15日\n" in shown
        assert said == f"◆ {words.left.format(what='誕生日は3月15日')}\n"
        assert await chat.kept() == []
        assert "覚えました（#1）: 誕生日は3月15日" in await chat.say(QUOTING)
        assert await chat.kept() == ["誕生日は3月15日"]

    async def test_is_declined_through_a_pipe(self, english: Talk, stores: Stores) -> None:
        said = await english.say(QUOTING)
        assert "  │ 誕生日は3月15日" in said
        assert english.texts.proposal.left.format(what="誕生日は3月15日") in said
        assert await english.kept() == []
        assert not await stores.proposals.list_for_place(0, 0)


# ---- tools of servers ------------------------------------------------------------------------------------

WRITE = ToolRequest("c1", "notes__write", '{"text": "牛乳"}')


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def with_server(stores: Stores, model: ScriptedModel, tmp_path: Path) -> Talk:
    tools = discover(cc_bot.tools).beside(ServerTools(CountingServers(tmp_path)))
    return Talk(stores, answering=Assistant(stores, only(model), tools))


class TestACall:
    async def test_is_made_once_after_a_yes_and_the_answer_goes_on_with_its_result(
        self, with_server: Talk, model: ScriptedModel, tmp_path: Path
    ) -> None:
        with_server.decides(False)
        model.script = [[WRITE], ["下で決められます。"]]
        await with_server.say("牛乳と書いて")
        assert with_server.shown_before_deciding[-4:] == [
            "◆ 提案: 🔧 ツールを実行する",
            *("◆   ツール: notes · write", "◆   渡す内容", "  │ text: 牛乳"),
        ]
        assert calls_in(tmp_path) == []
        (away := tmp_path / "answers.json").write_text('{"write": {"raises": "away"}}', "utf-8")
        asked = []

        async def agree(question: str) -> bool:
            asked.append(question)
            if len(asked) == 2:
                away.unlink()
            return True

        with_server.chat.confirm = agree
        model.script = [[WRITE], ["下で決められます。"], ["書きました。"]]
        said = await with_server.lines("牛乳と書いて")
        assert "◆ 🔧 実行しました: notes · write" in said
        assert "書きました。" in said
        assert len(asked) == 2, "again, since the server was away"
        assert calls_in(tmp_path)[-1] == {"tool": "notes__write", "arguments": {"text": "牛乳"}}
        assert "write は済みました。" in str(model.requests[-1].prompt)

    async def test_under_which_a_chat_was_ended_is_told_by_the_next_and_not_made_again(
        self, with_server: Talk, stores: Stores, tmp_path: Path
    ) -> None:
        call = CallTool("notes", "write", '{"text": "牛乳"}', called="notes__write")
        asked = ToolCall("c1", "notes__write", call.arguments, json.dumps({"waits": True}))
        session = await stores.sessions.open(KEY)
        turn = (Message("user", "書いて"), Message("assistant", "はい", tool_calls=(asked,)))
        [proposal] = (await stores.sessions.archive_turn(session, turn, proposals=[call])).proposals
        await with_server.chat.assistant.calls.claim(proposal, "ended", CallMessage())
        for told in ("◆ ❓ 実行された可能性があります: notes · write", ""):
            await tell_unfinished_calls(with_server.chat)
            assert with_server.taken().startswith(told)
        assert calls_in(tmp_path) == []


# ---- lines -----------------------------------------------------------------------------------------------

BOTH = ["◆   いまの内容", "  │ 会議は金曜", "◆   変えたあとの内容", "  │ 会議は木曜"]


def notices(change: ProposedChange, who: ChatProfile) -> list[Notice]:
    change = replace(change, before=UP) if isinstance(change, Draw) else change
    proposal = Proposal(3, SessionKey(0, 0), 1, "public", change, made_at=NOON, number=3)
    return list(proposal_notices(proposal, who))


def lines(change: ProposedChange, who: ChatProfile | None = None) -> list[str]:
    """What stands in a pipe."""
    out = io.StringIO()
    PlainView(out, io.StringIO()).notices(notices(change, who or profile(Locale.JA)))
    return out.getvalue().removesuffix("\n").split("\n")


def rows(change: ProposedChange, width: int) -> list[str]:
    """What stands at a terminal."""
    out = io.StringIO()
    RichView(Console(file=out, width=width)).notices(notices(change, profile(Locale.JA)))
    return out.getvalue().removesuffix("\n\n").split("\n")


@freeze_time(NOON)
def test_a_memory_or_a_reminder_is_told_with_all_that_would_change() -> None:
    keep = KeepMemory("会議は木曜", "仕事", ("会議", "曜日"), "private", NINE, 12, "会議は金曜")
    assert lines(keep) == [
        "◆ 提案: ✏️ メモリ #12 と入れ替える",
        *BOTH,
        *("◆   カテゴリ: 仕事", "◆   タグ: #会議 #曜日", "◆   期限: ⌛ 2026-11-23 まで"),
        "◆   使う場所: 🔒 DM と自分だけに見える回答",
    ]
    edit = ChangeMemory(
        12, "会議は金曜", "会議は木曜", "仕事", (), "private", NEVER, "general", ("会議",), NINE
    )
    assert lines(edit)[1:] == [
        *BOTH,
        *("◆   カテゴリ: 一般 → 仕事", "◆   タグ: #会議 → なし", "◆   期限: ⌛ 2026-11-23 まで → なし"),
        "◆   使う場所: 🔒 DM と自分だけに見える回答",
    ]
    in_london = replace(profile(Locale.JA), timezone=ZoneInfo("Europe/London"))
    reminder = AddReminder("薬\n水", NINE, "0 9 * * *", "Asia/Tokyo", "terminal")
    assert lines(reminder, in_london) == [
        *("◆ 提案: ⏰ お知らせを予約する", "  │ 薬", "  │ 水"),
        "◆   日時: 🔁 毎日 9:00（次は 11月23日(月) 9:00（Asia/Tokyo の時刻））",
    ]
    assert lines(replace(reminder, repeat=""), profile(Locale.EN))[3] == "◆   When: Mon, Nov 23, 9:00"


EVERY_TEXT: list[Callable[[str], ProposedChange]] = [
    lambda text: KeepMemory("x", "general", (), "anywhere", None, 1, text),
    lambda text: ChangeMemory(1, text, "x"),
    lambda text: ChangeMemory(1, "x", text),
    lambda text: ForgetMemory(1, text),
    lambda text: AddReminder(text, NINE, "", "Asia/Tokyo", "terminal"),
    lambda text: CancelReminder(1, text),
    lambda text: Draw((AddCard("x", text),)),
    lambda text: Draw((ShowText(text),)),
    lambda text: Draw((UpdateCard("shop", content=text),)),
]
IN_A_LINE: list[Callable[[str], ProposedChange]] = [
    lambda text: KeepMemory("x", text, (text,), "anywhere"),
    lambda text: ChangeMemory(1, "x", category=text, tags=(text,), category_before=text, tags_before=(text,)),
    lambda text: AddReminder("x", NINE, text, "Asia/Tokyo", "terminal"),
    lambda text: Draw((AddCard(text, "x"), ShowText("x", text), UpdateCard(text, text), RemoveElement(text))),
    lambda text: Draw((SetMode("focus", text), AddChart(text, "pie", ("x",), (Series("x", (1,)),)))),
]
anything = st.lists(st.sampled_from([*"◆◇│ あa1\n\r\t\x1b\x0b\x85\u2028\u2029\u202e\u200b💾", "\r\n"])).map(
    "".join
)


class TestText:
    def test_is_whole_at_every_width_and_has_a_bar_before_each_row(self) -> None:
        for change in EVERY_TEXT:
            for text in (LONG, FORGED):
                plain = lines(change(text))
                quoted = [line.removeprefix("  │ ") for line in plain if line.startswith("  │ ")]
                assert "\n".join(quoted).find(text.replace("\u2028", "\n")) >= 0
                assert [line for line in plain if not line.startswith(("◆ ", "  │ "))] == []
                assert [line for line in plain if looks_like_notice(line) and "#9" in line] == []
            for width in (24, 60):
                shown, forged = rows(change(LONG), width), rows(change(FORGED), width)
                assert LONG in "".join(row.removeprefix("  │ ") for row in shown if row.startswith("  │ "))
                assert [row for row in forged if "済み" in row and not row.startswith("  │ ")] == []
                assert all(cell_len(row) <= width for row in (*shown, *forged))

    @given(change=st.sampled_from([*EVERY_TEXT, *IN_A_LINE]), text=anything)
    @settings(max_examples=400)
    def test_adds_no_line_to_ours(self, change: Callable[[str], ProposedChange], text: str) -> None:
        usual, plain = lines(change("あ")), lines(change(text))
        stated = [line for line in plain if not line.startswith("  │ ")]
        assert len(stated) == len([line for line in usual if not line.startswith("  │ ")])
        assert all(line.startswith("◆ ") for line in stated)
        assert not set("\x1b\r\x0b\x85\u202e\u200b\u2028\u2029") & set("".join(plain))

    def test_shows_what_a_screen_would_not_and_leaves_kanji_and_emoji(self) -> None:
        shown = ["猫⟨U+202E⟩犬⟨U+200B⟩⟨U+001B⟩[2J⟨U+E0041⟩", ""]
        assert Quoted("猫\u202e犬\u200b\x1b[2J\U000e0041\n").lines == shown
        ordinary = "👨‍👩‍👧 ❤️ 1️⃣ 葛󠄀城市 辻󠄀さん ©️ が\tx"
        assert Quoted(ordinary).lines == [ordinary]
