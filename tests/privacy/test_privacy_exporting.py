"""A user's data in files that fit Discord and that any program reads."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from cc_bot.features.privacy.personal_data import Record
from cc_bot.features.privacy.service import export_chunks

NOW: Final = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
Records = list[tuple[str, dict[str, str]]]


async def files(records: Records, most_bytes: int = 9_500_000) -> list[bytes]:
    async def each() -> AsyncIterator[tuple[str, Record]]:
        for record in sorted(records, key=lambda record: record[0]):
            yield record

    parts = dict[int, bytes]()
    async for number, piece in export_chunks(each(), 123456789012345678, NOW, max_bytes=most_bytes):
        parts[number] = parts.get(number, b"") + piece
    return [*parts.values()]


def told(parts: list[bytes]) -> list[dict[str, Any]]:
    return [json.loads(part) for part in parts]


class TestFile:
    async def test_tells_whose_it_is_and_when_it_was_made_as_people_read_it(self) -> None:
        [file] = await files([("memories", {"content": "犬が好き"})])
        assert '{"content": "犬が好き"}' in file.decode().splitlines()
        assert told([file]) == [
            {
                "format": "cc-bot-personal-data",
                "version": 1,
                "user_id": "123456789012345678",
                "exported_at": "2026-11-22T03:04:05+00:00",
                "part": 1,
                "last": True,
                "data": {"memories": [{"content": "犬が好き"}]},
            }
        ]


class TestParts:
    @settings(max_examples=40, deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["messages", "memories"]),
                st.fixed_dictionaries({"content": st.text(max_size=300).map(lambda text: text * 9)}),
            ),
            min_size=1,
        ),
        st.integers(min_value=2500, max_value=9000),
    )
    async def test_have_every_record_once_and_in_order_and_fit(self, records: Records, most: int) -> None:
        parts = await files(records, most)
        assert all(len(part) <= most for part in parts)
        found = [(name, one) for each in told(parts) for name, some in each["data"].items() for one in some]
        for name in ("messages", "memories"):
            wanted = [one["content"].encode("utf-8", "replace") for key, one in records if key == name]
            assert [one["content"].encode("utf-8", "replace") for key, one in found if key == name] == wanted
        assert [part["part"] for part in told(parts)] == [*range(1, len(parts) + 1)]
        assert [part["last"] for part in told(parts)] == [False] * (len(parts) - 1) + [True]
