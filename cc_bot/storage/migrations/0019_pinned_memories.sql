-- Memories that their user wants known in every answer.
ALTER TABLE memories ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1));

-- Serves: what a prompt tells of a user from the start, and how many are pinned. It has those alone.
CREATE INDEX memories_pinned ON memories (user_id, id) WHERE pinned = 1 AND status = 'active';
