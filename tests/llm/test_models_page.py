"""docs/models.md: its settings can be copied, and it explains every change that the log may name."""

import re
from pathlib import Path

import pytest

from cc_bot.config import read_config
from cc_bot.domain.text import Locale
from cc_bot.llm.openai.quirks import LESSONS
from cc_bot.llm.providers import open_models, providers_file
from cc_bot.texts import texts

PAGES = ("docs/models.md", "docs/models.ja.md")


def read(page: str) -> str:
    return Path(page).read_text(encoding="utf-8")


def settings(page: str) -> list[str]:
    """Return the lines of `.env` for each server in the table."""
    table = [line.split("|")[2:-1] for line in read(page).splitlines() if line.count("|") == 5]
    names, _, *rows = [[cell.strip(" `") for cell in cells] for cells in table]
    return [
        "\n".join(f"{name}={value}" for name, value in zip(names, row, strict=True) if value) for row in rows
    ]


@pytest.mark.parametrize("page", PAGES)
async def test_settings_of_each_server_work_as_they_are_copied(page: str, tmp_path: Path) -> None:
    assert settings(page) == settings(PAGES[0])
    for lines in settings(page):
        dotenv = tmp_path / ".env"
        dotenv.write_text(re.sub("…", "0", lines), encoding="utf-8")
        config = read_config({"CC_BOT_DATABASE_URL": f"sqlite:///{tmp_path}/sessions.db"}, dotenv)
        async with open_models(config) as models:
            assert not models.is_offline
            [name] = config.models
            assert models.get(name).has_path


@pytest.mark.parametrize("page", PAGES)
def test_every_change_of_a_request_is_explained(page: str) -> None:
    assert [each.name for each in LESSONS if f"`{each.name}`" not in read(page)] == []


async def test_the_example_of_servers_is_valid_as_it_is_and_with_everything_uncommented(
    tmp_path: Path,
) -> None:
    text, words = read("docs/models.example.toml"), texts(Locale.JA)
    whole = re.sub(r"^#(?=[a-z\[])", "", text, flags=re.MULTILINE)
    names = [["local", "openrouter"], ["local", "openrouter", "groq"]]
    keys = {"OPENROUTER_API_KEY": "sk-or-0", "GROQ_API_KEY": "gsk_0"}
    for number, content in enumerate((text, whole)):
        path = tmp_path / f"{number}.toml"
        path.write_text(content, encoding="utf-8")
        providers = await providers_file(path, keys, words).load()
        assert list(providers) == names[number]
        assert providers["openrouter"].api_key == "sk-or-0"
