"""SQL that every engine understands, and the fragments for what they write in ways of their own."""

import re
from pathlib import Path

import pytest

import cc_bot.stores
from cc_bot.storage.dialect import FRAGMENTS, Dialect, expand

STORES = sorted(Path(cc_bot.stores.__path__[0]).rglob("*.py"))
OF_ONE_ENGINE = re.compile(
    r"""
    \b(?:json_\w+|jsonb_\w+|strftime|instr|strpos|octet_length|group_concat|string_agg|total|ifnull|printf)\(
    | \brandom\(
    | \browid\b | \bPRAGMA\b | \bWITHOUT\ ROWID\b | \bsqlite_\w+ | \bpg_\w+ | \bCROSS\ JOIN\b
    | \bAS\ (?:BLOB|BYTEA|JSONB?)\b | \bx'' | ::\w+ | \bLIMIT\ -1\b | \bREPLACE\ INTO\b
    | \b(?:greatest|least)\(
    """,
    re.VERBOSE,
)
UNTYPED = re.compile(r"\$\d+ IS (?:NOT )?NULL")
WRITTEN = re.compile(r'f?"""(.*?)"""|f?"([^"\n]*)"', re.DOTALL)


def statements(path: Path) -> list[str]:
    """The texts of a module that are SQL."""
    texts = (found[1] or found[2] or "" for found in WRITTEN.finditer(path.read_text("utf-8")))
    return [each for each in texts if re.search(r"\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE)\b", each)]


class TestStores:
    def test_write_sql_of_no_one_engine_and_compare_no_untyped_parameter_with_null(self) -> None:
        written = {path.name: statements(path) for path in STORES}
        assert sum(map(len, written.values())) > 200
        wrong = [
            (name, found[0])
            for name, texts in written.items()
            for sql in texts
            for pattern in (OF_ONE_ENGINE, UNTYPED)
            if (found := pattern.search(sql))
        ]
        assert wrong == []

    def test_use_every_fragment(self) -> None:
        used = {name for path in STORES for name in re.findall(r"@([a-z_]+)", path.read_text("utf-8"))}
        by_kind = {"number_at", "text_at"}  # whose names channels.py puts together
        assert used >= FRAGMENTS.keys() - {"number", "text"} - by_kind  # the first two are types of columns


class TestExpanding:
    def test_gives_the_sql_of_the_engine(self) -> None:
        cases: list[tuple[str, Dialect, str]] = [
            ("SELECT 1 FROM a WHERE b = $1", "sqlite", "SELECT 1 FROM a WHERE b = $1"),
            ("id IN @ids($2)", "sqlite", "id IN (SELECT value FROM json_each($2))"),
            ("a @look_up b ON c = d", "sqlite", "a CROSS JOIN b ON c = d"),
            ("a @look_up b ON c = d", "postgresql", "a JOIN b ON c = d"),
            ("@bytes(a) + @bytes(b)", "postgresql", "octet_length(a) + octet_length(b)"),
            ("@place_in(f(a, (b)), c) = 0", "sqlite", "instr(f(a, (b)), c) = 0"),
            ("@bytes(@text_of(a, b))", "sqlite", "length(CAST(json_extract(a, '$.b') AS BLOB))"),
        ]
        assert [expand(sql, dialect) for sql, dialect, _ in cases] == [expanded for *_, expanded in cases]

    def test_of_what_there_is_not_fails(self) -> None:
        with pytest.raises(KeyError):
            expand("@nothing(a)", "sqlite")
        with pytest.raises(ValueError, match="bracket"):
            expand("@ids($1", "sqlite")
