"""The tables of the file: which keys they have, and what they may hold."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cc_bot.domain.limits import LARGEST

UNLIMITED: Final = "unlimited"
DEAREST: Final = 1_000_000_000

_AS_WRITTEN = ConfigDict(extra="forbid", strict=True)
"""No text is taken for a number: what looks like a slip is one."""

Id = Annotated[int, Field(gt=0, lt=2**63)]
_Limit = Annotated[int, Field(gt=0, le=LARGEST)] | Literal["unlimited"] | None
_Price = Annotated[float, Field(ge=0, le=DEAREST, allow_inf_nan=False)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]


class GuildLimitTable(BaseModel):
    """Of what the members of a guild use together."""

    model_config = _AS_WRITTEN
    turns_per_minute: _Limit = None
    tokens_per_day: _Limit = None
    tokens_per_month: _Limit = None
    concurrent: _Limit = None


class LimitTable(GuildLimitTable):
    memories: _Limit = None
    memory_bytes: _Limit = None
    imports_per_hour: _Limit = None
    commands_per_minute: _Limit = None


class PriceTable(BaseModel):
    model_config = _AS_WRITTEN
    input: _Price
    output: _Price
    cached: _Price | None = None


class SubjectsTable(BaseModel):
    model_config = _AS_WRITTEN
    users: list[Id] = []
    roles: list[Id] = []
    channels: list[Id] = []
    guilds: list[Id] = []


class AccessTable(BaseModel):
    model_config = _AS_WRITTEN
    owners: list[Id] = []
    allow: SubjectsTable = SubjectsTable()
    deny: SubjectsTable = SubjectsTable()
