-- The schema of both engines; the tables of features are in their `schema.sql`. `@number`, `@text` and the like are
-- fragments of db/database.py. A line that begins with `@sqlite` or `@postgresql` is for that engine only.
--
-- Discord's ids are numbers. Times are UTC: ISO 8601 text in sessions, memories and user_settings (with microseconds,
-- so that text order is time order), Unix milliseconds elsewhere. Booleans are 0 or 1. `thread_id` is 0 for the channel
-- itself. "Serves" lists the queries that use an index. On PostgreSQL no index has a text that people write, as an
-- entry has at most 2,700 bytes.

-- ---- conversations -------------------------------------------------------------------------------------------------

CREATE TABLE sessions (
    id              @text PRIMARY KEY,  -- a UUID; also serves: commit of a turn
    user_id         @number NOT NULL,
    channel_id      @number NOT NULL,   -- a thread is a channel of its own, and so is a DM
    agent           @text NOT NULL,
    canvas_state    @text NOT NULL DEFAULT '{"elements":[]}',
    canvas_revision @number NOT NULL DEFAULT 0,  -- grows with each change; the key's next session continues it
    canvas_change   @number NOT NULL DEFAULT 0,  -- canvas_clock.drawn at the newest change
    created_at      @text NOT NULL,
    last_active     @text NOT NULL,
    active_hour     @text NOT NULL DEFAULT '',   -- the hour of last_active, 2026-11-26T18: its index changes rarely
    closed_at       @text,              -- by /clear, expiry or deletion; NULL while the session is open
    deleted_at      @text,              -- by its user, who may undo it for 10 minutes; then the row goes
    -- Messages up to summarized_to (0: none) are in a summary, or were in one that the user deleted. `summarize` is 1
    -- while later messages may still be summarized: until /clear, or until all messages of an expired session were.
    summarize       @number NOT NULL DEFAULT 1 CHECK (summarize IN (0, 1)),
    summarized_to   @number NOT NULL DEFAULT 0
) @strict;

-- At most one open session per key. Serves: open, clear.
CREATE UNIQUE INDEX sessions_open_by_key ON sessions (user_id, channel_id, agent) WHERE closed_at IS NULL;
-- Serves: closing idle sessions, catching up with the DMs of open ones.
CREATE INDEX sessions_open_by_hour ON sessions (active_hour) WHERE closed_at IS NULL;
-- Serves: deleting for good, showing no summary of a deleted session.
CREATE INDEX sessions_deleted ON sessions (user_id, channel_id, agent) WHERE deleted_at IS NOT NULL;
-- Serves: pruning, in pages.
CREATE INDEX sessions_by_creation ON sessions (created_at, id);
-- Serves: listing a user's sessions, newest first; erasing them.
CREATE INDEX sessions_by_user ON sessions (user_id, created_at, id);
-- Serves: finding a key's messages that are in no summary, /clear, deleting a summary.
CREATE INDEX sessions_to_summarize ON sessions (user_id, channel_id, agent, closed_at) WHERE summarize = 1;
-- Serves: finding expired sessions of all keys that need a summary.
CREATE INDEX sessions_to_summarize_by_end ON sessions (closed_at) WHERE summarize = 1 AND closed_at IS NOT NULL;
-- Serves: the current canvas of a key without an open session; all canvases of a key.
CREATE INDEX sessions_with_canvas ON sessions (user_id, channel_id, agent, closed_at) WHERE canvas_revision > 0;
-- Serves: listing the canvases that have changed.
CREATE INDEX sessions_by_canvas_change ON sessions (canvas_change) WHERE canvas_change > 0;

-- One row, in which pages that show canvases look for changes.
CREATE TABLE canvas_clock (
    id    @number PRIMARY KEY CHECK (id = 1),
    drawn @number NOT NULL,  -- the number of the newest change of any canvas
    moved @number NOT NULL   -- grows if a user may have another current canvas: an agent was chosen, a session deleted
) @strict;
INSERT INTO canvas_clock (id, drawn, moved) VALUES (1, 0, 0);

