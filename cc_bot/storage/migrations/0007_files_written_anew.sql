-- What is erased is also gone from the room that the database's pages do not use: in a large file some time later.

-- How many of the erasures that is so for, and when the file was written anew for them.
ALTER TABLE memory_erasures ADD COLUMN rewritten INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory_erasures ADD COLUMN rewritten_at TEXT;

-- Version 0006 moved every memory, and left pieces of texts that may be erased one day.
UPDATE memory_erasures SET erased = erased + 1 WHERE EXISTS (SELECT 1 FROM memories);
