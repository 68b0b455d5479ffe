"""A user's data as JSON files, each of which can be read by itself and sent on Discord.

A long history does not fit one upload, and all of it at once would not fit the memory of a small machine: the
files are made one after the other, and each is let go when it was taken.
"""

import json
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Final

from cc_bot.stores.personal_data import Record

FORMAT: Final = "cc-bot-personal-data"
MOST_BYTES: Final = 9_500_000
"""Of a file: Discord takes 10 MiB."""
_HEAD_BYTES: Final = 1000
"""Room for what stands around the records."""


async def export_parts(
    records: AsyncIterator[tuple[str, Record]], user_id: int, now: datetime, *, most_bytes: int = MOST_BYTES
) -> AsyncIterator[bytes]:
    """The records, each with the name of its list, as JSON in UTF-8, in as many files as it takes; none when
    there are no records. A single record is never parted, however long it is."""
    lists: dict[str, list[str]] = {}
    room, part = most_bytes - _HEAD_BYTES, 1
    async for name, record in records:
        line = json.dumps(record, ensure_ascii=False)
        size = len(line.encode("utf-8", "replace")) + len(name) + 16
        if lists and size > room:
            yield _file(lists, user_id, now, part, last=False)
            lists, room, part = {}, most_bytes - _HEAD_BYTES, part + 1
        lists.setdefault(name, []).append(line)
        room -= size
    if lists:
        yield _file(lists, user_id, now, part, last=True)


def _file(lists: dict[str, list[str]], user_id: int, now: datetime, part: int, *, last: bool) -> bytes:
    """One line a record, so that it can be read and searched."""
    head = {
        "format": FORMAT,
        "version": 1,
        "user_id": str(user_id),
        "exported_at": now.isoformat(timespec="seconds"),
        "part": part,
        "last": last,
    }
    data = ",\n".join(_list(name, lines) for name, lines in lists.items())
    text = f'{json.dumps(head)[:-1]}, "data": {{\n{data}\n}}}}\n'
    return text.encode("utf-8", "replace")


def _list(name: str, lines: list[str]) -> str:
    return f"{json.dumps(name)}: [\n" + ",\n".join(lines) + "\n]"
