-- What was read of a document, beside its bytes: the text of its parts, as JSON. It goes with them. NULL for images
-- and text files, whose bytes are what a model is shown.
ALTER TABLE attachments ADD COLUMN document TEXT;
