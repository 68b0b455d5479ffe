"""The models of OPENAI_BASE_URL and of the providers in `models.toml`."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cc_bot.config import LOCAL, OFF, Config
from cc_bot.domain.errors import InvalidModels
from cc_bot.features.memory.search.vectors import Embedder
from cc_bot.llm.embeddings import LocalEmbedder
from cc_bot.llm.model import ChatModel, ChatRequest, FallbackChain, UserPart
from cc_bot.llm.openai import OpenAIChatModel
from cc_bot.llm.openai.client import OpenAIEmbedder
from cc_bot.operator_file import FileKind, FileRefused, OperatorFile, operator_path, parse_toml, printable_key
from cc_bot.texts import Texts, texts
from cc_bot.texts.cli import CliTexts, ModelsFileTexts, OperatorFileTexts

_EMBEDDING_TIMEOUT_S: Final = 30.0  # turns wait for embeddings
_PROVIDER_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_VARIABLE_REFERENCE: Final = re.compile(r"\$\{(\w+)\}")

_log = structlog.get_logger(__name__)


class Provider(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)
    base_url: Annotated[str, Field(pattern=r"^https?://[^/\s]+")]
    api_key: Annotated[str, Field(pattern=r"^[!-~]*$", repr=False)] = ""


Providers = Mapping[str, Provider]


def providers_file(path: Path, variables: Mapping[str, str], words: Texts) -> OperatorFile[Providers]:
    """Return the operator's file, which may be missing. `api_key = "${NAME}"` refers to a variable."""

    def parse(text: str) -> Providers:
        document = parse_toml(text, words[OperatorFileTexts])
        tables = document.pop("providers", {})
        if document or not isinstance(tables, dict):
            raise FileRefused(words[ModelsFileTexts].no_providers)
        return {name: _read_provider(name, table, variables, words) for name, table in tables.items()}

    kind = FileKind("models", variable="", parse=parse, error=InvalidModels)
    return OperatorFile(path, kind, words[OperatorFileTexts], required=False)


def _read_provider(name: str, table: Any, variables: Mapping[str, str], words: Texts) -> Provider:
    sentences = words[ModelsFileTexts]
    if not _PROVIDER_NAME.fullmatch(name):
        raise FileRefused(sentences.bad_name.format(name=printable_key(name)))
    try:
        provider = Provider.model_validate(table)
    except ValidationError:
        raise FileRefused(sentences.wrong.format(name=name)) from None
    if variable := _VARIABLE_REFERENCE.fullmatch(provider.api_key):
        provider.api_key = variables.get(variable[1], "")
        if not provider.api_key:
            raise FileRefused(sentences.unset.format(name=name, variable=variable[1]))
    return provider


class Models:
    def __init__(self, config: Config, providers: Providers) -> None:
        self._config = config
        self._providers = providers
        self._models: dict[str, OpenAIChatModel] = {}

    @property
    def is_offline(self) -> bool:
        """True if neither a key nor a server is set: then the offline model answers."""
        return not (self._config.openai_api_key or self._config.openai_base_url or self._providers)

    @property
    def ignored_model_name(self) -> str:
        """CC_BOT_MODEL if it has no effect, else empty."""
        return self._config.variables.get("CC_BOT_MODEL", "") if self.is_offline else ""

    @property
    def default_model_name(self) -> str:
        words = texts(self._config.operator_locale)[CliTexts]
        return words.offline_model if self.is_offline else self._config.models[0]

    def make_chain(self, names: Sequence[str]) -> ChatModel:
        if self.is_offline:
            from cc_bot.llm.offline import OfflineModel  # noqa: PLC0415 - takes 30 ms

            return OfflineModel()
        return FallbackChain([(name, self.get(name)) for name in names])

    def get(self, name: str) -> OpenAIChatModel:
        """Return the model `name` of OPENAI_BASE_URL, or `provider/name`."""
        if name not in self._models:
            self._models[name] = self._create(name)
        return self._models[name]

    def changes_to_requests(self) -> Mapping[str, tuple[str, ...]]:
        return {name: model.changes for name, model in self._models.items() if model.changes}

    async def check_reachable(self, name: str) -> None:
        """Request an answer, and wait for its beginning. Raises ModelError."""
        model = self._create(name, max_retries=0)
        try:
            async with aclosing(model.stream(ChatRequest((UserPart("ok"),)))) as events:
                await anext(events)
        finally:
            await model.close()

    async def close(self) -> None:
        for model in self._models.values():
            await model.close()

    def _create(self, name: str, *, max_retries: int = 2) -> OpenAIChatModel:
        config = self._config
        prefix, _, model = name.partition("/")
        provider = self._providers.get(prefix) if model else None
        return OpenAIChatModel(
            model if provider else name,
            name=name,
            api_key=provider.api_key if provider else config.openai_api_key,
            base_url=provider.base_url if provider else config.openai_base_url,
            timeout_s=config.model_timeout_s,
            max_retries=max_retries,
            reasoning=config.reasoning,
        )


@asynccontextmanager
async def open_models(config: Config) -> AsyncIterator[Models]:
    """Raises InvalidModels."""
    words, path = texts(config.operator_locale), operator_path(config, "models.toml")
    models = Models(config, await providers_file(path, config.variables, words).load())
    if model_name := models.ignored_model_name:
        if path.exists():
            raise InvalidModels(path=str(path), detail=words[ModelsFileTexts].no_server)
        _log.warning("model_without_server", model=model_name, fix=words[CliTexts].model_without_server_fix)
    try:
        yield models
    finally:
        await models.close()


def build_embedder(config: Config) -> Embedder | None:
    if config.embedding_model == OFF:
        return None
    if config.embedding_model == LOCAL:
        return LocalEmbedder.create_if_installed()
    key, url = config.openai_api_key, config.openai_base_url
    return OpenAIEmbedder(config.embedding_model, api_key=key, base_url=url, timeout_s=_EMBEDDING_TIMEOUT_S)
