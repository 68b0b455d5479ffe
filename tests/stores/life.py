"""A user of whom every table holds something, and what of it is found in the database's files."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Final

from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.receipts import ReceiptMessage
from cc_bot.db import Database, Statement
from cc_bot.domain.access import SignInOrigin
from cc_bot.domain.change import Change
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import Attachment, ChannelKey, Message, Target, ToolCall
from cc_bot.domain.proposal import CallMessage
from cc_bot.domain.session import SessionKey
from cc_bot.domain.usage import LimitKey
from cc_bot.features.agents.store import ChoiceStore
from cc_bot.features.canvas.drawing import make_redraw
from cc_bot.features.canvas.model import Card, Edit
from cc_bot.features.canvas.store import CanvasMessageStore
from cc_bot.features.heartbeat.store import HeartbeatStore
from cc_bot.features.reminders.store import ScheduleStore
from tests.proposals import proposed, remembering
from tests.stores.backends import columns_of, got, tables_of
from tests.stores.forgetting import recalled, remembered
from tests.stores.locations import answer

GUILD: Final = 1_100_000_000_000_000_001
USER_COLUMNS: Final = frozenset(
    {"user_id", "author_id", "memory_user_id", "set_by", "scope_id", "subject_id"}
)

# What no store is needed for: $1 user, $2 a question with the word, Unix milliseconds or some bytes; of a
# turn $3 Unix milliseconds
_ROWS: Final = (
    """
    INSERT INTO turns (
        id, user_id, channel_id, agent, state, kind, visibility, locale, question, token, accepted_at
    ) VALUES (
        'turn' || CAST(CAST($1 AS BIGINT) AS TEXT), $1, 2, 'default', 'accepted', 'ask', 'private', 'ja', $2,
        'token-' || $2, $3
    )
    """,
    """
    INSERT INTO usage (day, user_id, guild_id, model, purpose, turns, prompt_tokens, cost_micros)
    VALUES ('2026-11-22', $1, 7, 'mini', 'turn', 2, 300, 40), ('2026-11-23', $1, 7, 'mini', 'turn', 1, 5, 6)
    """,
    """
    INSERT INTO reservations (id, user_id, guild_id, front_end, purpose, model, tokens, at)
    VALUES (CAST($1 AS BIGINT) + 4, $1, 7, 'discord', 'turn', 'mini', 100, $2)
    """,
    "INSERT INTO erased_usage (user_id, day, tokens) VALUES ($1, '2026-11-22', 7)",
    """
    INSERT INTO maintenance (id, note, set_by, set_at) VALUES (1, '', $1, '') ON CONFLICT (id) DO NOTHING
    """,
    "INSERT INTO erasing (user_id, since) VALUES ($1, $2)",
    "INSERT INTO memory_imports (user_id, moments) VALUES ($1, '[]')",
    "INSERT INTO memory_terms (user_id, term, memory_id, occurrences) VALUES ($1, 1, 999999, 1)",
    "INSERT INTO memory_vectors (user_id, memory_id, model, vector) VALUES ($1, 999999, 'm', $2)",
)


async def live(stores: Stores, database: Database, user_id: int, word: str, *, channel: ChannelKey) -> None:
    """Do everything that leaves something in the database, and say the word wherever one can be said."""
    key = SessionKey(user_id, 2)
    memory = await stores.memories.add(user_id, f"{word}が好き", tags=(word,), metadata={"to": word})
    await stores.memories.update(user_id, memory.id, content=f"{word}が大好き")
    file = Attachment(f"{word}.txt", "text/plain", word.encode())
    for visibility in ("public", "private"):
        session = await stores.sessions.open(key, visibility=visibility)
        question = Message(
            "user", f"{word}？", visibility=visibility, author_name=word, attachments=(file,), discord_id=None
        )
        reply = Message("assistant", f"{word}です", visibility=visibility, tool_calls=(remembered(memory),))
        proposals = [proposed("notes__write", {"text": word}, title=word), remembering(f"{word}の提案")]
        stored = await stores.sessions.store_turn(
            session,
            [question, reply],
            redraw=make_redraw([Edit(Card("", word, word), visibility)]),
            proposals=proposals,
        )
    pressed = CallMessage(2, 3, "token-of-a-press", utc_now() + timedelta(minutes=14))
    assert await stores.proposals.claim(stored.proposals[0], "a1b2c3d4", pressed)
    backlog = got(await stores.summaries.get_backlog(key))
    await stores.summaries.put(backlog, {"public": f"{word}の話", "private": f"{word}の内緒話"})
    await talk(stores, user_id, word, channel=channel, first=user_id - 5)
    await stores.settings.set(user_id, timezone="Asia/Tokyo")
    await stores[ChoiceStore].choose(user_id, 2, "tutor")
    await stores[ChoiceStore].set_default(user_id + 3, GUILD, "tutor", user_id)
    await stores[CanvasMessageStore].record(key, user_id + 9, 1)
    told = ReceiptMessage(user_id, 2, user_id + 7, "public", (Change("memory", "added", memory.id),))
    await stores.receipts.put(told)
    reminder = await stores[ScheduleStore].add(key, f"{word}を買う", utc_now(), target="dm")
    locations: tuple[Target, ...] = ("dm",)
    [firing] = await stores[ScheduleStore].claim_due(utc_now(), locations, user_id=user_id, limit=1)
    assert firing.schedule.id == reminder.id
    await stores[ScheduleStore].mark_sent(
        firing, Message("assistant", f"{word}を買う", discord_id=user_id + 8)
    )
    await stores[ScheduleStore].add(key, f"また{word}", utc_now())
    await stores[HeartbeatStore].add_marks(user_id, {"memory:1": utc_now() + timedelta(hours=1)})
    await stores.web_sessions.sign_in(await stores.web_sessions.make_code(SignInOrigin(user_id, 2, 7)))
    await stores.web_sessions.make_code(SignInOrigin(user_id, 2, 7))
    await stores.limits.set(LimitKey("user", user_id, "tokens_per_day"), 5, set_by=99)
    await stores.limits.set(LimitKey("role", user_id + 1, "tokens_per_day"), 5, set_by=user_id)
    await stores.access.set("user", user_id, "allow", set_by=99)
    await stores.access.set("role", user_id + 1, "allow", set_by=user_id)
    await stores.channel_models.set(user_id + 3, (), set_by=user_id)
    now_ms = int(utc_now().timestamp() * 1000)
    said = json.dumps({"text": word})
    for sql in _ROWS:
        number = "(id, user_id, guild_id, front_end" in sql or "INTO erasing" in sql
        second: object = now_ms if number else b"\0" if "INTO memory_" in sql else said
        used = max(n for n in (1, 2, 3) if f"${n}" in sql)
        await database.transaction([Statement(sql, (user_id, second, now_ms)[:used])], ())
    kept = ToolCall("1", "schedule", "{}", json.dumps({"scheduled": {"text": word}}))
    await stores.ledger.note_calls(f"turn{user_id}", user_id, [kept])


async def talk(stores: Stores, user_id: int, word: str, *, channel: ChannelKey, first: int) -> None:
    questions = [
        Message("user", f"{word} {n}", discord_id=first + n, author_id=user_id, author_name=word)
        for n in range(2)
    ]
    for question in questions:
        await stores.channels.add(channel, question, is_question=True)
    await stores.ledger.set_mention_answer(channel, questions[:1], first + 2)
    found = await stores.memories.add(user_id, f"{word}の残り")
    given = answer(first + 2, f"{word}ですね", tool_calls=(recalled(found),))
    await stores.channels.archive_answer(channel, given, questions[:1])
    await stores.channels.add_pages(channel.location_id, first + 2, [first + 3])


async def columns(database: Database) -> dict[str, tuple[str, ...]]:
    return {table: await columns_of(database, table) for table in await tables_of(database)}


async def about(database: Database, user_id: int) -> set[tuple[str, str]]:
    found = set()
    for table, names in (await columns(database)).items():
        for name in USER_COLUMNS.intersection(names):
            if await database.query(f"SELECT 1 FROM {table} WHERE {name} = $1 LIMIT 1", user_id):
                found.add((table, name))
    return found


def left_in_files(folder: Path, *needles: bytes) -> list[tuple[str, bytes]]:
    files = [path for path in folder.iterdir() if path.name.startswith("sessions.")]
    assert any(path.name == "sessions.db" for path in files)
    return [(path.name, needle) for path in files for needle in needles if needle in path.read_bytes()]


def traces(user_id: int, word: str) -> tuple[bytes, ...]:
    assert user_id >= 2**56  # the last of nine bytes then has eight bits, and each one before it seven
    key = bytes(((user_id >> 8 + 7 * n) & 0x7F) | 0x80 for n in reversed(range(8))) + bytes([user_id & 0xFF])
    return (word.encode(), user_id.to_bytes(8, "big"), key, str(user_id).encode())
