"""The prompt: what the model sees, in which order, and how much of the history."""

import re
from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.context.prompt import KEPT_SHARE, PromptStyle, build_prompt, shrunk_history, window
from cc_bot.domain import Locale, Message, ToolCall
from cc_bot.domain.message import Attachment
from cc_bot.llm.model import (
    AssistantPart,
    PromptPart,
    SystemPart,
    ToolRequest,
    ToolResultPart,
    ToolSchema,
    UserPart,
)

NOW = datetime(2026, 3, 14, 23, 30, tzinfo=UTC)
TOKYO = ZoneInfo("Asia/Tokyo")
RECALL = ToolSchema("recall", "Look up.", {"type": "object"})
REMEMBER = ToolSchema("remember", "Keep.", {"type": "object"})


def prompt(
    *history: Message,
    question: str = "質問",
    tools: tuple[ToolSchema, ...] = (RECALL, REMEMBER),
    locale: Locale = Locale.JA,
    now: datetime = NOW,
    timezone: ZoneInfo = TOKYO,
    style: PromptStyle = PromptStyle(),
    temporary: bool = False,
) -> tuple[PromptPart, ...]:
    return build_prompt(
        history,
        Message("user", question),
        tools=tools,
        locale=locale,
        now=now,
        timezone=timezone,
        temporary=temporary,
        style=style,
    )


def text_of(part: PromptPart) -> str:
    assert isinstance(part, SystemPart | UserPart)
    return part.text


class TestOrder:
    def test_is_steady_first_and_the_question_last(self) -> None:
        parts = prompt(Message("user", "前"), Message("assistant", "答え"))
        kinds = [type(part) for part in parts]
        assert kinds == [SystemPart, UserPart, AssistantPart, SystemPart, UserPart]
        assert text_of(parts[-1]) == "質問"

    def test_keeps_the_beginning_when_only_time_passes(self) -> None:
        history = (Message("user", "前"), Message("assistant", "答え"))
        later = datetime(2026, 3, 15, 8, 0, tzinfo=UTC)
        assert prompt(*history)[:3] == prompt(*history, now=later)[:3]
        assert prompt(*history)[3] != prompt(*history, now=later)[3]

    def test_has_one_system_message_where_servers_take_no_more(self) -> None:
        parts = prompt(style=PromptStyle(single_system=True))
        assert [type(part) for part in parts] == [SystemPart, UserPart]
        assert text_of(parts[-1]).endswith("質問")
        assert "2026-03-15" in text_of(parts[-1])


class TestSystemMessages:
    @pytest.mark.parametrize(
        ("locale", "zone", "told"),
        [
            (Locale.JA, "Asia/Tokyo", "2026-03-15（日）08:30、タイムゾーン Asia/Tokyo"),
            (Locale.EN, "America/New_York", "2026-03-14 (Saturday) 19:30, time zone America/New_York"),
        ],
    )
    def test_tell_the_users_own_time(self, locale: Locale, zone: str, told: str) -> None:
        assert told in text_of(prompt(locale=locale, timezone=ZoneInfo(zone))[-2])

    def test_name_only_tools_that_are_offered(self) -> None:
        for offered in ((RECALL, REMEMBER), (RECALL,), ()):
            text = text_of(prompt(tools=offered)[0])
            assert tuple(tool for tool in (RECALL, REMEMBER) if tool.name in text) == offered

    def test_say_that_a_temporary_question_is_not_kept(self) -> None:
        assert "保存されません" in text_of(prompt(temporary=True)[0])


