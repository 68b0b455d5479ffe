"""Receipts as they look under an answer: which lines, which buttons, and that Discord takes them."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.answer import (
    MAX_MESSAGES,
    AnswerState,
    advance,
    answer_buttons,
    final_pages,
    memory_buttons,
)
from cc_bot.discord.pages.custom_ids import (
    LONGEST,
    UndoButton,
    UntellButton,
    UsedMemoriesButton,
    parse_custom_id,
)
from cc_bot.discord.pages.page import FACTS_CHARACTERS, Facts, Page, TextFile
from cc_bot.discord.pages.receipts import MOST, Carried
from cc_bot.discord.pages.split import MESSAGE_LIMIT, utf16_length
from cc_bot.domain import (
    Done,
    Locale,
    MemoriesRecalled,
    Memory,
    MemoryChange,
    MemoryChanged,
    Message,
    NotRemoved,
    NotSaved,
    TextDelta,
    ToolCall,
    TurnEvent,
    Usage,
)
from cc_bot.domain.canvas import Canvas, Text
from cc_bot.domain.memory import Audience, ChangeKind
from cc_bot.domain.message import Status, Visibility
from cc_bot.domain.turn import CanvasChanged
from cc_bot.texts import texts

JA = texts(Locale.JA)
USER = 2**63 - 1
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def memory(
    number: int = 1, content: str = "猫が好き", audience: Audience = "anywhere", supersedes: int | None = None
) -> Memory:
    return Memory(
        number, USER, content, "general", (), {}, NOW, NOW, audience, supersedes=supersedes, number=number
    )


def changed(kind: ChangeKind, now: Memory, former: Memory | None = None) -> MemoryChanged:
    return MemoryChanged(MemoryChange(kind, now, former))


def after(*events: TurnEvent, before: Page | None = None) -> AnswerState:
    carried = Carried.over(before) if before else Carried()
    return reduce(advance, events, AnswerState(carried=carried))


def done(
    content: str = "はい。", visibility: Visibility = "public", *calls: ToolCall, status: Status = "complete"
) -> Done:
    answer = Message("assistant", content, id=7, visibility=visibility, tool_calls=calls, status=status)
    return Done(answer, Usage())


def ended(*events: TurnEvent, visibility: Visibility = "public") -> Page:
    """The last message of an answer, with what stands under it."""
    state = after(TextDelta("はい。"), *events, done(visibility=visibility))
    *_, last = final_pages(state, JA)
    buttons = answer_buttons(state, JA, USER, ())
    return replace(last, buttons=buttons, receipts=memory_buttons(state, JA, USER))


def undo(page: Page) -> list[UndoButton]:
    parsed = (parse_custom_id(button.custom_id) for button in page.receipts)
    return [each for each in parsed if isinstance(each, UndoButton)]


class TestLines:
    @pytest.mark.parametrize(
        ("event", "line", "taken_back"),
        [
            (changed("added", memory()), "💾 覚えました: 猫が好き", UndoButton("added", USER, 1)),
            (
                changed("added", memory(2, supersedes=1), memory()),
                "✏️ 書き換えました: 猫が好き",
                UndoButton("added", USER, 2, 1),
            ),
            (
                changed("updated", memory(content="犬が好き", supersedes=9), memory()),
                "✏️ 書き換えました: 犬が好き",
                UndoButton("updated", USER, 1, 9),
            ),
            (changed("updated", memory(), memory()), "💾 もう覚えています: 猫が好き", None),
        ],
    )
    def test_say_what_was_done(self, event: MemoryChanged, line: str, taken_back: UndoButton | None) -> None:
        page = ended(event)
        assert (page.content, page.facts) == ("はい。", Facts((line,)))
        assert undo(page) == ([taken_back] if taken_back else [])

    def test_do_not_say_to_everybody_what_was_forgotten(self) -> None:
        shown = ended(changed("deleted", memory()), changed("deleted", memory(2, "犬が好き")))
        assert shown.facts == Facts(("🗑️ 忘れました（#1）", "🗑️ 忘れました（#2）"), (JA.receipt.still_told,))
        assert [button.label for button in shown.receipts] == [
            *("取り消す: #1", "取り消す: #2", JA.receipt.untell)
        ]
        assert parse_custom_id(shown.receipts[-1].custom_id) == UntellButton(USER, (1, 2))
        own = ended(changed("deleted", memory()), visibility="private")
        assert own.facts.receipts == ("🗑️ 忘れました: 猫が好き",)

    def test_of_four_forgotten_leave_the_row_to_what_can_be_done(self) -> None:
        gone = [changed("deleted", memory(number)) for number in (1, 2, 3, 4)]
        page = ended(MemoriesRecalled((5, 6), (5, 6)), *gone)
        assert len(page.receipts) == 5
        assert page.receipts[-1].label == JA.receipt.untell

    def test_say_once_what_happened_twice_to_a_memory(self) -> None:
        page = ended(
            changed("added", memory()),
            changed("updated", memory(), memory()),
            changed("updated", memory(content="猫が大好き", supersedes=5), memory()),
        )
        assert page.facts == Facts(("💾 覚えました: 猫が大好き",))
        assert undo(page) == [UndoButton("added", USER, 1, 5)]

    def test_say_nothing_of_what_came_and_went(self) -> None:
        assert not ended(changed("added", memory()), changed("deleted", memory())).facts

    def test_are_short_on_one_line_and_without_markdown(self) -> None:
        page = ended(changed("added", memory(content="**太字**\n# 見出し\n" + "あ" * 100)))
        [line] = page.facts.receipts
        assert line.startswith("💾 覚えました: \\*\\*太字\\*\\* # 見出し あ")
        assert line.endswith("…")

    def test_tell_in_public_nothing_private(self) -> None:
        secret = changed("added", memory(content="好きな鳥はオオルリ", audience="private"))
        public, private = ended(secret, secret), ended(secret, visibility="private")
        assert "オオルリ" not in public.facts.description + "".join(
            button.label for button in public.receipts
        )
        assert "オオルリ" in private.facts.description

    def test_tell_its_owner_that_a_memory_is_private(self) -> None:
        secret = changed("added", memory(audience="private"))
        assert ended(secret, visibility="private").facts.notices == (JA.memory.private_only,)
        assert ended(secret).facts.notices == ()
        gone = changed("deleted", memory(audience="private"))
        assert ended(gone, visibility="private").facts.notices == (JA.receipt.still_told,)

    def test_own_up_to_a_promise(self) -> None:
        page = ended(NotSaved())
        [notice] = page.facts.notices
        assert notice.startswith("⚠️ 保存していません。")
        assert "/メモリ 追加" in notice
        assert page.receipts == ()

    def test_own_up_to_a_promised_reminder(self) -> None:
        page = ended(NotSaved("reminder"))
        [notice] = page.facts.notices
        assert notice.startswith("⚠️ お知らせは予約していません。")
        assert "/リマインド 追加" in notice

    def test_own_up_to_what_was_not_removed(self) -> None:
        page = ended(NotRemoved("reminder"), NotRemoved("memory"))
        memory, reminder = page.facts.notices
        assert memory.startswith("⚠️ メモリは何も消していません。")
        assert "/メモリ 削除" in memory
        assert reminder.startswith("⚠️ お知らせは取り消していません。")
        assert "/リマインド 削除" in reminder

    def test_stand_under_a_failure(self) -> None:
        state = after(TextDelta("はい"), changed("added", memory()))
        failed = AnswerState(text="はい", receipts=state.receipts, failure="保存できませんでした。")
        [page] = final_pages(failed, JA)
        assert page == Page("はい", facts=Facts(("💾 覚えました: 猫が好き",), ("保存できませんでした。",)))


class TestButtons:
    def test_name_the_memories_where_there_are_several(self) -> None:
        page = ended(changed("added", memory(1, "猫が好き")), changed("added", memory(2, "犬" * 30)))
        assert [button.label for button in page.receipts] == ["取り消す: 猫が好き", f"取り消す: {'犬' * 14}…"]

    def test_list_the_memories_used_but_for_those_that_are_gone(self) -> None:
        page = ended(
            MemoriesRecalled((1, 2), (1, 2)), MemoriesRecalled((2, 3), (2, 3)), changed("deleted", memory(3))
        )
        _, used, _ = page.receipts
        assert used.label == "🧠 使ったメモリ（2）"
        assert parse_custom_id(used.custom_id) == UsedMemoriesButton(USER, (1, 2))

    @given(st.lists(st.integers(1, 2**63 - 1), max_size=30))
    def test_fit_into_their_custom_ids(self, numbers: list[int]) -> None:
        button = UsedMemoriesButton(USER, tuple(numbers))
        parsed = parse_custom_id(button.custom_id())
        assert len(button.custom_id()) <= LONGEST
        assert isinstance(parsed, UsedMemoriesButton)
        assert parsed.memory_ids == tuple(numbers[: len(parsed.memory_ids)])

    @given(
        st.sampled_from(("added", "updated", "deleted")), st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1)
    )
    def test_of_receipts_survive_a_restart(self, action: Any, number: int, former: int) -> None:
        button = UndoButton(action, USER, number, former)
        assert len(button.custom_id()) <= LONGEST
        assert parse_custom_id(button.custom_id()) == button


class TestLimits:
    @given(
        st.integers(0, 9000),
        st.lists(st.text(st.sampled_from("あ*_~🐈a\n"), min_size=1, max_size=200), max_size=8),
        st.booleans(),
    )
    def test_of_discord_are_kept(self, length: int, contents: list[str], private: bool) -> None:
        changes = [changed("added", memory(number, text)) for number, text in enumerate(contents, 1)]
        text = ("これは長い回答です。`a`\n" * 900)[:length]
        state = after(
            TextDelta(text),
            *changes,
            MemoriesRecalled((90, 91), (90, 91)),
            NotSaved(),
            done(text, "private" if private else "public"),
        )
        pages = final_pages(state, JA)
        assert 1 <= len(pages) <= MAX_MESSAGES
        assert all(0 < utf16_length(page.content) <= MESSAGE_LIMIT for page in pages)
        buttons = memory_buttons(state, JA, USER)
        assert len(buttons) <= 5
        assert all(len(button.label) <= 80 for button in buttons)
        assert len(pages[-1].facts.receipts) == min(len(contents), 4)
        [embed] = pages[-1].facts.embeds()
        assert all(line in (embed.description or "") for line in pages[-1].facts.receipts)
        assert utf16_length(embed.description or "") <= FACTS_CHARACTERS

    def test_are_kept_when_all_has_to_go_into_one_message(self) -> None:
        text = "これは長い回答です。" * 900
        state = after(TextDelta(text), changed("added", memory(content="*" * 200)), done(text))
        [page] = final_pages(state, JA, as_file=True)
        assert utf16_length(page.content) <= MESSAGE_LIMIT
        assert page.facts.receipts[0].startswith("💾 覚えました")
        assert page.facts.notices == (JA.answer.long_as_file,)
        assert isinstance(page.file, TextFile)
        assert page.file.text == text


class TestCarriedOver:
    """Another answer takes the place of one that has changed memories."""

    def test_lines_and_buttons_stay_and_are_not_repeated(self) -> None:
        before = ended(changed("added", memory()), MemoriesRecalled((4,), (4,)), NotSaved())
        repeated = changed("updated", memory(), memory())
        state = after(TextDelta("うん。"), repeated, done("うん。"), before=before)
        assert final_pages(state, JA) == (Page("うん。", facts=Facts(("💾 覚えました: 猫が好き",))),)
        assert [button.label for button in memory_buttons(state, JA, USER)] == ["取り消す"]

    def test_new_ones_come_below(self) -> None:
        before = ended(*(changed("added", memory(number)) for number in range(1, 4)))
        news = [changed("added", memory(number)) for number in (4, 5)]
        state = after(TextDelta("うん。"), *news, done("うん。"), before=before)
        facts = final_pages(state, JA)[0].facts
        assert facts.receipts == ("💾 覚えました: 猫が好き",) * 4
        assert "ほか 1 件" in facts.notices[0]
        assert [button.memory_id for button in undo(Page("", receipts=memory_buttons(state, JA, USER)))] == [
            1,
            2,
            3,
            4,
        ]


def call(name: str, told: object, *, ok: bool = True) -> ToolCall:
    return ToolCall("1", name, "{}", json.dumps(told, ensure_ascii=False), ok)


class TestSmallPrint:
    def richest(self) -> Page:
        """A user's first answer, with all that one can have below it at once."""
        state = after(
            TextDelta("あ" * 10_000),
            *(changed("added", memory(number, audience="private")) for number in (1, 2, 3, 4)),
            changed("deleted", memory(5)),
            NotSaved(),
            NotSaved("reminder"),
            NotRemoved("memory"),
            NotRemoved("reminder"),
            CanvasChanged(Canvas((Text("a", "買い物"),))),
            replace(done("あ" * 10_000, "private", status="cut"), first=True),
        )
        [page] = final_pages(state, JA, note="別のエージェントが答えます。")
        return replace(page, receipts=memory_buttons(state, JA, USER))

    def test_is_two_lines_at_most_and_says_everything(self) -> None:
        page = self.richest()
        lines = page.facts.description.split("\n")
        assert [line.startswith("-# ") for line in lines] == [*[False] * MOST, True, True]
        for notice in (
            JA.receipt.more.format(count=1),
            JA.memory.private_only,
            JA.receipt.still_told,
            JA.canvas.changed,
            JA.receipt.not_saved,
            JA.receipt.not_scheduled,
            JA.receipt.not_forgotten,
            JA.receipt.not_cancelled,
            JA.answer.cut,
            JA.answer.help_hint,
            JA.answer.long_as_file,
            "別のエージェントが答えます。",
        ):
            assert page.facts.description.count(notice) == 1

    def test_is_read_back_notice_by_notice(self) -> None:
        facts = self.richest().facts
        assert Facts.read(facts.embeds()) == facts

    def test_of_two_notices_has_a_line_for_each(self) -> None:
        facts = Facts(notices=(JA.answer.stopped, JA.answer.help_hint))
        assert facts.description == f"-# {JA.answer.stopped}\n-# {JA.answer.help_hint}"


