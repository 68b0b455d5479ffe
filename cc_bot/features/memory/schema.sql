CREATE TABLE memories (
    id             @id,
    user_id        @number NOT NULL,
    number         @number,                    -- shown to users; NULL for a former version
    content        @text NOT NULL,
    category       @text NOT NULL,
    tags           @text NOT NULL DEFAULT '[]',
    metadata       @text NOT NULL DEFAULT '{}',
    source         @text NOT NULL DEFAULT '{}',  -- JSON: see Source
    audience       @text NOT NULL DEFAULT 'anywhere' CHECK (audience IN ('anywhere', 'private')),
    -- superseded: a former version of the memory that names it in `supersedes`.
    -- deleted: hidden, and erased with its former versions after UNDO_TIME.
    status         @text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'superseded', 'deleted')),
    supersedes     @number,                    -- id of the previous version
    pinned         @number NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),  -- first in prompts
    created_at     @text NOT NULL,
    updated_at     @text NOT NULL,
    expires_at     @text,                      -- searches do not find it afterwards
    deleted_at     @text,
    bytes          @number NOT NULL GENERATED ALWAYS AS (@bytes(content) + @bytes(tags) + @bytes(metadata)) STORED,
    likeness       @number NOT NULL DEFAULT 0, -- `dedup_hash`, equal for near-duplicates
    search_content @text NOT NULL,             -- content, folded for comparison
    search_tags    @text NOT NULL DEFAULT '',  -- tags, folded, each between line feeds
    term_count     @number NOT NULL DEFAULT 0, -- terms of content and tags, counting repetitions
    terms_version  @number NOT NULL DEFAULT 0  -- SEARCH_VERSION that made `memory_terms` and the 4 columns above
) @strict;

-- Serves: search, list and count of one user's memories, newest first; get, update and delete go by id.
CREATE INDEX memories_by_user ON memories (user_id, id);
-- Serves: the limits on active memories and on bytes.
CREATE INDEX memories_by_size ON memories (user_id, status, bytes);
-- Serves: finding a memory by its number.
CREATE INDEX memories_by_number ON memories (user_id, number) WHERE number IS NOT NULL;
-- Serves: finding near-duplicates.
CREATE INDEX memories_by_likeness ON memories (user_id, likeness) WHERE status = 'active';
-- Serves: finding the memory of a former version.
CREATE INDEX memories_by_former ON memories (user_id, supersedes) WHERE supersedes IS NOT NULL;
-- Serves: recomputing outdated search data.
CREATE INDEX memories_by_rules ON memories (terms_version, id);
-- Serves: the purge.
CREATE INDEX memories_deleted ON memories (deleted_at) WHERE status = 'deleted';
-- Serves: the memories in a prompt, and the limit on pins.
CREATE INDEX memories_pinned ON memories (user_id, id) WHERE pinned = 1 AND status = 'active';
-- Serves: search, which reads these columns of all memories of a user.
@sqlite CREATE INDEX memories_by_text ON memories (
@sqlite     user_id, status, id, term_count, search_content, search_tags, category, audience, expires_at, source
@sqlite );

-- The imports of each user in the last hour.
CREATE TABLE memory_imports (
    user_id @number PRIMARY KEY,
    moments @text NOT NULL  -- JSON list of Unix milliseconds
) @strict;

-- One row: the number of erasures so far, and at the last VACUUM.
CREATE TABLE memory_erasures (
    id       @number PRIMARY KEY CHECK (id = 1),
    erased   @number NOT NULL DEFAULT 0,
    vacuumed @number NOT NULL DEFAULT 0
) @strict;
INSERT INTO memory_erasures (id) VALUES (1);

-- The search index: the terms of active memories, as hashes of 32 bits.
CREATE TABLE memory_terms (
    user_id     @number NOT NULL,
    term        @number NOT NULL,
    memory_id   @number NOT NULL,
    occurrences @number NOT NULL,
    PRIMARY KEY (user_id, term, memory_id)  -- serves: search
) @clustered;
-- Serves: deleting the terms of a memory.
CREATE INDEX memory_terms_by_memory ON memory_terms (user_id, memory_id);

-- Embedding vectors of memories, made in the background.
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
