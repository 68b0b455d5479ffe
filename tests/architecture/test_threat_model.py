"""The threat model names tests that exist, and every attack in it has one."""

import ast
import re
from functools import cache
from typing import Final

from tests.architecture.test_layout import ROOT

ATTACKS: Final = sorted((ROOT / "docs").glob("attacks-*.md"))
NAMED_TEST: Final = re.compile(r'\[test\]\(\.\./(tests/[\w/.]+\.py) "([\w:]+)"\)')
TABLE_HEAD: Final = "| attack | defence | test |"
TABLE_RULE: Final = "| --- | --- | --- |"
MIN_ROWS: Final = 40
MAX_TESTS_PER_ROW: Final = 2


@cache
def list_tests(path: str) -> frozenset[str]:
    """Return the names of a file's tests, `Class::test_name` in a class; none if there is no such file."""
    file = ROOT / path
    if not file.is_file():
        return frozenset()
    found = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        functions = [each for each in members if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
        found |= {prefix + each.name for each in functions if each.name.startswith("test_")}
    return frozenset(found)


def test_every_named_test_exists() -> None:
    missing = [
        f"{document.name}: {path}::{name}"
        for document in ATTACKS
        for path, name in NAMED_TEST.findall(document.read_text("utf-8"))
        if name not in list_tests(path)
    ]
    assert not missing, "\n".join(missing)


def test_every_attack_names_one_or_two_tests() -> None:
    lines = [line for document in ATTACKS for line in document.read_text("utf-8").splitlines()]
    rows = [line for line in lines if line.startswith("|") and line not in {TABLE_HEAD, TABLE_RULE}]
    assert len(rows) >= MIN_ROWS
    wrong = [row for row in rows if not 1 <= len(NAMED_TEST.findall(row)) <= MAX_TESTS_PER_ROW]
    assert not wrong, "\n".join(wrong)
