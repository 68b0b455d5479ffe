-- No line is taken out any more, so none needs a time.

DROP INDEX erasure_lines_by_time;
ALTER TABLE erasure_lines DROP COLUMN at;
