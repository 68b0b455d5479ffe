"""The arguments of a call, as people read them before they agree."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.message import show_invisible
from cc_bot.texts.proposal import argument_lines

AWKWARD = st.text(st.sampled_from('ab1:│{}[]",\\ \n\r\t\x85\u2028\u202e\u200b⟨U+02E⟩あ'), max_size=12)
CHOSEN = st.sampled_from(["a", "a\nb: 1", "1", "1.0", "true", "null", '"a"', "{}", "⟨U+202E⟩", "\u202e", ""])
TEXTS = AWKWARD | CHOSEN | st.text(max_size=80)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda part: st.lists(part, max_size=3) | st.dictionaries(TEXTS, part, max_size=3), max_leaves=5
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=3)


def shown(value: dict[str, Any]) -> str:
    """The arguments as they come to a screen, before its own marks are added."""
    return show_invisible(argument_lines(value))


def exact(value: Any) -> str:
    """A text that tells 1 from 1.0 and from True."""
    return json.dumps(value, sort_keys=True)


def near(value: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects that a person may take for this one: whole lines of it, put into a value."""
    lines = argument_lines(value)
    put = st.sampled_from([lines, show_invisible(lines), lines.replace("│ ", "")])
    texts = st.sampled_from([show_invisible(each) for each in map(str, value.values())] or [""])
    names = st.sampled_from([*value, "a"])
    return st.dictionaries(names, put | texts | VALUES, max_size=3)


READ: list[tuple[dict[str, Any], list[str]]] = [
    ({"path": "買い物.txt", "n": 3, "sure": True}, ["path: 買い物.txt", "n: 3", "sure: true"]),
    ({"text": "牛乳\n\n# 卵"}, ["text:", "│ 牛乳", "│ ", "│ # 卵"]),
    ({"text": "あ" * 61}, ["text:", "│ " + "あ" * 61]),
    ({"id": "3", "none": None, "word": "null"}, ['id: "3"', "none: null", 'word: "null"']),
    ({"text": "", "blank": " a"}, ['text: ""', 'blank: " a"']),
    ({"to": ["愛子", "b"]}, ["to: [", '  "愛子",', '  "b"', "]"]),
    ({"x: 1\ny": 2}, ['"x: 1\\ny": 2']),
    ({}, ["{}"]),
    ({"a": "b\npath: /etc/passwd"}, ["a:", "│ b", "│ path: /etc/passwd"]),
    ({"a": "b\u2028path: /etc"}, ['a: "b\\u2028path: /etc"']),  # the end of a line on some screens
    ({"a": "x\u202e"}, ["a: x⟨U+202E⟩"]),  # which no screen shows, unlike its spelling
    ({"a": "x⟨U+202E⟩"}, ['a: "x\\u27e8U+202E⟩"']),
]


class TestArguments:
    def test_stand_as_they_are_read(self) -> None:
        assert [(value, shown(value).split("\n")) for value, _ in READ] == READ

    @given(first=OBJECTS, data=st.data())
    def test_that_differ_never_look_the_same(self, first: dict[str, Any], data: st.DataObject) -> None:
        second = data.draw(OBJECTS | near(first))
        assert (shown(first) == shown(second)) <= (exact(first) == exact(second))

    @given(value=OBJECTS)
    def test_begin_a_line_of_their_own_once_each(self, value: dict[str, Any]) -> None:
        own = [line for line in shown(value).splitlines() if not line.startswith(("│ ", "  ", "}", "]"))]
        assert len(own) == max(1, len(value))
