-- What the bot says at a time that a user chose: reminders, and heartbeats.

CREATE TABLE schedules (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,  -- a number is never given twice: buttons name it
    user_id     INTEGER NOT NULL,
    channel_id  INTEGER NOT NULL,
    agent       TEXT NOT NULL DEFAULT 'default',
    guild_id    INTEGER,
    kind        TEXT NOT NULL CHECK (kind IN ('reminder', 'heartbeat')),
    place       TEXT NOT NULL CHECK (place IN ('channel', 'dm', 'terminal')),
    visibility  TEXT NOT NULL DEFAULT 'public' CHECK (visibility IN ('public', 'private')),
    text        TEXT NOT NULL DEFAULT '',
    due_at      INTEGER NOT NULL,           -- Unix milliseconds
    repeat      TEXT NOT NULL DEFAULT '',   -- cron, or 'every 6h'; empty: once
    timezone    TEXT NOT NULL,
    quiet       TEXT,                       -- JSON: minutes after midnight, since and until; NULL: none
    status      TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'done')),
    obstacle    TEXT NOT NULL DEFAULT '',   -- why it is paused; empty: its user paused it
    created_at  INTEGER NOT NULL,           -- Unix milliseconds
    locale      TEXT NOT NULL DEFAULT '',   -- of its user, as far as it was known when it was made
    advanced_at INTEGER NOT NULL            -- when due_at was worked out: later than now, the clock went back
);

-- Serves: what is due next, whoever's it is.
CREATE INDEX schedules_due ON schedules (due_at) WHERE status = 'active';

-- Serves: what was worked out by a clock that was put back since.
CREATE INDEX schedules_rewound ON schedules (advanced_at) WHERE status = 'active' AND repeat <> '';

-- Serves: deleting what was done long ago.
CREATE INDEX schedules_done ON schedules (due_at) WHERE status = 'done';

-- Serves: a user's own.
CREATE INDEX schedules_by_user ON schedules (user_id, status, due_at);

-- One heartbeat a user.
CREATE UNIQUE INDEX schedules_heartbeat ON schedules (user_id) WHERE kind = 'heartbeat';

-- Each time of each schedule: whoever writes its row first says it, and nobody else ever does.
CREATE TABLE firings (
    schedule_id INTEGER NOT NULL,
    due_at      INTEGER NOT NULL,           -- Unix milliseconds
    user_id     INTEGER NOT NULL,
    state       TEXT NOT NULL CHECK (
        state IN ('claimed', 'sent', 'skipped', 'missed', 'uncertain', 'failed')
    ),
    claimed_by  TEXT NOT NULL,              -- a random name of the process
    claimed_at  INTEGER NOT NULL,           -- Unix milliseconds
    message_id  INTEGER,                    -- as Discord counts it, once it stands there
    reported    INTEGER NOT NULL DEFAULT 0 CHECK (reported IN (0, 1)),  -- its user was told that it was missed
    PRIMARY KEY (schedule_id, due_at)       -- serves: claiming
) WITHOUT ROWID;

-- Serves: claims that nobody settled, and what is still to be told.
CREATE INDEX firings_open ON firings (claimed_at) WHERE state = 'claimed';
CREATE INDEX firings_unreported ON firings (user_id, due_at) WHERE state IN ('missed', 'uncertain') AND reported = 0;

-- Serves: deleting what is long over.
CREATE INDEX firings_by_time ON firings (due_at);

-- Serves: what was last said to a user without being asked, in one place.
CREATE INDEX messages_unasked ON messages (user_id, channel_id, id)
    WHERE session_id IS NULL AND user_id IS NOT NULL;
