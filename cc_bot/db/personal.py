"""The tables with personal data: how a user's rows are counted, exported and erased."""

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
    kind: "DataKind | None"  # None: derived rows, not exported
    at: str = ""  # the time column, if any
    name: str = ""  # its list in an export; empty: the table's name
    column: str = "user_id"
    only: str = ""  # an additional condition
    hidden: tuple[str, ...] = ()  # not exported: derived columns, Discord tokens, process names
    erasing: Literal["delete", "unsign", "keep"] = "delete"  # unsign: the row stays, without the user's id
    deleted_with_last_session: bool = False  # its rows are for session keys
    ids: str = ""  # a query for the rows' ids, if there are many or other rows lead to them
    id_column: str = "id"
    page_size: int = 200  # ids whose rows are read at once
    read_where: str = ""  # for reading, if it is not the user column

    @property
    def list_name(self) -> str:
        return self.name or self.table

    @property
    def is_about_user(self) -> str:
        return f"{self.column} = $1{self.only and f' AND {self.only}'}"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name in _schema_columns()[self.table] if name not in self.hidden)

    @property
    def select(self) -> str:
        """SQL that reads the rows. $1 user; with `ids`: $2 an array of ids, in whose order the rows come."""
        some = f" AND {self.id_column} IN @ids($2) ORDER BY {self.id_column}" if self.ids else ""
        condition = self.read_where or self.is_about_user
        return f"SELECT {', '.join(self.columns)} FROM {self.table} WHERE {condition}{some}"

    @property
    def count(self) -> str:
        """SQL for the number of rows, their first and last time. $1 user"""
        span = f"min({self.at}), max({self.at})" if self.at else "NULL, NULL"
        condition = self.read_where or self.is_about_user
        chosen = f"{condition} AND {self.id_column} IN ({self.ids})" if self.ids else condition
        return f"SELECT count(*), {span} FROM {self.table} WHERE {chosen}"

    @property
    def erase(self) -> str:
        """SQL that deletes the rows, or removes the user's id from them. $1 user"""
        if self.erasing == "unsign":
            return f"UPDATE {self.table} SET {self.column} = 0 WHERE {self.is_about_user}"
        chosen = f" AND {self.id_column} IN ({self.ids})" if self.ids else ""
        return f"DELETE FROM {self.table} WHERE {self.is_about_user}{chosen}"

    @property
    def users(self) -> str:
        more = self.only and f" AND {self.only}"
        signed = "<> 0" if self.erasing == "unsign" else "IS NOT NULL"  # the terminal user is 0
        return f"SELECT DISTINCT {self.column} FROM {self.table} WHERE {self.column} {signed}{more}"


@cache
def _schema_columns() -> Mapping[str, tuple[str, ...]]:
    return {table.name: tuple(column.name for column in table.columns) for table in newest_tables()}
