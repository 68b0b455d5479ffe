-- What a turn has read decides what its model may do: a message, summary or reminder is tainted when it holds
-- words that its user did not write, or was made by a model that had read such words.
--
-- Of what was stored before, nobody knows it: then it counts as tainted. Reminders too: their user's own words
-- were asked for when they were made, but some words opened that gate for whatever a file said.
ALTER TABLE messages ADD COLUMN tainted INTEGER NOT NULL DEFAULT 1;
ALTER TABLE summaries ADD COLUMN tainted INTEGER NOT NULL DEFAULT 1;
UPDATE sessions SET canvas_state = json_set(
    canvas_state,
    '$.elements',
    json((
        SELECT json_group_array(json_set(each.value, '$.tainted', json('true')))
        FROM json_each(canvas_state, '$.elements') AS each
        WHERE each.type = 'object'  -- nothing else is read as an element
    ))
)
WHERE canvas_state <> '{"elements":[]}'
    AND CASE WHEN json_valid(canvas_state) THEN json_type(canvas_state, '$.elements') = 'array' END;
ALTER TABLE schedules ADD COLUMN tainted INTEGER NOT NULL DEFAULT 1;

-- Changes that a model asked for in a tainted turn and that wait for their user's word. A row goes when it is
-- decided, or its answer goes. No id is ever given twice: a button must not come to mean something else.
CREATE TABLE proposals (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL,
    channel_id  INTEGER NOT NULL,
    agent       TEXT NOT NULL,
    message_id  INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,    -- the answer it stands below
    visibility  TEXT NOT NULL CHECK (visibility IN ('public', 'private')),
    memory_id   INTEGER,            -- the memory that it changes or deletes; NULL for none
    change      TEXT NOT NULL,      -- JSON: what is to be done, and what was there before
    made_at     INTEGER NOT NULL    -- Unix milliseconds
);

-- Serves: those of an answer.
CREATE INDEX proposals_by_message ON proposals (message_id);

-- Serves: a user's own, when all of theirs is listed or erased, or one of their memories is.
CREATE INDEX proposals_by_user ON proposals (user_id, made_at);
