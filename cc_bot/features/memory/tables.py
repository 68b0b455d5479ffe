from typing import Final

from cc_bot.db.personal import PersonalTable
from cc_bot.features.memory.stores.rows import SEARCHED

TABLES: Final = (
    PersonalTable(
        "memories",
        "memories",
        "created_at",
        hidden=SEARCHED.names,
        ids="SELECT id FROM memories WHERE user_id = $1",
    ),
    *(PersonalTable(table, None) for table in ("memory_vectors", "memory_terms", "memory_imports")),
)