-- The archive of all messages. A session's history is the tail of its messages.
-- `user_id` is the owner of the session; it is NULL for messages of a channel. It repeats sessions.user_id, so that
-- each statement on messages can name the owner.
CREATE TABLE messages (
    id                @id,                      -- buttons carry it
    discord_id        @number,
    session_id        @text REFERENCES sessions (id),  -- NULL: in no history (channels, heartbeats)
    user_id           @number,
    channel_id        @number NOT NULL,
    thread_id         @number NOT NULL DEFAULT 0,
    parent_channel_id @number NOT NULL,
    author_id         @number NOT NULL,
    author_name       @text NOT NULL DEFAULT '',
    role              @text NOT NULL CHECK (role IN ('user', 'assistant')),
    content           @text NOT NULL,
    heard             @text NOT NULL DEFAULT '',       -- the transcript of its recordings, with which `content` ends
    tool_calls        @text NOT NULL DEFAULT '[]',
    visibility        @text NOT NULL DEFAULT 'public' CHECK (visibility IN ('public', 'private')),
    status            @text NOT NULL DEFAULT 'complete' CHECK (status IN ('complete', 'stopped', 'cut', 'replaced')),
    reply_to          @number,                         -- the Discord id of the message that it replies to
    pointing          @text NOT NULL DEFAULT 'reply',  -- how: 'reply', or by that message's menu: 'menu', 'since'
    in_channel        @number NOT NULL DEFAULT 0 CHECK (in_channel IN (0, 1)),  -- 1: a session's, shown to its channel
    memory_user_id    @number,                         -- of an answer in a channel: the user whose memories it used
    tainted           @number NOT NULL DEFAULT 1,      -- has, or was made from, text of others
    erased            @number NOT NULL DEFAULT 0 CHECK (erased IN (0, 1)),  -- 1: an edit on Discord is not stored
    timestamp         @number NOT NULL,                -- when it was written, ms
    created_at        @number NOT NULL                 -- when it was stored, ms
) @strict;

-- Serves: the history (read backwards), deleting attachments that left it, session_history. With the session alone,
-- PostgreSQL would read and sort all its messages.
@sqlite CREATE INDEX messages_by_session ON messages (session_id, id) WHERE session_id IS NOT NULL;
@postgresql CREATE INDEX messages_by_session ON messages (session_id, user_id, id) WHERE session_id IS NOT NULL;
-- One row per Discord message.
CREATE UNIQUE INDEX messages_by_discord_id ON messages (discord_id) WHERE discord_id IS NOT NULL;
-- Serves: the context of a channel or thread, its newest message, whether it has messages, deleting it. It has no rows
-- of sessions, which queries of a channel would have to skip.
CREATE INDEX messages_by_channel ON messages (parent_channel_id, thread_id, discord_id)
    WHERE user_id IS NULL AND discord_id IS NOT NULL;
-- Serves: the newest answer of a channel or thread.
CREATE INDEX messages_answers_by_channel ON messages (parent_channel_id, thread_id, discord_id)
    WHERE user_id IS NULL AND role = 'assistant' AND discord_id IS NOT NULL;
-- Serves: the context of a channel or thread, for messages of sessions.
CREATE INDEX messages_asked_in_channel ON messages (parent_channel_id, thread_id, discord_id)
    WHERE in_channel = 1 AND discord_id IS NOT NULL;
-- Serves: listing and erasing a user's messages in channels.
CREATE INDEX messages_by_author ON messages (author_id) WHERE user_id IS NULL AND role = 'user';
-- Serves: finding the answers that refer to a memory, to erase it there too.
CREATE INDEX messages_by_memory_user ON messages (memory_user_id, id) WHERE memory_user_id IS NOT NULL;
-- Serves: a user's newest reminder or heartbeat in a channel.
CREATE INDEX messages_unasked ON messages (user_id, channel_id, id) WHERE session_id IS NULL AND user_id IS NOT NULL;

