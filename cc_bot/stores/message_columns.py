"""How a message is written into the columns of `messages`, and read back from them: alike in every store."""

import json
from dataclasses import asdict

from cc_bot.domain.message import Attachment, Message, ToolCall
from cc_bot.storage import Row
from cc_bot.stores.columns import from_ms


def read_message(columns: Row, attachments: tuple[Attachment, ...] = ()) -> Message:
    """The message of these columns: id, role, content, tool_calls, status, visibility, author_id,
    author_name, discord_id, created_at, tainted."""
    id_, role, content, tool_calls, status, visibility, author_id, author_name, discord_id, ms, tainted = (
        columns
    )
    return Message(
        role,
        content,
        tool_calls=tool_calls_of(tool_calls) if tool_calls != "[]" else (),
        status=status,
        visibility=visibility,
        author_id=author_id,
        author_name=author_name,
        discord_id=discord_id,
        attachments=attachments,
        created_at=from_ms(ms),
        tainted=bool(tainted),
        id=id_,
    )


def tool_calls_to_json(calls: tuple[ToolCall, ...]) -> str:
    return json.dumps([asdict(call) for call in calls], ensure_ascii=False) if calls else "[]"


def tool_calls_of(text: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(**call) for call in json.loads(text))
