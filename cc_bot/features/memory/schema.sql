CREATE TABLE memories (
    id             @id,
    user_id        @number NOT NULL,
    number         @number,                    -- NULL: a former version, which has its memory's
    content        @text NOT NULL,
    category       @text NOT NULL,
    tags           @text NOT NULL DEFAULT '[]',
    metadata       @text NOT NULL DEFAULT '{}',
    source         @text NOT NULL DEFAULT '{}',  -- JSON: kind, link, model, author
    audience       @text NOT NULL DEFAULT 'anywhere' CHECK (audience IN ('anywhere', 'private')),
    -- active: recalled and listed. superseded: a former version, history of the memory that names it in `supersedes`.
    -- deleted: hidden, and purged (with its history) once the time for an undo is over.
    status         @text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'superseded', 'deleted')),
    supersedes     @number,                    -- the version before this one
    pinned         @number NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),  -- known in every answer
    created_at     @text NOT NULL,
    updated_at     @text NOT NULL,
    expires_at     @text,                      -- from then on it is not recalled
    deleted_at     @text,
    bytes          @number NOT NULL GENERATED ALWAYS AS (@bytes(content) + @bytes(tags) + @bytes(metadata)) STORED,
    likeness       @number NOT NULL DEFAULT 0, -- a hash that near-duplicates have in common
    search_content @text NOT NULL,             -- content, folded for comparison
    search_tags    @text NOT NULL DEFAULT '',  -- tags, folded, each between line feeds
    term_count     @number NOT NULL DEFAULT 0, -- of text and tags, repeated ones included
    terms_version  @number NOT NULL DEFAULT 0  -- of the rules that made the four columns before and `memory_terms`
) @strict;

-- Serves: search, list and count of one user's memories, newest first; get, update and delete go by id.
CREATE INDEX memories_by_user ON memories (user_id, id);
-- Serves: the quotas, which count all of a user's: how many are active, and the bytes of all.
CREATE INDEX memories_by_size ON memories (user_id, status, bytes);
-- Serves: what a user means by a number.
CREATE INDEX memories_by_number ON memories (user_id, number) WHERE number IS NOT NULL;
-- Serves: whether a user has this memory already.
CREATE INDEX memories_by_likeness ON memories (user_id, likeness) WHERE status = 'active';
-- Serves: which memory a former version belongs to.
CREATE INDEX memories_by_former ON memories (user_id, supersedes) WHERE supersedes IS NOT NULL;
-- Serves: recomputing what an older version of the search rules made.
CREATE INDEX memories_by_rules ON memories (terms_version, id);
-- Serves: the purge.
CREATE INDEX memories_deleted ON memories (deleted_at) WHERE status = 'deleted';
-- Serves: what a prompt tells of a user from the start, and how many are pinned.
CREATE INDEX memories_pinned ON memories (user_id, id) WHERE pinned = 1 AND status = 'active';
-- Serves: search, which reads this much of all memories of a user.
@sqlite CREATE INDEX memories_by_text ON memories (
@sqlite     user_id, status, id, term_count, search_content, search_tags, category, audience, expires_at, source
@sqlite );

-- The imports of each user in the last hour.
CREATE TABLE memory_imports (
    user_id @number PRIMARY KEY,
    moments @text NOT NULL  -- JSON: Unix milliseconds
) @strict;

-- How many erasures there were, and how many of them before the last VACUUM. One row.
CREATE TABLE memory_erasures (
    id       @number PRIMARY KEY CHECK (id = 1),
    erased   @number NOT NULL DEFAULT 0,
    vacuumed @number NOT NULL DEFAULT 0
) @strict;
INSERT INTO memory_erasures (id) VALUES (1);

-- The search index: which active memories have which term, a hash of 32 bits.
CREATE TABLE memory_terms (
    user_id     @number NOT NULL,
    term        @number NOT NULL,
    memory_id   @number NOT NULL,
    occurrences @number NOT NULL,
    PRIMARY KEY (user_id, term, memory_id)  -- serves: search
) @clustered;
-- Serves: a change of a memory.
CREATE INDEX memory_terms_by_memory ON memory_terms (user_id, memory_id);

-- What a text means, as a model sees it; made some time after the text was written.
CREATE TABLE memory_vectors (
    memory_id @number NOT NULL,
    user_id   @number NOT NULL,
    model     @text NOT NULL,
    vector    @blob NOT NULL,
    PRIMARY KEY (user_id, memory_id)  -- serves: search
) @clustered;
-- See the end of db/migrations/0001_schema.sql.
@postgresql ALTER TABLE memories ALTER COLUMN content SET STATISTICS 0, ALTER COLUMN category SET STATISTICS 0,
@postgresql    ALTER COLUMN tags SET STATISTICS 0, ALTER COLUMN metadata SET STATISTICS 0,
@postgresql    ALTER COLUMN search_content SET STATISTICS 0, ALTER COLUMN search_tags SET STATISTICS 0,
@postgresql    ALTER COLUMN source SET STATISTICS 0;
@postgresql ALTER TABLE memory_vectors ALTER COLUMN vector SET STATISTICS 0;
@postgresql ALTER TABLE memory_terms ALTER COLUMN term SET STATISTICS 0;
