import json
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain import errors
from cc_bot.features.memory.errors import (
    EmptyMemory,
    EndNotUnderstood,
    EndPassed,
    ImportNotUnderstood,
    MemoryTooLong,
    TooManyToImport,
)
from cc_bot.features.memory.files import (
    MARKDOWN_MARK,
    MAX_IMPORT_BYTES,
    MAX_IMPORT_COUNT,
    PortableMemory,
    parse_memories,
    split_export,
    to_json,
)
from cc_bot.features.memory.model import (
    Source,
    clean_category,
    clean_content,
    clean_tags,
    parse_expiry,
    split_tags,
)
from tests.domain.phrases import meanings, phrases, refused_otherwise, this_year

TOKYO = ZoneInfo("Asia/Tokyo")
SUNDAY = datetime(2026, 11, 22, 10, 30, tzinfo=TOKYO)
ENDS = meanings(
    """
2026-12-31 → 2027-01-01 00:00 | 2026/12/31 → 2027-01-01 00:00 | 2026.12.31 → 2027-01-01 00:00
2026年12月31日 → 2027-01-01 00:00 | ２０２６年１２月３１日 → 2027-01-01 00:00
2026-12-31 → 2027-01-01 00:00 | 12月31日 → 2027-01-01 00:00 | 12/31 → 2027-01-01 00:00
12-31 → 2027-01-01 00:00 | 12月31日まで → 2027-01-01 00:00 | 31日 → 2027-01-01 00:00
大晦日 → 2027-01-01 00:00 | 年末 → 2027-01-01 00:00 | 年内 → 2027-01-01 00:00
今年いっぱい → 2027-01-01 00:00 | 来月末 → 2027-01-01 00:00 | 来月いっぱい → 2027-01-01 00:00
令和8年12月31日 → 2027-01-01 00:00 | Dec 31 → 2027-01-01 00:00 | until dec 31, 2026 → 2027-01-01 00:00
今日 → 11-23 00:00 | 今日中 → 11-23 00:00 | today → 11-23 00:00 | 日曜 → 11-23 00:00 | 今週中 → 11-23 00:00
今週末 → 11-23 00:00 | 明日 → 11-24 00:00 | 明日まで → 11-24 00:00 | tomorrow → 11-24 00:00
来週の金曜 → 11-28 00:00 | next friday → 11-28 00:00 | 3日後 → 11-26 00:00 | in 3 days → 11-26 00:00
1週間 → 11-30 00:00 | 3か月 → 2027-02-23 00:00 | for 2 weeks → 12-07 00:00 | 今月末 → 12-01 00:00
成人の日 → 2027-01-12 00:00 | 2年後 → 2028-11-23 00:00 | 明日9時 → 11-23 09:00 | 3時間後 → 11-22 13:30
あと5分 → 11-22 10:35 | 2026-12-01T18:00 → 12-01 18:00 | tomorrow at 6pm → 11-23 18:00
"""
)
"""In 2026 where there is no year."""
NO_ENDS: dict[type[errors.InputError], str] = {
    EndNotUnderstood: "soon | そのうち | 毎週 | 9999-12-31 | 0 | 明日と明後日",
    errors.NoSuchTime: "2026-13-01 | 2026-02-30 | 2月30日 | 25:99",
    EndPassed: "2026-11-21 | 昨日 | 今週の金曜 | 2020年1月1日 | 2026-11-22T10:00",
    errors.WhenTooFar: "20年後",
}


class TestContent:
    def test_is_trimmed_and_something_of_4000_characters_at_most(self) -> None:
        assert clean_content("\u3000 一行目\n\n二行目 \n") == "一行目\n\n二行目"
        for content in ("", " \n\u3000", "\u200b\u2060", "\u3164", "\U000e0041"):
            with pytest.raises(EmptyMemory):
                clean_content(content)
        assert len(clean_content("あ" * 4000 + " ")) == 4000
        with pytest.raises(MemoryTooLong) as refusal:
            clean_content("あ" * 4001)
        assert refusal.value.params == {"limit": 4000, "length": 4001}


def test_a_category_is_one_line_and_tags_are_parted_by_commas_and_white_space() -> None:
    assert [clean_category(each) for each in (None, " \n ", " 仕事\u3000の\nこと ")] == [
        *("general", "general", "仕事 の こと")
    ]
    assert len(clean_category("あ" * 99)) == 50
    expected = {
        "仕事、家庭，趣味": ("仕事", "家庭", "趣味"),
        "#旅行\u3000＃食べ物 #": ("旅行", "食べ物"),
        "a a, b a": ("a", "b"),
        None: (),
    }
    assert {text: split_tags(text) for text in expected} == expected
    assert len(clean_tags(split_tags(" ".join(map(str, range(30)))))) == 20