class TestStoredAnswer:
    """After a crash the results of its tool calls are all there is."""

    def shown(self, *calls: ToolCall) -> Page:
        state = after(done("はい。", "public", *calls))
        return replace(final_pages(state, JA)[0], receipts=memory_buttons(state, JA, USER))

    def test_has_its_receipts(self) -> None:
        note = {"id": 3, "content": "犬が好き"}
        page = self.shown(
            call("remember", {"remembered": {"id": 1, "content": "猫が好き", "change": "added"}}),
            call(
                "update_memory", {"updated": {"id": 2, "content": "鳥", "change": "updated", "supersedes": 8}}
            ),
            call("forget", {"forgotten": note}),
            call("recall", {"memories": [{"id": 5, "content": "亀"}]}),
        )
        assert page.facts == Facts(
            ("💾 覚えました: 猫が好き", "✏️ 書き換えました: 鳥", "🗑️ 忘れました（#3）"),
            (JA.receipt.still_told,),
        )
        assert undo(page) == [
            UndoButton("added", USER, 1),
            UndoButton("updated", USER, 2, 8),
            UndoButton("deleted", USER, 3),
        ]
        assert [button.label for button in page.receipts[-2:]] == ["🧠 使ったメモリ（1）", JA.receipt.untell]

    @pytest.mark.parametrize(
        "made",
        [
            call("remember", {"error": "だめ"}, ok=False),
            call("forget", {"forgotten": True}),
            ToolCall("1", "remember", "{}", "no JSON"),
            ToolCall("1", "remember", "{}", "[1]"),
            call("remember", {"remembered": {"id": "1", "content": 5}}),
        ],
    )
    def test_says_nothing_of_what_failed_or_was_erased(self, made: ToolCall) -> None:
        page = self.shown(made)
        assert page == Page("はい。")
