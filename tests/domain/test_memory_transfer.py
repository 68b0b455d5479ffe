"""Memories leave and come back as they were; lists of other programs are read as a person would."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.errors import ImportNotUnderstood, TooManyToImport
from cc_bot.domain.memory import Source
from cc_bot.domain.memory_transfer import (
    MARKDOWN_MARK,
    MAX_IMPORT_BYTES,
    MAX_IMPORTED,
    PortableMemory,
    importable_parts,
    read_memories,
    to_json,
)
from tests.domain.phrases import phrases

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
    return [memory.content for memory in read_memories(text)]


class TestOurOwnJson:
    @given(st.lists(memories, min_size=1, max_size=5))
    def test_comes_back_as_it_was(self, kept: list[PortableMemory]) -> None:
        assert read_memories(to_json(kept, NOW)) == kept

    @given(st.lists(memories, max_size=6))
    def test_in_parts_holds_everything_once(self, kept: list[PortableMemory]) -> None:
        parts = [json.loads(part)["memories"] for part in importable_parts(kept, NOW)]
        assert [item["content"] for part in parts for item in part] == [memory.content for memory in kept]

    def test_in_parts_can_be_imported_again_part_by_part(self) -> None:
        kept = [PortableMemory(f"{number} {'あ' * 400}") for number in range(MAX_IMPORTED + 1)]
        parts = list(importable_parts(kept, NOW))
        assert all(len(part.encode()) <= MAX_IMPORT_BYTES for part in parts)
        assert [memory for part in parts for memory in read_memories(part)] == kept

    def test_of_nobody_is_one_file_all_the_same(self) -> None:
        [part] = importable_parts([], NOW)
        assert json.loads(part)["memories"] == []

    def test_with_more_than_one_import_takes_is_refused(self) -> None:
        with pytest.raises(TooManyToImport) as refusal:
            read_memories(to_json([PortableMemory("x")] * (MAX_IMPORTED + 1), NOW))
        assert refusal.value.params == {"limit": MAX_IMPORTED}


class TestForeignJson:
    def test_a_list_of_texts_is_a_list_of_memories(self) -> None:
        assert contents('["猫を飼っている", "lives in Osaka"]') == ["猫を飼っている", "lives in Osaka"]

    def test_what_is_not_understood_of_an_item_is_left_out(self) -> None:
        item = {"content": "x", "category": 7, "tags": ["a", 1], "created_at": "yesterday", "audience": None}
        assert read_memories(json.dumps([item])) == [PortableMemory("x", tags=("a",))]

    def test_an_audience_that_is_not_understood_is_the_user_alone(self) -> None:
        for audience in ("all", "", 7, ["anywhere"]):
            [memory] = read_memories(json.dumps([{"content": "x", "audience": audience}]))
            assert memory.audience == "private"

    def test_an_item_without_a_text_is_empty(self) -> None:
        assert contents('[{"content": null}, 7, "x"]') == ["", "", "x"]

    def test_a_time_is_in_utc_without_a_zone_and_left_out_where_not_every_zone_has_it(self) -> None:
        for end in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31"):
            assert read_memories(json.dumps([{"content": "x", "expires_at": end}])) == [PortableMemory("x")]
            assert contents(f"[{end[:10]}] x") == [f"[{end[:10]}] x"]
        [memory] = read_memories('[{"content": "x", "created_at": "2026-01-02T03:04:05"}]')
        assert memory.created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def test_anything_else_is_refused(self) -> None:
        exported = f"{MARKDOWN_MARK}\n# 家族\n- x"  # for reading
        for text in ("{", '{"a": 1}', '{"memories": {}}', "[]", "{" * 100_000, "", " \n ", "---", exported):
            with pytest.raises(ImportNotUnderstood):
                read_memories(text)

    @given(st.text())
    def test_no_text_breaks_the_reader(self, text: str) -> None:
        try:
            found = read_memories(text)
        except ImportNotUnderstood:
            return
        assert found


class TestLists:
    def test_what_stands_before_a_line_is_not_part_of_it(self) -> None:
        bullets = ["", "- ", "* ", "• ", "・", "1. ", "12) ", "（3）", "3） ", "① ", "  - ", "– "]
        read = {bullet: contents(f"{bullet}猫の名前はタマ") for bullet in bullets}
        assert read == {bullet: ["猫の名前はタマ"] for bullet in bullets}

    def test_what_only_looks_like_it_is(self) -> None:
        lines = phrases(
            """
3.14 is pi | 2024-05-01 に引っ越した | 12:30 に起きる | -5度でも平気 | *args は可変長引数
[2024-13-45]. x | [2024-05-01]
"""
        )
        assert {line: contents(line) for line in lines} == {line: [line] for line in lines}

    def test_a_date_before_a_line_says_when_it_was_written_down(self) -> None:
        dates = phrases(
            """
[2024-05-01]. | 1. [2024-05-01]. | 1.[2024-05-01] | - 2024-05-01: | 2024/5/1 - | （2024年5月1日）
[2024-05-01T10:20:30Z]
"""
        )
        for date in dates:
            [memory] = read_memories(f"{date} User lives in Osaka.")
            assert (memory.content, memory.created_at) == (
                "User lives in Osaka.",
                datetime(2024, 5, 1, tzinfo=UTC),
            )

    def test_are_read_as_a_person_would(self) -> None:
        assert contents("# Memories\n\n```text\n- a\n\n---\n* b\n```\n") == ["a", "b"]
        assert contents("- 一行目\n  二行目\n- 次") == ["一行目\n二行目", "次"]
        assert contents("a\r\nb\rc\n") == ["a", "b", "c"]
