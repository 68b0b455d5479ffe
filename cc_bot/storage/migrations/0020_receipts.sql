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
    PRIMARY KEY (message_id, line)  -- serves: those of one message
) WITHOUT ROWID;

-- Serves: where a memory or reminder is told of.
CREATE INDEX receipts_by_named ON receipts (user_id, what, named_id);
