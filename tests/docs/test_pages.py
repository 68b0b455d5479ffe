"""README and docs: links lead somewhere, both languages have the same pages, and commands in them run."""

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from cc_bot.domain.text import Locale
from scripts.settings_page import PAGES as SETTINGS_PAGES
from scripts.settings_page import page as settings_page
from tests.architecture.test_layout import ROOT
from tests.end_to_end.program import Program

READMES: Final = ("README.md", "README.ja.md")
CONTENTS: Final = ("docs/README.md", "docs/README.ja.md")
DOCUMENTS: Final = sorted(
    path.relative_to(ROOT).as_posix() for folder in (ROOT, ROOT / "docs") for path in folder.glob("*.md")
)
ENGLISH_ONLY: Final = {"docs/architecture.md", "docs/layout.md", "docs/threat-model.md"} | {
    name for name in DOCUMENTS if name.startswith("docs/attacks-")
}
MAX_README_BYTES: Final = 7_000
GITHUB_PAGES: Final = ("../../actions/", "../../../releases")
"""GitHub's pages of the repository, relative to its README and to docs/."""
SOURCE: Final = re.compile(r'(?:src|srcset|href)="([^"]+)"')
UNSLUGGED: Final = re.compile(r"[^\w\- ]")
TARGET: Final = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)
SHELL: Final = re.compile(r"^[ ]*```(?:sh|shell)\n(.*?)^[ ]*```", re.MULTILINE | re.DOTALL)
INDENTED: Final = re.compile(r"^ {4}(\S.*)$", re.MULTILINE)
CONVERSATION: Final = re.compile(r"^```text\n(> .*?)^```", re.MULTILINE | re.DOTALL)
NAMES: Final = "run|chat|web|doctor|backup|restore|copy|erasures|wipe|migrate"
COMMAND: Final = re.compile(rf"(?<![\w./-])(?:\.venv/bin/)?cc-bot ((?:{NAMES})\b.*)")
OPTION: Final = re.compile(r"(?<!\S)--[a-z-]+")


@cache
def read(document: str) -> str:
    return (ROOT / document).read_text("utf-8")


