"""Each test that the threat model names as a proof is there."""

import ast
import re
from functools import cache

import pytest

from tests.architecture.test_layout import ROOT

DOCUMENTS = ("docs/threat-model.md", "SECURITY.md")
NAMED = re.compile(r"`(tests/[\w/.]+\.py)((?:::\w+)+)`")
FEWEST = 40


def proofs() -> list[tuple[str, str]]:
    text = "\n".join((ROOT / name).read_text("utf-8") for name in DOCUMENTS)
    return [(path, names.removeprefix("::")) for path, names in NAMED.findall(text)]


@cache
def names_in(path: str) -> frozenset[str]:
    """The names of a file's tests, each under its class."""
    found = set()
    for node in ast.parse((ROOT / path).read_text("utf-8")).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        functions = [each for each in inside if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
        found |= {prefix + each.name for each in functions if each.name.startswith("test_")}
    return frozenset(found)


@pytest.mark.parametrize(("path", "name"), sorted(set(proofs())), ids=lambda value: value.rsplit("::")[-1])
def test_every_proof_that_is_named_is_a_test(path: str, name: str) -> None:
    assert (ROOT / path).is_file()
    assert name in names_in(path)


def test_there_are_many_of_them_and_every_line_has_one() -> None:
    assert len(set(proofs())) >= FEWEST
    rows = re.findall(
        r"^\| (?!they |it tries|---|version|the newest|older).*\|$",
        (ROOT / DOCUMENTS[0]).read_text("utf-8"),
        re.M,
    )
    assert [row for row in rows if not NAMED.search(row)] == []