class TestAnEnd:
    def test_is_read_as_the_time_of_a_reminder_is_or_as_the_end_of_a_day(self) -> None:
        found = {written: parse_expiry(written, SUNDAY, TOKYO) for written in ENDS}
        told = {text: end and end.astimezone(TOKYO).strftime("%Y-%m-%d %H:%M") for text, end in found.items()}
        assert told == {written: this_year(end) for written, end in ENDS.items()}
        assert [parse_expiry(written, SUNDAY, TOKYO) for written in (None, "", "  ")] == [None] * 3

    def test_that_is_none_or_is_over_is_refused(self) -> None:
        assert refused_otherwise(NO_ENDS, lambda text: parse_expiry(text, SUNDAY, TOKYO)) == {}
        with pytest.raises(EndNotUnderstood):
            parse_expiry("あ" * 300, SUNDAY, TOKYO)


NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
moments = st.none() | st.datetimes(timezones=st.just(UTC)).filter(lambda moment: 1 < moment.year < 9999)
memories = st.builds(
    PortableMemory,
    words,
    words.filter(bool),
    st.lists(words, max_size=4).map(tuple),
    st.sampled_from(["anywhere", "private", None]),
    moments,
    moments,
    moments,
    st.builds(
        Source,
        st.sampled_from(["", "command", "message", "model", "import", "terminal"]),
        words,
        words,
        words,
    ),
    st.dictionaries(words, words, max_size=3),
)


def contents(text: str) -> list[str]:
    return [memory.content for memory in parse_memories(text)]


class TestOurOwnJson:
    @given(st.lists(memories, min_size=1, max_size=5))
    def test_comes_back_as_it_was(self, kept: list[PortableMemory]) -> None:
        assert parse_memories(to_json(kept, NOW)) == kept

    def test_in_parts_can_be_imported_part_by_part_but_not_more_at_once(self) -> None:
        kept = [PortableMemory(f"{number} {'あ' * 400}") for number in range(MAX_IMPORT_COUNT + 1)]
        write = partial(to_json, exported_at=NOW)
        split = partial(split_export, write=write, max_bytes=MAX_IMPORT_BYTES, max_memories=MAX_IMPORT_COUNT)
        parts = list(split(kept))
        assert all(len(part) <= MAX_IMPORT_BYTES for part in parts)
        assert [memory for part in parts for memory in parse_memories(part.decode())] == kept
        [part] = split([])
        assert json.loads(part)["memories"] == []
        with pytest.raises(TooManyToImport) as refusal:
            parse_memories(to_json([PortableMemory("x")] * (MAX_IMPORT_COUNT + 1), NOW))
        assert refusal.value.params == {"limit": MAX_IMPORT_COUNT}


class TestForeignJson:
    def test_is_read_as_far_as_it_is_understood(self) -> None:
        assert contents('["猫を飼っている", "lives in Osaka"]') == ["猫を飼っている", "lives in Osaka"]
        item = {"content": "x", "category": 7, "tags": ["a", 1], "created_at": "yesterday", "audience": None}
        assert parse_memories(json.dumps([item])) == [PortableMemory("x", tags=("a",))]
        assert contents('[{"content": null}, 7, "x"]') == ["", "", "x"]
        for audience in ("all", "", 7, ["anywhere"]):
            [memory] = parse_memories(json.dumps([{"content": "x", "audience": audience}]))
            assert memory.audience == "private"

    def test_anything_else_is_refused(self) -> None:
        exported = f"{MARKDOWN_MARK}\n# 家族\n- x"  # for reading
        table = 'id,"content",tags\n1,猫を飼っている,家族'
        broken = ("{", '{"a": 1}', '{"memories": {}}', "[]", "[1, 2]", "{" * 100_000)
        for text in (*broken, "", " \n ", "---", exported, table):
            with pytest.raises(ImportNotUnderstood):
                parse_memories(text)


def test_lists_are_read_as_a_person_would() -> None:
    for bullet in ("", "- ", "* ", "• ", "・", "1. ", "12) ", "（3）", "3） ", "① ", "  - ", "– "):
        assert contents(f"{bullet}猫の名前はタマ") == ["猫の名前はタマ"], bullet
    for line in phrases(
        "3.14 is pi | 2024-05-01 に引っ越した | -5度でも平気 | *args は可変長引数 | [2024-05-01]"
    ):
        assert contents(line) == [line], "what stands there only looks like a bullet"
    for day in phrases("1. [2024-05-01]. | - 2024-05-01: | （2024年5月1日） | [2024-05-01T10:20:30Z]"):
        [memory] = parse_memories(f"{day} User lives in Osaka.")
        told = memory.content, memory.created_at
        assert told == ("User lives in Osaka.", datetime(2024, 5, 1, tzinfo=UTC)), day
    assert contents("# Memories\n\n```text\n- a\n\n---\n* b\n```\n") == ["a", "b"]
    assert contents("- 一行目\n  二行目\n- 次") == ["一行目\n二行目", "次"]
    assert contents("a\r\nb\rc\n") == ["a", "b", "c"]