@cache
def tokens(document: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(read(document))


def links(document: str) -> Iterator[str]:
    """Yield the targets of all links and images, those in HTML too."""
    for block in tokens(document):
        for token in [block, *(block.children or ())]:
            if token.type in ("html_inline", "html_block"):
                yield from SOURCE.findall(token.content)
            elif target := token.attrs.get("href") or token.attrs.get("src"):
                yield str(target)


@cache
def anchors(document: str) -> frozenset[str]:
    """Return the anchors of the headings, as GitHub makes them."""
    found: Counter[str] = Counter()
    names = set()
    for heading, inline in zip(tokens(document), tokens(document)[1:], strict=False):
        if heading.type == "heading_open":
            texts = [each.content for each in inline.children or () if each.type in ("text", "code_inline")]
            slug = UNSLUGGED.sub("", "".join(texts).strip().lower()).replace(" ", "-")
            names.add(f"{slug}-{found[slug]}" if found[slug] else slug)
            found[slug] += 1
    return frozenset(names)


def commands(document: str) -> list[str]:
    """Return the lines of shell that the document shows."""
    blocks = [
        *SHELL.findall(read(document)),
        *INDENTED.findall(re.sub(r"(?ms)^```.*?^```", "", read(document))),
    ]
    return "\n".join(blocks).replace("\\\n", " ").splitlines()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_relative_link_and_anchor_leads_somewhere(document: str) -> None:
    broken = []
    for link in links(document):
        if "://" in link or link.startswith((*GITHUB_PAGES, "mailto:")):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = Path(os.path.normpath(ROOT / document / ".." / path)) if path else ROOT / document
        has_anchor = not anchor or anchor in anchors(target.relative_to(ROOT).as_posix())
        if not (target.exists() and has_anchor):
            broken.append(link)
    assert not broken


@pytest.mark.parametrize("readme", READMES)
def test_the_readme_is_short(readme: str) -> None:
    assert len(read(readme).encode()) <= MAX_README_BYTES


@pytest.mark.parametrize("contents", CONTENTS)
def test_the_contents_list_every_page_once_and_prefer_their_language(contents: str) -> None:
    japanese = contents.endswith(".ja.md")
    pages = {each for each in DOCUMENTS if each.startswith("docs/") and each not in CONTENTS}
    wanted = {each for each in pages if each in ENGLISH_ONLY or each.endswith(".ja.md") == japanese}
    listed = Counter(f"docs/{link}" for link in links(contents) if "/" not in link)
    listed.pop(next(each for each in CONTENTS if each != contents))
    assert listed == Counter(wanted)


def test_every_page_is_there_in_both_languages_with_the_same_outline() -> None:
    for document in DOCUMENTS:
        if document.startswith("docs/") and not document.endswith(".ja.md") and document not in ENGLISH_ONLY:
            other = document.replace(".md", ".ja.md")
            outlines = [
                [each.tag for each in tokens(name) if each.type == "heading_open"]
                for name in (document, other)
            ]
            assert outlines[0] == outlines[1], document


@pytest.mark.parametrize("locale", SETTINGS_PAGES)
def test_the_page_of_settings_is_up_to_date(locale: Locale) -> None:
    assert read(SETTINGS_PAGES[locale]) == settings_page(locale), "run: python -m scripts.settings_page"


def test_every_make_target_and_file_in_a_command_exists() -> None:
    targets = {*TARGET.findall((ROOT / "Makefile").read_text("utf-8"))}
    for document in DOCUMENTS:
        for line in commands(document):
            command = line.split(" #")[0]
            for name in re.findall(r"(?:^|&& |sudo )make (?:-C \S+ )?([a-z-]+)", command):
                assert name in targets, f"{document}: {line}"
            for path in re.findall(r"(?<=\s)(?:scripts|deploy|requirements)/[\w./-]+", command):
                assert (ROOT / path).exists(), f"{document}: {line}"


@pytest.mark.slow
async def test_every_command_of_the_program_has_the_options_that_pages_show(tmp_path: Path) -> None:
    shown: dict[str, set[str]] = {}
    for document in DOCUMENTS:
        for arguments in COMMAND.findall(read(document)):
            own = re.split(r"[`|;&]|  #", arguments)[0]
            shown.setdefault(own.split()[0], set()).update(OPTION.findall(own))
    assert len(shown) >= 9
    for name, options in shown.items():
        code, output = await Program(tmp_path, {}).run(
            *([name, "apply"] if name == "erasures" else [name]), "--help"
        )
        assert code == 0, name
        assert options <= {*OPTION.findall(re.sub(r"[\[\],]", " ", output))}, name


@pytest.mark.slow
@pytest.mark.parametrize(("readme", "locale"), [("README.md", "en"), ("README.ja.md", "ja")])
async def test_the_conversation_of_the_readme_is_what_the_program_says(
    readme: str, locale: str, tmp_path: Path
) -> None:
    [shown] = CONVERSATION.findall(read(readme))
    said = "".join(f"{line[2:]}\n" for line in shown.splitlines() if line.startswith("> "))
    code, output = await Program(tmp_path, {"CC_BOT_LOCALE": locale}).run("chat", stdin=said.encode())
    answers = [line for line in shown.splitlines() if not line.startswith("> ")]
    assert (code, [line for line in answers if line not in output.splitlines()]) == (0, [])


@pytest.mark.slow
@pytest.mark.parametrize("page", ["docs/backup.md", "docs/backup.ja.md"])
async def test_backups_and_the_drill_run_as_their_page_shows(page: str, tmp_path: Path) -> None:
    assert (await Program(tmp_path, {}).run("migrate"))[0] == 0
    lines = [line for line in commands(page) if "/drill" in line or line.startswith("cc-bot backup")]
    assert len(lines) == 6
    shim = tmp_path / "bin" / "cc-bot"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m cc_bot "$@"\n', "utf-8")
    shim.chmod(0o755)
    script = "set -e\n" + "\n".join(lines)
    for name in ("/mnt/other", "/tmp/drill"):
        script = script.replace(name, f"{tmp_path}{name}")
    (tmp_path / "tmp").mkdir()
    shell = await asyncio.create_subprocess_exec(
        *("bash", "-c", script),
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}", "CC_BOT_LOCALE": "en"},
        stdout=PIPE,
        stderr=STDOUT,
    )
    output, _ = await shell.communicate()
    assert shell.returncode == 0, output.decode()
    assert list((tmp_path / "mnt" / "other").glob("sessions_*.db"))
