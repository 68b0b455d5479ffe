"""What the button below an answer lists of the memories it used, within one message."""

from datetime import UTC, datetime

import pytest

from cc_bot.discord.pages.memory import LIMIT, used_list
from cc_bot.domain import Locale, Memory, Source
from cc_bot.texts import texts
from tests.discord.mentioned import mentioned

WHEN = datetime(2026, 3, 15, tzinfo=UTC)
LINK = "https://discord.com/channels/1573993351596736514/1573993476473749506/1573993476830265344"


def memories(count: int, content: str) -> list[Memory]:
    source = Source("model", link=LINK, model="model")
    return [
        Memory(id_, 1, content, "general", (), {}, WHEN, WHEN, source=source, number=id_)
        for id_ in range(1, count + 1)
    ]


@pytest.mark.parametrize("locale", list(Locale))
class TestUsedMemories:
    def test_are_all_there_where_they_fit(self, locale: Locale) -> None:
        told = used_list(memories(5, "猫の名前は*モチ*"), texts(locale))
        assert told.count("猫の名前は\\*モチ\\*") == 5

    def test_are_counted_where_they_do_not(self, locale: Locale) -> None:
        words = mentioned(locale)
        told = used_list(memories(20, "[*]" * 1000), words)
        shown = told.count("**#")
        assert len(told) <= LIMIT
        assert 5 < shown < 20
        assert words.receipt.more.format(count=20 - shown) in told
