-- How much each user's memories take, so that a limit on them is held without counting them at each one added.

CREATE TABLE memory_usage (
    user_id     INTEGER PRIMARY KEY,            -- serves: adding and changing a memory, an import
    memories    INTEGER NOT NULL DEFAULT 0,     -- that are recalled and listed
    bytes       INTEGER NOT NULL DEFAULT 0,     -- of all, former versions and deleted ones until they are purged
    imported_at TEXT NOT NULL DEFAULT '[]'      -- JSON: the imports of the last hour, Unix milliseconds
);

INSERT INTO memory_usage (user_id, memories, bytes)
SELECT
    user_id,
    sum(status = 'active'),
    sum(length(CAST(content AS BLOB)) + length(CAST(tags AS BLOB)) + length(CAST(metadata AS BLOB)))
FROM memories GROUP BY user_id;

-- Whoever adds, changes, hides, purges or erases a memory.
CREATE TRIGGER memories_added AFTER INSERT ON memories BEGIN
    INSERT INTO memory_usage (user_id, memories, bytes)
    VALUES (
        new.user_id,
        new.status = 'active',
        length(CAST(new.content AS BLOB)) + length(CAST(new.tags AS BLOB)) + length(CAST(new.metadata AS BLOB))
    )
    ON CONFLICT (user_id) DO UPDATE SET
        memories = memories + excluded.memories, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER memories_changed AFTER UPDATE OF content, tags, metadata, status ON memories BEGIN
    UPDATE memory_usage SET
        memories = memories + (new.status = 'active') - (old.status = 'active'),
        bytes = bytes
            + length(CAST(new.content AS BLOB)) + length(CAST(new.tags AS BLOB)) + length(CAST(new.metadata AS BLOB))
            - length(CAST(old.content AS BLOB)) - length(CAST(old.tags AS BLOB)) - length(CAST(old.metadata AS BLOB))
    WHERE user_id = new.user_id;
END;
CREATE TRIGGER memories_removed AFTER DELETE ON memories BEGIN
    UPDATE memory_usage SET
        memories = memories - (old.status = 'active'),
        bytes = bytes
            - length(CAST(old.content AS BLOB)) - length(CAST(old.tags AS BLOB)) - length(CAST(old.metadata AS BLOB))
    WHERE user_id = old.user_id;
END;
