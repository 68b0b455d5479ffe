"""The SQL of what was used. Sums of a guild, and of all, name no user: they are nobody's."""

from typing import Final

# $1 user, $2 the first day
SELECT_OWN_DAYS: Final = """
    SELECT day, sum(prompt_tokens + completion_tokens) FROM usage
    WHERE user_id = $1 AND day >= $2
    GROUP BY day
    UNION ALL
    SELECT day, tokens FROM erased_usage WHERE user_id = $1 AND day >= $2
"""

# $1 guild, $2 the first day
SELECT_GUILD_DAYS: Final = """
    SELECT day, sum(prompt_tokens + completion_tokens) FROM usage_totals
    WHERE guild_id = $1 AND day >= $2
    GROUP BY day
"""

# $1 user
SELECT_OWN_RESERVED: Final = """
    SELECT purpose, tokens, at FROM reservations WHERE user_id = $1 ORDER BY at
"""

# $1 guild
SELECT_GUILD_RESERVED: Final = """
    SELECT purpose, tokens, at FROM reservations WHERE guild_id = $1 ORDER BY at
"""

# $1 id, $2 user, $3 guild, $4 front end, $5 purpose, $6 model, $7 tokens, $8 now
RESERVE: Final = """
    INSERT INTO reservations (id, user_id, guild_id, front_end, purpose, model, tokens, at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""

# $1 user, $2 the moment from which on turns are counted
FORGET_OWN_SETTLED: Final = "DELETE FROM reservations WHERE user_id = $1 AND at <= $2 AND tokens = 0"

# $1 guild, $2 the moment from which on turns are counted
FORGET_GUILDS_SETTLED: Final = "DELETE FROM reservations WHERE guild_id = $1 AND at <= $2 AND tokens = 0"
"""So that a guild with a limit has no more of them to count than those of a minute."""

# $1 id, $2 user
SETTLE_TURN: Final = """
    UPDATE reservations SET tokens = 0 WHERE id = $1 AND user_id = $2 AND tokens > 0 RETURNING id
"""

# $1 id, $2 user
SETTLE: Final = "DELETE FROM reservations WHERE id = $1 AND user_id = $2 RETURNING id"

# $1 user, $2 day, $3 guild, $4 model, $5 purpose, $6 turns, $7 prompt, $8 cached, $9 completion, $10 cost
ADD_OWN: Final = """
    INSERT INTO usage AS known (user_id, day, guild_id, model, purpose,
        turns, prompt_tokens, cached_tokens, completion_tokens, cost_micros)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    ON CONFLICT (user_id, day, guild_id, model, purpose) DO UPDATE SET
        turns = known.turns + excluded.turns,
        prompt_tokens = known.prompt_tokens + excluded.prompt_tokens,
        cached_tokens = known.cached_tokens + excluded.cached_tokens,
        completion_tokens = known.completion_tokens + excluded.completion_tokens,
        cost_micros = known.cost_micros + excluded.cost_micros
    WHERE known.user_id = $1
"""

# $1 guild, $2 day, $3 model, $4 turns, $5 prompt, $6 cached, $7 completion, $8 cost
ADD_TOTAL: Final = """
    INSERT INTO usage_totals AS known (guild_id, day, model,
        turns, prompt_tokens, cached_tokens, completion_tokens, cost_micros)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (guild_id, day, model) DO UPDATE SET
        turns = known.turns + excluded.turns,
        prompt_tokens = known.prompt_tokens + excluded.prompt_tokens,
        cached_tokens = known.cached_tokens + excluded.cached_tokens,
        completion_tokens = known.completion_tokens + excluded.completion_tokens,
        cost_micros = known.cost_micros + excluded.cost_micros
"""

# $1 user, $2 the first day
SELECT_OWN: Final = """
    SELECT day, model, purpose, turns, prompt_tokens, cached_tokens, completion_tokens, cost_micros
    FROM usage WHERE user_id = $1 AND day >= $2
    ORDER BY day
"""

# $1 guild, $2 the first day
SELECT_GUILD: Final = """
    SELECT day, model, NULL, turns, prompt_tokens, cached_tokens, completion_tokens, cost_micros
    FROM usage_totals WHERE guild_id = $1 AND day >= $2
    ORDER BY day
"""

# $1 guild, $2 the first day
COUNT_USERS: Final = "SELECT count(DISTINCT user_id) FROM usage WHERE guild_id = $1 AND day >= $2"
"""How many they are, and no more than that."""

# $1 the first day
SELECT_EVERYWHERE: Final = """
    SELECT day, model, NULL, turns, prompt_tokens, cached_tokens, completion_tokens, cost_micros
    FROM usage_totals WHERE day >= $1
    ORDER BY day
"""

# $1 the front end whose reservations are nobody's any more, $2 so are those of any until then
SELECT_LEFT: Final = """
    SELECT id, user_id, guild_id, purpose, model, tokens, at FROM reservations
    WHERE tokens > 0 AND (front_end = $1 OR at <= $2)
"""
"""Of all users: those whose program has died."""

# $1 the moment from which on turns are counted
FORGET_SETTLED: Final = "DELETE FROM reservations WHERE at <= $1 AND tokens = 0"

# $1 the first day of the month
FORGET_ERASED: Final = "DELETE FROM erased_usage WHERE day < $1"

USAGE_STATEMENTS: Final = frozenset(
    {SELECT_GUILD_RESERVED, FORGET_GUILDS_SETTLED, COUNT_USERS, SELECT_LEFT, FORGET_SETTLED, FORGET_ERASED}
)
"""Those that touch users' rows and name none: sums of a guild, and the upkeep of all."""
