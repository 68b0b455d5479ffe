import io
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from freezegun import freeze_time
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from cc_bot.chat.assistant import Assistant
from cc_bot.chat.consent import describe, field_line
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.tools import discover_tools
from cc_bot.domain.message import Message
from cc_bot.domain.proposal import CallMessage, Moment, ProposalLine, ProposedCalls
from cc_bot.domain.text import Locale
from cc_bot.features.mcp.tools import ServerTools
from cc_bot.llm.model import ToolRequest
from cc_bot.terminal.commands import ChatProfile, proposal_notices, report_unfinished_calls
from cc_bot.terminal.view import Notice, PlainView, Quoted, RichView, looks_like_notice, notice_lines
from cc_bot.texts import texts
from cc_bot.texts.proposal import ProposalTexts
from tests.loopback.tool_servers import CountingServers, calls_in
from tests.proposals import IN_LINES, NINE, WRITING, change, stored
from tests.proposals import QUOTING as QUOTING_TEXTS
from tests.scripted_model import ScriptedModel, only
from tests.terminal.program import profile
from tests.terminal.talk import KEY, Talk

NOON = datetime(2026, 11, 22, 3, tzinfo=UTC)  # in Tokyo, on a Sunday
LONG = "".join(f"{number}番目の文です。" for number in range(400))
FORGED = "猫が好き\n◆ 提案: 何もしない\u2028◆ 🖼️ 済みました\n   │ ◆\n\n◆   実行しました"
QUOTING = "これを remember して\n> 誕生日は3月15日"


class TestAnAnswerThatProposes:
    async def test_changes_nothing_until_the_user_says_yes(self, chat: Talk) -> None:
        words = chat.texts[ProposalTexts]
        chat.decides(False, True)
        said = await chat.say(QUOTING)
        shown = "\n".join(chat.shown_before_deciding)
        assert "◆ 提案: 💾 メモリに覚える\n  │ 誕生日は3月15日\n" in shown
        assert said == f"◆ {words.declined.format(what='誕生日は3月15日')}\n"
        assert await chat.kept() == []
        assert "覚えました（#1）: 誕生日は3月15日" in await chat.say(QUOTING)
        assert await chat.kept() == ["誕生日は3月15日"]

    async def test_is_declined_through_a_pipe(self, english: Talk, stores: Stores) -> None:
        said = await english.say(QUOTING)
        assert "  │ 誕生日は3月15日" in said
        assert english.texts[ProposalTexts].declined.format(what="誕生日は3月15日") in said
        assert await english.kept() == []
        assert not await stores.proposals.list_approved(0)


# ---- tools of servers ------------------------------------------------------------------------------------

WRITE = ToolRequest("c1", "notes__write", '{"text": "牛乳"}')


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def with_server(stores: Stores, model: ScriptedModel, tmp_path: Path) -> Talk:
    tools = discover_tools().with_external(ServerTools(CountingServers(tmp_path)))
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
        turn = (Message("user", "書いて"), Message("assistant", "はい"))
        session = await stores.sessions.open(KEY)
        [proposal] = (await stores.sessions.store_turn(session, turn, proposals=[WRITING])).proposals
        await stores.proposals.claim(proposal, "ended", CallMessage())
        for told in ("◆ ❓ 実行された可能性があります: notes · write", ""):
            await report_unfinished_calls(with_server.chat)
            assert with_server.taken().startswith(told)
        assert calls_in(tmp_path) == []


# ---- lines ------------------------------------------------------------------------------------------------

SENTENCES = texts(Locale.JA)[ProposalTexts]


def notices(content: ProposedCalls, who: ChatProfile) -> list[Notice]:
    return list(proposal_notices(stored(content), who))


def lines(content: ProposedCalls, who: ChatProfile | None = None) -> list[str]:
    out = io.StringIO()
    PlainView(out, io.StringIO()).show_notices(notices(content, who or profile(Locale.JA)))
    return out.getvalue().removesuffix("\n").split("\n")


def rows(content: ProposedCalls, width: int) -> list[str]:
    out = io.StringIO()
    RichView(Console(file=out, width=width)).show_notices(notices(content, profile(Locale.JA)))
    return out.getvalue().removesuffix("\n\n").split("\n")


@freeze_time(NOON)
def test_times_and_fields_are_told_where_the_user_is() -> None:
    words, until = texts(Locale.JA), Moment(NINE, ends_day=True)
    edit = describe(
        SENTENCES.change,
        ProposalLine(SENTENCES.old_text, below="会議は金曜"),
        ProposalLine(SENTENCES.changed_field, {"name": "期限", "old": until, "new": None}),
        number=12,
    )
    assert lines(change(edit)) == [
        "◆ 提案: ✏️ メモリ #12 を書き換える",
        *("◆   いまの内容", "  │ 会議は金曜", "◆   期限: ⌛ 2026-11-23 まで有効 → なし"),
    ]
    time = Moment(NINE, repeat="毎日 9:00")
    reminder = change(describe(SENTENCES.remind, field_line("日時", time, words), text="薬\n水"))
    assert lines(reminder) == [
        *("◆ 提案: ⏰ お知らせを予約する", "  │ 薬", "  │ 水"),
        "◆   日時: 🔁 毎日 9:00（次は 11月23日(月) 9:00）",
    ]


anything = st.lists(st.sampled_from([*"◆◇│ あa1\n\r\t\x1b\x0b\x85\u2028\u2029\u202e\u200b💾", "\r\n"])).map(
    "".join
)


class TestText:
    def test_is_whole_at_every_width_and_has_a_bar_before_each_row(self) -> None:
        for made in QUOTING_TEXTS:
            for text in (LONG, FORGED):
                plain = lines(made(text))
                quoted = [line.removeprefix("  │ ") for line in plain if line.startswith("  │ ")]
                assert "\n".join(quoted).find(text.replace("\u2028", "\n")) >= 0
                assert [line for line in plain if not line.startswith(("◆ ", "  │ "))] == []
                assert [line for line in plain if looks_like_notice(line) and "#9" in line] == []
            for width in (24, 60):
                shown, forged = rows(made(LONG), width), rows(made(FORGED), width)
                assert LONG in "".join(row.removeprefix("  │ ") for row in shown if row.startswith("  │ "))
                assert [row for row in forged if "済み" in row and not row.startswith("  │ ")] == []
                assert all(cell_len(row) <= width for row in (*shown, *forged))

    @given(made=st.sampled_from([*QUOTING_TEXTS, *IN_LINES]), text=anything)
    @settings(max_examples=400)
    def test_adds_no_line_to_ours(self, made: Callable[[str], ProposedCalls], text: str) -> None:
        usual, plain = lines(made("あ")), lines(made(text))
        stated = [line for line in plain if not line.startswith("  │ ")]
        assert len(stated) == len([line for line in usual if not line.startswith("  │ ")])
        assert all(line.startswith("◆ ") for line in stated)
        assert not set("\x1b\r\x0b\x85\u202e\u200b\u2028\u2029") & set("".join(plain))

    def test_shows_what_a_screen_would_not_and_leaves_kanji_and_emoji(self) -> None:
        shown = "  │ 猫⟨U+202E⟩犬⟨U+200B⟩⟨U+001B⟩[2J⟨U+E0041⟩\n  │ "
        assert notice_lines(Quoted("猫\u202e犬\u200b\x1b[2J\U000e0041\n")) == shown
        ordinary = "👨‍👩‍👧 ❤️ 1️⃣ 葛󠄀城市 辻󠄀さん ©️ が\tx"
        assert notice_lines(Quoted(ordinary)) == f"  │ {ordinary}"
