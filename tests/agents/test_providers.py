"""`models.toml`: servers of models by name, and models that are asked there."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from cc_bot.config import read_config
from cc_bot.domain.errors import InvalidModels
from cc_bot.domain.text import Locale
from cc_bot.features.doctor.checks import run_doctor
from cc_bot.llm.model import ChatRequest, UserPart
from cc_bot.llm.providers import open_models
from cc_bot.texts import explain, texts
from cc_bot.texts.cli import ModelsFileTexts, OperatorFileTexts
from tests.llm.asking import hear
from tests.loopback.model_server import LoopbackModelServer

ASK = ChatRequest((UserPart("元気？"),))


async def answered_by(folder: Path, *names: str, **environment: str) -> list[str]:
    environ = {"CC_BOT_DATABASE_URL": f"sqlite:///{folder}/sessions.db", **environment}
    async with open_models(read_config(environ, folder / "none")) as models:
        return [(await hear(models.make_chain((name,)), ASK)).finish.model for name in names]


async def test_a_model_is_asked_at_the_server_before_its_slash_with_that_ones_key(tmp_path: Path) -> None:
    async with LoopbackModelServer() as local, LoopbackModelServer() as hosted:
        (tmp_path / "models.toml").write_text(
            f'[providers.local]\nbase_url = "{local.base_url}"\n'
            f'[providers.hosted]\nbase_url = "{hosted.base_url}"\napi_key = "${{HOSTED_KEY}}"\n',
            encoding="utf-8",
        )
        names = ("local/qwen", "hosted/vendor/large", "vendor/other")
        environment = {
            "HOSTED_KEY": "sk-hosted",
            "OPENAI_BASE_URL": local.base_url,
            "OPENAI_API_KEY": "sk-own",
        }
        assert await answered_by(tmp_path, *names, **environment) == [*names]
    assert [request.body["model"] for request in local.requests] == ["qwen", "vendor/other"]
    assert [request.headers["Authorization"] for request in local.requests][1] == "Bearer sk-own"
    [request] = hosted.requests
    assert (request.body["model"], request.headers["Authorization"]) == ("vendor/large", "Bearer sk-hosted")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[providers", "not_toml"),
        ("[models]\n", "no_providers"),
        ('[providers."A b"]\nbase_url = "http://a/v1"\n', "bad_name"),
        ("[providers.a]\n", "wrong"),
        ('[providers.a]\nbase_url = "localhost"\n', "wrong"),
        ('[providers.a]\nbase_url = "http://a/v1"\nmodel = "m"\n', "wrong"),
        ('[providers.a]\nbase_url = "http://a/v1"\napi_key = "${NOT_SET}"\n', "unset"),
    ],
)
async def test_a_mistake_in_the_file_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "models.toml").write_text(text, encoding="utf-8")
    words = texts(Locale.JA)
    with pytest.raises(InvalidModels) as refused:
        await answered_by(tmp_path)
    template = (
        words[OperatorFileTexts].not_toml if said == "not_toml" else getattr(words[ModelsFileTexts], said)
    )
    assert template.split("{", maxsplit=1)[0][:6] in explain(refused.value, words)
    assert str(tmp_path / "models.toml") in explain(refused.value, words)


async def test_the_offline_model_answers_where_there_is_neither_key_nor_server(tmp_path: Path) -> None:
    for text, offline in (("", True), ('[providers.a]\nbase_url = "http://127.0.0.1:1/v1"\n', False)):
        (tmp_path / "models.toml").write_text(text, encoding="utf-8")
        environ = {"CC_BOT_DATABASE_URL": f"sqlite:///{tmp_path}/sessions.db", "OPENAI_BASE_URL": ""}
        for more, is_offline in (({}, offline), ({"OPENAI_API_KEY": "sk-0"}, False)):
            async with open_models(read_config({**environ, **more}, tmp_path / "none")) as models:
                assert models.is_offline is is_offline


async def test_a_model_that_is_named_without_any_server_is_a_mistake(tmp_path: Path) -> None:
    words, environment = texts(Locale.JA), {"CC_BOT_MODEL": "local/qwen"}
    environ = {"CC_BOT_DATABASE_URL": f"sqlite:///{tmp_path}/sessions.db", **environment}
    with capture_logs() as records:
        async with open_models(read_config(environ, tmp_path / "none")) as models:
            assert models.is_offline
        report = await run_doctor(read_config(environ, tmp_path / "none"), offline=True)
    assert ("model", "warning") in [(each.check, each.verdict) for each in report.findings]
    assert [(each["event"], each["model"]) for each in records] == [
        ("model_without_server", "local/qwen")
    ] * 2
    (tmp_path / "models.toml").write_text("# [providers.local]\n", encoding="utf-8")
    with pytest.raises(InvalidModels) as refused:
        await answered_by(tmp_path, **environment)
    assert words[ModelsFileTexts].no_server in explain(refused.value, words)


async def test_how_much_a_model_thinks_is_set_for_all_and_by_request(tmp_path: Path) -> None:
    async with LoopbackModelServer() as server:
        environ = {
            "CC_BOT_DATABASE_URL": f"sqlite:///{tmp_path}/sessions.db",
            "OPENAI_BASE_URL": server.base_url,
            "CC_BOT_REASONING": "low",
        }
        async with open_models(read_config(environ, tmp_path / "none")) as models:
            for reasoning in ("", "high"):
                await hear(models.make_chain(("m",)), ChatRequest(ASK.prompt, reasoning=reasoning))
    assert [request.body["reasoning_effort"] for request in server.requests] == ["low", "high"]
