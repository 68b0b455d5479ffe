"""How far each model's count of tokens is from the estimate, learned from what its answers cost.

The factor is a mean over the first answers and then follows the newer ones slowly. It is learned within one
statement, so that programs that share the database lose nothing to each other. Servers report nonsense now
and then (nothing at all, only what was not cached): a count that no tokenizer comes to is left out, and one
that is far from all before it counts as a moderate change.
"""

from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.storage import Database, Statement
from cc_bot.stores.columns import to_text

UNKNOWN: Final = 1.0
"""The factor of a model that has not answered yet."""
LOWEST: Final = 0.4
HIGHEST: Final = 4.0
"""Tokenizers with small vocabularies take up to about three times as many for Japanese."""

_SELECT: Final = "SELECT factor FROM token_factors WHERE model = $1"

# $1 model, $2 the factor of this answer, $3 now
_LEARN: Final = """
    INSERT INTO token_factors AS known (model, factor, responses, updated_at)
    VALUES ($1, $2, 1, $3)
    ON CONFLICT (model) DO UPDATE SET
        factor = known.factor + (
            CASE
                WHEN known.responses < 5 THEN excluded.factor
                WHEN excluded.factor > known.factor * 1.25 THEN known.factor * 1.25
                WHEN excluded.factor < known.factor * 0.8 THEN known.factor * 0.8
                ELSE excluded.factor
            END - known.factor
        ) * CASE WHEN known.responses < 20 THEN 1.0 / (known.responses + 1) ELSE 0.05 END,
        responses = known.responses + 1,
        updated_at = excluded.updated_at
"""


class TokenFactorStore:
    """The factor of every model. It says nothing about anybody's messages."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def get(self, model: str) -> float:
        """Tokens counted by the model's server for each token estimated; UNKNOWN before its first answer."""
        rows = await self._database.query(_SELECT, model)
        return float(rows[0][0]) if rows else UNKNOWN

    async def learn(self, model: str, *, estimated: int, counted: int) -> None:
        """Take in what one request was estimated at and what its server counted, both in tokens."""
        if estimated <= 0 or not LOWEST <= counted / estimated <= HIGHEST:
            return
        await self._database.transaction(
            [Statement(_LEARN, (model, counted / estimated, to_text(self._clock())))]
        )
