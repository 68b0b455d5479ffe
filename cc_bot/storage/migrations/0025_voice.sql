-- What was heard in the recordings of a question. It is the end of its content, which nobody has to find in there.
ALTER TABLE messages ADD COLUMN heard TEXT NOT NULL DEFAULT '';

-- Of recordings that were heard, and of answers that were read aloud.
ALTER TABLE usage ADD COLUMN seconds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_totals ADD COLUMN seconds INTEGER NOT NULL DEFAULT 0;

-- Whether a user wants short answers read aloud as well.
ALTER TABLE user_settings ADD COLUMN spoken INTEGER NOT NULL DEFAULT 0 CHECK (spoken IN (0, 1));
