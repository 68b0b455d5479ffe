"""SQL on the vectors of memories. Each names its user, but for the one that looks for what has none yet."""

from typing import Final

# $1 user, $2 memory, $3 model
SELECT_BARE: Final = """
    SELECT user_id, id, content FROM memories
    WHERE user_id = $1 AND id = $2 AND status = 'active' AND NOT EXISTS (
        SELECT 1 FROM memory_vectors AS known
        WHERE known.user_id = $1 AND known.memory_id = $2 AND known.model = $3
    )
"""

# A vector is stored for the text that it was made of, or not at all: it may have been changed meanwhile.
# $1 user, $2 memory, $3 model, $4 vector, $5 the text
PUT_VECTOR: Final = """
    INSERT INTO memory_vectors (user_id, memory_id, model, vector)
    SELECT $1, $2, $3, $4
    WHERE EXISTS (
        SELECT 1 FROM memories WHERE user_id = $1 AND id = $2 AND content = $5 AND status = 'active'
    )
    ON CONFLICT (user_id, memory_id) DO UPDATE SET model = excluded.model, vector = excluded.vector
"""

# Before the text becomes another. $1 user, $2 memory, $3 the new text
DROP_OUTDATED_VECTOR: Final = """
    DELETE FROM memory_vectors
    WHERE user_id = $1 AND memory_id = $2 AND EXISTS (
        SELECT 1 FROM memories WHERE user_id = $1 AND id = $2 AND content <> $3
    )
"""

# Of all users, since it is done for all of them: what lies between two ids and has no vector of this model.
# $1 and $2 the ids, the first not included; $3 model, $4 how many
SELECT_BARE_OF_ALL: Final = """
    SELECT m.user_id, m.id, m.content FROM memories AS m
    WHERE m.id > $1 AND m.id <= $2 AND m.status = 'active' AND NOT EXISTS (
        SELECT 1 FROM memory_vectors AS known
        WHERE known.user_id = m.user_id AND known.memory_id = m.id AND known.model = $3
    )
    ORDER BY m.id LIMIT $4
"""

SELECT_LAST_OF_ALL: Final = "SELECT coalesce(max(id), 0) FROM memories"

VECTOR_STATEMENTS: Final = (SELECT_BARE_OF_ALL, SELECT_LAST_OF_ALL)