class TestHistory:
    def test_puts_calls_and_results_before_what_was_said(self) -> None:
        call = ToolCall("c1", "recall", '{"query": "犬"}', '{"memories": []}')
        parts = prompt(Message("user", "犬は？"), Message("assistant", "", tool_calls=(call,)))
        called, result, said = parts[2:5]
        assert isinstance(called, AssistantPart)
        [request] = called.tool_requests
        assert called == AssistantPart("", (ToolRequest(request.id, "recall", '{"query": "犬"}'),))
        assert result == ToolResultPart(request.id, "recall", '{"memories": []}')
        assert said == AssistantPart("…")  # nothing was said: calls are closed all the same

    def test_gives_each_call_an_id_of_its_own_that_every_server_takes(self) -> None:
        """Servers that number their calls do so anew in each round."""
        again = tuple(ToolCall("call_0", "recall", "{}", "{}") for _ in range(3))
        history = [Message("assistant", "はい", tool_calls=again, id=row) for row in (4, 6)]
        ids = [
            request.id
            for part in prompt(Message("user", "犬は？"), *history)
            if isinstance(part, AssistantPart)
            for request in part.tool_requests
        ]
        assert len(set(ids)) == 6
        assert all(re.fullmatch("[a-zA-Z0-9]{9}", id_) for id_ in ids)

    def test_shows_text_files_as_text_and_images_as_images(self) -> None:
        note = Attachment("memo.txt", "text/plain", "買い物は牛乳".encode())
        picture = Attachment("cat.png", "image/png", b"\x89PNG")
        question = Message("user", "これは？", attachments=(note, picture))
        part = prompt(question, Message("assistant", "牛乳です"))[1]
        assert isinstance(part, UserPart)
        assert "買い物は牛乳" in part.text
        assert "memo.txt" in part.text
        assert part.images == (picture,)

    def test_is_bounded_by_the_budget_in_whole_pairs(self) -> None:
        history = [Message(role, "長い話" * 50) for _ in range(10) for role in ("user", "assistant")]
        parts = prompt(*history, style=PromptStyle(budget_tokens=600))
        kept = parts[1:-2]
        assert 0 < len(kept) < len(history)
        assert isinstance(kept[0], UserPart)


conversations = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 50)).map(
        lambda lengths: (Message("user", "あ" * lengths[0]), Message("assistant", "い" * lengths[1]))
    ),
    max_size=12,
)
tokens = st.integers(0, 10**6)


def cost(message: Message) -> int:
    return 1 + len(message.content)


class TestWindow:
    @given(conversations, st.integers(0, 300))
    def test_keeps_its_pairs_and_all_that_fits_or_half_of_its_budget(
        self, conversation: list[tuple[Message, Message]], budget: int
    ) -> None:
        history = [message for pair in conversation for message in pair]
        kept = window(history, budget, cost)
        assert sum(map(cost, kept)) <= budget
        assert len(kept) % 2 == 0
        assert list(kept) == history[len(history) - len(kept) :]
        if len(kept) < len(history):
            largest = max(sum(map(cost, pair)) for pair in conversation)
            assert sum(map(cost, kept)) >= min(budget * KEPT_SHARE, budget - largest)

    def test_begins_at_one_message_for_many_turns(self) -> None:
        history: list[Message] = []
        starts: list[int | None] = []
        for row in range(1, 801, 2):
            history += (Message("user", "あ" * 30, id=row), Message("assistant", "い" * 30, id=row + 1))
            starts.append(window(history, 5000, cost)[0].id)
        later = starts[100:]
        assert sum(before != after for before, after in pairwise(later)) <= len(later) / 15
        assert later == sorted(later, key=lambda row: row or 0)

    @given(history=tokens, beside=tokens, limit=st.integers(1, 10**6))
    def test_after_a_refusal_leaves_out_a_quarter_at_least_and_keeps_to_a_limit_that_was_told(
        self, history: int, beside: int, limit: int
    ) -> None:
        kept, limited = (shrunk_history(history, beside, each) for each in (None, limit))
        assert kept == 0 or kept + beside <= (history + beside) * 3 / 4
        assert limited <= kept
        assert limited == 0 or limited + beside <= limit * 3 / 4

    def test_after_a_refusal_keeps_its_newer_half_and_a_short_one_makes_way(self) -> None:
        assert shrunk_history(9_000, 1_000, None) == 4_500
        assert shrunk_history(9_000, 1_000, 4_096) == 2_072
        assert shrunk_history(500, 4_000, None) == 0
