-- Conversations of channels: who waits for an answer, what is frozen in blocks, and where /reset was said.
--
-- Their messages stand in `messages`, with session_id and user_id NULL. The indexes on them hold no session's
-- rows, so a channel's queries never even pass one. All ids of messages here are Discord's, and times are Unix
-- milliseconds. thread_id 0 is the channel itself.

-- Serves: the context of a channel or thread, its newest message, every place that has messages, deleting all
-- of a channel or thread.
CREATE INDEX messages_by_channel ON messages (parent_channel_id, thread_id, discord_id)
    WHERE user_id IS NULL AND discord_id IS NOT NULL;

-- Serves: the newest answer of a channel or thread, and whether there is one.
CREATE INDEX messages_answers_by_channel ON messages (parent_channel_id, thread_id, discord_id)
    WHERE user_id IS NULL AND role = 'assistant' AND discord_id IS NOT NULL;

-- Messages that are to be answered, and by what they were. A mention waits here until its answer is stored
-- (in one transaction with it), so that no crash loses one.
CREATE TABLE mentions (
    discord_id INTEGER PRIMARY KEY,
    channel_id INTEGER NOT NULL,
    thread_id  INTEGER NOT NULL DEFAULT 0,
    answer_id  INTEGER,             -- the message that shows the answer, as soon as one is posted
    answered   INTEGER NOT NULL DEFAULT 0 CHECK (answered IN (0, 1)),
    shown      INTEGER NOT NULL DEFAULT 0 CHECK (shown IN (0, 1)),  -- all of the answer that is stored
    edited     INTEGER NOT NULL DEFAULT 0 CHECK (edited IN (0, 1)), -- since it was read to be answered
    created_at INTEGER NOT NULL
);

-- Serves: who waits, in one channel or in all.
CREATE INDEX mentions_waiting ON mentions (channel_id, thread_id, discord_id) WHERE answered = 0;

-- Serves: answers that are stored and have not been shown to their end.
CREATE INDEX mentions_to_show ON mentions (channel_id, thread_id, answer_id)
    WHERE answered = 1 AND shown = 0 AND answer_id IS NOT NULL;

-- Serves: questions that were edited after they were answered.
CREATE INDEX mentions_edited ON mentions (channel_id, thread_id, discord_id)
    WHERE answered = 1 AND edited = 1 AND answer_id IS NOT NULL;

-- Serves: which questions an answer belongs to.
CREATE INDEX mentions_by_answer ON mentions (answer_id) WHERE answer_id IS NOT NULL;

-- The further messages of a long answer, whose row carries the id of the first.
CREATE TABLE answer_pages (
    discord_id INTEGER PRIMARY KEY,
    answer_id  INTEGER NOT NULL
);

-- Serves: deleting an answer with all its pages.
CREATE INDEX answer_pages_by_answer ON answer_pages (answer_id);

CREATE TABLE block_boundaries (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    channel_id       INTEGER NOT NULL,
    thread_id        INTEGER NOT NULL DEFAULT 0,
    first_message_id INTEGER NOT NULL,
    last_message_id  INTEGER NOT NULL,
    token_count      INTEGER NOT NULL,  -- as its model counted when it was frozen
    created_at       INTEGER NOT NULL,
    UNIQUE (channel_id, thread_id, first_message_id)
);

-- Serves: the blocks of a context, the last one, and those that an edit thaws.
CREATE INDEX block_boundaries_by_last ON block_boundaries (channel_id, thread_id, last_message_id);

-- The oldest message that requests still show. It moves on by whole blocks, so that requests between two
-- moves begin alike.
CREATE TABLE channel_windows (
    channel_id       INTEGER NOT NULL,
    thread_id        INTEGER NOT NULL DEFAULT 0,
    first_message_id INTEGER NOT NULL,
    PRIMARY KEY (channel_id, thread_id)
);

-- Where /reset was said: nothing up to there is read again. bot_id 0 holds for all bots of this database.
CREATE TABLE thread_metadata (
    thread_id                     INTEGER NOT NULL,  -- a thread or a channel
    bot_id                        INTEGER NOT NULL,
    channel_id                    INTEGER NOT NULL,  -- of a thread, the channel that it belongs to
    last_reset_row_id             INTEGER NOT NULL,
    last_reset_discord_message_id INTEGER NOT NULL,
    last_reset_at                 INTEGER NOT NULL,
    PRIMARY KEY (thread_id, bot_id)
);

-- Serves: deleting all of a channel.
CREATE INDEX thread_metadata_by_channel ON thread_metadata (channel_id);

-- Which messages the bot reads, and since when: what was written before that was not said to it. One row.
CREATE TABLE reading (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    mode  TEXT NOT NULL,
    since INTEGER NOT NULL  -- a moment as Discord's ids have it: all ids from then on are greater
);

-- Answers in DMs and to replies that are on their way: what of them is left at the next start was cut off.
CREATE TABLE personal_answers (
    answer_id  INTEGER PRIMARY KEY,  -- the message that shows the answer
    channel_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);
