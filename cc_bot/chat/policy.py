"""The operator's file of limits, prices and access."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    create_model,
)

from cc_bot.domain.access import SUBJECTS, AccessRule, AccessRules, Ruling
from cc_bot.domain.errors import InvalidPolicy
from cc_bot.domain.text import Locale
from cc_bot.domain.usage import (
    DEFAULT_RULES,
    EVERYONE_ID,
    LIMIT_NAMES,
    MAX_LIMIT,
    MAX_PRICE,
    USAGE_LIMITS,
    LimitKey,
    LimitRules,
    LimitScope,
    Price,
    PriceList,
)
from cc_bot.operator_file import (
    FileKind,
    FileRefused,
    OperatorFile,
    TableReader,
    operator_path,
    parse_toml,
    printable_key,
)
from cc_bot.texts import Texts, texts
from cc_bot.texts.cli import OperatorFileTexts, PolicyFileTexts

if TYPE_CHECKING:
    from cc_bot.config import Config

UNLIMITED: Final = "unlimited"

_STRICT = ConfigDict(extra="forbid", strict=True, defer_build=True)  # strict: a number in quotes is refused

Id = Annotated[int, Field(gt=0, lt=2**63)]
_Limit = Annotated[int, Field(gt=0, le=MAX_LIMIT)] | Literal["unlimited"] | None
_Price = Annotated[float, Field(ge=0, le=MAX_PRICE, allow_inf_nan=False)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]


@dataclass(frozen=True, slots=True)
class Policy:
    limits: LimitRules = field(default_factory=lambda: DEFAULT_RULES)
    prices: PriceList = field(default_factory=PriceList)
    access: AccessRules = field(default_factory=AccessRules)
    owners: frozenset[int] = frozenset()  # in addition to those in the settings


def _limits_model(names: Sequence[str]) -> type[BaseModel]:
    fields: dict[str, Any] = dict.fromkeys(names, (_Limit, None))
    return create_model("Limits", __config__=_STRICT, **fields)


_GuildLimits: Final = _limits_model(USAGE_LIMITS)  # for all members of a server together
_Limits: Final = _limits_model(LIMIT_NAMES)


class PriceTable(BaseModel):
    model_config = _STRICT
    input: _Price
    output: _Price
    cached: _Price | None = None
    per_minute: _Price = 0.0


class SoundPriceTable(PriceTable):
    input: _Price = 0.0
    output: _Price = 0.0


class SubjectsTable(BaseModel):
    model_config = _STRICT
    users: list[Id] = []
    roles: list[Id] = []
    channels: list[Id] = []
    guilds: list[Id] = []


class AccessTable(BaseModel):
    model_config = _STRICT
    owners: list[Id] = []
    allow: SubjectsTable = SubjectsTable()
    deny: SubjectsTable = SubjectsTable()


_LIMIT_GROUPS: Final[Mapping[str, LimitScope]] = {"users": "user", "roles": "role", "guilds": "guild"}
_ID: Final = re.compile(r"0|[1-9][0-9]{0,18}")
_CURRENCY: Final[TypeAdapter[str]] = TypeAdapter(Currency)


def parse_policy(text: str, *, words: Texts) -> Policy:
    """Raises FileRefused with the first error."""
    document = parse_toml(text, words[OperatorFileTexts])
    reader = _Reader(words)
    policy = Policy(
        reader.read_limits(reader.check_table("limits", document.pop("limits", {}))),
        reader.read_prices(reader.check_table("prices", document.pop("prices", {}))),
        *reader.read_access(document.pop("access", {})),
    )
    if document:
        raise FileRefused(words[PolicyFileTexts].other_table.format(key=printable_key(next(iter(document)))))
    return policy


class _Reader:
    def __init__(self, words: Texts) -> None:
        self._words = expected = words[PolicyFileTexts]
        self._tables = TableReader(
            words[OperatorFileTexts],
            {
                **dict.fromkeys(LIMIT_NAMES, expected.limit),
                **dict.fromkeys(PriceTable.model_fields, expected.price),
                **dict.fromkeys((*AccessTable.model_fields, *SubjectsTable.model_fields), expected.ids),
                "currency": expected.currency,
            },
        )

    def check_table(self, name: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise FileRefused(self._tables.words.not_a_table.format(name=name))
        return value

    def read_limits(self, table: dict[str, Any]) -> LimitRules:
        rules = dict(DEFAULT_RULES)
        for group, scope in _LIMIT_GROUPS.items():
            for key, value in self.check_table(f"limits.{group}", table.pop(group, {})).items():
                name = f"limits.{group}.{printable_key(key)}"
                if not _ID.fullmatch(key) or int(key) >= 2**63 or (key == "0" and scope != "user"):
                    raise FileRefused(self._words.bad_id.format(name=name))
                kind = _GuildLimits if scope == "guild" else _Limits
                rules.update(_limit_rules(scope, int(key), self._tables.read(kind, name, value)))
        rules.update(_limit_rules("everyone", EVERYONE_ID, self._tables.read(_Limits, "limits", table)))
        return rules

    def read_prices(self, table: dict[str, Any]) -> PriceList:
        try:
            currency = _CURRENCY.validate_python(table.pop("currency", PriceList().currency), strict=True)
        except ValidationError:
            raise self._tables.wrong_value("prices", "currency") from None
        models = {}
        for model, value in table.items():
            name = f"prices.{printable_key(model)}"
            prices = self.check_table(name, value)
            kind = SoundPriceTable if "per_minute" in prices else PriceTable
            price = self._tables.read(kind, name, prices)
            models[model] = Price(price.input, price.output, price.cached, price.per_minute)
        return PriceList(currency, models)

    def read_access(self, value: Any) -> tuple[AccessRules, frozenset[int]]:
        access = self._tables.read(AccessTable, "access", value)
        lists: tuple[tuple[Ruling, SubjectsTable], ...] = (("allow", access.allow), ("deny", access.deny))
        rules = (
            AccessRule(ruling, subject, id_)
            for ruling, table in lists
            for subject, ids in zip(SUBJECTS, dict(table).values(), strict=True)
            for id_ in ids
        )
        return frozenset(rules), frozenset(access.owners)


def _limit_rules(
    scope: LimitScope, scope_id: int, limits: BaseModel
) -> Iterator[tuple[LimitKey, int | None]]:
    for name in LIMIT_NAMES:
        value = getattr(limits, name, None)
        if value is not None:
            yield LimitKey(scope, scope_id, name), None if value == UNLIMITED else value


class Policies(OperatorFile[Policy]):
    def __init__(self, path: Path, *, locale: Locale, required: bool = False) -> None:
        """`locale`: the language of errors. `required`: the operator named the file."""
        words = texts(locale)
        kind = FileKind("policy", "CC_BOT_POLICY_FILE", partial(parse_policy, words=words), InvalidPolicy)
        super().__init__(path, kind, words[OperatorFileTexts], required=required)

    async def get_limits(self) -> LimitRules:
        return (await self.current()).limits


def make_policies(config: "Config") -> Policies:
    path, required = operator_path(config, "policy.toml"), config.policy_file is not None
    return Policies(path, locale=config.operator_locale, required=required)
