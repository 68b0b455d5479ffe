"""The copies of memories in stored answers: the calls of tools that kept them, found them or changed them.

A call is redacted as a whole, its arguments and its result: what is left still pairs a call with its result,
so that later requests to a model can carry it. Which memories a call is about is read from the rows that its
result names (`ref`); in calls from before users had numbers of their own, from the ids in the result, and in
the arguments of a call that worked. Rows are never given twice, so one that is not there any more tells for
good that its memory was erased: a turn that was running meanwhile is redacted by that as it is stored.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from cc_bot.domain.message import ToolCall
from cc_bot.storage import Statement
from cc_bot.stores.canvas import texts_in
from cc_bot.stores.message_columns import tool_calls_of, tool_calls_to_json
from cc_bot.stores.sought import Sought

MEMORY_TOOLS: Final = frozenset({"remember", "recall", "update_memory", "forget", "list_memories"})
CANVAS_TOOLS: Final = frozenset(
    {"canvas_add_card", "canvas_show_text", "canvas_add_chart", "canvas_update_card"}
)
"""What a memory says may be drawn: such calls name no memory, and are known by the texts in them."""
KEEPING_TOOLS: Final = frozenset({"remember", "update_memory"})
_TELLING_TOOLS: Final = MEMORY_TOOLS | CANVAS_TOOLS
FORGOTTEN: Final = '{"forgotten": true}'

_ROW_NAMES: Final = frozenset({"ref", "former_ref"})
_ID_NAMES: Final = frozenset({"id", "ids", "memory_id", "memory_ids", "supersedes", "superseded"})
"""Of calls from before users had numbers of their own: their results have no `ref`."""
_ID: Final = re.compile(r"\A[#＃]*+\d{1,19}")
_KEPT: Final = ("remembered", "updated")

# The calls of an answer, as they are or redacted: one that names a memory which is erased, or about to be.
# $2 user, $3 an array of {kept, forgotten, ids}
_CALLS: Final = """
    WITH stored (calls) AS (
        SELECT json_group_array(json(CASE
            WHEN EXISTS (
                SELECT 1 FROM json_each(each.value, '$.ids') AS named
                WHERE NOT EXISTS (
                    SELECT 1 FROM memories AS held
                    WHERE held.user_id = $2 AND held.id = named.value
                        AND (held.deleted_at IS NULL OR held.deleted_at > '')
                )
            ) THEN json_extract(each.value, '$.forgotten')
            ELSE json_extract(each.value, '$.kept')
        END))
        FROM json_each($3) AS each
    )
"""

# Run next after its message was inserted, in the same transaction: that is the session's newest. $1 session
NOTE_CALLS: Final = f"""
    {_CALLS}
    UPDATE messages SET memory_user_id = $2, tool_calls = stored.calls
    FROM stored
    WHERE user_id = $2 AND id = (
        SELECT id FROM messages WHERE session_id = $1 AND user_id = $2 ORDER BY id DESC LIMIT 1
    )
"""  # noqa: S608 - put together from constants alone

# The same of an answer in a channel. $1 its id on Discord
NOTE_CHANNEL_CALLS: Final = f"""
    {_CALLS}
    UPDATE messages SET memory_user_id = $2, tool_calls = stored.calls
    FROM stored
    WHERE discord_id = $1 AND user_id IS NULL AND role = 'assistant'
"""  # noqa: S608 - put together from constants alone

# The same of a turn that is not answered yet. $1 its name
_PUT_TURN_CALLS: Final = f"""
    {_CALLS}
    INSERT INTO turn_calls (turn, user_id, calls) SELECT $1, $2, stored.calls FROM stored WHERE true
    ON CONFLICT (turn) DO UPDATE SET calls = excluded.calls WHERE user_id = excluded.user_id
"""  # noqa: S608 - put together from constants alone

_DROP_TURN_CALLS: Final = "DELETE FROM turn_calls WHERE turn = $1 AND user_id = $2"


def note_calls(statement: str, place: str | int, user_id: int, calls: Sequence[ToolCall]) -> list[Statement]:
    """What remembers whose memories an answer's calls are about, and redacts those that are erased; nothing
    for calls that are about none. `place` is the statement's $1."""
    if not any(call.name in _TELLING_TOOLS for call in calls):
        return []
    return [Statement(statement, (place, user_id, _with_redacted(calls)))]


def put_turn_calls(turn: str, user_id: int, calls: Sequence[ToolCall]) -> Statement:
    """What a turn's tools have done so far, in place of what was known of it before."""
    if not calls:
        return Statement(_DROP_TURN_CALLS, (turn, user_id))
    return Statement(_PUT_TURN_CALLS, (turn, user_id, _with_redacted(calls)))


def _with_redacted(calls: Sequence[ToolCall]) -> str:
    each = [
        {"kept": asdict(call), "forgotten": asdict(redacted(call)), "ids": sorted(named_ids(call))}
        for call in calls
    ]
    return json.dumps(each, ensure_ascii=False)


def named_ids(call: ToolCall) -> frozenset[int]:
    """The memories that a call is about."""
    if call.name not in MEMORY_TOOLS:
        return frozenset()
    told = _parsed(call.result)
    if rows := frozenset(_numbers_in(told, _ROW_NAMES)):
        return rows
    said = (told, _parsed(call.arguments)) if call.ok else (told,)
    return frozenset(number for part in said for number in _numbers_in(part, _ID_NAMES))


def kept_ids(call: ToolCall) -> frozenset[int]:
    """The memories that a call kept or changed; other ones that its result shows beside them are not."""
    told = _parsed(call.result)
    if call.name not in KEEPING_TOOLS or not isinstance(told, dict):
        return frozenset()
    kept = [told.get(name) for name in _KEPT]
    return frozenset(_numbers_in(kept, _ROW_NAMES)) or frozenset(_numbers_in(kept, _ID_NAMES))


def redacted(call: ToolCall) -> ToolCall:
    return replace(call, arguments=FORGOTTEN, result=FORGOTTEN)


def redact(stored: str, ids: Collection[int], sought: Sought) -> tuple[str, tuple[ToolCall, ...]]:
    """The column of tool calls without what tells of these memories, and the calls that did."""
    calls = tool_calls_of(stored)
    telling = tuple(call for call in calls if _tells(call, ids, sought))
    kept = tuple(redacted(call) if call in telling else call for call in calls)
    return tool_calls_to_json(kept), telling


def _tells(call: ToolCall, ids: Collection[int], sought: Sought) -> bool:
    if call.name not in _TELLING_TOOLS:
        return False
    if not named_ids(call).isdisjoint(ids):
        return True
    said = (_parsed(call.arguments), _parsed(call.result))
    return any(sought.within(text) for part in said for text in texts_in(part))


def _parsed(text: str) -> Any:
    """A JSON value; what is none is taken as a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _numbers_in(value: Any, names: frozenset[str]) -> Iterator[int]:
    """What a JSON value has under these names, however deep: nesting must not exhaust the stack."""
    left = [value]
    while left:
        match left.pop():
            case dict() as fields:
                left += fields.values()
                for name in names.intersection(fields):
                    yield from _numbers(fields[name])
            case list() as parts:
                left += parts
            case _:
                pass


def _numbers(value: Any) -> Iterator[int]:
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, int) and not isinstance(part, bool):
            yield part
        elif isinstance(part, str) and _ID.fullmatch(part):
            yield int(part.lstrip("#＃"))