-- The bytes of files, as long as their message is in a history. Owner and session are repeated, so that files are found
-- without reading the messages of the session.
CREATE TABLE attachments (
    message_id   @number NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    position     @number NOT NULL,
    session_id   @text NOT NULL REFERENCES sessions (id),
    user_id      @number NOT NULL,
    name         @text NOT NULL,
    content_type @text NOT NULL,
    data         @blob NOT NULL,
    document     @text,    -- JSON: the text of a document's parts; NULL for images and text files
    source_id    @number,  -- the Discord id of the forward that it came with and is deleted with; NULL: of the question
    bytes        @number,  -- its size with `document`; NULL: emptied for the quota, and its user is to be informed
    PRIMARY KEY (message_id, position)
) @strict;

-- Serves: the history, deleting files that left it, deleting all files of a closed session.
CREATE INDEX attachments_by_session ON attachments (session_id, message_id, position);
-- Serves: deleting the files of a forward.
CREATE INDEX attachments_by_source ON attachments (source_id) WHERE source_id IS NOT NULL;
-- Serves: the sum of each user's files, and which is the oldest.
CREATE INDEX attachments_by_user ON attachments (user_id, message_id, position, bytes) WHERE bytes IS NOT NULL;

-- For people who read the database with other tools: every session with its history in one column.
CREATE VIEW session_history AS
SELECT
    s.id,
    s.user_id,
    s.channel_id,
    (
@sqlite        SELECT json_group_array(json_object('role', ordered.role, 'content', ordered.content))
@postgresql        SELECT CAST(coalesce(
@postgresql            json_agg(json_build_object('role', ordered.role, 'content', ordered.content)), '[]'
@postgresql        ) AS TEXT)
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

-- The newest summary of each key, which outlives its session. Public and private messages have one each, so that
-- requests whose answers others can see are not made from the private one.
CREATE TABLE summaries (
    id               @id,
    user_id          @number NOT NULL,
    channel_id       @number NOT NULL,
    agent            @text NOT NULL,
    visibility       @text NOT NULL CHECK (visibility IN ('public', 'private')),
    session_id       @text NOT NULL REFERENCES sessions (id),  -- the last session that it covers
    content          @text NOT NULL,
    tainted          @number NOT NULL DEFAULT 1,
    first_message_id @number NOT NULL,
    last_message_id  @number NOT NULL,
    created_at       @number NOT NULL
) @strict;

-- Serves: every statement on this table.
CREATE UNIQUE INDEX summaries_by_key ON summaries (user_id, channel_id, agent, visibility);
-- Serves: deleting a session, which summaries refer to.
CREATE INDEX summaries_by_session ON summaries (session_id);

-- How a model's own count of tokens relates to our estimate.
CREATE TABLE token_factors (
    model      @text PRIMARY KEY,  -- serves: every statement on this table
    factor     @real NOT NULL,     -- tokens counted by the server / tokens estimated
    responses  @number NOT NULL,   -- the number of answers from which it was learned
    updated_at @text NOT NULL
) @strict;

-- The ledger of turns (chat/stores/ledger.py): questions until their answer was shown. At a start, those left here are
-- finished. The row of a session's turn is deleted when its user has seen the outcome, and with it the interaction's
-- token. The row of a mention remains: it finds the answer, and keeps a message that Discord delivers again from being
-- answered again.
CREATE TABLE turns (
    id             @text PRIMARY KEY,  -- random; nonces and buttons are made of it. Of a mention: 'q' and question_id
    user_id        @number NOT NULL,   -- the author of the question
    channel_id     @number NOT NULL,
    thread_id      @number NOT NULL DEFAULT 0,  -- of a mention; otherwise channel_id is the thread's
    agent          @text NOT NULL,
    guild_id       @number,
    -- accepted: the answer is not stored; answered: it is; interrupted: the turn failed, and the user may ask again.
    -- Of mentions only: edited: after the answer was stored; shown: the answer was shown, or will not be
    state          @text NOT NULL CHECK (state IN ('accepted', 'answered', 'edited', 'shown', 'interrupted')),
    kind           @text NOT NULL CHECK (kind IN ('ask', 'again', 'continue', 'message', 'mention')),
    visibility     @text NOT NULL CHECK (visibility IN ('public', 'private')),
    temporary      @number NOT NULL DEFAULT 0 CHECK (temporary IN (0, 1)),
    locale         @text,              -- NULL: unknown
    question       @text,              -- JSON: text, author, URLs of files; NULL if it may not be stored
    question_id    @number,            -- the Discord id, if the question is a message
    replaces       @number,            -- the id in messages of the answer that the new one replaces
    interaction_id @number,            -- Discord's
    token          @text,              -- of the interaction; NULL for a message, and after the token has expired
    token_until    @number,            -- when it expires
    ephemeral      @number NOT NULL DEFAULT 0 CHECK (ephemeral IN (0, 1)),
    below          @number NOT NULL DEFAULT 0 CHECK (below IN (0, 1)),  -- 1: the answer has only follow-ups
    shown_in       @number,            -- the first message of the answer, or of its failure
    begun_as       @number,            -- the mention of which that message's nonce is made
    place_id       @number,            -- where the bot posts without a token: answers to messages, late ones
    pages          @text NOT NULL DEFAULT '[]',  -- JSON: the follow-ups; of a late answer, all its messages
    earlier        @text NOT NULL DEFAULT '[]',  -- JSON: the messages of the replaced answer above `shown_in`
    answer_id      @number,            -- the id in messages of the stored answer
    former         @text,              -- the id of the interrupted turn that this one asks again
    -- JSON, as in messages: the calls that have changed something, until the answer is stored. If the program is killed
    -- before that, they are reported, and not made again. A call without a result may have been made or not.
    calls          @text NOT NULL DEFAULT '[]',
    process        @text NOT NULL DEFAULT '',  -- runs the turn; if it is not in `processes`, others finish the turn
    accepted_at    @number NOT NULL
) @strict;

-- Serves: listing and erasing a user's turns.
CREATE INDEX turns_by_user ON turns (user_id);
-- Serves: finding unfinished and interrupted turns of sessions.
CREATE INDEX turns_of_sessions ON turns (process) WHERE kind <> 'mention';
-- Serves: the edit or the deletion of a question.
CREATE INDEX turns_by_question ON turns (question_id) WHERE question_id IS NOT NULL;
-- Serves: the mentions to process, in one channel or in all.
CREATE INDEX turns_due ON turns (channel_id, thread_id, state, question_id) WHERE kind = 'mention' AND state <> 'shown';
-- Serves: the questions of an answer.
CREATE INDEX turns_by_answer ON turns (shown_in, question_id) WHERE kind = 'mention';

-- ---- conversations of channels -------------------------------------------------------------------------------------
-- Their messages are in `messages`, with session_id and user_id NULL. All ids of messages here are Discord's.

-- The messages of a long answer after the first, whose id the answer has.
CREATE TABLE answer_pages (
    discord_id @number PRIMARY KEY,
    answer_id  @number NOT NULL
) @strict;

-- Serves: deleting an answer with all its pages.
CREATE INDEX answer_pages_by_answer ON answer_pages (answer_id);

-- The frozen blocks of a channel's context (chat/stores/blocks.py).
CREATE TABLE block_boundaries (
    id               @id,
    channel_id       @number NOT NULL,
    thread_id        @number NOT NULL DEFAULT 0,
    first_message_id @number NOT NULL,
    last_message_id  @number NOT NULL,
    token_count      @number NOT NULL,  -- when it was frozen
    created_at       @number NOT NULL,
    UNIQUE (channel_id, thread_id, first_message_id)
) @strict;

-- Serves: the blocks of a context, and those that a change thaws.
CREATE INDEX block_boundaries_by_last ON block_boundaries (channel_id, thread_id, last_message_id);

-- The oldest message that requests show. It moves by whole blocks, so that requests between two moves have the same
-- prefix.
CREATE TABLE channel_windows (
    channel_id       @number NOT NULL,
    thread_id        @number NOT NULL DEFAULT 0,
    first_message_id @number NOT NULL,
    PRIMARY KEY (channel_id, thread_id)
) @strict;

-- Resets: a bot does not see messages up to last_reset_discord_message_id. bot_id 0 is for all bots of the database.
CREATE TABLE thread_metadata (
    thread_id                     @number NOT NULL,  -- a thread or a channel
    bot_id                        @number NOT NULL,
    channel_id                    @number NOT NULL,  -- the channel of the thread, or the channel
    last_reset_row_id             @number NOT NULL,
    last_reset_discord_message_id @number NOT NULL,
    last_reset_at                 @number NOT NULL,
    PRIMARY KEY (thread_id, bot_id)
) @strict;

-- Serves: deleting a channel.
CREATE INDEX thread_metadata_by_channel ON thread_metadata (channel_id);

-- Which messages the bot reads, and since when. One row.
CREATE TABLE reading (
    id    @number PRIMARY KEY CHECK (id = 1),
    mode  @text NOT NULL,
    since @number NOT NULL  -- a Discord id: messages of that time and later have greater ones
) @strict;

-- The message up to which catching up skips the messages of a channel, as some were deleted here. In a channel without
-- a row, it skips messages up to the newest stored one.
CREATE TABLE read_to (
    channel_id @number NOT NULL,
    thread_id  @number NOT NULL,
    discord_id @number NOT NULL,
    PRIMARY KEY (channel_id, thread_id)  -- serves: catching up
) @clustered;

-- The known channels and threads of servers.
CREATE TABLE places (
    place_id   @number PRIMARY KEY,  -- a channel, or a thread
    channel_id @number NOT NULL,     -- the channel of the thread, or the channel
    guild_id   @number NOT NULL
) @strict;

-- Serves: deleting a channel with its threads.
CREATE INDEX places_by_channel ON places (channel_id);

-- ---- numbers -------------------------------------------------------------------------------------------------------

-- Users call their memories, schedules and proposals by numbers, which are not the rows' ids. This is the last number
-- of each, as none is used again, even after its row was erased.
CREATE TABLE numbers (
    user_id @number NOT NULL,
    noun    @text NOT NULL CHECK (noun IN ('memory', 'schedule', 'proposal')),
    last    @number NOT NULL,
    PRIMARY KEY (user_id, noun)  -- serves: giving the next one
) @clustered;

-- ---- settings and proposals ----------------------------------------------------------------------------------------

CREATE TABLE user_settings (
    user_id         @number PRIMARY KEY,  -- serves: every statement on this table
    locale          @text,
    timezone        @text,
    welcomed        @number NOT NULL DEFAULT 0 CHECK (welcomed IN (0, 1)),
    memory_paused   @number NOT NULL DEFAULT 0 CHECK (memory_paused IN (0, 1)),  -- nothing is stored or recalled
    told_of_menu_at @text,                -- the last hint at the menu of messages that the bot can't read
    spoken          @number NOT NULL DEFAULT 0 CHECK (spoken IN (0, 1)),         -- short answers are also read aloud
    updated_at      @text NOT NULL
) @strict;

-- Tool calls that wait for the user's approval (chat/stores/proposals.py). A row is deleted once it was declined, or
-- its user knows the outcome, or its answer was deleted. An approved one is claimed before its calls are made, so that
-- after a kill they are reported, and not made twice. Ids are never reused, as buttons have them.
CREATE TABLE proposals (
    id             @id,
    user_id        @number NOT NULL,
    number         @number,
    channel_id     @number NOT NULL,
    agent          @text NOT NULL,
    message_id     @number NOT NULL REFERENCES messages (id) ON DELETE CASCADE,  -- the answer
    visibility     @text NOT NULL CHECK (visibility IN ('public', 'private')),
    memory_id      @number,         -- the memory that it changes or deletes, if any
    content        @text NOT NULL,  -- JSON: the calls, the state that they depend on, and the user's description
    made_at        @number NOT NULL,
    state          @text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'claimed', 'done', 'failed', 'unknown')),
    claimed_by     @text NOT NULL DEFAULT '',  -- a name for the press of its button
    process        @text NOT NULL DEFAULT '',  -- makes the calls; if not in `processes`, others report the outcome
    place_id       @number,         -- the channel of the message that reports the outcome; NULL in the terminal
    shown_in       @number,         -- the Discord id of that message
    token          @text,           -- of the press, an interaction
    token_until    @number,
    ephemeral      @number NOT NULL DEFAULT 0
) @strict;

