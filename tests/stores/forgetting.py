import json
from pathlib import Path
from typing import Any, Final

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database
from cc_bot.domain.message import Message, ToolCall
from cc_bot.domain.session import SessionKey
from cc_bot.features.memory.model import Memory
from tests.stores.backends import KEY, got, tables_of

ME: Final = KEY.user_id
FACT: Final = "金庫の番号はＺＥＢＲＡ-57110"
FOLDED: Final = "zebra-57110"
NUMBER: Final = "-57110"
MARK: Final = "（消去しました）"


def told(memory: Memory) -> dict[str, object]:
    """A note as tools tell it: by the number that its user calls it by, and by its row."""
    return {"id": memory.number, "content": memory.content, "ref": memory.id}


def remembered(memory: Memory, call_id: str = "1") -> ToolCall:
    arguments = json.dumps({"content": memory.content}, ensure_ascii=False)
    result = json.dumps({"remembered": told(memory)}, ensure_ascii=False)
    return ToolCall(call_id, "remember", arguments, result)


def recalled(*memories: Memory, call_id: str = "2") -> ToolCall:
    result = json.dumps({"memories": list(map(told, memories))}, ensure_ascii=False)
    return ToolCall(call_id, "recall", '{"query": "金庫"}', result)


async def stored(
    stores: Stores, question: str, text: str, *calls: ToolCall, key: SessionKey = KEY, **fields: Any
) -> int:
    """A turn of a session; the row of its answer."""
    session = await stores.sessions.open(key, visibility=fields.get("visibility", "public"))
    exchange = (Message("user", question, **fields), Message("assistant", text, tool_calls=calls, **fields))
    _, answered = (await stores.sessions.store_turn(session, exchange)).messages
    assert answered.id is not None
    return answered.id


async def calls_of(stores: Stores, key: SessionKey = KEY) -> list[ToolCall]:
    history = (await stores.sessions.open(key, visibility="private")).history
    return [call for message in history for call in message.tool_calls]


async def summarized(stores: Stores, text: str = "要約", key: SessionKey = KEY) -> None:
    """Have everything that was said so far summarized."""
    backlog = got(await stores.summaries.get_backlog(key))
    visibilities = {message.visibility for message in backlog.messages}
    assert await stores.summaries.put(backlog, dict.fromkeys(visibilities, text))


async def statuses(database: Database, user_id: int = ME) -> list[str]:
    rows = await database.query("SELECT status FROM memories WHERE user_id = $1 ORDER BY id", user_id)
    return [row[0] for row in rows]


async def everything(database: Database) -> str:
    rows = [await database.query(f"SELECT * FROM {name}") for name in await tables_of(database)]
    return str(rows)


def bytes_of(folder: Path) -> bytes:
    """Everything that the database's files hold."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("sessions.db*")))
