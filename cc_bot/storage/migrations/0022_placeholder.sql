-- Gives way to the migration of this number that another branch brings.
SELECT 1;
