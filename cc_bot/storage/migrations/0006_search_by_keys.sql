-- What memories are searched by stands as numbers, and the newest of each user side by side in one value.

-- Those of 0005 were texts. All of it is made anew in the background, and a search makes meanwhile what it needs.
DROP INDEX memories_waiting;
DROP INDEX memories_by_place;
DROP TABLE memory_chunks;
DROP TABLE memory_postings;
UPDATE memories SET place = NULL, terms_version = 0;
ALTER TABLE memories DROP COLUMN terms;

-- The terms of the text and the tags, 32 bits each; see stores/memory_keys.py.
ALTER TABLE memories ADD COLUMN keys BLOB NOT NULL DEFAULT x'';

-- Serves: search, of what is not in the index: some few of each user.
CREATE INDEX memories_waiting ON memories (user_id, id) WHERE place IS NULL AND status = 'active';

-- Serves: search, of what the index points to. It has what is read of each candidate, so that those of one user stand
-- side by side, and not each on a page of its own.
CREATE INDEX memories_by_place ON memories (
    user_id, place, id, search_content, search_tags, category, audience, expires_at, terms_version
) WHERE place IS NOT NULL;

-- The search index. 128 places are a segment: which of them have which key, in one value; see stores/memory_segments.py.
-- With rowids, since a key's tree that holds values of thirty kilobytes has four rows on a page, and is deep.
CREATE TABLE memory_segments (
    user_id      INTEGER NOT NULL,
    segment      INTEGER NOT NULL,
    filled       INTEGER NOT NULL,   -- places given so far
    documents    INTEGER NOT NULL,   -- memories that stand in it
    total_length INTEGER NOT NULL,   -- of those, in terms
    keys         BLOB NOT NULL,
    PRIMARY KEY (user_id, segment)   -- serves: search, folding
);

-- The segments of those who have many memories are joined into chunks of 4096 places; see stores/memory_places.py.
CREATE TABLE memory_chunks (
    user_id      INTEGER NOT NULL,
    chunk        INTEGER NOT NULL,
    documents    INTEGER NOT NULL,
    total_length INTEGER NOT NULL,
    PRIMARY KEY (user_id, chunk)     -- serves: search, joining
) WITHOUT ROWID;

-- Which memories of a chunk have a key.
CREATE TABLE memory_postings (
    user_id  INTEGER NOT NULL,
    chunk    INTEGER NOT NULL,
    key      INTEGER NOT NULL,
    postings BLOB NOT NULL,
    PRIMARY KEY (user_id, chunk, key)  -- serves: search, joining
) WITHOUT ROWID;
