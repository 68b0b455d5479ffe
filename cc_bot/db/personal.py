"""Describes the tables with personal data: how a user's rows are counted, exported and erased.

Rows are grouped by DataKind in `/privacy` and in exports.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from cc_bot.db.schema import newest_tables

if TYPE_CHECKING:
    from cc_bot.features.privacy.model import DataKind

# ruff: noqa: S608 - only constants


@dataclass(frozen=True, slots=True)
class PersonalTable:
    """The rows of a table about a user ($1)."""

    table: str
    kind: "DataKind | None"  # None: derived rows, neither shown nor exported
    time_column: str = ""  # empty if there is none
    name: str = ""  # the list's name in an export; empty: the table's name
    user_column: str = "user_id"
    where: str = ""  # a condition besides the user column
    hidden: tuple[str, ...] = ()  # columns not exported: derived ones, Discord tokens, process names
    erasure: Literal["delete", "unsign", "keep"] = "delete"  # unsign: replace the user's id by 0
    deleted_with_last_session: bool = False  # when no session with the row's session key is left
    ids_sql: str = ""  # selects the ids, if rows are read in pages or found by way of other tables
    id_column: str = "id"
    page_size: int = 200  # ids whose rows are read at once
    read_where: str = ""  # replaces user column and `where` for reading, not for erasure

    @property
    def list_name(self) -> str:
        return self.name or self.table

    @property
    def user_condition(self) -> str:
        return f"{self.user_column} = $1{self.where and f' AND {self.where}'}"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name in _schema_columns()[self.table] if name not in self.hidden)

    @property
    def rows_sql(self) -> str:
        """SQL that reads the rows. $1 user; with `ids_sql`, $2 an array of ids."""
        page = f" AND {self.id_column} IN @ids($2) ORDER BY {self.id_column}" if self.ids_sql else ""
        condition = self.read_where or self.user_condition
        return f"SELECT {', '.join(self.columns)} FROM {self.table} WHERE {condition}{page}"

    @property
    def count_sql(self) -> str:
        """SQL for the number of rows, and the first and last time. $1 user"""
        times = f"min({self.time_column}), max({self.time_column})" if self.time_column else "NULL, NULL"
        condition = self.read_where or self.user_condition
        if self.ids_sql:
            condition += f" AND {self.id_column} IN ({self.ids_sql})"
        return f"SELECT count(*), {times} FROM {self.table} WHERE {condition}"

    @property
    def erase_sql(self) -> str:
        """SQL that deletes the rows, or replaces the user's id in them. $1 user. Not for `keep`."""
        if self.erasure == "unsign":
            return f"UPDATE {self.table} SET {self.user_column} = 0 WHERE {self.user_condition}"
        page = f" AND {self.id_column} IN ({self.ids_sql})" if self.ids_sql else ""
        return f"DELETE FROM {self.table} WHERE {self.user_condition}{page}"

    @property
    def user_ids_sql(self) -> str:
        has_user = "<> 0" if self.erasure == "unsign" else "IS NOT NULL"  # the terminal's user is 0
        condition = f"{self.user_column} {has_user}{self.where and f' AND {self.where}'}"
        return f"SELECT DISTINCT {self.user_column} FROM {self.table} WHERE {condition}"


@cache
def _schema_columns() -> Mapping[str, tuple[str, ...]]:
    return {table.name: tuple(column.name for column in table.columns) for table in newest_tables()}
