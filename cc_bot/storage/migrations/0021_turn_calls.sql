-- What the tools of a turn have changed for good, from when that is done until the turn is answered: a kill in
-- between leaves no memory or reminder untold, and whoever has the same asked again does not get it twice.

CREATE TABLE turn_calls (
    turn    TEXT PRIMARY KEY,       -- its id in turns; of a question in a channel, 'q' and Discord's id
    user_id INTEGER NOT NULL,
    calls   TEXT NOT NULL           -- JSON, as in messages; one without a result may have been done or not
) WITHOUT ROWID;

-- Serves: a user's own, when it is listed or erased.
CREATE INDEX turn_calls_by_user ON turn_calls (user_id);

-- They stand with the answer then, or nobody asks any more.
CREATE TRIGGER turns_deleted AFTER DELETE ON turns BEGIN
    DELETE FROM turn_calls WHERE turn = old.id AND user_id = old.user_id;
END;

CREATE TRIGGER turns_answered AFTER UPDATE OF state ON turns WHEN new.state = 'answered' BEGIN
    DELETE FROM turn_calls WHERE turn = new.id AND user_id = new.user_id;
END;

CREATE TRIGGER turns_renamed AFTER UPDATE OF id ON turns BEGIN
    UPDATE turn_calls SET turn = new.id WHERE turn = old.id AND user_id = old.user_id;
END;

CREATE TRIGGER mentions_answered AFTER UPDATE OF answered ON mentions WHEN new.answered = 1 BEGIN
    DELETE FROM turn_calls WHERE turn = 'q' || new.discord_id;
END;

CREATE TRIGGER mentions_deleted AFTER DELETE ON mentions BEGIN
    DELETE FROM turn_calls WHERE turn = 'q' || old.discord_id;
END;
