"""SQL that every engine understands: the fragments for what each writes in a way of its own.

That all statements of the stores are understood is shown on each engine (tests/stores/everything.py).
"""

import pytest

from cc_bot.storage.dialect import Dialect, expand


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