-- Serves: the proposals of an answer.
CREATE INDEX proposals_by_message ON proposals (message_id);
-- Serves: listing and erasing a user's proposals, also those about a memory.
CREATE INDEX proposals_by_user ON proposals (user_id, made_at);
-- Serves: approved proposals whose outcome is to be reported.
CREATE INDEX proposals_approved ON proposals (process) WHERE state <> 'open';

-- Receipts: the lines below an answer on Discord that report changes of memories and reminders. If such an item changes
-- again, its receipts are stale, and the message is edited. They have no texts.
CREATE TABLE receipts (
    message_id @number NOT NULL,   -- the Discord id of the answer's last message
    line       @number NOT NULL,   -- among the message's receipts, from 0
    user_id    @number NOT NULL,
    channel_id @number,            -- NULL: ephemeral, edited only by a press below it
    visibility @text NOT NULL CHECK (visibility IN ('public', 'private')),
    what       @text NOT NULL CHECK (what IN ('memory', 'schedule')),
    kind       @text NOT NULL DEFAULT 'added' CHECK (kind IN ('added', 'updated', 'unchanged', 'deleted', 'cancelled')),
    named_id   @number NOT NULL,
    former_id  @number,            -- the version before the change
    number     @number NOT NULL DEFAULT 0,  -- by which the user calls the item
    stale      @number NOT NULL DEFAULT 0,  -- how often the item has changed since the message was shown
    PRIMARY KEY (message_id, line) -- serves: the receipts of a message
) @clustered;

