-- The first schema. Migrations are append-only: what stands here is never edited, a change is a new file.
--
-- Snowflakes are INTEGERs. Times are UTC: ISO 8601 text of one width in sessions, memories and user_settings
-- (so that text order is time order), Unix milliseconds in messages. Comments name what each index serves.

CREATE TABLE sessions (
    id           TEXT PRIMARY KEY,  -- a UUID; also serves: commit of a turn
    user_id      INTEGER NOT NULL,
    channel_id   INTEGER NOT NULL,  -- a thread is a channel of its own, and so is a DM
    agent        TEXT NOT NULL,
    canvas_state TEXT NOT NULL DEFAULT '{"elements":[]}',
    created_at   TEXT NOT NULL,
    last_active  TEXT NOT NULL,
    closed_at    TEXT               -- by /clear or expiry; an open session has none
);

-- At most one open session per key: whoever opens second finds the first one's. Serves: open, clear.
CREATE UNIQUE INDEX sessions_open_by_key ON sessions (user_id, channel_id, agent) WHERE closed_at IS NULL;

-- Serves: the sweep. It holds open sessions alone, so it stays small however long the bot runs.
CREATE INDEX sessions_open_by_activity ON sessions (last_active) WHERE closed_at IS NULL;

-- The archive, and the one source of what was said; a session's history is its tail.
-- user_id is the owner of the session, NULL where a row belongs to a channel alone. The owner could be found
-- through sessions, but then only a join would keep one user's rows from another's; a column of its own lets
-- every statement on messages, by id too, name the owner itself, and costs one integer per row.
CREATE TABLE messages (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,  -- buttons carry it, so it is never given twice
    discord_id        INTEGER,
    session_id        TEXT REFERENCES sessions (id),      -- NULL: in nobody's history (heartbeats)
    user_id           INTEGER,
    channel_id        INTEGER NOT NULL,
    thread_id         INTEGER NOT NULL DEFAULT 0,         -- 0: the channel itself
    parent_channel_id INTEGER NOT NULL,
    author_id         INTEGER NOT NULL,
    author_name       TEXT NOT NULL DEFAULT '',
    role              TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    content           TEXT NOT NULL,
    tool_calls        TEXT NOT NULL DEFAULT '[]',
    visibility        TEXT NOT NULL DEFAULT 'public' CHECK (visibility IN ('public', 'private')),
    status            TEXT NOT NULL DEFAULT 'complete'
                      CHECK (status IN ('complete', 'stopped', 'cut', 'replaced')),
    timestamp         INTEGER NOT NULL,                   -- when it was said, ms
    created_at        INTEGER NOT NULL                    -- when it was stored, ms
);

-- Serves: the history (read backwards from its end), the attachments that leave it, session_history.
CREATE INDEX messages_by_session ON messages (session_id, id) WHERE session_id IS NOT NULL;

-- One row per Discord message. Rows without one (most answers, the terminal) take no room in it.
CREATE UNIQUE INDEX messages_by_discord_id ON messages (discord_id) WHERE discord_id IS NOT NULL;

-- The bytes of files, as long as their message is in a history. The owner and the session stand here again so
-- that what leaves a history is found without reading the session's whole archive.
CREATE TABLE attachments (
    message_id   INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    session_id   TEXT NOT NULL REFERENCES sessions (id),
    user_id      INTEGER NOT NULL,
    name         TEXT NOT NULL,
    content_type TEXT NOT NULL,
    data         BLOB NOT NULL,
    PRIMARY KEY (message_id, position)
);

-- Serves: the history, deleting what left it, and everything when the session is closed.
CREATE INDEX attachments_by_session ON attachments (session_id, message_id, position);

CREATE TABLE memories (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,  -- people type it, so it is never given twice
    user_id        INTEGER NOT NULL,
    content        TEXT NOT NULL,
    category       TEXT NOT NULL,
    tags           TEXT NOT NULL DEFAULT '[]',
    metadata       TEXT NOT NULL DEFAULT '{}',
    audience       TEXT NOT NULL DEFAULT 'anywhere' CHECK (audience IN ('anywhere', 'private')),
    created_at     TEXT NOT NULL,
    updated_at     TEXT NOT NULL,
    search_content TEXT NOT NULL,                      -- content, folded for comparison
    search_tags    TEXT NOT NULL DEFAULT ''            -- tags, folded, each between line feeds
);

-- Serves: search, list and count of one user's memories, newest first; get, update and delete go by id.
CREATE INDEX memories_by_user ON memories (user_id, id);

CREATE TABLE user_settings (
    user_id    INTEGER PRIMARY KEY,  -- serves: every statement on this table
    locale     TEXT,
    timezone   TEXT,
    welcomed   INTEGER NOT NULL DEFAULT 0 CHECK (welcomed IN (0, 1)),
    updated_at TEXT NOT NULL
);

-- For people who read the file with other tools: every session with its history in one column.
CREATE VIEW session_history AS
SELECT
    s.id,
    s.user_id,
    s.channel_id,
    (
        SELECT json_group_array(json_object('role', ordered.role, 'content', ordered.content))
        FROM (
            SELECT tail.role, tail.content
            FROM (
                SELECT m.id, m.role, m.content
                FROM messages AS m
                WHERE m.session_id = s.id AND m.status <> 'replaced'
                ORDER BY m.id DESC
                LIMIT 20
            ) AS tail
            ORDER BY tail.id
        ) AS ordered
    ) AS history,
    s.created_at,
    s.last_active
FROM sessions AS s;
