CREATE TABLE schedules (
    id          @id,               -- buttons name it
    user_id     @number NOT NULL,
    number      @number,           -- NULL: a heartbeat, of which each user has one
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
    obstacle    @text NOT NULL DEFAULT '',  -- why it is paused; empty: its user paused it
    locale      @text NOT NULL DEFAULT '',  -- of its user, as far as it was known when it was made
    tainted     @number NOT NULL DEFAULT 1,
    created_at  @number NOT NULL,           -- Unix milliseconds
    advanced_at @number NOT NULL            -- when due_at was worked out; if later than now, the clock went back
) @strict;

-- Serves: what is due next, of all users.
CREATE INDEX schedules_due ON schedules (due_at) WHERE status = 'active';
-- Serves: what was worked out by a clock that was put back since.
CREATE INDEX schedules_rewound ON schedules (advanced_at) WHERE status = 'active' AND repeat <> '';
-- Serves: deleting what was done long ago.
CREATE INDEX schedules_done ON schedules (due_at) WHERE status = 'done';
-- Serves: a user's own.
CREATE INDEX schedules_by_user ON schedules (user_id, status, due_at);
-- Serves: what a user means by a number.
CREATE INDEX schedules_by_number ON schedules (user_id, number) WHERE number IS NOT NULL;
-- One heartbeat a user.
CREATE UNIQUE INDEX schedules_heartbeat ON schedules (user_id) WHERE kind = 'heartbeat';

-- Each time of each schedule. The process that inserts its row sends it, and no other.
CREATE TABLE firings (
    schedule_id @number NOT NULL,
    due_at      @number NOT NULL,  -- Unix milliseconds
    user_id     @number NOT NULL,
    state       @text NOT NULL CHECK (state IN ('claimed', 'sent', 'skipped', 'missed', 'uncertain', 'failed')),
    claimed_by  @text NOT NULL,    -- a random name of the process
    claimed_at  @number NOT NULL,  -- Unix milliseconds
    message_id  @number,           -- as Discord counts it, once it is posted
    reported    @number NOT NULL DEFAULT 0 CHECK (reported IN (0, 1)),  -- its user knows that it was missed
    told_by     @text,             -- the process that is reporting that; if it dies, another does; NULL: none
    PRIMARY KEY (schedule_id, due_at)  -- serves: claiming
) @clustered;

-- Serves: unsettled claims, and what is still to be reported.
CREATE INDEX firings_open ON firings (claimed_at) WHERE state = 'claimed';
CREATE INDEX firings_unreported ON firings (user_id, due_at) WHERE state IN ('missed', 'uncertain') AND reported = 0;
CREATE INDEX firings_being_told ON firings (told_by) WHERE told_by IS NOT NULL;
-- Serves: deleting what is long over.
CREATE INDEX firings_by_time ON firings (due_at);
-- Serves: all of a user's own.
CREATE INDEX firings_by_user ON firings (user_id);
-- See the end of db/migrations/0001_schema.sql.
@postgresql ALTER TABLE schedules ALTER COLUMN text SET STATISTICS 0;
