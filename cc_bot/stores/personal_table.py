"""How the rows of one table that are about a user are found, counted and read."""
# ruff: noqa: S608 - put together from constants alone

from dataclasses import dataclass
from typing import Literal

from cc_bot.domain.privacy import DataKind

TimeForm = Literal["ms", "text", "day"]
"""Unix milliseconds, ISO 8601, or YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class PersonalTable:
    """Rows of one table, as far as they are about a user ($1)."""

    name: str
    """What an export calls them."""
    table: str
    kind: DataKind
    theirs: str
    """The condition that holds them to the user."""
    columns: tuple[str, ...]
    """What is exported."""
    copies: tuple[str, ...] = ()
    """What is not: made of others so that something is found; a key to Discord."""
    at: str = ""
    """The column that tells when; empty where none does."""
    at_form: TimeForm = "text"
    ids: str = ""
    """A query for the ids of the rows, where there may be very many, or they are found by other rows."""
    id_column: str = "id"
    at_a_time: int = 200
    """Ids whose rows are read together, and so held."""

    @property
    def statement(self) -> str:
        """$1 user; with `ids`: $2 an array of some of them."""
        some = f" AND {self.id_column} IN (SELECT value FROM json_each($2))" if self.ids else ""
        return f"SELECT {', '.join(self.columns)} FROM {self.table} WHERE {self.theirs}{some}"

    @property
    def counting(self) -> str:
        """How many there are, and from when to when. $1 user"""
        span = f"min({self.at}), max({self.at})" if self.at else "NULL, NULL"
        chosen = f"{self.id_column} IN ({self.ids})" if self.ids else self.theirs
        held = f"{self.theirs} AND {chosen}" if self.ids else self.theirs
        return f"SELECT count(*), {span} FROM {self.table} WHERE {held}"
