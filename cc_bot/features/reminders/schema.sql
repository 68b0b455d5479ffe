CREATE TABLE schedules (
    id          @id,               -- buttons name it
    user_id     @number NOT NULL,
    number      @number,           -- shown to users; NULL for a heartbeat
    channel_id  @number NOT NULL,
    agent       @text NOT NULL DEFAULT 'default',
    guild_id    @number,
    kind        @text NOT NULL CHECK (kind IN ('reminder', 'heartbeat')),
    place       @text NOT NULL CHECK (place IN ('channel', 'dm', 'terminal')),
    visibility  @text NOT NULL DEFAULT 'public' CHECK (visibility IN ('public', 'private')),
    text        @text NOT NULL DEFAULT '',
    due_at      @number NOT NULL,           -- Unix milliseconds
    repeat      @text NOT NULL DEFAULT '',  -- cron, or 'every 6h'; empty: once
    timezone    @text NOT NULL,
    quiet       @text,                      -- JSON: minutes after midnight, since and until; NULL: none
    status      @text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'done')),
    obstacle    @text NOT NULL DEFAULT '',  -- why the schedule is paused; empty: the user paused it
    locale      @text NOT NULL DEFAULT '',  -- of the user, if known when the schedule was made
    tainted     @number NOT NULL DEFAULT 1,
    created_at  @number NOT NULL,           -- Unix milliseconds
    advanced_at @number NOT NULL            -- when due_at was computed; if later than now, the clock was set back
) @strict;

-- Serves: finding the next schedules that are due, of all users.
CREATE INDEX schedules_due ON schedules (due_at) WHERE status = 'active';
-- Serves: finding schedules computed before the clock was set back.
CREATE INDEX schedules_rewound ON schedules (advanced_at) WHERE status = 'active' AND repeat <> '';
-- Serves: deleting schedules that ended long ago.
CREATE INDEX schedules_done ON schedules (due_at) WHERE status = 'done';
-- Serves: listing a user's schedules.
CREATE INDEX schedules_by_user ON schedules (user_id, status, due_at);
-- Serves: finding a schedule by its number.
CREATE INDEX schedules_by_number ON schedules (user_id, number) WHERE number IS NOT NULL;
-- Each user has at most one heartbeat.
CREATE UNIQUE INDEX schedules_heartbeat ON schedules (user_id) WHERE kind = 'heartbeat';

-- Each time of each schedule. Only the process that inserts the row sends the message.
CREATE TABLE firings (
    schedule_id @number NOT NULL,
    due_at      @number NOT NULL,  -- Unix milliseconds
    user_id     @number NOT NULL,
    state       @text NOT NULL CHECK (state IN ('claimed', 'sent', 'skipped', 'missed', 'uncertain', 'failed')),
    claimed_by  @text NOT NULL,    -- random name of the process
    claimed_at  @number NOT NULL,  -- Unix milliseconds
    message_id  @number,           -- on Discord; NULL until the message is posted
    reported    @number NOT NULL DEFAULT 0 CHECK (reported IN (0, 1)),  -- 1: the user knows that the time was missed
    reported_by @text,             -- the process that is reporting a missed time; NULL: none
    PRIMARY KEY (schedule_id, due_at)  -- serves: claiming
) @clustered;

-- Serves: finding open claims and unreported times.
CREATE INDEX firings_open ON firings (claimed_at) WHERE state = 'claimed';
CREATE INDEX firings_unreported ON firings (user_id, due_at) WHERE state IN ('missed', 'uncertain') AND reported = 0;
CREATE INDEX firings_being_reported ON firings (reported_by) WHERE reported_by IS NOT NULL;
-- Serves: deleting old firings.
CREATE INDEX firings_by_time ON firings (due_at);
-- Serves: finding a user's firings.
CREATE INDEX firings_by_user ON firings (user_id);
-- See the end of db/migrations/0001_schema.sql.
@postgresql ALTER TABLE schedules ALTER COLUMN text SET STATISTICS 0;
