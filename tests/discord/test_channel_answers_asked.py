"""How many questions are answered together, and whether an edit was seen already."""

from dataclasses import replace

from cc_bot.discord.messages.channel_answers import (
    MAX_TOGETHER,
    MAX_TOGETHER_CHARACTERS,
    REMEMBERED,
    AsRead,
    together,
)
from cc_bot.domain.message import Message


def question(number: int, text: str = "質問") -> Message:
    return Message("user", text, discord_id=number)


class TestTogether:
    def test_are_the_oldest_few(self) -> None:
        waiting = [question(number) for number in range(25)]
        assert together(waiting) == waiting[:MAX_TOGETHER]

    def test_are_all_while_they_are_few(self) -> None:
        waiting = [question(1), question(2)]
        assert together(waiting) == waiting

    def test_are_no_more_than_fit(self) -> None:
        half = "あ" * (MAX_TOGETHER_CHARACTERS // 2)
        waiting = [question(number, half) for number in range(3)]
        assert together(waiting) == waiting[:2]

    def test_are_one_at_least(self) -> None:
        waiting = [question(1, "あ" * (MAX_TOGETHER_CHARACTERS + 1)), question(2)]
        assert together(waiting) == waiting[:1]


class TestAsRead:
    def test_knows_what_was_answered_from_what_was_edited_since(self) -> None:
        read = AsRead()
        read.note([question(1), question(2)])
        assert read.holds([question(1), question(2)])
        assert not read.holds([question(1), replace(question(2), content="別の質問")])
        assert not read.holds([question(3)])

    def test_forgets_the_oldest(self) -> None:
        read = AsRead()
        read.note([question(number) for number in range(REMEMBERED + 1)])
        assert not read.holds([question(0)])
        assert read.holds([question(REMEMBERED)])
