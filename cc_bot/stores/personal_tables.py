"""The tables that hold something about a user: all of them, in one place.

What is shown, exported and counted for a user is read by this list alone, so that nothing can be in one and
not in the other. A test compares it with the schema: a new table with a user's id, or a new column, has to be
named here, or be excused there with a reason.
"""

from typing import Final

from cc_bot.stores.personal_table import PersonalTable

_MESSAGE: Final = (
    *("id", "discord_id", "session_id", "user_id", "channel_id", "thread_id", "parent_channel_id"),
    *("author_id", "author_name", "role", "content", "tool_calls", "visibility", "status"),
    *("timestamp", "created_at", "erased", "tainted"),
)
_MESSAGE_COPIES: Final = ("memory_user_id",)

OWN_MESSAGES: Final = """
    SELECT m.id FROM sessions AS s
    JOIN messages AS m ON m.session_id = s.id AND m.user_id = $1
    WHERE s.user_id = $1
    UNION ALL
    SELECT id FROM messages WHERE user_id = $1 AND session_id IS NULL
"""

OWN_FILES: Final = """
    SELECT message_id FROM attachments
    WHERE user_id = $1 AND session_id IN (SELECT id FROM sessions WHERE user_id = $1)
"""

SAID_IN_CHANNELS: Final = "SELECT id FROM messages WHERE user_id IS NULL AND author_id = $1 AND role = 'user'"

ANSWERED_IN_CHANNELS: Final = """
    SELECT a.id FROM messages AS q
    CROSS JOIN mentions AS w ON w.discord_id = q.discord_id
    CROSS JOIN messages AS a ON a.discord_id = w.answer_id AND a.user_id IS NULL AND a.role = 'assistant'
    WHERE q.user_id IS NULL AND q.author_id = $1 AND q.role = 'user'
    UNION ALL
    SELECT id FROM messages WHERE user_id IS NULL AND memory_user_id = $1
"""

