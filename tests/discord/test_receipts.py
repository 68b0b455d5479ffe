"""Receipts as they look under an answer: which lines, which buttons, and that Discord takes them."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce
from typing import Literal

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
    CustomId,
    UndoButton,
    UnscheduleButton,
    UntellButton,
    UsedMemoriesButton,
    parse_custom_id,
)
from cc_bot.discord.pages.page import FACTS_CHARACTERS, Facts, Page
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
from cc_bot.domain.schedule import Schedule, ScheduleChange
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import CanvasChanged, ScheduleChanged
from cc_bot.texts import texts
from tests.discord.cases import check

JA, EN = texts(Locale.JA), texts(Locale.EN)
SAY = JA.receipt
USER = 2**63 - 1
NOW = datetime(2026, 11, 22, tzinfo=UTC)
NOON = datetime(2026, 11, 23, 3, tzinfo=UTC)
AT_NOON = f"<t:{int(NOON.timestamp())}:F>（<t:{int(NOON.timestamp())}:R>）"
ADDED = SAY.added.format(number="", content="猫が好き")


def memory(
    number: int = 1, content: str = "猫が好き", audience: Audience = "anywhere", supersedes: int | None = None
) -> Memory:
    return Memory(
        number, USER, content, "general", (), {}, NOW, NOW, audience, supersedes=supersedes, number=number
    )


def changed(kind: ChangeKind, now: Memory, former: Memory | None = None) -> MemoryChanged:
    return MemoryChanged(MemoryChange(kind, now, former))


def scheduled(
    number: int = 1, text: str = "薬", repeat: str = "", kind: Literal["added", "cancelled"] = "added"
) -> ScheduleChanged:
    key = SessionKey(USER, 2)
    return ScheduleChanged(
        ScheduleChange(kind, Schedule(number, key, "reminder", text, NOON, NOON, repeat=repeat))
    )


def after(*events: TurnEvent, before: Page | None = None) -> AnswerState:
    carried = Carried.over(before) if before else Carried()
    return reduce(advance, events, AnswerState(carried=carried))


def done(
    content: str = "はい。", visibility: Visibility = "public", *calls: ToolCall, status: Status = "complete"
) -> Done:
    answer = Message("assistant", content, id=7, visibility=visibility, tool_calls=calls, status=status)
    return Done(answer, Usage())


def page_of(state: AnswerState) -> Page:
    """The last message of an answer, with what stands under it."""
    *_, last = final_pages(state, JA)
    buttons = answer_buttons(state, JA, USER, ())
    return replace(last, buttons=buttons, receipts=memory_buttons(state, JA, USER))


def ended(*events: TurnEvent, visibility: Visibility = "public", before: Page | None = None) -> Page:
    return page_of(after(TextDelta("はい。"), *events, done(visibility=visibility), before=before))


def pressed(page: Page) -> list[object]:
    """What the buttons below do."""
    return [parse_custom_id(button.custom_id) for button in page.receipts]


def labels(page: Page) -> list[str]:
    return [button.label for button in page.receipts]


class TestLines:
    def test_say_what_was_done_and_how_to_take_it_back(self) -> None:
        def updated(content: str) -> str:
            return SAY.updated.format(number="", content=content)

        table: list[tuple[TurnEvent, str, CustomId | None]] = [
            (changed("added", memory()), ADDED, UndoButton("added", USER, 1)),
            (
                changed("added", memory(2, supersedes=1), memory()),
                updated("猫が好き"),
                UndoButton("added", USER, 2, 1),
            ),
            (
                changed("updated", memory(content="犬", supersedes=9), memory()),
                updated("犬"),
                UndoButton("updated", USER, 1, 9),
            ),
            (
                changed("updated", memory(), memory()),
                SAY.unchanged.format(number="", content="猫が好き"),
                None,
            ),
            (scheduled(7), f"⏰ {AT_NOON}にお知らせします: 薬", UnscheduleButton(USER, 7)),
            (
                scheduled(repeat="0 9 * * 1-5"),
                f"🔁 平日 9:00にお知らせします（次は {AT_NOON[:16]}）: 薬",
                UnscheduleButton(USER, 1),
            ),
            (scheduled(kind="cancelled"), JA.reminder.cancelled.format(text="薬"), None),
            (
                scheduled(text="**薬**\n# 大"),
                f"⏰ {AT_NOON}にお知らせします: \\*\\*薬\\*\\* # 大",
                UnscheduleButton(USER, 1),
            ),
        ]
        for event, line, taken_back in table:
            page = ended(event)
            assert page.facts.receipts == (line,)
            assert pressed(page) == ([taken_back] if taken_back else [])
        [english] = final_pages(after(scheduled(text="pills"), done()), EN)
        assert english.facts.receipts[0].startswith("⏰ I’ll remind you on <t:")

    def test_do_not_say_to_everybody_what_was_forgotten(self) -> None:
        shown = ended(changed("deleted", memory()), changed("deleted", memory(2, "犬が好き")))
        gone = tuple(SAY.deleted_for_all.format(id=number) for number in (1, 2))
        assert shown.facts == Facts(gone, (SAY.still_told,))
        assert labels(shown) == ["取り消す: #1", "取り消す: #2", SAY.untell]
        assert pressed(shown)[-1] == UntellButton(USER, (1, 2))
        own = ended(changed("deleted", memory()), visibility="private")
        assert own.facts.receipts == (SAY.deleted.format(number="", content="猫が好き"),)

    def test_say_once_what_happened_twice_and_nothing_of_what_came_and_went(self) -> None:
        now = memory(content="猫が大好き", supersedes=5)
        page = ended(
            changed("added", memory()),
            changed("updated", memory(), memory()),
            changed("updated", now, memory()),
        )
        assert page.facts == Facts((SAY.added.format(number="", content="猫が大好き"),))
        assert pressed(page) == [UndoButton("added", USER, 1, 5)]
        assert not ended(changed("added", memory()), changed("deleted", memory())).facts
        assert not ended(scheduled(), scheduled(kind="cancelled")).facts

    def test_tell_in_public_nothing_private(self) -> None:
        secret = changed("added", memory(content="好きな鳥はオオルリ", audience="private"))
        public, private = ended(secret, secret), ended(secret, visibility="private")
        assert "オオルリ" not in public.facts.description + "".join(labels(public))
        assert public.facts.notices == ()
        assert "オオルリ" in private.facts.description
        assert private.facts.notices == (JA.memory.private_only,)
        gone = changed("deleted", memory(audience="private"))
        assert ended(gone, visibility="private").facts.notices == (SAY.still_told,)

    def test_own_up_to_what_was_not_done(self) -> None:
        check(
            (ended(NotSaved()).facts, Facts(notices=(SAY.not_saved,))),
            (ended(NotSaved("reminder")).facts, Facts(notices=(SAY.not_scheduled,))),
            (
                ended(NotRemoved("reminder"), NotRemoved("memory")).facts,
                Facts(notices=(SAY.not_forgotten, SAY.not_cancelled)),
            ),
        )


class TestButtons:
    def test_list_the_memories_used_but_for_those_that_are_gone(self) -> None:
        recalled = MemoriesRecalled((1, 2), (1, 2)), MemoriesRecalled((2, 3), (2, 3))
        page = ended(*recalled, changed("deleted", memory(3)))
        assert labels(page)[1] == SAY.used.format(count=2)
        assert pressed(page)[1] == UsedMemoriesButton(USER, (1, 2))


class TestLimits:
    @given(
        st.integers(0, 9000),
        st.lists(st.text(st.sampled_from("あ*_~🐈a\n"), min_size=1, max_size=200), max_size=8),
        st.booleans(),
    )
    def test_of_discord_are_kept(self, length: int, contents: list[str], private: bool) -> None:
        text = ("これは長い回答です。`a`\n" * 900)[:length]
        memories = [changed("added", memory(number, said)) for number, said in enumerate(contents, 1)]
        reminders = [scheduled(number, said) for number, said in enumerate(contents, 1)]
        for changes in (memories, reminders):
            events = (TextDelta(text), *changes, MemoriesRecalled((90, 91), (90, 91)), NotSaved())
            state = after(*events, done(text, "private" if private else "public"))
            pages = final_pages(state, JA)
            assert 1 <= len(pages) <= MAX_MESSAGES
            assert all(0 < utf16_length(page.content) <= MESSAGE_LIMIT for page in pages)
            buttons = memory_buttons(state, JA, USER)
            assert len(buttons) <= 5
            assert all(1 <= len(button.label) <= 80 for button in buttons)
            assert len(pages[-1].facts.receipts) == min(len(contents), 4)
            [embed] = pages[-1].facts.embeds()
            assert all(line in (embed.description or "") for line in pages[-1].facts.receipts)
            assert utf16_length(embed.description or "") <= FACTS_CHARACTERS


class TestCarriedOver:
    """Another answer takes the place of one that has changed memories or reminders."""

    def test_lines_and_buttons_stay_and_are_not_repeated(self) -> None:
        for done_before, repeated in (
            (changed("added", memory()), changed("updated", memory(), memory())),
            (scheduled(), scheduled()),
        ):
            before = ended(done_before, NotSaved())
            for again in (ended(before=before), ended(repeated, before=before)):
                assert again.facts == Facts(before.facts.receipts)
                assert again.receipts == before.receipts

    def test_new_ones_come_below(self) -> None:
        before = ended(*(changed("added", memory(number)) for number in range(1, 4)))
        page = ended(*(changed("added", memory(number)) for number in (4, 5)), before=before)
        assert page.facts == Facts((ADDED,) * 4, (SAY.more.format(count=1),))
        assert pressed(page) == [UndoButton("added", USER, number) for number in (1, 2, 3, 4)]


class TestSmallPrint:
    def test_is_two_lines_at_most_and_says_everything_and_is_read_back(self) -> None:
        """A user's first answer, with all that one can have below it at once."""
        state = after(
            TextDelta("あ" * 10_000),
            *(changed("added", memory(number, audience="private")) for number in (1, 2, 3, 4)),
            changed("deleted", memory(5)),
            *(NotSaved(), NotSaved("reminder"), NotRemoved("memory"), NotRemoved("reminder")),
            CanvasChanged(Canvas((Text("a", "買い物"),))),
            replace(done("あ" * 10_000, "private", status="cut"), first=True),
        )
        [page] = final_pages(state, JA, note="別のエージェントが答えます。")
        lines = page.facts.description.split("\n")
        assert [line.startswith("-# ") for line in lines] == [*[False] * MOST, True, True]
        notices = (SAY.more.format(count=1), JA.memory.private_only, SAY.still_told, JA.canvas.changed)
        untrue = (SAY.not_saved, SAY.not_scheduled, SAY.not_forgotten, SAY.not_cancelled)
        ends = (JA.answer.cut, JA.answer.help_hint, JA.answer.long_as_file, "別のエージェントが答えます。")
        for notice in notices + untrue + ends:
            assert page.facts.description.count(notice) == 1
        assert Facts.read(page.facts.embeds()) == page.facts