-- Serves: the receipts of a memory or reminder.
CREATE INDEX receipts_by_named ON receipts (user_id, what, named_id);
-- Serves: messages to edit.
CREATE INDEX receipts_stale ON receipts (user_id, message_id) WHERE stale > 0;

-- ---- usage, limits, access -----------------------------------------------------------------------------------------

CREATE TABLE usage (
    user_id           @number NOT NULL,
    day               @text NOT NULL,    -- YYYY-MM-DD, in the operator's time zone
    guild_id          @number NOT NULL,  -- 0: a DM, or the terminal
    model             @text NOT NULL,    -- '': the offline model, which counts no tokens
    purpose           @text NOT NULL,    -- turn, summary, heartbeat, schedule
    turns             @number NOT NULL DEFAULT 0,
    prompt_tokens     @number NOT NULL DEFAULT 0,
    cached_tokens     @number NOT NULL DEFAULT 0,
    completion_tokens @number NOT NULL DEFAULT 0,
    cost_micros       @number NOT NULL DEFAULT 0,  -- millionths of the currency of the prices
    seconds           @number NOT NULL DEFAULT 0,  -- of recordings transcribed, and of answers read aloud
    PRIMARY KEY (user_id, day, guild_id, model, purpose)  -- serves: a user's day and month
) @clustered;

