-- Which lines below answers on Discord tell of what was done to a memory or reminder and can be taken back. Whoever
-- changes one finds them, so that no line goes on telling what no longer holds. No text stands here.
CREATE TABLE receipts (
    message_id INTEGER NOT NULL,    -- as Discord counts it: the last of an answer
    line       INTEGER NOT NULL,    -- among what the message states, from 0
    user_id    INTEGER NOT NULL,
    channel_id INTEGER NOT NULL,
    visibility TEXT NOT NULL CHECK (visibility IN ('public', 'private')),
    what       TEXT NOT NULL CHECK (what IN ('memory', 'schedule')),
    named_id   INTEGER NOT NULL,
    button     TEXT NOT NULL,       -- the custom id of what takes it back
    stale      INTEGER NOT NULL DEFAULT 0,  -- how often what it names has changed since its message was shown
    PRIMARY KEY (message_id, line)  -- serves: those of one message
) WITHOUT ROWID;

-- Serves: where a memory or reminder is told of.
CREATE INDEX receipts_by_named ON receipts (user_id, what, named_id);

-- Serves: what is shown anew at a start, since the last run was ended before it was.
CREATE INDEX receipts_stale ON receipts (user_id, message_id) WHERE stale > 0;

CREATE TRIGGER memories_retold AFTER UPDATE OF status, content, supersedes ON memories BEGIN
    UPDATE receipts SET stale = stale + 1 WHERE user_id = old.user_id AND what = 'memory' AND named_id = old.id;
END;

CREATE TRIGGER memories_untold AFTER DELETE ON memories BEGIN
    UPDATE receipts SET stale = stale + 1 WHERE user_id = old.user_id AND what = 'memory' AND named_id = old.id;
END;

-- One that has rung for the last time was not cancelled.
CREATE TRIGGER schedules_untold AFTER DELETE ON schedules WHEN old.status <> 'done' BEGIN
    UPDATE receipts SET stale = stale + 1 WHERE user_id = old.user_id AND what = 'schedule' AND named_id = old.id;
END;
