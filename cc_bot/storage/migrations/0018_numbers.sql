-- Numbers that users see: each user's memories, reminders and proposals count from 1. Rows keep their ids, which
-- buttons, indexes and the record of erasures go by.

-- The last number given to a user, of each noun: none is ever given twice, also when what had it is erased.
CREATE TABLE numbers (
    user_id INTEGER NOT NULL,
    noun    TEXT NOT NULL CHECK (noun IN ('memory', 'schedule', 'proposal')),
    last    INTEGER NOT NULL,
    PRIMARY KEY (user_id, noun)     -- serves: giving the next one
) WITHOUT ROWID;

ALTER TABLE memories ADD COLUMN number INTEGER;     -- NULL: a copy of a former text, which is its memory's
ALTER TABLE schedules ADD COLUMN number INTEGER;    -- NULL: a heartbeat, of which each user has one
ALTER TABLE proposals ADD COLUMN number INTEGER;

-- What is listed counts first, so that its numbers have no gaps.
UPDATE memories SET number = counted.number
FROM (
    SELECT id, row_number() OVER (PARTITION BY user_id ORDER BY status = 'superseded', id) AS number FROM memories
) AS counted
WHERE counted.id = memories.id;
UPDATE schedules SET number = counted.number
FROM (
    SELECT id, row_number() OVER (PARTITION BY user_id ORDER BY status = 'done', id) AS number
    FROM schedules WHERE kind = 'reminder'
) AS counted
WHERE counted.id = schedules.id;
UPDATE proposals SET number = counted.number
FROM (SELECT id, row_number() OVER (PARTITION BY user_id ORDER BY id) AS number FROM proposals) AS counted
WHERE counted.id = proposals.id;

INSERT INTO numbers (user_id, noun, last)
SELECT user_id, 'memory', max(number) FROM memories GROUP BY user_id
UNION ALL
SELECT user_id, 'schedule', max(number) FROM schedules WHERE number IS NOT NULL GROUP BY user_id
UNION ALL
SELECT user_id, 'proposal', max(number) FROM proposals GROUP BY user_id;

-- Serve: what a user means by a number.
CREATE INDEX memories_by_number ON memories (user_id, number) WHERE number IS NOT NULL;
CREATE INDEX schedules_by_number ON schedules (user_id, number) WHERE number IS NOT NULL;

-- Whoever adds a row gives it the number after the last one; one that comes without a number gets it here.
CREATE TRIGGER memories_numbered AFTER INSERT ON memories WHEN new.number IS NOT NULL BEGIN
    INSERT INTO numbers (user_id, noun, last) VALUES (new.user_id, 'memory', new.number)
    ON CONFLICT (user_id, noun) DO UPDATE SET last = max(last, excluded.last);
END;
CREATE TRIGGER memories_unnumbered AFTER INSERT ON memories
WHEN new.number IS NULL AND new.status <> 'superseded' BEGIN
    INSERT INTO numbers (user_id, noun, last) VALUES (new.user_id, 'memory', 1)
    ON CONFLICT (user_id, noun) DO UPDATE SET last = last + 1;
    UPDATE memories SET number = (SELECT last FROM numbers WHERE user_id = new.user_id AND noun = 'memory')
    WHERE id = new.id;
END;
CREATE TRIGGER schedules_numbered AFTER INSERT ON schedules WHEN new.number IS NOT NULL BEGIN
    INSERT INTO numbers (user_id, noun, last) VALUES (new.user_id, 'schedule', new.number)
    ON CONFLICT (user_id, noun) DO UPDATE SET last = max(last, excluded.last);
END;
CREATE TRIGGER schedules_unnumbered AFTER INSERT ON schedules
WHEN new.number IS NULL AND new.kind = 'reminder' BEGIN
    INSERT INTO numbers (user_id, noun, last) VALUES (new.user_id, 'schedule', 1)
    ON CONFLICT (user_id, noun) DO UPDATE SET last = last + 1;
    UPDATE schedules SET number = (SELECT last FROM numbers WHERE user_id = new.user_id AND noun = 'schedule')
    WHERE id = new.id;
END;
CREATE TRIGGER proposals_numbered AFTER INSERT ON proposals WHEN new.number IS NOT NULL BEGIN
    INSERT INTO numbers (user_id, noun, last) VALUES (new.user_id, 'proposal', new.number)
    ON CONFLICT (user_id, noun) DO UPDATE SET last = max(last, excluded.last);
END;
CREATE TRIGGER proposals_unnumbered AFTER INSERT ON proposals WHEN new.number IS NULL BEGIN
    INSERT INTO numbers (user_id, noun, last) VALUES (new.user_id, 'proposal', 1)
    ON CONFLICT (user_id, noun) DO UPDATE SET last = last + 1;
    UPDATE proposals SET number = (SELECT last FROM numbers WHERE user_id = new.user_id AND noun = 'proposal')
    WHERE id = new.id;
END;