-- Serves: counting the users of a server.
CREATE INDEX usage_by_guild ON usage (guild_id, day, user_id);
-- Serves: deleting old usage.
CREATE INDEX usage_by_day ON usage (day);

-- The sum of usage by server, which remains when a user's usage is erased. Its limit is checked without reading a row
-- for each member. A server's day is the sum of its slots, so that writers wait less for each other.
CREATE TABLE usage_totals (
    guild_id          @number NOT NULL,  -- 0: all DMs, and the terminal
    day               @text NOT NULL,
    model             @text NOT NULL,
    slot              @number NOT NULL DEFAULT 0,
    turns             @number NOT NULL DEFAULT 0,
    prompt_tokens     @number NOT NULL DEFAULT 0,
    cached_tokens     @number NOT NULL DEFAULT 0,
    completion_tokens @number NOT NULL DEFAULT 0,
    cost_micros       @number NOT NULL DEFAULT 0,
    seconds           @number NOT NULL DEFAULT 0,
    PRIMARY KEY (guild_id, day, model, slot)  -- serves: a server's day and month
) @clustered;

-- Serves: today's usage, deleting old usage.
CREATE INDEX usage_totals_by_day ON usage_totals (day);

-- The tokens that a user had used this month before all data of the user were erased, so that limits still count them.
CREATE TABLE erased_usage (
    user_id @number NOT NULL,
    day     @text NOT NULL,       -- the day of the erasure, or the first of the month for earlier days
    tokens  @number NOT NULL,
    PRIMARY KEY (user_id, day)    -- serves: a user's day and month
) @clustered;

