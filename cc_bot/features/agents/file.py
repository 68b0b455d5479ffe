"""agents.toml: the operator's agents."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cc_bot.chat.agents import Agents, is_allowed, with_default_name
from cc_bot.chat.stores.settings import StoredAgentChoices
from cc_bot.domain.errors import StartupError
from cc_bot.domain.message import DEFAULT_AGENT, Agent, AgentScope, Location, ReasoningEffort
from cc_bot.domain.text import Locale
from cc_bot.features.agents.texts import AgentsFileTexts, AgentTexts
from cc_bot.operator_file import FileKind, FileRefused, OperatorFile, TableReader, parse_toml, printable_key
from cc_bot.texts import Texts, texts
from cc_bot.texts.cli import OperatorFileTexts

MAX_DISPLAY_NAME_LENGTH: Final = 40
MAX_DESCRIPTION_LENGTH: Final = 200
MAX_PROMPT_LENGTH: Final = 20_000  # leaves room for the question
_SCOPE_KEYS: Final = frozenset({"guilds", "channels", "dms"})

_ON_ONE_LINE = r"^[^\x00-\x1f\x7f\u2028\u2029]+$"
_line = partial(StringConstraints, strip_whitespace=True, min_length=1, pattern=_ON_ONE_LINE)
_DisplayName = Annotated[str, _line(max_length=MAX_DISPLAY_NAME_LENGTH)]
_Description = Annotated[str, _line(max_length=MAX_DESCRIPTION_LENGTH)]
_MCP_TOOL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}__[A-Za-z0-9_*-]{1,64}")
_Id = Annotated[int, Field(gt=0, lt=2**63)]
_STRICT = ConfigDict(extra="forbid", strict=True, defer_build=True)

_Text = TypeVar("_Text")


class InvalidAgents(StartupError):
    ja = "エージェントの設定ファイル {path} を読めません。{detail}"
    en = "The agents file {path} can't be read. {detail}"


class _InLanguages(BaseModel, Generic[_Text]):
    model_config = _STRICT
    ja: _Text | None = None
    en: _Text | None = None


class AgentTable(BaseModel):
    model_config = _STRICT
    display_name: _DisplayName | _InLanguages[_DisplayName] | None = None
    description: _Description | _InLanguages[_Description] | None = None
    prompt: Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_PROMPT_LENGTH)] = ""
    model: str | list[str] = ""
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    reasoning: ReasoningEffort = ""
    tools: list[str] | None = None
    guilds: list[_Id] = []
    channels: list[_Id] = []
    dms: bool | None = None


def _read_agent(name: str, table: object, tools: Collection[str], words: Texts) -> Agent:
    """`tools`: the names of all tools. Raises FileRefused."""
    if name == DEFAULT_AGENT and isinstance(table, dict):
        for key in _SCOPE_KEYS & table.keys():
            raise FileRefused(words[AgentsFileTexts].default_locations.format(key=key))
    reader = TableReader(words[OperatorFileTexts], _expected(tools, words[AgentsFileTexts]))
    given = reader.read(AgentTable, f"agents.{name}", table)
    unknown = set(given.tools or ()) - set(tools)
    if not all(_MCP_TOOL.fullmatch(each) for each in unknown):
        raise reader.wrong_value(f"agents.{name}", "tools")
    models = given.model.split(",") if isinstance(given.model, str) else given.model
    if given.model and not all(model.strip() for model in models):
        raise reader.wrong_value(f"agents.{name}", "model")
    return Agent(
        name,
        _in_languages(given.display_name),
        _in_languages(given.description),
        prompt=given.prompt,
        models=tuple(model.strip() for model in models if model.strip()),
        temperature=given.temperature,
        reasoning=given.reasoning,
        tools=None if given.tools is None else frozenset(given.tools),
        scope=_scope(given),
    )


def _in_languages(given: str | BaseModel | None) -> dict[Locale, str]:
    if isinstance(given, str):
        return dict.fromkeys(Locale, given)
    texts = given.model_dump() if given else {}
    return {Locale(language): text for language, text in texts.items() if text}


def _scope(given: AgentTable) -> AgentScope:
    # An agent limited to servers or channels answers in DMs only if `dms` is true.
    everywhere = not given.guilds and not given.channels
    return AgentScope(
        frozenset(given.guilds), frozenset(given.channels), everywhere if given.dms is None else given.dms
    )


def _expected(tools: Collection[str], words: AgentsFileTexts) -> Mapping[str, str]:
    limits = {
        "display_name": MAX_DISPLAY_NAME_LENGTH,
        "description": MAX_DESCRIPTION_LENGTH,
        "prompt": MAX_PROMPT_LENGTH,
    }
    named = ", ".join(sorted(tools))
    return {
        name: str(getattr(words, name)).format(limit=limits.get(name), tools=named)
        for name in AgentTable.model_fields
    }


MAX_AGENTS: Final = 100
_NAME: Final = re.compile(r"[a-z0-9_-]{1,32}")


def parse_agents(text: str, *, tools: Collection[str], words: Texts) -> Mapping[str, Agent]:
    """Return the agents by name, the default first. `tools`: all names. Raises FileRefused."""
    document = parse_toml(text, words[OperatorFileTexts])
    sentences = words[AgentsFileTexts]
    tables = document.pop("agents", {})
    if document:
        raise FileRefused(sentences.other_table.format(key=ascii(next(iter(document)))[:40]))
    if not isinstance(tables, dict):
        raise FileRefused(sentences.other_table.format(key="agents"))
    if len(tables) > MAX_AGENTS:
        raise FileRefused(sentences.too_many.format(limit=MAX_AGENTS))
    agents = {DEFAULT_AGENT: with_default_name()}
    for name, table in tables.items():
        if not _NAME.fullmatch(name):
            raise FileRefused(sentences.bad_name.format(name=printable_key(name)))
        agent = _read_agent(name, table, tools, words)
        agents[name] = with_default_name(agent) if name == DEFAULT_AGENT else agent
    return agents


class AgentsFile(OperatorFile[Mapping[str, Agent]], Agents):
    """A thread's choice goes before its channel's. Agents that are missing or not allowed are skipped."""

    def __init__(self, path: Path, *, tools: Collection[str], locale: Locale, required: bool = False) -> None:
        """`locale`: the language of errors. `required`: the operator named the file."""
        words = texts(locale)
        parse = partial(parse_agents, tools=frozenset(tools), words=words)
        kind = FileKind("agents", "CC_BOT_AGENTS_FILE", parse, InvalidAgents)
        super().__init__(path, kind, words[OperatorFileTexts], required=required)

    async def get_all(self) -> Mapping[str, Agent]:
        return await self.current()

    async def get_default(self, location: Location, choices: StoredAgentChoices) -> Agent:
        known = await self.get_all()
        for default in filter(None, map(choices.defaults.get, location.key.ids)):
            agent = known.get(default.agent)
            if agent and is_allowed(replace(location, guild_id=default.guild_id), agent):
                return agent
        return known[DEFAULT_AGENT]

    async def select(self, location: Location, choices: StoredAgentChoices) -> tuple[Agent, bool]:
        known, is_fallback = await self.get_all(), False
        for name in filter(None, map(choices.choices.get, location.key.ids)):
            agent = known.get(name)
            if agent and is_allowed(location, agent):
                return agent, is_fallback
            is_fallback = True
        return await self.get_default(location, choices), is_fallback

    def fallback_note(self, agent: Agent, words: Texts) -> str:
        return words[AgentTexts].gone.format(display=agent.display_name(words.locale))
