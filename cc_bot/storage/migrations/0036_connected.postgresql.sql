-- When each of the processes that are one bot was last connected to Discord with all of its shards: 0, never yet.

ALTER TABLE processes ADD COLUMN connected_at BIGINT NOT NULL DEFAULT 0;