-- Reservations (chat/stores/usage.py): estimated tokens, which count as used until they are settled.
CREATE TABLE reservations (
    id        @number PRIMARY KEY,  -- random
    user_id   @number NOT NULL,
    guild_id  @number NOT NULL,
    front_end @text NOT NULL CHECK (front_end IN ('discord', 'terminal')),
    purpose   @text NOT NULL,
    model     @text NOT NULL,       -- the first of the chain
    tokens    @number NOT NULL,     -- 0: settled; the row then counts for the turns of its minute
    at        @number NOT NULL,     -- Unix milliseconds
    process   @text NOT NULL DEFAULT ''
) @strict;

-- Serves: the turns of a minute, and reserved tokens.
CREATE INDEX reservations_by_user ON reservations (user_id, at);
CREATE INDEX reservations_by_guild ON reservations (guild_id, at);

-- Limits that an owner set with /admin. They replace those of the operator's file.
CREATE TABLE limits (
    scope    @text NOT NULL CHECK (scope IN ('everyone', 'user', 'role', 'guild')),
    scope_id @number NOT NULL,  -- 0: everyone
    name     @text NOT NULL,
    value    @number,           -- NULL: no limit
    set_by   @number NOT NULL,
    set_at   @text NOT NULL,
    PRIMARY KEY (scope, scope_id, name)  -- serves: each turn
) @clustered;

CREATE TABLE access_rules (
    subject    @text NOT NULL CHECK (subject IN ('user', 'role', 'channel', 'guild')),
    subject_id @number NOT NULL,
    rule       @text NOT NULL CHECK (rule IN ('allow', 'deny')),
    set_by     @number NOT NULL,
    set_at     @text NOT NULL,
    PRIMARY KEY (subject, subject_id)  -- serves: each interaction
) @clustered;

CREATE TABLE channel_models (
    channel_id @number PRIMARY KEY,  -- serves: each turn
    models     @text NOT NULL,       -- JSON: models after the first are fallbacks
    set_by     @number NOT NULL,
    set_at     @text NOT NULL
) @strict;

-- While it has its row, only owners are answered.
CREATE TABLE maintenance (
    id     @number PRIMARY KEY CHECK (id = 1),
    note   @text NOT NULL,
    set_by @number NOT NULL,
    set_at @text NOT NULL
) @strict;

-- ---- pages in a browser --------------------------------------------------------------------------------------------

