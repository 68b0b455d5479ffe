"""Model servers in `models.toml`, in addition to the one of OPENAI_BASE_URL."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from cc_bot.domain.errors import InvalidModels
from cc_bot.operator_file import FileKind, FileRefused, OperatorFile, parse_toml, printable_key
from cc_bot.texts import Texts

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Provider:
    base_url: str
    api_key: str | None = field(default=None, repr=False)


class _ProviderTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    base_url: Annotated[str, StringConstraints(pattern=r"^https?://[^/\s]+")]
    api_key: Annotated[str, StringConstraints(pattern=r"^[!-~]*$")] = ""


def providers_file(
    path: Path, variables: Mapping[str, str], words: Texts
) -> OperatorFile[Mapping[str, Provider]]:
    """The file need not exist. A key `${NAME}` is a variable."""

    def parse(text: str) -> Mapping[str, Provider]:
        document = parse_toml(text, words.operator_file)
        tables = document.pop("providers", {})
        if document or not isinstance(tables, dict):
            raise FileRefused(words.models_file.no_providers)
        return {name: _read_provider(name, table, variables, words) for name, table in tables.items()}

    return OperatorFile(
        path, FileKind("models", "", parse, InvalidModels), words.operator_file, required=False
    )


def _read_provider(name: str, table: Any, variables: Mapping[str, str], words: Texts) -> Provider:
    said = words.models_file
    if not _NAME.fullmatch(name):
        raise FileRefused(said.bad_name.format(name=printable_key(name)))
    try:
        given = _ProviderTable.model_validate(table)
    except ValidationError:
        raise FileRefused(said.wrong.format(name=name)) from None
    key = given.api_key
    if variable := _VARIABLE.fullmatch(key):
        key = variables.get(variable[1], "")
        if not key:
            raise FileRefused(said.unset.format(name=name, variable=variable[1]))
    return Provider(given.base_url, key or None)


def split_model(name: str, providers: Mapping[str, Provider]) -> tuple[str, Provider | None]:
    """Split `provider/model`. Other names belong to OPENAI_BASE_URL: None."""
    prefix, _, model = name.partition("/")
    return (model, providers[prefix]) if model and prefix in providers else (name, None)
