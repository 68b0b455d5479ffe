"""How PostgreSQL finds what a turn asks for, in tables that are filled: never by sorting more than a page,
nor by reading a table from its beginning to its end."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest

from cc_bot.domain import SessionKey
from cc_bot.domain.member import ModelUsage, UsageSubject
from cc_bot.domain.turn import PendingTurn, Usage
from cc_bot.storage import EVERYBODY, Database, Statement, user
from cc_bot.stores import ReservationRequest, Settlement
from cc_bot.stores.memory.index import fold_in
from tests.stores.backends import Recorder, stores_over, turn
from tests.stores.places import BOT, CHANNEL, answer, said

pytestmark = pytest.mark.postgresql("its own plans")

USER: Final = 123456789012345678
KEY: Final = SessionKey(USER, CHANNEL.channel_id)
GUILD: Final = 77

_AT: Final = """to_char(timestamp '2026-01-01' + g * interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS')"""
_DAY: Final = "'2026-11-' || lpad(CAST(1 + g % 28 AS TEXT), 2, '0')"
_COUNTED: Final = {
    "sessions (id, user_id, channel_id, agent, created_at, last_active, active_hour, closed_at)": (
        f"'s' || g, 1000 + g % 700, g % 90, 'default', {_AT}, {_AT}, substr({_AT}, 1, 13),"
        f" CASE WHEN g % 5 > 0 THEN {_AT} END"
    ),
    "usage (user_id, day, guild_id, model, purpose)": f"1000 + g % 700, {_DAY}, g % 9, 'model', 'turn'",
    "usage_totals (guild_id, day, model, slot)": f"g % 900, {_DAY}, 'model', 0",
    "reservations (id, user_id, guild_id, front_end, purpose, model, tokens, at)": (
        "g, 1000 + g % 700, g % 900, 'discord', 'turn', 'model', 10, g"
    ),
    "turns (id, user_id, channel_id, agent, state, kind, visibility, accepted_at)": (
        "'t' || g, 1000 + g, 5, 'default', 'accepted', 'message', 'private', g"
    ),
    "user_settings (user_id, locale, updated_at)": "g, 'ja', ''",
    "agent_choices (user_id, channel_id, agent, chosen_at)": "g % 1000, g, 'default', ''",
    "thread_metadata (thread_id, bot_id, channel_id, last_reset_row_id, last_reset_discord_message_id,"
    " last_reset_at)": "g, 0, g, 0, 0, 0",
    "block_boundaries (channel_id, first_message_id, last_message_id, token_count, created_at)": (
        "g % 200, g, g, 9, 0"
    ),
    "channel_windows (channel_id, first_message_id)": "g, g",
    "mentions (discord_id, channel_id, answer_id, answered, shown, created_at)": "g, g % 90, g, 1, 1, 0",
    "answer_pages (discord_id, answer_id)": "g, g",
    "memories (user_id, content, category, created_at, updated_at, search_content)": (
        "1000 + g % 700, 'メモ', 'general', '', '', 'メモ'"
    ),
    "memory_segments (user_id, segment, filled, documents, total_length, keys)": (
        "1000 + g % 700, g, 1, 1, 1, ''"
    ),
    "memory_chunks (user_id, chunk, documents, total_length)": "1000 + g % 700, g, 1, 1",
    "memory_sketches (user_id, after_id, last_id, model, memory_ids, bits)": (
        "1000 + g % 700, g, g, 'm', '', ''"
    ),
}
"""By table and columns, what is in the row with the number g."""
_MESSAGES: Final = (
    "INSERT INTO messages (session_id, user_id, channel_id, parent_channel_id, author_id, role, content,"
    " timestamp, created_at, discord_id)"
)
FILLED: Final = (
    *(
        f"INSERT INTO {into} SELECT {values} FROM generate_series(1, 5000) AS g ON CONFLICT DO NOTHING"
        for into, values in _COUNTED.items()
    ),
    f"""
    {_MESSAGES}
    SELECT s.id, s.user_id, s.channel_id, s.channel_id, s.user_id, 'user', 'こんにちは',
        g, g, 1000000 + n * 100 + g
    FROM (SELECT *, row_number() OVER () AS n FROM sessions) AS s, generate_series(1, 12) AS g
    """,
    f"""
    {_MESSAGES}
    SELECT NULL, NULL, g % 90, g % 90, 1000 + g % 700, 'user', 'はい', g, g, g
    FROM generate_series(1, 20000) AS g
    """,
    """
    INSERT INTO attachments (message_id, session_id, user_id, position, name, content_type, data)
    SELECT id, session_id, user_id, 0, 'a.txt', 'text/plain', ''
    FROM messages WHERE session_id IS NOT NULL AND id % 6 = 0
    """,
    """
    INSERT INTO summaries (user_id, channel_id, agent, visibility, session_id, content, first_message_id,
        last_message_id, created_at)
    SELECT 1000 + g, 5, 'default', 'public', (SELECT min(id) FROM sessions), 'まとめ', 1, 2, g
    FROM generate_series(1, 3000) AS g
    """,
    """
    INSERT INTO memory_vectors (user_id, memory_id, model, vector)
    SELECT user_id, id, 'm', '' FROM memories
    """,
    """
    INSERT INTO proposals (user_id, channel_id, agent, message_id, visibility, change, made_at, number)
    SELECT user_id, channel_id, 'default', id, 'public', '{}', 0, id
    FROM messages WHERE user_id IS NOT NULL AND id % 10 = 0
    """,
)
A_PAGE: Final = 100
"""Rows that may be sorted: what waits in a place, or in the index of a user."""
OF_OWNERS: Final = frozenset({"limits", "access_rules", "maintenance", "channel_models", "channel_agents"})
"""What owners and managers set is little, and read as a whole."""


@pytest.fixture
async def filled(database: Database) -> Database:
    for sql in FILLED:
        await database.transaction([Statement(sql)], [EVERYBODY])
    await database.transaction([Statement("ANALYZE")], [EVERYBODY])
    return database


async def answer_once(database: Database) -> Sequence[Statement]:
    """What is asked of the database for a turn that is admitted, answered and shown."""
    recorder = Recorder(database)
    stores = stores_over(recorder)
    payer = UsageSubject(USER, GUILD)
    begun = PendingTurn("t", KEY, "ask", "public", stores.usage.now())
    await stores.access.get_visit(USER, [KEY.channel_id])
    wish = ReservationRequest(payer, "turn", "model", 100)
    reservation = await stores.usage.reserve(wish, {}, begun)
    session = await stores.sessions.open(KEY)
    used = Settlement(reservation, ((ModelUsage("model", Usage(prompt_tokens=9)), 0),))
    await stores.sessions.archive_turn(session, turn("やあ"), entry="t", settlement=used)
    await stores.ledger.mark_settled("t", USER)
    return recorder.statements


async def answer_in_channel(database: Database, first_id: int) -> Sequence[Statement]:
    """What is asked of the database for a message in a channel, and the answer to it."""
    recorder = Recorder(database)
    stores = stores_over(recorder)
    question = said(first_id)
    await stores.channels.add(CHANNEL, question, waiting=True)
    waiting = await stores.mentions.list_waiting(CHANNEL)
    await stores.blocks.get_state(CHANNEL, bot_id=BOT, blocks=20)
    await stores.mentions.begin(CHANNEL, waiting, first_id)
    await stores.channels.archive_answer(CHANNEL, answer(first_id + 1), waiting)
    await stores.mentions.mark_shown(CHANNEL, first_id + 1)
    return recorder.statements


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


async def plan_of(database: Database, statement: Statement, *, run: bool = False) -> list[dict[str, Any]]:
    explain = Statement(
        f"EXPLAIN ({'ANALYZE, ' if run else ''}FORMAT JSON) {statement.sql}", statement.params
    )
    [[[told]]] = await database.transaction([explain], [EVERYBODY])
    return [*nodes(json.loads(told)[0]["Plan"])]


async def costly(database: Database, statements: Sequence[Statement]) -> list[tuple[str, str]]:
    return [
        (" ".join(statement.sql.split()), f"{node['Node Type']} {node.get('Relation Name', '')}")
        for statement in statements
        for found in [await plan_of(database, statement)]
        if not {node["Relation Name"] for node in found if "Relation Name" in node} <= OF_OWNERS
        for node in found
        if node["Node Type"] == "Seq Scan" or ("Sort" in node["Node Type"] and node["Plan Rows"] > A_PAGE)
    ]


class TestPlans:
    async def test_of_turns_answers_and_searches_sort_little_and_read_no_table_from_end_to_end(
        self, filled: Database
    ) -> None:
        await answer_once(filled)  # of a user who has been there before
        await answer_in_channel(filled, 10**18)
        recorder = Recorder(filled)
        stores = stores_over(recorder)
        for number in range(20):
            await stores.memories.add(USER, f"猫が{number}匹います")
        await filled.write(lambda: fold_in(USER), [user(USER)])
        recorder.statements.clear()
        assert await stores.memories.search(USER, "猫")
        of_turn, of_answer = await answer_once(filled), await answer_in_channel(filled, 10**18 + 100)
        assert (len(of_turn) > 15, len(of_answer) > 10) == (True, True)
        assert await costly(filled, [*of_turn, *of_answer, *recorder.statements]) == []