-- Codes that sign in once. Only their hashes are stored, so that the file does not help to use them.
CREATE TABLE web_codes (
    hash       @text PRIMARY KEY,
    user_id    @number NOT NULL,
    channel_id @number NOT NULL,  -- where the code was made; 0: in the terminal
    guild_id   @number,
    made_at    @text NOT NULL,
    ends_at    @text NOT NULL
) @clustered;

-- Serves: erasing a user's codes.
CREATE INDEX web_codes_of_user ON web_codes (user_id);

-- Browsers that are signed in. The hash is that of the cookie.
CREATE TABLE web_sessions (
    id         @id,                   -- never reused, as an open list may name it
    hash       @text NOT NULL UNIQUE, -- serves: every request
    user_id    @number NOT NULL,
    channel_id @number NOT NULL,
    guild_id   @number,
    made_at    @text NOT NULL,
    used_at    @text NOT NULL,
    ends_at    @text NOT NULL,
    browser    @text NOT NULL DEFAULT ''  -- its name and system
) @strict;

-- Serves: listing and erasing a user's sessions.
CREATE INDEX web_sessions_of_user ON web_sessions (user_id);

-- ---- processes, erasures -------------------------------------------------------------------------------------------

-- The running processes of the bot (db/process.py).
CREATE TABLE processes (
    name         @text PRIMARY KEY,
    host         @text NOT NULL,
    version      @text NOT NULL,
    shards       @text,             -- JSON: numbers; NULL: all
    shard_count  @number NOT NULL,  -- of the whole bot; 0: this process has all or none
    file_hashes  @text NOT NULL,    -- JSON: of the operator's files, by name
    started_at   @number NOT NULL,  -- by the database's clock, as the times below
    until        @number NOT NULL,  -- when its lease expires
    connected_at @number NOT NULL DEFAULT 0  -- the last renewal with all shards connected; 0: none
) @strict;

-- Work that one process does for all.
CREATE TABLE duties (
    name    @text PRIMARY KEY,
    process @text              -- NULL, or not in `processes`: the duty is free
) @strict;

-- Users whose data are being erased. An interrupted erasure is continued at the next start.
CREATE TABLE erasing (
    user_id @number PRIMARY KEY,
    since   @number NOT NULL  -- Unix milliseconds
) @strict;

-- ---- PostgreSQL's statistics ---------------------------------------------------------------------------------------
-- ANALYZE stores samples of each column's values, which would outlive an erasure. There are none of texts that people
-- write, of secrets, and of what is computed from them.
@postgresql ALTER TABLE sessions ALTER COLUMN canvas_state SET STATISTICS 0;
@postgresql ALTER TABLE messages ALTER COLUMN author_name SET STATISTICS 0, ALTER COLUMN content SET STATISTICS 0,
@postgresql    ALTER COLUMN tool_calls SET STATISTICS 0, ALTER COLUMN heard SET STATISTICS 0;
@postgresql ALTER TABLE attachments ALTER COLUMN name SET STATISTICS 0, ALTER COLUMN data SET STATISTICS 0,
@postgresql    ALTER COLUMN document SET STATISTICS 0;
@postgresql ALTER TABLE summaries ALTER COLUMN content SET STATISTICS 0;
@postgresql ALTER TABLE turns ALTER COLUMN question SET STATISTICS 0, ALTER COLUMN token SET STATISTICS 0,
@postgresql    ALTER COLUMN pages SET STATISTICS 0, ALTER COLUMN earlier SET STATISTICS 0, ALTER COLUMN calls SET STATISTICS 0;
@postgresql ALTER TABLE proposals ALTER COLUMN content SET STATISTICS 0, ALTER COLUMN token SET STATISTICS 0;
@postgresql ALTER TABLE web_codes ALTER COLUMN hash SET STATISTICS 0;
@postgresql ALTER TABLE web_sessions ALTER COLUMN hash SET STATISTICS 0;
