"""The SQL that each engine writes in its own way, as fragments with one name for all.

A statement names a fragment where the engines differ, `WHERE id IN @ids($2)`, and is expanded for the engine
that runs it. All else is SQL that every engine understands: parameters that are compared with nothing but
NULL have a type, `CAST($3 AS TEXT) IS NULL`; there is no rowid; what is true or false in a column is a CASE.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

Dialect = Literal["sqlite", "postgresql"]
"""Which SQL an engine speaks."""


class Fragment(NamedTuple):
    """A piece of SQL for each engine. `{0}`, `{1}`, … stand for its arguments."""

    sqlite: str
    postgresql: str


FRAGMENTS: Final[Mapping[str, Fragment]] = MappingProxyType(
    {
        # The numbers in a JSON array, to look up in with IN, or as a table with the column `value`.
        "ids": Fragment(
            "(SELECT value FROM json_each({0}))",
            "(SELECT CAST(value AS BIGINT) AS value FROM json_array_elements_text(CAST({0} AS JSON)))",
        ),
        # In what a query gives, which is run once and not for each row that is compared: PostgreSQL does not
        # know how many rows a JSON array has, and may take the latter to be less work.
        "among": Fragment("IN ({0})", "= ANY (ARRAY({0}))"),
        # The texts in a JSON array, to look up in with IN; and as a function, whose array may be a column of
        # a table before it.
        "texts": Fragment(
            "(SELECT value FROM json_each({0}))",
            "(SELECT value FROM json_array_elements_text(CAST({0} AS JSON)))",
        ),
        "each_text": Fragment("json_each({0})", "json_array_elements_text(CAST({0} AS JSON))"),
        # The rows of a JSON array of arrays or objects, as a table of JSON with the column `value`; a value
        # in such a row by its place or name: a text, and as a number.
        "rows": Fragment("json_each({0})", "json_array_elements(CAST({0} AS JSON))"),
        "text_at": Fragment("json_extract({0}, '$[{1}]')", "({0} ->> {1})"),
        "number_at": Fragment("json_extract({0}, '$[{1}]')", "CAST({0} ->> {1} AS BIGINT)"),
        "text_of": Fragment("json_extract({0}, '$.{1}')", "(CAST({0} AS JSON) ->> '{1}')"),
        "list_of": Fragment("json_extract({0}, '$.{1}')", "({0} -> '{1}')"),
        # All values of a group that are JSON, as a JSON array.
        "array": Fragment("json_group_array(json({0}))", "CAST(json_agg(CAST({0} AS JSON)) AS TEXT)"),
        # A JSON array with one more text or number at its end; a JSON object with another text in a field.
        "appended": Fragment(
            "json_insert({0}, '$[#]', {1})", "CAST(CAST({0} AS JSONB) || to_jsonb({1}) AS TEXT)"
        ),
        "with_text": Fragment(
            "json_set({0}, '$.{1}', {2})",
            "CAST(jsonb_set(CAST({0} AS JSONB), '{{{1}}}', to_jsonb(CAST({2} AS TEXT))) AS TEXT)",
        ),
        # Unix milliseconds as a moment in UTC, as texts in the database begin.
        "iso": Fragment(
            "strftime('%Y-%m-%dT%H:%M:%f', {0} / 1000.0, 'unixepoch')",
            """to_char(to_timestamp({0} / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS')""",
        ),
        # Where a text begins in another, from 1; 0 where it does not stand in it.
        "place_in": Fragment("instr({0}, {1})", "strpos({0}, {1})"),
        # The bytes of a text in UTF-8.
        "bytes": Fragment("length(CAST({0} AS BLOB))", "octet_length({0})"),
        # Which of the rows of a sum takes what is added for somebody: where several write at once, they wait
        # for each other less. (The id's upper bits are a moment, of which any is as likely.)
        "slot": Fragment("(0 * {0})", "mod(CAST({0} AS BIGINT) >> 22, 8)"),
        # This moment, in Unix milliseconds, by the clock of the database alone.
        "now": Fragment(
            "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
            "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
        ),
        # Nobody deletes the rows of that table that were found, until the transaction ends.
        "kept": Fragment("", "FOR KEY SHARE OF {0}"),
        # The types of columns.
        "number": Fragment("INTEGER", "BIGINT"),
        "text": Fragment("TEXT", 'TEXT COLLATE "C"'),
        # A join in this order: SQLite looks up the table after it, for each row of the one before, whatever
        # it takes to be less work.
        "look_up": Fragment("CROSS JOIN", "JOIN"),
    }
)

_NAME: Final = re.compile(r"@([a-z_]+)")


@lru_cache(maxsize=2048)
def expand(sql: str, dialect: Dialect) -> str:
    """Return the statement as this engine writes it. Raises KeyError for a fragment that there is not."""
    told, at = list[str](), 0
    while found := _NAME.search(sql, at):
        fragment = getattr(FRAGMENTS[found[1]], dialect)
        arguments, end = _arguments(sql, found.end())
        filled = fragment.format(*(expand(each, dialect) for each in arguments)) if arguments else fragment
        told += [sql[at : found.start()], filled]
        at = end
    return "".join((*told, sql[at:]))


def _arguments(sql: str, at: int) -> tuple[list[str], int]:
    """Return what stands in the brackets that begin there, and where they end; nothing where none do."""
    if sql[at : at + 1] != "(":
        return [], at
    found, depth, begin = list[str](), 0, at + 1
    for place in range(at, len(sql)):
        match sql[place]:
            case "(":
                depth += 1
            case ")":
                depth -= 1
                if not depth:
                    return [*found, sql[begin:place].strip()], place + 1
            case "," if depth == 1:
                found.append(sql[begin:place].strip())
                begin = place + 1
    raise ValueError("a bracket is not closed")
