-- Which of the processes that are one bot makes a turn or a call, and which turn of a user is the one that runs.

-- The process that makes it. One that is in `processes` no more is dead: what it left is others' to finish.
ALTER TABLE turns ADD COLUMN process TEXT NOT NULL DEFAULT '';
ALTER TABLE claimed_calls ADD COLUMN process TEXT NOT NULL DEFAULT '';
ALTER TABLE reservations ADD COLUMN process TEXT NOT NULL DEFAULT '';

-- The line of its user in which a turn stands: in each, one process at a time makes turns.
ALTER TABLE reservations ADD COLUMN line TEXT NOT NULL DEFAULT '' CHECK (line IN ('', 'session', 'channels'));
-- Whether it waits until no other process makes one.
ALTER TABLE reservations ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1));