PERSONAL_TABLES: Final = (
    PersonalTable(
        "settings",
        "user_settings",
        "settings",
        "user_id = $1",
        ("user_id", "locale", "timezone", "welcomed", "memory_paused", "updated_at"),
        at="updated_at",
    ),
    PersonalTable(
        "sessions",
        "sessions",
        "conversations",
        "user_id = $1",
        (
            *("id", "user_id", "channel_id", "agent", "canvas_state", "created_at", "last_active"),
            *("closed_at", "summarize", "summarized_to", "canvas_revision"),
        ),
        at="created_at",
    ),
    PersonalTable(
        "messages",
        "messages",
        "messages",
        "user_id = $1",
        _MESSAGE,
        _MESSAGE_COPIES,
        at="created_at",
        at_form="ms",
        ids=OWN_MESSAGES,
    ),
    PersonalTable(
        "channel_messages",
        "messages",
        "channel_messages",
        "user_id IS NULL AND author_id = $1 AND role = 'user'",
        _MESSAGE,
        _MESSAGE_COPIES,
        at="created_at",
        at_form="ms",
        ids=SAID_IN_CHANNELS,
    ),
    PersonalTable(
        "channel_answers",
        "messages",
        "channel_answers",
        "user_id IS NULL AND role = 'assistant'",
        _MESSAGE,
        _MESSAGE_COPIES,
        at="created_at",
        at_form="ms",
        ids=ANSWERED_IN_CHANNELS,
    ),
    PersonalTable(
        "attachments",
        "attachments",
        "files",
        "user_id = $1 AND session_id IN (SELECT id FROM sessions WHERE user_id = $1)",
        ("message_id", "position", "session_id", "user_id", "name", "content_type", "data"),
        ids=OWN_FILES,
        id_column="message_id",
        at_a_time=1,  # a message has 20 MB of them
    ),
    PersonalTable(
        "summaries",
        "summaries",
        "summaries",
        "user_id = $1",
        (
            *("id", "user_id", "channel_id", "agent", "visibility", "session_id", "content"),
            *("first_message_id", "last_message_id", "created_at", "tainted"),
        ),
        at="created_at",
        at_form="ms",
    ),
    PersonalTable(
        "memories",
        "memories",
        "memories",
        "user_id = $1",
        (
            *("id", "number", "user_id", "content", "category", "tags", "metadata", "audience", "created_at"),
            *("updated_at", "status", "supersedes", "source", "expires_at", "deleted_at"),
            "pinned",
        ),
        ("search_content", "search_tags", "likeness", "terms_version", "place", "keys"),
        at="created_at",
        ids="SELECT id FROM memories WHERE user_id = $1",
    ),
    PersonalTable(
        "schedules",
        "schedules",
        "schedules",
        "user_id = $1",
        (
            *(
                "id",
                "number",
                "user_id",
                "channel_id",
                "agent",
                "guild_id",
                "kind",
                "place",
                "visibility",
                "text",
            ),
            *("due_at", "repeat", "timezone", "quiet", "status", "obstacle", "created_at", "locale"),
            *("advanced_at", "tainted"),
        ),
        at="created_at",
        at_form="ms",
    ),
    PersonalTable(
        "proposals",
        "proposals",
        "proposals",
        "user_id = $1",
        (
            *(
                "id",
                "number",
                "user_id",
                "channel_id",
                "agent",
                "message_id",
                "visibility",
                "memory_id",
                "change",
            ),
            "made_at",
        ),
        at="made_at",
        at_form="ms",
    ),
    PersonalTable(
        "receipts",
        "receipts",
        "receipts",
        "user_id = $1",
        ("message_id", "line", "user_id", "channel_id", "visibility", "what", "named_id", "button", "stale"),
    ),
    PersonalTable(
        "firings",
        "firings",
        "deliveries",
        "user_id = $1",
        (
            *("schedule_id", "due_at", "user_id", "state", "claimed_at", "message_id", "reported"),
            "claimed_by",
        ),
        at="due_at",
        at_form="ms",
    ),
    PersonalTable(
        "heartbeat_marks", "heartbeat_marks", "deliveries", "user_id = $1", ("user_id", "name", "until")
    ),
    PersonalTable(
        "agent_choices",
        "agent_choices",
        "choices",
        "user_id = $1",
        ("user_id", "channel_id", "agent", "chosen_at"),
        at="chosen_at",
    ),
    PersonalTable(
        "canvas_messages",
        "canvas_messages",
        "choices",
        "user_id = $1",
        ("user_id", "channel_id", "agent", "message_id", "shown_revision"),
    ),
    PersonalTable(
        "turns",
        "turns",
        "turns",
        "user_id = $1",
        (
            *("id", "user_id", "channel_id", "agent", "guild_id", "state", "kind", "visibility", "temporary"),
            *("locale", "question", "question_id", "replaces", "interaction_id", "token_until", "ephemeral"),
            *("below", "shown_in", "place_id", "pages", "earlier", "answer_id", "accepted_at", "former"),
        ),
        ("token",),
        at="accepted_at",
        at_form="ms",
    ),
    PersonalTable("turn_calls", "turn_calls", "turns", "user_id = $1", ("turn", "user_id", "calls")),
    PersonalTable(
        "usage",
        "usage",
        "usage",
        "user_id = $1",
        (
            *("day", "user_id", "guild_id", "model", "purpose", "turns", "prompt_tokens"),
            *("cached_tokens", "completion_tokens", "cost_micros"),
        ),
        at="day",
        at_form="day",
    ),
    PersonalTable(
        "reservations",
        "reservations",
        "usage",
        "user_id = $1",
        ("id", "user_id", "guild_id", "front_end", "purpose", "model", "tokens", "at"),
        at="at",
        at_form="ms",
    ),
    PersonalTable(
        "erased_usage",
        "erased_usage",
        "counts",
        "user_id = $1",
        ("user_id", "day", "tokens"),
        at="day",
        at_form="day",
    ),
    PersonalTable(
        "limits",
        "limits",
        "rules",
        "scope = 'user' AND scope_id = $1",
        ("scope", "scope_id", "name", "value", "set_by", "set_at"),
        at="set_at",
    ),
    PersonalTable(
        "access_rules",
        "access_rules",
        "rules",
        "subject = 'user' AND subject_id = $1",
        ("subject", "subject_id", "rule", "set_by", "set_at"),
        at="set_at",
    ),
    PersonalTable(
        "decided_agents",
        "channel_agents",
        "decisions",
        "set_by = $1",
        ("channel_id", "guild_id", "agent", "set_by", "set_at"),
        at="set_at",
    ),
    PersonalTable(
        "decided_models",
        "channel_models",
        "decisions",
        "set_by = $1",
        ("channel_id", "models", "set_by", "set_at"),
        at="set_at",
    ),
    PersonalTable(
        "decided_limits",
        "limits",
        "decisions",
        "set_by = $1",
        ("scope", "scope_id", "name", "value", "set_by", "set_at"),
        at="set_at",
    ),
    PersonalTable(
        "decided_access",
        "access_rules",
        "decisions",
        "set_by = $1",
        ("subject", "subject_id", "rule", "set_by", "set_at"),
        at="set_at",
    ),
    PersonalTable(
        "decided_maintenance",
        "maintenance",
        "decisions",
        "set_by = $1",
        ("id", "note", "set_by", "set_at"),
        at="set_at",
    ),
)

DERIVED_TABLES: Final = (
    *("memory_vectors", "memory_sketches", "memory_segments", "memory_chunks", "memory_postings"),
    *("memory_usage", "numbers"),
)
"""Made of memories (and reminders, proposals) so that they are found, counted and numbered: erased with them,
and nothing that a person could read."""

CHANNEL_READING_STATEMENTS: Final = frozenset(
    statement
    for table in PERSONAL_TABLES
    if table.name in ("channel_messages", "channel_answers")
    for statement in (table.ids, table.statement, table.counting)
)
"""On what was said in channels, which belongs to nobody alone."""