def call(name: str, told: object, *, ok: bool = True) -> ToolCall:
    return ToolCall("1", name, "{}", json.dumps(told, ensure_ascii=False), ok)


class TestStoredAnswer:
    """After a crash the results of its tool calls are all there is."""

    def shown(self, *calls: ToolCall) -> Page:
        return page_of(after(done("はい。", "public", *calls)))

    def test_has_its_receipts(self) -> None:
        page = self.shown(
            call("remember", {"remembered": {"id": 1, "content": "猫が好き", "change": "added"}}),
            call(
                "update_memory", {"updated": {"id": 2, "content": "鳥", "change": "updated", "supersedes": 8}}
            ),
            call("forget", {"forgotten": {"id": 3, "content": "犬が好き"}}),
            call("recall", {"memories": [{"id": 5, "content": "亀"}]}),
        )
        updated = SAY.updated.format(number="", content="鳥")
        assert page.facts == Facts((ADDED, updated, SAY.deleted_for_all.format(id=3)), (SAY.still_told,))
        assert pressed(page) == [
            UndoButton("added", USER, 1),
            UndoButton("updated", USER, 2, 8),
            UndoButton("deleted", USER, 3),
            UsedMemoriesButton(USER, (5,)),
            UntellButton(USER, (3,)),
        ]

    @pytest.mark.parametrize("repeat", ["", "0 9 * * *"])
    def test_has_its_reminders(self, repeat: str) -> None:
        data = {"id": 1, "text": "薬", "when": "2026-11-23T12:00+09:00", "where": "channel"}
        made = self.shown(call("schedule", {"scheduled": data | ({"repeat": repeat} if repeat else {})}))
        live = ended(scheduled(repeat=repeat))
        assert (made.facts, made.receipts) == (live.facts, live.receipts)
        gone = self.shown(call("schedule", {"cancelled": {"id": 1, "text": "薬"}}))
        assert gone.facts == ended(scheduled(kind="cancelled")).facts

    def test_says_nothing_of_what_failed_or_was_erased(self) -> None:
        for made in (
            call("remember", {"error": "だめ"}, ok=False),
            call("forget", {"forgotten": True}),
            ToolCall("1", "remember", "{}", "no JSON"),
            ToolCall("1", "remember", "{}", "[1]"),
            call("remember", {"remembered": {"id": "1", "content": 5}}),
            call("schedule", {"error": "no"}, ok=False),
            ToolCall("1", "schedule", "{}", "[erased]"),
            call("schedule", {"scheduled": {"id": 1, "text": "薬", "when": "soon"}}),
            call("schedule", {"scheduled": [1]}),
        ):
            shown = self.shown(made)
            assert (shown.facts, shown.receipts) == (Facts(), ()), made
