"""One `[agents.<name>]` table of the file: which keys it has, and what they may hold."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from cc_bot.domain.agent import DEFAULT_AGENT, Agent, Places
from cc_bot.domain.locale import Locale
from cc_bot.operator_file import Refused
from cc_bot.texts.agents_file import AgentsFileTexts

LONGEST_DISPLAY_NAME: Final = 40
LONGEST_DESCRIPTION: Final = 200
LONGEST_PROMPT: Final = 20_000
"""Characters: far below what any model takes, so that a question always fits beside it."""
_PLACES: Final = ("guilds", "channels", "dms")

_ON_ONE_LINE = r"^[^\x00-\x1f\x7f\u2028\u2029]+$"
_DisplayName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=LONGEST_DISPLAY_NAME, pattern=_ON_ONE_LINE
    ),
]
_Description = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=LONGEST_DESCRIPTION, pattern=_ON_ONE_LINE
    ),
]
_Id = Annotated[int, Field(gt=0, lt=2**63)]
_AS_WRITTEN = ConfigDict(extra="forbid", strict=True)
"""No text is taken for a number: what looks like a slip is one."""


class _DisplayNames(BaseModel):
    model_config = _AS_WRITTEN
    ja: _DisplayName | None = None
    en: _DisplayName | None = None


class _Descriptions(BaseModel):
    model_config = _AS_WRITTEN
    ja: _Description | None = None
    en: _Description | None = None


class AgentTable(BaseModel):
    model_config = _AS_WRITTEN
    display_name: _DisplayName | _DisplayNames | None = None
    description: _Description | _Descriptions | None = None
    prompt: Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_PROMPT)] = ""
    model: str | list[str] = ""
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    tools: list[str] | None = None
    guilds: list[_Id] = []
    channels: list[_Id] = []
    dms: bool | None = None


def read_table(
    name: str, table: Mapping[str, Any], *, tools: Collection[str], words: AgentsFileTexts
) -> Agent:
    """The agent that a table stands for; `tools` are those that exist. Raises Refused."""
    if name == DEFAULT_AGENT:
        for key in _PLACES:
            if key in table:
                raise Refused(words.default_places.format(key=key))
    try:
        given = AgentTable.model_validate(table)
    except ValidationError as error:
        raise Refused(_problem(name, error, tools, words)) from None
    if given.tools is not None and not set(given.tools) <= set(tools):
        raise Refused(_wrong(name, "tools", tools, words))
    models = given.model.split(",") if isinstance(given.model, str) else given.model
    if given.model and not all(model.strip() for model in models):
        raise Refused(_wrong(name, "model", tools, words))
    return Agent(
        name,
        _in_languages(given.display_name),
        _in_languages(given.description),
        prompt=given.prompt,
        models=tuple(model.strip() for model in models if model.strip()),
        temperature=given.temperature,
        tools=None if given.tools is None else frozenset(given.tools),
        places=_places(given),
    )


def _in_languages(given: str | BaseModel | None) -> dict[Locale, str]:
    """A text that is given once is the same in every language."""
    if isinstance(given, str):
        return dict.fromkeys(Locale, given)
    texts = given.model_dump() if given else {}
    return {Locale(language): text for language, text in texts.items() if text}


def _places(given: AgentTable) -> Places:
    """Whoever names places does not mean DMs as well, unless they say so."""
    everywhere = not given.guilds and not given.channels
    return Places(
        frozenset(given.guilds),
        frozenset(given.channels),
        everywhere if given.dms is None else given.dms,
    )


def _problem(name: str, error: ValidationError, tools: Collection[str], words: AgentsFileTexts) -> str:
    """The first thing that is wrong, by the table's own key: what stands below it is part of what is expected
    there."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    for item in found:
        if item["type"] == "extra_forbidden" and len(item["loc"]) == 1:
            keys = ", ".join(AgentTable.model_fields)
            return words.unknown_key.format(name=name, key=_shown(str(item["loc"][0])), keys=keys)
    return _wrong(name, str(found[0]["loc"][0]), tools, words)


def _wrong(name: str, key: str, tools: Collection[str], words: AgentsFileTexts) -> str:
    expected = {
        "display_name": words.display_name.format(limit=LONGEST_DISPLAY_NAME),
        "description": words.description.format(limit=LONGEST_DESCRIPTION),
        "prompt": words.prompt.format(limit=LONGEST_PROMPT),
        "model": words.model,
        "temperature": words.temperature,
        "tools": words.tools.format(tools=", ".join(sorted(tools))),
        "guilds": words.guilds,
        "channels": words.channels,
        "dms": words.dms,
    }
    return words.wrong.format(name=name, key=key, expected=expected[key])


def _shown(key: str) -> str:
    """A key as it may be repeated in one sentence."""
    return key[:40] if key.isprintable() else ascii(key)[:40]
