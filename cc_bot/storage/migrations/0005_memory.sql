-- Memories that are found by what was meant, and that their owner controls.

-- active: recalled and listed. superseded: a former version, kept as the history of the memory that names it in
-- `supersedes`. deleted: hidden, and purged (with its history) once the time for an undo is over.
ALTER TABLE memories ADD COLUMN status TEXT NOT NULL DEFAULT 'active'
    CHECK (status IN ('active', 'superseded', 'deleted'));
ALTER TABLE memories ADD COLUMN supersedes INTEGER;                 -- the version before this one
ALTER TABLE memories ADD COLUMN source TEXT NOT NULL DEFAULT '{}';  -- JSON: kind, link, model, author
ALTER TABLE memories ADD COLUMN expires_at TEXT;                    -- from then on it is not recalled
ALTER TABLE memories ADD COLUMN deleted_at TEXT;

-- Near-duplicates have the same one: a hash of the text without what makes no difference.
ALTER TABLE memories ADD COLUMN likeness INTEGER NOT NULL DEFAULT 0;

-- What the text is searched by, made when it is written. Version 0: not made yet, or by rules that no longer hold.
ALTER TABLE memories ADD COLUMN terms TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN terms_version INTEGER NOT NULL DEFAULT 0;

-- By which rules that is made of the rows up to which one, while all are made anew; -1: of all. One row.
CREATE TABLE memory_rules (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    version   INTEGER NOT NULL DEFAULT 0,
    remade_to INTEGER NOT NULL DEFAULT 0
);
INSERT INTO memory_rules (id) VALUES (1);

-- Where memories came from stood in their metadata until now.
UPDATE memories SET
    source = json_object(
        'kind', json_extract(metadata, '$.source'),
        'link', coalesce(json_extract(metadata, '$.link'), ''),
        'author', coalesce(json_extract(metadata, '$.author'), '')
    ),
    metadata = json_remove(metadata, '$.source', '$.link', '$.author')
WHERE json_extract(metadata, '$.source') IN ('command', 'message');

-- Serves: whether a user has this memory already.
CREATE INDEX memories_by_likeness ON memories (user_id, likeness) WHERE status = 'active';

-- Serves: which memory a former version belongs to.
CREATE INDEX memories_by_former ON memories (user_id, supersedes) WHERE supersedes IS NOT NULL;

-- Serves: the purge.
CREATE INDEX memories_deleted ON memories (deleted_at) WHERE status = 'deleted';

-- Whether a user wants nothing stored or recalled for now.
ALTER TABLE user_settings ADD COLUMN memory_paused INTEGER NOT NULL DEFAULT 0 CHECK (memory_paused IN (0, 1));

-- Where the memory stands in the search index of its user; NULL: not folded into it yet, or no longer. Only what
-- can be found stands in it, so that what is hidden or replaced leaves it first.
ALTER TABLE memories ADD COLUMN place INTEGER CHECK (place IS NULL OR status = 'active');

-- Serves: search, of what is not in the index, which is all that most users have. It has every column that a
-- search reads, so that one user's stand side by side, and not each on a page of its own.
CREATE INDEX memories_waiting ON memories (
    user_id, id, terms, search_content, search_tags, category, audience, expires_at, terms_version, place, status
) WHERE place IS NULL AND status = 'active';

-- Serves: search, of what the index points to. Few users have so many memories that they have an index.
CREATE UNIQUE INDEX memories_by_place ON memories (user_id, place) WHERE place IS NOT NULL;

-- The search index of those who have many memories. 4096 places are a chunk; see stores/memory_places.py.
CREATE TABLE memory_chunks (
    user_id      INTEGER NOT NULL,
    chunk        INTEGER NOT NULL,
    filled       INTEGER NOT NULL,  -- places given so far
    documents    INTEGER NOT NULL,  -- memories that stand in it
    total_length INTEGER NOT NULL,  -- of those, in terms
    PRIMARY KEY (user_id, chunk)    -- serves: search, folding
) WITHOUT ROWID;

-- Which memories of a chunk have a term.
CREATE TABLE memory_postings (
    user_id  INTEGER NOT NULL,
    chunk    INTEGER NOT NULL,
    term     TEXT NOT NULL,
    postings BLOB NOT NULL,
    PRIMARY KEY (user_id, chunk, term)  -- serves: search, folding
) WITHOUT ROWID;

-- What a text means, as a model sees it; made some time after the text was written.
CREATE TABLE memory_vectors (
    memory_id INTEGER NOT NULL,
    user_id   INTEGER NOT NULL,
    model     TEXT NOT NULL,
    vector    BLOB NOT NULL,
    PRIMARY KEY (user_id, memory_id)  -- serves: search
) WITHOUT ROWID;

-- The vectors of those who have very many, in short: a bit a dimension, for some thousand memories a row.
CREATE TABLE memory_sketches (
    user_id    INTEGER NOT NULL,
    after_id   INTEGER NOT NULL,  -- it has all vectors of memories after this one
    last_id    INTEGER NOT NULL,  -- up to this one
    model      TEXT NOT NULL,
    memory_ids BLOB NOT NULL,
    bits       BLOB NOT NULL,
    PRIMARY KEY (user_id, after_id)  -- serves: search, and the triggers
);

-- Whoever adds or deletes a vector: the sketch that it belongs into goes with it, and is made anew some time later.
CREATE TRIGGER memory_vectors_added AFTER INSERT ON memory_vectors BEGIN
    DELETE FROM memory_sketches
    WHERE user_id = new.user_id AND last_id >= new.memory_id AND after_id = (
        SELECT max(before.after_id) FROM memory_sketches AS before
        WHERE before.user_id = new.user_id AND before.after_id < new.memory_id
    );
END;
CREATE TRIGGER memory_vectors_deleted AFTER DELETE ON memory_vectors BEGIN
    DELETE FROM memory_sketches
    WHERE user_id = old.user_id AND last_id >= old.memory_id AND after_id = (
        SELECT max(before.after_id) FROM memory_sketches AS before
        WHERE before.user_id = old.user_id AND before.after_id < old.memory_id
    );
END;

-- Whose memories the tool calls of an answer are about. In a channel the answer's row belongs to nobody alone.
ALTER TABLE messages ADD COLUMN memory_user_id INTEGER;
UPDATE messages SET memory_user_id = user_id
WHERE user_id IS NOT NULL AND role = 'assistant' AND tool_calls <> '[]';
UPDATE messages SET memory_user_id = (
    SELECT max(q.author_id) FROM mentions AS w JOIN messages AS q ON q.discord_id = w.discord_id
    WHERE w.answer_id = messages.discord_id
)
WHERE user_id IS NULL AND role = 'assistant' AND tool_calls <> '[]';

-- Serves: finding the tool calls that hold a memory which is to be erased.
CREATE INDEX messages_by_memory_user ON messages (memory_user_id, id) WHERE memory_user_id IS NOT NULL;

-- Serves: finding what else a user's conversations hold of it.
CREATE INDEX sessions_by_user ON sessions (user_id);

-- What a user had erased is not brought back by an edit of the message on Discord.
ALTER TABLE messages ADD COLUMN erased INTEGER NOT NULL DEFAULT 0 CHECK (erased IN (0, 1));

-- How often something was erased, and how many times of these are out of the write-ahead log. One row.
CREATE TABLE memory_erasures (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    erased       INTEGER NOT NULL DEFAULT 0,
    written_back INTEGER NOT NULL DEFAULT 0
);
INSERT INTO memory_erasures (id) VALUES (1);
