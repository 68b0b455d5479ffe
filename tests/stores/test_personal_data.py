import asyncio
import json
import threading
from typing import Any, Final

import pytest

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database, Statement, Transaction
from cc_bot.domain.message import Attachment, ChannelKey, Document, DocumentPart, Message
from cc_bot.features.privacy.personal_data import personal_tables
from tests.stores.backends import KEY, OTHER_USER
from tests.stores.life import USER_COLUMNS, about, columns, live

ME: Final = KEY.user_id
YOU: Final = OTHER_USER.user_id
CHANNEL: Final = ChannelKey(3)
EXCUSED: Final = {"erasing": "whose erasing was begun: it stands there for seconds, and goes with the rest"}


async def exported(stores: Stores, user_id: int = ME) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    async for name, record in stores.personal_data.read_records(user_id):
        found.setdefault(name, []).append(dict(record))
    return found


@pytest.fixture
async def lived(stores: Stores, database: Database) -> Stores:
    await live(stores, database, ME, "しまうま", channel=CHANNEL)
    await live(stores, database, YOU, "きりん", channel=CHANNEL)
    return stores


class TestTables:
    async def test_with_a_users_id_are_all_listed(self, database: Database) -> None:
        schema = await columns(database)
        personal = {table for table, names in schema.items() if USER_COLUMNS & {*names}}
        assert personal == {table.table for table in personal_tables()} | {*EXCUSED}


class TestExport:
    async def test_has_all_of_its_user_as_exact_json(self, lived: Stores, database: Database) -> None:
        found = await exported(lived)
        assert {*found} == {table.list_name for table in personal_tables() if table.kind}
        named = {table for table, _ in await about(database, ME)}
        assert named == {table.table for table in personal_tables()} | {*EXCUSED}
        assert [each["content"] for each in found["messages"]] == [
            *("しまうま？", "しまうまです", "しまうま？", "しまうまです", "しまうまを買う")
        ]
        assert {each["content"] for each in found["channel_messages"]} == {"しまうま 0", "しまうま 1"}
        assert [each["content"] for each in found["channel_answers"]] == ["しまうまですね"]
        kept = {each["content"]: each["status"] for each in found["memories"]}
        assert kept["しまうまが大好き"] == "active"
        assert kept["しまうまが好き"] == "superseded"
        assert "しまうま" in json.dumps(found["sessions"][0]["canvas_state"], ensure_ascii=False)
        assert found["turns"][0]["question"] == {"text": "しまうま"}
        assert found["settings"][0]["user_id"] == str(ME)
        assert found["messages"][0]["created_at"].endswith("+00:00")
        assert isinstance(found["memories"][0]["tags"], list)
        assert await exported(lived, 5) == {}

    async def test_has_each_id_as_a_text_also_within_json(self, lived: Stores, database: Database) -> None:
        question = {"text": "?", "reply_to": 5, "pictures": [2**60]}
        await database.transaction([Statement("UPDATE turns SET question = $1", (json.dumps(question),))], ())
        found = await exported(lived)
        assert found["turns"][0]["question"] == {"text": "?", "reply_to": "5", "pictures": [str(2**60)]}
        assert {type(each["id"]) for name in found for each in found[name] if "id" in each} == {str}
        assert [each["supersedes"] for each in found["memories"] if each["supersedes"]] == ["2"]

    async def test_has_nothing_of_others_and_no_key_to_discord(self, lived: Stores) -> None:
        found = await exported(lived)
        text = json.dumps(found, ensure_ascii=False)
        assert "きりん" not in text
        assert str(YOU) not in text
        assert "token-" not in text
        assert {"hash", "token"}.isdisjoint(name for rows in found.values() for row in rows for name in row)

    async def test_has_large_files_in_pieces_and_the_text_of_a_document_once(self, stores: Stores) -> None:
        read = Document("pdf", "page", (DocumentPart("", "保証期間は二年間です。"),))
        file = Attachment("大.pdf", "application/pdf", b"\x89" * (3 * 2**20 + 1), read)
        session = await stores.sessions.open(KEY)
        await stores.sessions.store_turn(session, [Message("user", "見て", attachments=(file,))])
        one, two = (await exported(stores))["attachments"]
        assert (one["piece"], one["pieces"], two["piece"], two["name"]) == (1, 2, 2, "大.pdf")
        assert len(one["data_base64"]) == 4 * 2**20
        assert one["document"]["parts"] == [{"name": "", "text": "保証期間は二年間です。"}]
        assert "document" not in two


class TestOverview:
    async def test_counts_what_is_exported_and_tells_when(self, lived: Stores, database: Database) -> None:
        found, overview = await exported(lived), await lived.personal_data.get_overview(ME)
        listed: dict[str, int] = {}
        for table in personal_tables():
            if table.kind:
                listed[table.kind] = listed.get(table.kind, 0) + len(found[table.list_name])
        assert {kind: held.count for kind, held in overview.kinds.items()} == listed
        messages, usage = overview.kinds["messages"], overview.kinds["usage"]
        assert messages.first
        assert messages.last
        assert messages.first <= messages.last
        assert usage.first
        assert usage.first.date().isoformat() == "2026-11-22"
        assert overview.on_server == (database.dialect == "postgresql")
        assert (await lived.personal_data.get_overview(5)).is_empty


class TestLongReads:
    async def test_run_beside_everything_else(self, lived: Stores, database: Database) -> None:
        begun, released = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def hold() -> Transaction[None]:
            yield Statement("SELECT 1")
            loop.call_soon_threadsafe(begun.set)
            if database.dialect == "sqlite":  # on the one thread of its connection
                released.wait(10)

        held = asyncio.create_task(database.read(hold))
        await begun.wait()
        assert (await lived.personal_data.get_overview(ME)).kinds
        assert await lived.archive.list_keys(ME)
        assert await lived.archive.list_sessions(ME)
        assert database.dialect != "sqlite" or not held.done()
        released.set()
        await held
